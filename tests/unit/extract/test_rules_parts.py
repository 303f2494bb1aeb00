"""Parts of systems, stories and duties that give themselves away by the sentence they stand in."""

from typing import Any
from uuid import UUID

import pytest

from whence.extract import DEFAULT_SCHEMA, ChunkText, ExtractionContext, propose


def found(text: str, *, headings: tuple[str, ...] = ()) -> dict[str, Any]:
    primary = ChunkText(id=UUID(int=1), text=text, headings=headings)
    return propose(DEFAULT_SCHEMA, ExtractionContext(primary=primary))


def names(text: str, **around: Any) -> list[tuple[str, str]]:
    return [(each["type"], each["name"]) for each in found(text, **around)["objects"]]


def links(text: str) -> list[tuple[str, str, str]]:
    return [(each["type"], each["source"], each["target"]) for each in found(text)["relationships"]]


class TestParts:
    @pytest.mark.parametrize("title", ["Components", "Services", "Modules"])
    def test_two_words_are_enough_below_a_heading_for_them(self, title: str) -> None:
        text = f"## {title}\n\n- **Worker**: runs jobs\n- **Store**: keeps data\n- **Mailer** – sends mail"
        assert found(text)["objects"] == [
            {"type": "Component", "name": "Worker", "description": "runs jobs"},
            {"type": "Component", "name": "Store", "description": "keeps data"},
            {"type": "Component", "name": "Mailer", "description": "sends mail"},
        ]

    @pytest.mark.parametrize("line", ["**Overview**: three parts", "**Worker**: done", "**Note**: see below"])
    def test_what_is_none_there(self, line: str) -> None:
        assert names(f"## Components\n\n- {line}") == []

    @pytest.mark.parametrize(
        "text",
        [
            "The Auth Service issues tokens to clients.",
            "Our Auth Service validates every token.",
            "- The Auth Service never sleeps, and issues tokens.",
            "Login: The Auth Service issues tokens to clients.",
        ],
    )
    def test_a_name_that_ends_like_one_and_does_something(self, text: str) -> None:
        assert ("Component", "Auth Service") in names(text)

    @pytest.mark.parametrize(
        "text",
        [
            "The Customer Service answers calls.",
            "Each Worker processes jobs.",
            "The Civil Service employs people.",
            "The Auth Service.",
            'Between Acme Ltd (the "Customer") and others.\n\nThe Rate Engine computes fees.',
        ],
    )
    def test_what_only_looks_so(self, text: str) -> None:
        assert "Component" not in [type_ for type_, _ in names(text)]

    def test_what_a_team_maintains_and_what_moves_data_is_one(self) -> None:
        text = "The Alert Manager is part of Orbit and is maintained by the SRE Team. The Collector sends events to Kafka."
        assert links(text) == [
            ("part_of", "Alert Manager", "Orbit"),
            ("owns", "SRE Team", "Alert Manager"),
            ("uses", "Collector", "Kafka"),
        ]
        assert set(names(text)) == {
            ("Component", "Alert Manager"),
            ("Component", "Collector"),
            ("Component", "Kafka"),
            ("Organization", "SRE Team"),
            ("System", "Orbit"),
        }

    @pytest.mark.parametrize(
        "text",
        [
            "The Sales Manager is part of the Board.",
            "The Sales Manager sends files to Jane.",
            "The Customer sends data to Oslo.",
            "The Museum is operated by Jane Doe.",
            'Between Acme Ltd (the "Lessor") and others.\n\nThe Premises are maintained by the House Team.',
            "The Seat Cache is part of Phase 2.",
        ],
    )
    def test_who_is_a_person_or_a_party_is_not(self, text: str) -> None:
        assert links(text) == []


class TestStories:
    STORY = "As a customer, I want to pay by card so that I can travel."

    def test_they_need_no_number(self) -> None:
        (story,) = found(f"# User stories\n\n{self.STORY}")["objects"]
        assert story == {"type": "Requirement", "name": self.STORY[:-1], "description": self.STORY}

    @pytest.mark.parametrize(
        "text",
        [
            f"- {STORY}",
            "# User stories\n\nAs a clerk\nI want to see all orders",
            "# User stories\n\n- **As a** clerk **I want** to see all orders",
            "# Product\n\nAs the clerk, I would like to see orders so that nothing waits.",
        ],
    )
    def test_however_they_are_written(self, text: str) -> None:
        assert [type_ for type_, _ in names(text)] == ["Requirement"]

    @pytest.mark.parametrize("text", ["As a child, I wanted to fly.", "As a rule, I want silence."])
    def test_other_prose_is_none(self, text: str) -> None:
        assert names(text) == []


class TestDutiesInCapitals:
    @pytest.mark.parametrize(
        "text",
        [
            "NEITHER PARTY SHALL BE LIABLE FOR INDIRECT DAMAGES.",
            "9.2 NEITHER PARTY SHALL BE LIABLE FOR LOST PROFITS, LOST DATA OR ANY INDIRECT DAMAGES.",
        ],
    )
    def test_of_any_party(self, text: str) -> None:
        (duty,) = found(f"# Contract\n\n{text}")["objects"]
        assert (duty["name"], duty["priority"]) == (text.removeprefix("9.2 ")[:-1], "high")

    def test_of_one_that_is_known(self) -> None:
        text = 'Between Acme Ltd (the "Supplier") and others.\n\nTHE SUPPLIER MAY NOT BE HELD LIABLE FOR ANY LOSS.'
        *_, duty = found(text)["objects"]
        assert (duty["owner"], duty["priority"]) == ("SUPPLIER", "high")

    def test_headings_in_capitals_stay_headings(self) -> None:
        assert names("DEFINITIONS AND DUTIES\n\nTHE CUSTOMER MUST READ.") == []


class TestPeople:
    @pytest.mark.parametrize(
        "text", ["- Helen Carter, CEO, Northwind", "Attendees:\n- Helen Carter, CEO, Northwind"]
    )
    def test_with_a_role_and_an_organization(self, text: str) -> None:
        assert found(text) == {
            "objects": [
                {"type": "Person", "name": "Helen Carter", "role": "CEO", "organization": "Northwind"},
                {"type": "Organization", "name": "Northwind"},
            ],
            "relationships": [{"type": "works_for", "source": "Helen Carter", "target": "Northwind"}],
        }

    def test_who_is_in_the_list_of_a_meeting_takes_part(self) -> None:
        text = "# Board meeting, 3 June 2024\n\n**Participants**\n\n- Helen Carter, CEO, Northwind"
        assert ("takes_part_in", "Helen Carter", "Board meeting, 3 June 2024") in links(text)

    def test_not_within_a_sentence(self) -> None:
        assert names("We met Helen Carter, CEO, Northwind and others.") == [("Person", "Helen Carter")]

    @pytest.mark.parametrize(
        "text", ["Dear Customer Team,", "Hello Support Team,\n\nit works.", "Hi Platform Team!"]
    )
    def test_who_is_addressed_is_no_organization(self, text: str) -> None:
        assert names(text) == []
