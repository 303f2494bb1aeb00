"""What a model was shown of one known object does not become a value of another, unless the primary chunk says so."""

from functools import partial
from typing import Any
from uuid import UUID

import pytest
from tests import merging
from tests.merging import OAUTH, Merged, changes, known, reasons

from whence.extract.schema_reading import read_schema

merged = partial(merging.merged, lenient=True)
"""What only the context has is rejected in lenient projects, too."""

SESSION = known(
    UUID(int=7),
    "Requirement",
    "Session Limit",
    expiration="45 minutes",
    description="Tokens are valid for ninety days at most",
    limits={"port": 8080, "hosts": ["auth one", "auth two"]},
    retries=3,
    state="open",
    owner="Jane Doe",
    since="2024-01-15",
)
OWN = known(OAUTH, "Requirement", "OAuth 2.0", lifetime="20 minutes", tags=["blue ink"])
TEXT = "OAuth 2.0 brings users to the start page."


def said(value: Any, text: str = TEXT, *, by: str = "id", name: str = "x", **more: Any) -> Merged:
    who = {"id": str(OAUTH)} if by == "id" else {"type": "Requirement", "name": "OAuth 2.0"}
    there = (SESSION,) if by == "new" else (OWN, SESSION)
    return merged(text, {**who, name: value}, there=there, **more)


COPIED = [
    "45 minutes",
    "45 MINUTES",
    "ninety days",
    8080,
    "8080",
    "auth two",
    "2024-01-15",
    "Jane Doe",
]


@pytest.mark.parametrize("by", ["id", "name", "new"])
@pytest.mark.parametrize("value", COPIED, ids=repr)
def test_a_specific_value_of_another_object_is_rejected(value: Any, by: str) -> None:
    outcome = said(value, by=by)
    assert reasons(outcome) == [("objects[0].x", "context_only")]
    assert "'Session Limit'" in outcome.rejections[0].message
    assert "x" not in {each.property for each in outcome.claims}


@pytest.mark.parametrize("by", ["id", "name", "new"])
@pytest.mark.parametrize("value", COPIED, ids=repr)
def test_what_the_primary_chunk_says_is_taken_over_whoever_has_it_too(value: Any, by: str) -> None:
    outcome = said(value, f"{TEXT} It is {value}.", by=by)
    assert reasons(outcome) == []
    assert [each.span.quote for each in outcome.claims if each.property == "x" and each.span] == [str(value)]


@pytest.mark.parametrize(
    "value", ["open", 3, "3", True, "thirty minutes", "20 minutes", "blue ink"], ids=repr
)
def test_a_common_word_a_small_number_a_paraphrase_and_the_object_s_own_may_be_said(value: Any) -> None:
    assert reasons(said(value)) == []


def test_nobody_copies_from_what_was_not_shown() -> None:
    assert reasons(said("45 minutes", blind=True)) == []
    assert reasons(said("45 minutes", shown=[OWN])) == []


def test_of_a_list_only_what_was_copied_is_taken_out() -> None:
    outcome = said(["blue ink", "45 minutes", "own words"], name="tags")
    assert [each.properties for each in outcome.updates] == [{"tags": ["own words"]}]
    ((where, message),) = [(each.where, each.message) for each in outcome.rejections]
    assert (where, "'45 minutes'" in message, "'Session Limit'" in message) == ("objects[0].tags", True, True)


def test_an_object_is_rejected_for_one_field() -> None:
    assert reasons(said({"time": "45 minutes", "page": "start page"})) == [("objects[0].x", "context_only")]


ENUM = {"enum": ["level 1", "level 2"]}


@pytest.mark.parametrize(
    ("definition", "value"),
    [
        (ENUM, "level 2"),
        ({"type": "array", "items": ENUM}, ["level 2"]),
        ({"type": "object", "properties": {"of": ENUM}}, {"of": "level 2"}),
        ({"anyOf": [{"type": "integer"}, ENUM]}, "level 2"),
        ({"const": "level 2"}, "level 2"),
    ],
)
def test_one_of_a_few_values_is_chosen_and_not_copied(definition: Any, value: Any) -> None:
    between = {"concerns": {"properties": {"x": definition}}}
    schema = read_schema(
        {"object_types": {"Requirement": {"properties": {"x": definition}}}, "relationship_types": between}
    )
    there = (OWN, known(UUID(int=7), "Requirement", "Session Limit", x=value))
    link = {"type": "concerns", "source": "OAuth 2.0", "target": "Session Limit", "x": value}
    outcome = merged(TEXT, {"id": str(OAUTH), "x": value}, links=[link], there=there, schema=schema)
    assert reasons(outcome) == []


class TestNames:
    """The name of a known object is how others refer to it, not something known of it."""

    JANE = known(UUID(int=8), "Team", "Jane Doe")

    @pytest.mark.parametrize("text", [TEXT, "OAuth 2.0 is hers.", "Jane owns OAuth 2.0."])
    def test_a_reference_is_taken_over(self, text: str) -> None:
        outcome = merged(text, {"id": str(OAUTH), "owner": "Jane Doe"}, there=(OWN, self.JANE))
        assert reasons(outcome) == []
        assert [(each.value, each.span) for each in outcome.claims] == [("Jane Doe", None)]

    @pytest.mark.parametrize(
        ("text", "ends"), [("OAuth 2.0 is hers.", ["context_only"]), ("Jane owns OAuth 2.0.", [])]
    )
    def test_but_not_where_another_object_has_it_and_no_word_of_it_is_there(
        self, text: str, ends: list[str]
    ) -> None:
        outcome = merged(text, {"id": str(OAUTH), "owner": "Jane Doe"}, there=(OWN, self.JANE, SESSION))
        assert [reason for _, reason in reasons(outcome)] == ends


class TestNewObjects:
    def test_of_values_that_were_copied_there_is_none(self) -> None:
        new = {"type": "Requirement", "name": "Timeout", "after": "45 minutes", "kind": "open"}
        outcome = merged("Nothing of the kind.", new, there=(SESSION,))
        assert (reasons(outcome), changes(outcome)) == ([("objects[0]", "context_only")], ())

    @pytest.mark.parametrize("name", ["Session Limit", "auth one", "Jane Doe"])
    def test_nor_of_a_name_that_was(self, name: str) -> None:
        outcome = merged("Nothing of the kind.", {"type": "Team", "name": name}, there=(SESSION,))
        assert (reasons(outcome), changes(outcome)) == ([("objects[0]", "context_only")], ())
        for text in (f"{name} it is.", name.lower()):
            assert merged(text, {"type": "Team", "name": name}, there=(SESSION,)).objects

    def test_a_value_of_the_chunk_speaks_for_it(self) -> None:
        new = {"type": "Team", "name": "auth one", "place": "start page"}
        assert reasons(merged(TEXT, new, there=(SESSION,))) == []


def test_a_property_of_a_relationship() -> None:
    link = {"type": "concerns", "source": "OAuth 2.0", "target": "Session Limit", "why": "for all users"}
    copied = {**link, "why": "ninety days"}
    assert reasons(merged(TEXT, links=[link], there=(OWN, SESSION))) == [
        ("relationships[0].why", "ungrounded")
    ]
    outcome = merged(TEXT, links=[copied], there=(OWN, SESSION))
    assert reasons(outcome) == [("relationships[0].why", "context_only")]
    assert [each.properties for each in outcome.relationships] == [{}]
