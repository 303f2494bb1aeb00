"""Strict and lenient grounding, confirmations, and what a second reading withdraws."""

from typing import Any
from uuid import UUID

import pytest
from tests.merging import CHUNK, KNOWN, OAUTH, SCHEMA, known, merged, reasons

from whence.extract.context import ChunkText, EarlierClaim, KnownObject
from whence.extract.merge import Outcome, merge
from whence.extract.paraphrase import Sentences
from whence.extract.reply import proposals, read_reply
from whence.extract.schema_reading import read_schema

TEXT = "OAuth 2.0 is the way in. Its tokens end within an hour."


class TestInventedValues:
    @pytest.mark.parametrize(
        "value",
        [
            "48,211",
            48211,
            7,
            "7",
            "Jane Doe",
            "Keycloak",
            "valid for everyone",
            ["48,211"],
            {"n": 7},
            "eBay",
            "two weeks",
            "½",
        ],
    )
    def test_a_digit_a_name_or_three_words_that_no_text_has(self, value: Any) -> None:
        said = {"id": str(OAUTH), "x": value}
        strict, lenient = merged(TEXT, said), merged(TEXT, said, lenient=True)
        assert (reasons(strict), strict.claims) == ([("objects[0].x", "ungrounded")], ())
        assert reasons(lenient) == []
        assert [(each.value, each.span, each.is_grounded) for each in lenient.claims] == [
            (value, None, False)
        ]

    @pytest.mark.parametrize("value", ["high", True, "identity provider"])
    def test_a_common_word_may_be_an_interpretation(self, value: Any) -> None:
        outcome = merged(TEXT, {"id": str(OAUTH), "x": value})
        assert [(each.value, each.span, each.is_grounded) for each in outcome.claims] == [(value, None, True)]

    def test_so_may_a_choice_of_the_schema(self) -> None:
        outcome = merged(TEXT, {"id": str(OAUTH), "priority": "high"})
        assert (reasons(outcome), len(outcome.claims)) == ([], 1)

    @pytest.mark.parametrize(
        ("text", "value", "quote"),
        [
            ("It has 48,211 inhabitants.", 48211, "48,211"),
            ("It began on 15 January 2024.", "2024-01-15", "15 January 2024"),
            ("JANE  DOE owns it.", "Jane Doe", "JANE  DOE"),
            ("It costs 5 million a year.", 5_000_000, "5 million"),
            ("It has 1.5 million users.", "1500000", "1.5 million"),
            ("It draws 55kW.", 55, "55"),
        ],
    )
    def test_other_notations_are_found(self, text: str, value: Any, quote: str) -> None:
        outcome = merged(f"OAuth 2.0. {text}", {"id": str(OAUTH), "x": value})
        assert [each.span and each.span.quote for each in outcome.claims] == [quote]

    def test_of_a_list_only_what_was_invented_is_taken_out(self) -> None:
        outcome = merged(TEXT, {"id": str(OAUTH), "tags": ["way in", "Keycloak"]})
        assert [each.value for each in outcome.claims] == [["way in"]]
        assert reasons(outcome) == [("objects[0].tags", "ungrounded")]
        assert "only the model says 'Keycloak'" in outcome.rejections[0].message

    def test_a_property_of_a_relationship(self) -> None:
        link = {"type": "concerns", "source": "OAuth 2.0", "target": "Zitadel IdP", "since": "2019-01-01"}
        outcome = merged(f"{TEXT} It needs Zitadel IdP.", links=[link])
        assert reasons(outcome) == [("relationships[0].since", "ungrounded")]
        assert [each.properties for each in outcome.relationships] == [{}]

    def test_a_name_of_a_known_object_that_the_chunk_shortens_is_a_reference(self) -> None:
        there = (*KNOWN, known(UUID(int=8), "Team", "Jane Doe"))
        said = {"id": str(OAUTH), "owner": "Jane Doe"}
        assert reasons(merged("Jane owns OAuth 2.0.", said, there=there)) == []
        assert reasons(merged("OAuth 2.0 is hers.", said, there=there)) == [
            ("objects[0].owner", "ungrounded")
        ]


