"""Merging: the user's OAuth example, each way to be rejected, and what is always true."""

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.extract import (
    ChunkText,
    KnownObject,
    ObjectKey,
    Outcome,
    Schema,
    Update,
    merge,
    name_key,
    proposals,
    read_reply,
    read_schema,
)

SCHEMA = read_schema(
    {
        "object_types": {
            "Requirement": {
                "properties": {
                    "description": {"type": "string"},
                    "priority": {"enum": ["low", "high"]},
                    "effort": {"type": "integer"},
                }
            },
            "Component": {"properties": {"version": {"required": True}}, "additional_properties": False},
            "Team": {},
        },
        "relationship_types": {
            "depends_on": {"from": ["Requirement"], "to": ["Component"]},
            "concerns": {"properties": {"since": {"format": "date"}}},
            "owned_by": {"properties": {"share": {"type": "number", "required": True}}},
        },
    }
)
OAUTH = UUID("0190e1d0-0000-7000-8000-000000000001")
ZITADEL = UUID("0190e1d0-0000-7000-8000-000000000002")
CHUNK = UUID("0190e1d0-0000-7000-8000-00000000000c")


def known(id_: UUID, type_: str, name: str, **properties: Any) -> KnownObject:
    return KnownObject(id=id_, type=type_, name=name, name_key=name_key(name), properties=properties)


KNOWN = (
    known(OAUTH, "Requirement", "OAuth 2.0", description="Must support OAuth"),
    known(ZITADEL, "Component", "Zitadel IdP", version="2.x"),
)


def merged(
    text: str,
    *objects: dict[str, Any],
    links: Sequence[dict[str, Any]] = (),
    there: Sequence[KnownObject] = KNOWN,
    context: Sequence[str] = (),
    schema: Schema = SCHEMA,
    blind: bool = False,
) -> Outcome:
    reply = proposals({"objects": list(objects), "relationships": list(links)})
    primary = ChunkText(id=CHUNK, text=text)
    return merge(schema=schema, known=there, primary=primary, context=context, reply=reply, blind=blind)


def reasons(outcome: Outcome) -> list[tuple[str, str]]:
    return [(each.where, each.reason) for each in outcome.rejections]


def changes(outcome: Outcome) -> tuple[object, ...]:
    return (*outcome.objects, *outcome.updates, *outcome.claims)


def applied(there: Sequence[KnownObject], outcome: Outcome) -> list[KnownObject]:
    """What the graph has afterwards, with ids that follow from the keys."""
    changes = {each.id: each.properties for each in outcome.updates}
    kept = [
        known(each.id, each.type, each.name, **{**each.properties, **changes.get(each.id, {})})
        for each in there
    ]
    fresh = [
        known(UUID(int=1000 + len(there) + at), each.type, each.name, **each.properties)
        for at, each in enumerate(outcome.objects)
    ]
    return kept + fresh


