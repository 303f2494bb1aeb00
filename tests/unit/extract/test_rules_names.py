"""What the rules name things by: different things have different names, and one thing has one."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.extract import DEFAULT_SCHEMA, ChunkText, ExtractionContext, name_key, propose
from whence.extract.rules.shorten import shortened


def found(text: str, *, headings: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    primary = ChunkText(id=UUID(int=1), text=text, headings=headings)
    return list(propose(DEFAULT_SCHEMA, ExtractionContext(primary=primary))["objects"])


def names(text: str, type_: str = "Requirement", *, headings: tuple[str, ...] = ()) -> list[str]:
    return [each["name"] for each in found(text, headings=headings) if each["type"] == type_]


LOGIN = "The system shall write an audit record to the central log store for every {} login of a user."
REPORT = "Provider shall deliver to the head office of Customer in London a complete written report on {}."
PARTIES = 'Between Acme Ltd ("Customer") and Blue Anchor GmbH ("Provider").\n\n'
LONG = (
    "The system shall compare every invoice that is received from a supplier whose address is in the European Union with the orders of the {} "
    "quarter of the year, and tell the accountant in charge of the supplier within thirty (30) days of the receipt."
)


class TestSentences:
    def test_two_that_begin_alike_are_two(self) -> None:
        text = f"- {LOGIN.format('successful')}\n- {LOGIN.format('failed')}"
        assert names(text) == [LOGIN.format("successful")[:-1], LOGIN.format("failed")[:-1]]
        assert names(f"- {LOGIN.format('failed')}") == names(text)[1:]

    def test_so_are_two_duties(self) -> None:
        one, other = REPORT.format("security incidents"), REPORT.format("financial results")
        assert names(f"{PARTIES}{one}\n\n{other}") == [one[:-1], other[:-1]]

    def test_so_are_two_long_ones_that_end_alike_too(self) -> None:
        one, other = names(f"{LONG.format('first')}\n\n{LONG.format('second')}")
        assert name_key(one) != name_key(other)
        head, _, tail = one.partition(" … ")
        assert head == "The system shall compare every invoice that is received from a supplier whose address"
        assert tail.startswith("within thirty (30) days of the receipt [")
        assert names(LONG.format("first")) == [one]

    def test_a_row_without_a_number_is_named_like_a_sentence(self) -> None:
        row = f"| Requirement | Status |\n|---|---|\n| {LONG.format('first')} | open |"
        assert names(row) == names(LONG.format("first"))

    @given(st.text(max_size=400), st.text(max_size=400))
    def test_names_fit_and_differ(self, one: str, other: str) -> None:
        assert len(shortened(one)) <= 200
        assert name_key(one) == name_key(other) or name_key(shortened(one)) != name_key(shortened(other))

    @pytest.mark.parametrize("text", ["x" * 500, "of " * 200, "(a " * 200])
    def test_whatever_it_is(self, text: str) -> None:
        assert 1 < len(shortened(text)) <= 200


class TestEvents:
    @pytest.mark.parametrize(
        "title",
        [
            "Board meeting, 3 June 2024",
            "Architecture workshop (3 June 2024)",
            "Review of Heron, 2024-06-03",
            "Kick-off meeting, 12 March 2024",
            "Product launch, 3 June 2024",
            "Incident 2024-06-03",
            "Quarterly Release, 3 June 2024",
        ],
    )
    def test_what_may_come_again_is_told_apart_by_its_date(self, title: str) -> None:
        (event,) = found(f"# {title}\n\nNothing was decided.")
        assert event["name"] == title
        assert event["date"] in title

    @pytest.mark.parametrize("title", ["Kick-off of Heron", "Release 2.4", "Launch of the Heron Portal"])
    def test_what_comes_once_has_its_name_only(self, title: str) -> None:
        assert names(f"# {title} (2024-05-06)", "Event") == [title]
        assert names(f"# {title}\n\nDate: 2024-05-06", "Event") == [title]

    @pytest.mark.parametrize("title", ["Board meeting", "Architecture workshop", "Conference of the Guild"])
    def test_so_is_what_has_its_date_below(self, title: str) -> None:
        assert names(f"# {title}\n\nDate: 3 June 2024", "Event") == [f"{title}, 3 June 2024"]

    @pytest.mark.parametrize(
        "text",
        ["Meeting: Board\nDate: 3 June 2024", "# Meeting: Board\n\nDate: 3 June 2024"],
    )
    def test_so_is_what_a_pair_names(self, text: str) -> None:
        (event,) = found(text)
        assert (event["name"], event["date"]) == ("Board, 3 June 2024", "3 June 2024")

    def test_a_pair_below_a_meeting_names_no_other(self) -> None:
        assert names("# Minutes\n\nDate: 3 June 2024\nMeeting: Board", "Event") == ["Minutes, 3 June 2024"]


class TestTasks:
    @pytest.mark.parametrize(
        ("line", "name", "owner"),
        [
            ("Anna to send the report", "Anna to send the report", "Anna"),
            ("Bob to send the report", "Bob to send the report", "Bob"),
            ("[ ] Bob: send the report (due 2024-06-30)", "Bob: send the report", "Bob"),
            ("Send the report (Carla)", "Send the report (Carla)", "Carla"),
            ("@Dan: send the report", "Dan: send the report", "Dan"),
            ("TODO @dev update the runbook", "update the runbook (dev)", "dev"),
            ("TODO: @dev update the runbook", "update the runbook (dev)", "dev"),
            ("TODO Update the runbook", "Update the runbook", None),
        ],
    )
    def test_who_does_it_is_a_part_of_the_name(self, line: str, name: str, owner: str | None) -> None:
        (task,) = found(f"## Action items\n\n- {line}")
        assert (task["name"], task.get("owner")) == (name, owner)

    def test_also_in_a_row(self) -> None:
        text = "| Action | Owner |\n|---|---|\n| Send the report | Anna |\n| Send the report | Bob |\n| Go on leave | |"
        assert names(text) == ["Send the report (Anna)", "Send the report (Bob)", "Go on leave"]