class TestNewObjects:
    @pytest.mark.parametrize("said", [{}, {"end": "within an hour"}])
    def test_a_name_that_the_chunk_does_not_have(self, said: dict[str, Any]) -> None:
        new = {"type": "Team", "name": "Night Watch", **said}
        strict, lenient = merged(TEXT, new), merged(TEXT, new, lenient=True)
        assert (reasons(strict), strict.objects) == ([("objects[0]", "ungrounded")], ())
        assert [(each.property, each.is_grounded) for each in lenient.claims] == [
            ("name", False),
            *((name, True) for name in said),
        ]

    @pytest.mark.parametrize("name", ["Token", "the way in", "OAuth 2.1"])
    def test_words_in_another_form_are_a_name_but_another_number_is_not(self, name: str) -> None:
        outcome = merged(TEXT, {"type": "Team", "name": name})
        assert bool(outcome.objects) == (name != "OAuth 2.1")


class TestParaphrases:
    SAID = "Tokens of the portal must be renewed every 30 days by the Security Team. Nobody may share them."

    @pytest.mark.parametrize(
        ("description", "is_there"),
        [
            ("The Security Team renews portal tokens every 30 days", True),
            ("Tokens must be renewed every 30 days", True),
            ("Tokens must be renewed every 90 days", False),
            ("The Design Team renews portal tokens every 30 days", False),
            ("Tokens need not be renewed every 30 days", False),
            ("Tokens are stored in a vault of the bank", False),
            ("30 days", False),
        ],
    )
    def test_words_figures_names_and_polarity_must_agree(self, description: str, *, is_there: bool) -> None:
        found = Sentences(self.SAID).find(description, about="")
        assert (found and found.text) == (self.SAID.split(" Nobody")[0] if is_there else None)

    def test_the_sentence_is_the_quote(self) -> None:
        said = {"id": str(OAUTH), "description": "OAuth 2.0 tokens expire or end within one hour"}
        outcome = merged("OAuth 2.0 it is. Tokens end or expire within an hour.", said)
        assert [(each.span and each.span.quote, each.is_grounded) for each in outcome.claims] == [
            ("Tokens end or expire within an hour.", True)
        ]


class TestConfirmation:
    """Without a word of the model."""

    def confirmed(self, text: str, **properties: Any) -> list[str]:
        there = [known(OAUTH, "Requirement", "OAuth 2.0", **properties)]
        outcome = merged(text, there=there)
        assert all(each.span and each.span.quote for each in outcome.support)
        return [each.property for each in outcome.support]

    def test_a_name(self) -> None:
        assert self.confirmed("We use oauth 2.0 a lot.") == ["name"]
        assert self.confirmed("We use OAuth a lot.") == []

    @pytest.mark.parametrize(
        ("value", "alone"),
        [
            ("45 minutes", False),
            ("Jane Doe", False),
            ("open", None),
            (5, None),
            (True, None),
            ("as soon as possible", False),
            ("renewed by the security team", True),
            (["Jane Doe", "John Smith"], False),
        ],
    )
    def test_a_specific_value_with_the_name_or_three_content_words(
        self, value: Any, alone: bool | None
    ) -> None:
        words = " and ".join(value) if isinstance(value, list) else f"{value}"
        assert self.confirmed(f"OAuth 2.0: {words}.", x=value) == ["name", *([] if alone is None else ["x"])]
        assert self.confirmed(f"This is {words}.", x=value) == (["x"] if alone else [])

    def test_of_a_list_that_accumulates_the_items_that_are_there(self) -> None:
        there = [known(OAUTH, "Requirement", "OAuth 2.0", x=["Jane Doe", "John Smith"])]
        primary, reply = ChunkText(id=CHUNK, text="OAuth 2.0: Jane Doe."), proposals({"objects": []})
        ((_, found),) = (
            each.properties.values()
            for each in merge(schema=SCHEMA, known=there, primary=primary, context=(), reply=reply).objects
        )
        assert (found.value, found.is_confirmed) == (["Jane Doe"], True)
        assert [each.quote for each in found.elements] == ["Jane Doe"]
        body = {"object_types": {"Requirement": {"properties": {"x": {"type": "array", "merge": "replace"}}}}}
        replaced = merge(schema=read_schema(body), known=there, primary=primary, context=(), reply=reply)
        assert [list(each.properties) for each in replaced.objects] == [["name"]]

    def test_a_word_is_no_name_without_its_capitals_nor_inside_a_longer_name(self) -> None:
        def named(text: str) -> list[str]:
            names = ("Target", "New York", "New York Times")
            there = [known(UUID(int=at), "Team", name) for at, name in enumerate(names)]
            return [each.value for each in merged(text, there=there).support]

        assert named("The target is low.") == []
        assert named("Target is a shop.") == ["Target"]
        assert named("The New York Times wrote so.") == ["New York Times"]
        assert named("The New York Times of new york.") == ["New York", "New York Times"]

    def test_an_object_of_a_type_that_is_gone_is_left_alone(self) -> None:
        assert merged("OAuth 2.0", there=[known(OAUTH, "Dragon", "OAuth 2.0")]).support == ()