class TestTheExampleOfTheUser:
    def test_chunk_1_creates(self) -> None:
        said = {"type": "Requirement", "name": "OAuth 2.0", "description": "Must support OAuth"}
        outcome = merged("The API must support OAuth 2.0. It Must support OAuth everywhere.", said, there=())
        assert [(each.type, each.name, each.properties) for each in outcome.objects] == [
            ("Requirement", "OAuth 2.0", {"description": "Must support OAuth"})
        ]
        assert [(each.property, each.operation) for each in outcome.claims] == [
            ("name", "created"),
            ("description", "created"),
        ]
        assert {each.object for each in outcome.claims} == {ObjectKey("Requirement", "oauth 2.0")}

    def test_chunk_5_adds_only_what_is_new(self) -> None:
        outcome = merged("OAuth tokens must expire within 1 hour", {"id": str(OAUTH), "expiration": "1 hour"})
        assert outcome.objects == ()
        assert outcome.updates == (Update(id=OAUTH, properties={"expiration": "1 hour"}),)
        claim = outcome.claims[0]
        assert (claim.object, claim.property, claim.value, claim.operation) == (
            OAUTH,
            "expiration",
            "1 hour",
            "updated",
        )
        assert claim.span is not None
        assert (claim.span.quote, claim.span.start, claim.span.end) == ("1 hour", 32, 38)

    def test_chunk_8_says_nothing(self) -> None:
        assert merged("OAuth 2.0 was discussed.") == Outcome()

    def test_an_echo_of_what_the_chunk_does_not_say_counts_for_nothing(self) -> None:
        echo = {"id": str(OAUTH), "type": "Requirement", "description": "must support OAuth."}
        assert merged("OAuth 2.0 was discussed.", echo) == Outcome(echoes=1)

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
        assert relationship.source == ObjectKey("Requirement", "token expiry")
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
        assert [(each.object, each.property, each.operation) for each in outcome.support] == [
            (OAUTH, "name", "updated"),
            (OAUTH, "description", "updated"),
        ]
        assert all(each.span for each in outcome.support)

    def test_said_again_with_its_id_it_is_a_second_source_too(self) -> None:
        said = {"id": str(OAUTH), "name": "oauth 2.0", "description": "must support OAuth.", "effort": 3}
        outcome = merged("OAuth 2.0: Must support OAuth, in 3 days", said)
        assert outcome.updates == (Update(id=OAUTH, properties={"effort": 3}),)
        assert [(each.property, each.value) for each in outcome.support] == [
            ("name", "OAuth 2.0"),
            ("description", "Must support OAuth"),
        ]
        assert outcome.echoes == 0

    def test_a_name_that_the_reply_does_not_say_is_not_supported(self) -> None:
        outcome = merged("OAuth 2.0 takes 3 days", {"id": str(OAUTH), "effort": 3})
        assert outcome.support == ()

    def test_another_name_is_not_supported(self) -> None:
        outcome = merged("OAuth 2.0 and OpenID", {"id": str(OAUTH), "name": "OpenID"})
        assert outcome.support == ()

    def test_a_paraphrase_by_who_does_not_see_what_is_known_is_a_second_source(self) -> None:
        there = [known(OAUTH, "Requirement", "OAuth 2.0", priority="high")]
        said = {"id": str(OAUTH), "priority": "high"}
        blind = merged("OAuth 2.0 must be there.", said, there=there, blind=True)
        assert [(each.property, each.span) for each in blind.support] == [("priority", None)]
        assert merged("OAuth 2.0 must be there.", said, there=there) == Outcome(echoes=1)

    def test_said_again_in_other_words_it_is_an_echo(self) -> None:
        said = {"type": "Requirement", "name": "OAuth 2.0", "description": "Must support OAuth"}
        outcome = merged("Something about OAuth 2.0", said)
        assert [each.property for each in outcome.support] == ["name"]
        assert outcome.echoes == 1

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
            ({"type": "Team", "name": "Nowhere to be found"}, ("objects[0]", "ungrounded")),
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
        outcome = merge(schema=SCHEMA, known=(), primary=primary, context=(), reply=reply)
        assert [each.name for each in outcome.objects] == ["SSO"]
        assert ("reply", "cut_off") in reasons(outcome)


class TestGrounding:
    """The six rules, one after the other."""

    AROUND = ("Earlier, Payment Gateway was chosen; it takes 9 days.",)

    def test_1_a_value_in_the_primary_chunk(self) -> None:
        outcome = merged("It takes 9 days.", {"id": str(OAUTH), "effort": 9}, context=self.AROUND)
        assert outcome.claims[0].span is not None

    def test_2_a_paraphrase_about_a_name_in_the_primary_chunk(self) -> None:
        outcome = merged("OAuth 2.0 really matters.", {"id": str(OAUTH), "priority": "high"})
        assert outcome.claims[0].span is None

    def test_3_a_value_that_only_the_context_has(self) -> None:
        outcome = merged("Nothing of the kind.", {"id": str(OAUTH), "effort": 9}, context=self.AROUND)
        assert reasons(outcome) == [("objects[0].effort", "context_only")]
        assert outcome.updates == ()

    def test_4_a_paraphrase_beside_a_value_in_the_primary_chunk(self) -> None:
        said = {"id": str(OAUTH), "effort": 3, "description": "Quickly done"}
        outcome = merged("It takes 3 days.", said)
        assert [(each.property, each.span is None) for each in outcome.claims] == [
            ("effort", False),
            ("description", True),
        ]

    def test_5_a_name_that_only_the_context_has(self) -> None:
        outcome = merged("Nothing.", {"type": "Team", "name": "Payment Gateway"}, context=self.AROUND)
        assert reasons(outcome) == [("objects[0]", "context_only")]

    def test_5_a_paraphrase_about_a_name_that_only_the_context_has(self) -> None:
        there = [known(OAUTH, "Requirement", "Payment Gateway")]
        outcome = merged("Nothing.", {"id": str(OAUTH), "priority": "low"}, context=self.AROUND, there=there)
        assert reasons(outcome) == [("objects[0].priority", "context_only")]

    def test_6_nothing_anywhere(self) -> None:
        outcome = merged("Nothing.", {"id": str(OAUTH), "priority": "low"})
        assert reasons(outcome) == [("objects[0].priority", "ungrounded")]

    def test_a_new_object_without_its_grounded_properties_may_lack_what_is_required(self) -> None:
        said = {"type": "Component", "name": "Vault", "version": "7.7"}
        assert merged("Vault is used.", said).objects
        outcome = merged("In version 7.7", said, context=["Vault"])
        assert reasons(outcome) == [("objects[0]", "context_only")]


