"""Merging: the user's OAuth example, objects, and each way to be rejected."""

from typing import Any

import pytest
from tests.merging import CHUNK, OAUTH, SCHEMA, ZITADEL, Merged, Update, changes, known, merged, reasons

from whence.extract.context import ChunkText
from whence.extract.merge import merge
from whence.extract.reply import read_reply


class TestTheExampleOfTheUser:
    def test_chunk_1_creates(self) -> None:
        said = {"type": "Requirement", "name": "OAuth 2.0", "description": "Must support OAuth"}
        outcome = merged("The API must support OAuth 2.0. It Must support OAuth everywhere.", said, there=())
        assert [(each.type, each.name, each.properties) for each in outcome.objects] == [
            ("Requirement", "OAuth 2.0", {"description": "Must support OAuth"})
        ]
        assert [each.property for each in outcome.claims] == ["name", "description"]
        assert {each.object for each in outcome.claims} == {("Requirement", "oauth 2.0")}

    def test_chunk_5_adds_only_what_is_new(self) -> None:
        outcome = merged("OAuth tokens must expire within 1 hour", {"id": str(OAUTH), "expiration": "1 hour"})
        assert outcome.objects == ()
        assert outcome.updates == (Update(id=OAUTH, properties={"expiration": "1 hour"}),)
        claim = outcome.claims[0]
        assert (claim.object, claim.property, claim.value) == (OAUTH, "expiration", "1 hour")
        assert claim.span is not None
        assert (claim.span.quote, claim.span.start, claim.span.end) == ("1 hour", 32, 38)

    def test_chunk_8_says_nothing_new(self) -> None:
        outcome = merged("OAuth 2.0 was discussed.")
        assert (changes(outcome), outcome.rejections) == ((), ())
        assert [(each.object, each.property) for each in outcome.support] == [(OAUTH, "name")]

    def test_an_echo_of_what_the_chunk_does_not_say_counts_for_nothing(self) -> None:
        echo = {"id": str(OAUTH), "type": "Requirement", "description": "must support OAuth."}
        assert merged("OAuth 2.0 was discussed.", echo) == merged("OAuth 2.0 was discussed.")

    def test_schema_v2_enriches(self) -> None:
        outcome = merged("OAuth 2.0 has high priority.", {"id": str(OAUTH), "priority": "HIGH"})
        assert outcome.updates == (Update(id=OAUTH, properties={"priority": "high"}),)

    def test_a_relationship_between_new_and_known(self) -> None:
        link = {"type": "depends_on", "source": "Token expiry", "target": str(ZITADEL)}
        outcome = merged(
            "Token expiry is enforced by Zitadel IdP.",
            {"type": "Requirement", "name": "Token expiry"},
            links=[link],
        )
        relationship = outcome.relationships[0]
        assert relationship.source == ("Requirement", "token expiry")
        assert relationship.target == ZITADEL
        assert relationship.span is not None
        assert relationship.span.quote == "Token expiry is enforced by Zitadel IdP"