class TestReadAgain:
    OWN = known(OAUTH, "Requirement", "OAuth 2.0", priority="high", end="within an hour", owner="Jane Doe")

    def read(
        self,
        *objects: dict[str, Any],
        text: str = TEXT,
        shown: tuple[KnownObject, ...] | None = None,
        **more: Any,
    ) -> Outcome:
        claims = {"name": self.OWN.name, **self.OWN.properties}
        return merge(
            schema=SCHEMA,
            known=[self.OWN],
            shown=shown,
            primary=ChunkText(id=CHUNK, text=text),
            context=(),
            reply=proposals({"objects": list(objects)}),
            earlier=[EarlierClaim(OAUTH, OAUTH, self.OWN.name, *claim) for claim in claims.items()],
            **more,
        )

    def test_what_the_text_has_holds_and_the_rest_is_withdrawn(self) -> None:
        outcome = self.read()
        assert outcome.objects == ()
        assert outcome.withdrawn == ((OAUTH, "priority"), (OAUTH, "owner"))

    def test_an_interpretation_that_is_repeated_holds_but_no_invention(self) -> None:
        said = {"id": str(OAUTH), "priority": "high", "owner": "Jane Doe"}
        assert self.read(said).withdrawn == ((OAUTH, "owner"),)
        assert self.read(said, lenient=True).withdrawn == ()

    def test_another_value_replaces_it(self) -> None:
        outcome = self.read({"id": str(OAUTH), "priority": "low", "end": "an hour"})
        assert [list(each.properties) for each in outcome.objects] == [["priority", "end"]]
        assert outcome.withdrawn == ((OAUTH, "owner"),)

    def test_a_name_in_another_form_holds(self) -> None:
        outcome = self.read(text="OAuth is the way in.")
        assert outcome.withdrawn == ((OAUTH, "priority"), (OAUTH, "end"), (OAUTH, "owner"))

    def test_nothing_is_withdrawn_from_who_was_not_shown_the_object(self) -> None:
        assert self.read(shown=()).withdrawn == ()
        assert self.read(blind=True).withdrawn == ()

    def test_nor_by_a_reply_that_was_cut_off(self) -> None:
        claim = EarlierClaim(OAUTH, OAUTH, self.OWN.name, "priority", "high")
        cut = read_reply('{"objects": [{"type": "Team", "name": "Token"}, {"type":')
        outcome = merge(
            schema=SCHEMA,
            known=[self.OWN],
            primary=ChunkText(id=CHUNK, text=TEXT),
            context=(),
            reply=cut,
            earlier=[claim],
        )
        assert outcome.withdrawn == ()