class TestRelationships:
    TEXT = "OAuth 2.0 needs Zitadel IdP and SSO"
    SSO: ClassVar[dict[str, Any]] = {"type": "Team", "name": "SSO"}

    def linked(self, text: str = TEXT, **link: Any) -> Outcome:
        return merged(text, self.SSO, links=[link])

    @pytest.mark.parametrize("source", [str(OAUTH), str(OAUTH).upper(), "OAuth 2.0", "oauth 2.0."])
    def test_an_end_is_an_id_or_a_name(self, source: str) -> None:
        outcome = self.linked(type="Depends On", source=source, target="Zitadel IdP")
        assert [(each.type, each.source, each.target) for each in outcome.relationships] == [
            ("depends_on", OAUTH, ZITADEL)
        ]

    @pytest.mark.parametrize(
        ("link", "reason"),
        [
            ({"type": "loves", "source": "SSO", "target": "OAuth 2.0"}, "unknown_type"),
            ({"type": "concerns", "source": "SSO", "target": "Nobody"}, "unknown_end"),
            (
                {"type": "concerns", "source": "0190e1d0-0000-7000-8000-00000000ffff", "target": "SSO"},
                "unknown_end",
            ),
            ({"type": "depends_on", "source": "Zitadel IdP", "target": "OAuth 2.0"}, "wrong_end"),
            ({"type": "depends_on", "source": "OAuth 2.0", "target": "SSO"}, "wrong_end"),
            ({"type": "concerns", "source": "SSO", "target": "sso"}, "self_relationship"),
            ({"type": "owned_by", "source": "SSO", "target": "OAuth 2.0"}, "missing_required"),
        ],
    )
    def test_rejected(self, link: dict[str, Any], reason: str) -> None:
        outcome = self.linked(**link)
        assert reasons(outcome) == [("relationships[0]", reason)]
        assert outcome.relationships == ()

    def test_a_bad_property_is_left_out(self) -> None:
        outcome = self.linked(type="concerns", source="SSO", target="OAuth 2.0", since="once", why="x")
        assert reasons(outcome) == [("relationships[0].since", "wrong_value")]
        assert outcome.relationships[0].properties == {"why": "x"}

    def test_said_twice_it_is_one(self) -> None:
        link = {"type": "concerns", "source": "SSO", "target": "OAuth 2.0"}
        assert len(merged(self.TEXT, self.SSO, links=[link, link]).relationships) == 1

    def test_of_two_with_one_name_the_type_decides(self) -> None:
        there = [*KNOWN, known(UUID(int=7), "Team", "Zitadel IdP")]
        link = {"type": "depends_on", "source": "OAuth 2.0", "target": "Zitadel IdP"}
        assert merged(self.TEXT, links=[link], there=there).relationships[0].target == ZITADEL

    def test_where_the_type_does_not_decide_it_is_ambiguous(self) -> None:
        there = [*KNOWN, known(UUID(int=7), "Team", "Zitadel IdP")]
        link = {"type": "concerns", "source": "OAuth 2.0", "target": "Zitadel IdP"}
        assert reasons(merged(self.TEXT, links=[link], there=there)) == [
            ("relationships[0]", "ambiguous_end")
        ]

    def test_two_known_objects_of_which_only_the_context_speaks(self) -> None:
        link = {"type": "depends_on", "source": str(OAUTH), "target": str(ZITADEL)}
        outcome = merged("Nothing here.", links=[link], context=["OAuth 2.0"])
        assert reasons(outcome) == [("relationships[0]", "context_only")]
        assert reasons(merged("Nothing here.", links=[link])) == [("relationships[0]", "ungrounded")]