class TestObjects:
    def test_a_known_name_without_an_id_becomes_an_update(self) -> None:
        said = {"type": "requirement", "name": "“OAUTH 2.0”", "priority": "low"}
        outcome = merged("OAuth 2.0 has low priority", said)
        assert outcome.objects == ()
        assert outcome.updates == (Update(id=OAUTH, properties={"priority": "low"}),)

    def test_said_again_in_the_words_of_the_chunk_it_is_a_second_source(self) -> None:
        said = {"type": "Requirement", "name": "OAuth 2.0", "description": "Must support OAuth"}
        outcome = merged("OAuth 2.0: must support OAuth", said)
        assert changes(outcome) == ()
        assert [(each.object, each.property) for each in outcome.support] == [
            (OAUTH, "name"),
            (OAUTH, "description"),
        ]
        assert all(each.span for each in outcome.support)

    def test_said_again_with_its_id_it_is_an_echo_and_the_chunk_decides(self) -> None:
        said = {"id": str(OAUTH), "name": "oauth 2.0", "description": "must support OAuth."}
        text = "OAuth 2.0: Must support OAuth, in 3 days"
        assert merged(text, said) == merged(text)
        outcome = merged(text, {**said, "effort": 3})
        assert outcome.updates == (Update(id=OAUTH, properties={"effort": 3}),)
        assert [(each.property, each.value) for each in outcome.claims] == [("effort", 3)]

    def test_a_common_word_is_a_second_source_by_the_word_of_who_was_not_shown_it(self) -> None:
        there = [known(OAUTH, "Requirement", "OAuth 2.0", priority="high")]
        text = "OAuth 2.0 is high on the list."

        def supported(said: dict[str, Any], *, blind: bool = False) -> list[str]:
            return [each.property for each in merged(text, said, there=there, blind=blind).support]

        by_id = {"id": str(OAUTH), "priority": "high"}
        assert supported(by_id) == ["name"]
        assert supported(by_id, blind=True) == ["name", "priority"]
        assert supported({"type": "Requirement", "name": "OAuth 2.0", "priority": "high"}) == [
            "name",
            "priority",
        ]

    def test_said_again_in_other_words_it_is_an_echo(self) -> None:
        said = {"type": "Requirement", "name": "OAuth 2.0", "description": "Must support OAuth"}
        outcome = merged("Something about OAuth 2.0", said)
        assert [each.property for each in outcome.support] == ["name"]

    def test_another_value_wins(self) -> None:
        outcome = merged("OAuth 2.0 may be supported", {"id": str(OAUTH), "description": "may be supported"})
        assert outcome.updates == (Update(id=OAUTH, properties={"description": "may be supported"}),)

    def test_the_same_name_of_another_type_is_another_object(self) -> None:
        outcome = merged("The OAuth 2.0 team", {"type": "Team", "name": "OAuth 2.0"})
        assert [each.type for each in outcome.objects] == ["Team"]

    def test_two_proposals_for_one_object_become_one(self) -> None:
        outcome = merged(
            "SSO has low priority and takes 5 days",
            {"type": "Requirement", "name": "SSO", "priority": "low"},
            {"type": "Requirement", "name": "sso.", "effort": "5"},
        )
        assert [each.properties for each in outcome.objects] == [{"priority": "low", "effort": 5}]

    def test_properties_beyond_the_schema_keep_one_spelling(self) -> None:
        there = [known(OAUTH, "Requirement", "OAuth 2.0", expiry_date="never")]
        outcome = merged(
            "OAuth 2.0 expires tomorrow", {"id": str(OAUTH), "expiryDate": "tomorrow"}, there=there
        )
        assert outcome.updates == (Update(id=OAUTH, properties={"expiry_date": "tomorrow"}),)

    @pytest.mark.parametrize(
        ("said", "rejected"),
        [
            ({"id": "0190e1d0-0000-7000-8000-00000000ffff", "a": "x"}, ("objects[0]", "unknown_id")),
            ({"id": "obj-123", "type": "Team", "name": "SSO"}, ("objects[0]", "unknown_id")),
            ({"id": str(OAUTH), "type": "Component", "a": "x"}, ("objects[0]", "type_changed")),
            ({"id": str(OAUTH), "name": "OpenID"}, ("objects[0].name", "name_changed")),
            ({"type": "Dragon", "name": "SSO"}, ("objects[0]", "unknown_type")),
            ({"name": "SSO"}, ("objects[0]", "unknown_type")),
            ({"type": "Team"}, ("objects[0]", "bad_name")),
            ({"type": "Team", "name": " … "}, ("objects[0]", "bad_name")),
            ({"type": "Team", "name": "SSO" * 100}, ("objects[0]", "bad_name")),
            ({"type": "Component", "name": "SSO"}, ("objects[0]", "missing_required")),
            ({"type": "Component", "name": "SSO", "version": " "}, ("objects[0]", "missing_required")),
            ({"id": str(ZITADEL), "colour": "red"}, ("objects[0].colour", "unknown_property")),
            ({"id": str(OAUTH), "effort": "much"}, ("objects[0].effort", "wrong_value")),
            ({"id": str(OAUTH), "priority": "medium"}, ("objects[0].priority", "wrong_value")),
            ({"id": str(OAUTH), "x" * 200: "SSO"}, (f"objects[0].{'x' * 100}", "bad_property")),
            ({"id": str(OAUTH), "Type": "SSO"}, ("objects[0].Type", "bad_property")),
        ],
    )
    def test_rejected(self, said: dict[str, Any], rejected: tuple[str, str]) -> None:
        outcome = merged("SSO, OAuth 2.0 and Zitadel IdP in red", said)
        assert reasons(outcome) == [rejected]
        assert outcome.rejections[0].message
        assert changes(outcome) == ()

    def test_one_bad_property_does_not_spoil_the_others(self) -> None:
        outcome = merged(
            "SSO takes 5 days", {"type": "Requirement", "name": "SSO", "effort": 5, "priority": "?"}
        )
        assert reasons(outcome) == [("objects[0].priority", "wrong_value")]
        assert outcome.objects[0].properties == {"effort": 5}

    def test_of_two_values_in_one_reply_the_first_counts(self) -> None:
        outcome = merged(
            "OAuth 2.0", {"id": str(OAUTH), "priority": "low"}, {"id": str(OAUTH), "priority": "high"}
        )
        assert reasons(outcome) == [("objects[1].priority", "contradiction")]
        assert outcome.updates == (Update(id=OAUTH, properties={"priority": "low"}),)

    def test_an_object_of_a_type_that_is_gone_is_left_alone(self) -> None:
        there = [known(OAUTH, "Dragon", "OAuth 2.0")]
        outcome = merged("OAuth 2.0 is 5", {"id": str(OAUTH), "effort": 5}, there=there)
        assert reasons(outcome) == [("objects[0]", "unknown_type")]

    def test_what_could_not_be_read_is_a_rejection_too(self) -> None:
        reply = read_reply('{"objects": ["x", {"type": "Team", "name": "SSO"}, {"type":')
        primary = ChunkText(id=CHUNK, text="SSO")
        outcome = Merged.of(merge(schema=SCHEMA, known=(), primary=primary, context=(), reply=reply), ())
        assert [each.name for each in outcome.objects] == ["SSO"]
        assert ("reply", "cut_off") in reasons(outcome)


def test_every_proposal_of_an_object_that_is_rejected_as_a_whole_is_told() -> None:
    one = {"type": "Component", "name": "SSO"}
    outcome = merged("SSO is there.", one, one)
    assert reasons(outcome) == [("objects[0]", "missing_required"), ("objects[1]", "missing_required")]
