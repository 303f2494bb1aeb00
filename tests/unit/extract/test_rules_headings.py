"""What stands below a heading with an identifier belongs to what it identifies."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest

from whence.extract import (
    DEFAULT_SCHEMA,
    ChunkText,
    ExtractionContext,
    KnownObject,
    Outcome,
    merge,
    name_key,
    proposals,
    propose,
)


def found(text: str, *, headings: tuple[str, ...] = (), known: Sequence[KnownObject] = ()) -> dict[str, Any]:
    primary = ChunkText(id=UUID(int=1), text=text, headings=headings)
    return propose(DEFAULT_SCHEMA, ExtractionContext(primary=primary, objects=tuple(known)))


def objects(text: str, type_: str = "Requirement", **around: Any) -> list[dict[str, Any]]:
    return [each for each in found(text, **around)["objects"] if each.get("type", type_) == type_]


def links(text: str, **around: Any) -> list[tuple[str, str, str]]:
    return [(each["type"], each["source"], each["target"]) for each in found(text, **around)["relationships"]]


def merged(text: str, *, headings: tuple[str, ...], known: Sequence[KnownObject] = ()) -> Outcome:
    primary = ChunkText(id=UUID(int=1), text=text, headings=headings)
    reply = proposals(found(text, headings=headings, known=known))
    return merge(schema=DEFAULT_SCHEMA, known=known, primary=primary, context=(), reply=reply, blind=True)


SENTENCE = "Users must be able to enable two-factor authentication in their profile."
PAIRS = "- Priority: Low\n- Owner: Jane Doe\n- Depends on: REQ-102"
SPECIFICATION = f"""\
# Portal: requirements

## REQ-101: Two-factor authentication
{SENTENCE} The system shall ask for the code once a day.
{PAIRS}

## REQ-102: Profile page

The profile page shows who is logged in.

### Acceptance criteria

- The page must open within 2 seconds.
- Status: open

## Other demands

The system shall be up.
"""


class TestRequirements:
    def test_sentences_lists_and_pairs_below_tell_more_of_it(self) -> None:
        first, second, third = objects(SPECIFICATION)
        assert first == {
            "type": "Requirement",
            "name": "REQ-101",
            "description": SENTENCE,
            "priority": "Low",
            "owner": "Jane Doe",
        }
        assert (second["name"], second["status"], second["priority"]) == ("REQ-102", "open", "high")
        assert second["description"] == "The page must open within 2 seconds."
        assert third["name"] == "The system shall be up"
        assert links(SPECIFICATION) == [
            ("owns", "Jane Doe", "REQ-101"),
            ("depends_on", "REQ-101", "REQ-102"),
        ]

    def test_without_such_a_sentence_the_title_describes_it(self) -> None:
        (one,) = objects("## REQ-101: Two-factor authentication\n\nBy SMS.\n\n- Owner: Jane Doe")
        assert one["description"] == "Two-factor authentication"

    def test_a_title_that_demands_something_describes_it(self) -> None:
        (one,) = objects("## REQ-101: Doors must open\n\nA door should be of wood.")
        assert (one["description"], one["priority"]) == ("Doors must open", "high")

    @pytest.mark.parametrize(
        "line", ["REQ-101: Two-factor authentication", "**REQ-101** Two-factor authentication"]
    )
    def test_a_line_of_its_own_is_like_a_heading(self, line: str) -> None:
        text = f"# Requirements\n\n{line}\n\n{SENTENCE}\n\n{PAIRS}"
        one, other = objects(text)
        assert (one["name"], one["description"], one["priority"]) == ("REQ-101", SENTENCE, "Low")
        assert other == {"type": "Requirement", "name": "REQ-102"}
        assert ("depends_on", "REQ-101", "REQ-102") in links(text)

    def test_an_item_of_a_list_is_not(self) -> None:
        text = f"# Requirements\n\n- US-1: Log in by e-mail today\n\n{SENTENCE}"
        assert [each["name"] for each in objects(text)] == ["US-1", SENTENCE[:-1]]

    def test_nor_is_one_of_several_lines(self) -> None:
        text = "REQ-1: Login\nREQ-2: Logout\nREQ-3: Password reset\n\nThe system shall be fast."
        assert [(each["name"], each["description"]) for each in objects(text)] == [
            ("REQ-1", "Login"),
            ("REQ-2", "Logout"),
            ("REQ-3", "Password reset"),
            ("The system shall be fast", "The system shall be fast."),
        ]

    def test_it_goes_on_in_the_next_chunk(self) -> None:
        headings = ("Portal: requirements", "REQ-101: Two-factor authentication")
        one, _ = objects(f"{SENTENCE}\n{PAIRS}", headings=headings)
        assert (one["name"], one["description"], one["priority"]) == ("REQ-101", SENTENCE, "Low")
        assert ("depends_on", "REQ-101", "REQ-102") in links(PAIRS, headings=headings)
        assert merged(f"{SENTENCE}\n{PAIRS}", headings=headings).rejections == ()

    def test_also_below_a_heading_of_its_own(self) -> None:
        headings = ("Portal", "REQ-101: Two-factor authentication", "Notes")
        text = f"### Notes\n\n{SENTENCE}\n\n## Other demands\n\nThe system shall be up."
        assert [each["name"] for each in objects(text, headings=headings)] == [
            "REQ-101",
            "The system shall be up",
        ]

    def test_where_nothing_is_told_of_it_nothing_is_found(self) -> None:
        assert objects("It is hot.", headings=("REQ-101: Two-factor authentication",)) == []

    def test_what_is_known_is_told_more(self) -> None:
        known = KnownObject(
            id=UUID(int=5), type="Requirement", name="REQ-101", name_key=name_key("REQ-101"), properties={}
        )
        outcome = merged("- Status: open", headings=("REQ-101: Two factors",), known=[known])
        assert [(each.id, each.properties) for each in outcome.updates] == [(UUID(int=5), {"status": "open"})]