_NAMES = st.sampled_from(["OAuth 2.0", "oauth 2.0.", "Zitadel IdP", "SSO", "Vault", "Nowhere", ""])
_VALUES = st.sampled_from(
    ["1 hour", "high", "low", "5", 5, "red", None, ["1 hour", "red"], "something else", True]
)
_OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from([str(OAUTH), str(ZITADEL), "obj-1"]),
        "type": st.sampled_from(["Requirement", "component", "Team", "Dragon"]),
        "name": _NAMES,
        "description": _VALUES,
        "priority": _VALUES,
        "effort": _VALUES,
        "version": _VALUES,
        "other thing": _VALUES,
        "otherThing": _VALUES,
    },
)
_LINKS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["depends_on", "concerns", "owned_by"]),
        "source": _NAMES | st.just(str(OAUTH)),
        "target": _NAMES | st.just(str(ZITADEL)),
    }
)
_CASES = st.fixed_dictionaries(
    {
        "objects": st.lists(_OBJECTS, max_size=5),
        "links": st.lists(_LINKS, max_size=4),
        "text": st.lists(
            st.sampled_from(["OAuth 2.0", "SSO", "vault", "1 hour", "high", "5", "red", "…"])
        ).map(" ".join),
        "context": st.lists(st.sampled_from(["Vault takes 1 hour", "Zitadel IdP low", "SSO"]), max_size=2),
    }
)


def outcome_of(case: dict[str, Any], there: Sequence[KnownObject] = KNOWN) -> Outcome:
    return merged(case["text"], *case["objects"], links=case["links"], context=case["context"], there=there)


@given(_CASES)
def test_the_same_reply_gives_the_same_outcome(case: dict[str, Any]) -> None:
    assert outcome_of(case) == outcome_of(case)


@given(_CASES)
def test_every_quote_is_a_slice_of_the_primary_chunk(case: dict[str, Any]) -> None:
    outcome = outcome_of(case)
    spans = [
        *(each.span for each in (*outcome.claims, *outcome.support)),
        *(each.span for each in outcome.relationships),
    ]
    for span in spans:
        if span is not None:
            assert case["text"][span.start : span.end] == span.quote


@given(_CASES)
def test_every_property_that_is_taken_over_has_its_claim(case: dict[str, Any]) -> None:
    outcome = outcome_of(case)
    new = {(each.ref, name) for each in outcome.objects for name in ("name", *each.properties)}
    more = {(each.id, name) for each in outcome.updates for name in each.properties}
    claims = [(each.object, each.property) for each in outcome.claims]
    assert len(claims) == len(set(claims))
    assert set(claims) == new | more


@given(_CASES)
def test_a_second_time_changes_nothing(case: dict[str, Any]) -> None:
    after = applied(KNOWN, outcome_of(case))
    again = outcome_of(case, after)
    assert changes(again) == ()


@given(_CASES)
def test_an_echo_of_everything_changes_nothing(case: dict[str, Any]) -> None:
    there = applied(KNOWN, outcome_of(case))
    echoes = [{"id": str(each.id), "type": each.type, "name": each.name, **each.properties} for each in there]
    outcome = merged(case["text"], *echoes, there=there, context=case["context"])
    assert changes(outcome) == ()
    assert outcome.rejections == ()
    names = {each.id: {"name": each.name, **each.properties} for each in there}
    for each in outcome.support:
        assert isinstance(each.object, UUID)
        assert each.value == names[each.object][each.property]
        assert each.span is not None
    properties = sum(len(each.properties) for each in there)
    assert outcome.echoes + sum(each.property != "name" for each in outcome.support) == properties


@given(_CASES)
def test_the_ends_of_a_relationship_are_there_and_allowed(case: dict[str, Any]) -> None:
    outcome = outcome_of(case)
    types: dict[Any, str] = {each.id: each.type for each in KNOWN} | {
        each.ref: each.type for each in outcome.objects
    }
    for each in outcome.relationships:
        kind = SCHEMA.relationship_types[each.type]
        assert kind.may_start_from(types[each.source])
        assert kind.may_lead_to(types[each.target])
