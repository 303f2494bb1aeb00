"""The extractor without a model: rather silent than wrong."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.extract import (
    DEFAULT_SCHEMA,
    ChunkText,
    ExtractionContext,
    KnownObject,
    Outcome,
    Schema,
    merge,
    name_key,
    proposals,
    propose,
    read_schema,
)


def found(text: str, schema: Schema = DEFAULT_SCHEMA, known: Sequence[KnownObject] = ()) -> dict[str, Any]:
    context = ExtractionContext(primary=ChunkText(id=UUID(int=1), text=text), objects=tuple(known))
    return propose(schema, context)


def objects(text: str, schema: Schema = DEFAULT_SCHEMA) -> list[dict[str, Any]]:
    return list(found(text, schema)["objects"])


def links(text: str) -> list[tuple[str, str, str]]:
    return [(each["type"], each["source"], each["target"]) for each in found(text)["relationships"]]


def outcome(text: str, known: Sequence[KnownObject] = ()) -> Outcome:
    reply = proposals(found(text, known=known))
    primary = ChunkText(id=UUID(int=1), text=text)
    return merge(schema=DEFAULT_SCHEMA, known=known, primary=primary, context=(), reply=reply, blind=True)


@pytest.mark.parametrize(
    ("line", "name", "description", "priority"),
    [
        ("REQ-12: The system MUST encrypt data.", "REQ-12", "The system MUST encrypt data.", "high"),
        ("- **FR-001**: Users shall log in", "FR-001", "Users shall log in", "high"),
        ("NFR-3.1 Pages should load in 2 s.", "NFR-3.1", "Pages should load in 2 s.", "medium"),
        ("1. SEC-7 – A key may be revoked.", "SEC-7", "A key may be revoked.", "low"),
    ],
)
def test_requirements_with_an_identifier(line: str, name: str, description: str, priority: str) -> None:
    assert objects(line) == [
        {"type": "Requirement", "name": name, "description": description, "priority": priority}
    ]


def test_each_line_with_an_identifier_is_its_own() -> None:
    text = "REQ-1. The door must open.\nREQ-2. The door must close.\nIt must not squeak."
    assert [each["name"] for each in objects(text)] == ["REQ-1", "REQ-2"]


def test_lines_below_tell_more() -> None:
    text = "- REQ-12: The system must encrypt data.\n  Priority: critical\n  Owner: Jane Doe\n  Deadline: 2024-03-01"
    requirement, person = objects(text)
    assert requirement["priority"] == "critical"
    assert (requirement["owner"], requirement["due"]) == ("Jane Doe", "2024-03-01")
    assert person == {"type": "Person", "name": "Jane Doe"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "“Card Token” means the string that stands for a card.",
            {"type": "Concept", "name": "Card Token", "description": "the string that stands for a card."},
        ),
        (
            "- **Ledger**: the list of all bookings",
            {"type": "Concept", "name": "Ledger", "description": "the list of all bookings"},
        ),
        (
            "Open Authorization (OAuth) is an open standard.",
            {
                "type": "Concept",
                "name": "Open Authorization",
                "description": "an open standard.",
                "abbreviation": "OAuth",
            },
        ),
        (
            "Kestrel is a message gateway for sensors.",
            {"type": "Component", "name": "Kestrel", "description": "a message gateway for sensors."},
        ),
        (
            "Decided: use PostgreSQL because it is transactional.",
            {
                "type": "Decision",
                "name": "use PostgreSQL",
                "rationale": "it is transactional",
                "description": "use PostgreSQL because it is transactional.",
            },
        ),
        (
            "We decided to drop the exporter.",
            {
                "type": "Decision",
                "name": "drop the exporter",
                "description": "We decided to drop the exporter.",
            },
        ),
        ("### Decision 3: API Contract", {"type": "Decision", "name": "API Contract"}),
        (
            "## Payment Gateway\nVersion: 2.4",
            {"type": "Component", "name": "Payment Gateway", "version": "2.4"},
        ),
        (
            "# Kick-off meeting, 12 March 2024",
            {"type": "Event", "name": "Kick-off meeting, 12 March 2024", "date": "12 March 2024"},
        ),
        (
            "Anna Berg, head of engineering, opened.",
            {"type": "Person", "name": "Anna Berg", "role": "head of engineering"},
        ),
        ("It was Jane Doe (CTO) who spoke.", {"type": "Person", "name": "Jane Doe", "role": "CTO"}),
        (
            "It was bought by Acme Payments Inc. last year.",
            {"type": "Organization", "name": "Acme Payments Inc"},
        ),
    ],
)
def test_what_has_a_fixed_form(text: str, expected: dict[str, Any]) -> None:
    assert objects(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "REQ-1: It must work. Priority: low.",
        "REQ-1 It must work. Priority: low.",
        "REQ-1: It must work (Priority: low).",
        "- REQ-1: It must work. Status: open, Priority: low",
        "REQ-1: It must work.\nPriority: low",
    ],
)
def test_a_priority_that_is_given_goes_before_what_must_stands_for(text: str) -> None:
    (requirement,) = objects(text)
    assert requirement["priority"] == "low"
    assert requirement["description"].rstrip(".") == "It must work"


def test_what_a_party_to_a_contract_must_do() -> None:
    text = (
        'Between Acme Shipping Ltd (the "Customer") and others.\n\n2.1 The Customer shall pay within 30 days.'
    )
    _, term, duty = objects(text)
    assert term == {"type": "Concept", "name": "Customer", "description": "Acme Shipping Ltd"}
    assert duty == {
        "type": "Requirement",
        "name": "The Customer shall pay within 30 days",
        "description": "The Customer shall pay within 30 days.",
        "owner": "Customer",
        "priority": "high",
    }
    assert objects("2.1 The Customer shall pay within 30 days.") == []


def test_people_in_a_list() -> None:
    names = [each["name"] for each in objects("Attendees: Jane Doe (CTO), John Smith and Maria de la Cruz")]
    assert names == ["Jane Doe", "John Smith", "Maria de la Cruz"]
    assert objects("Attendees: everybody, Jane Doe") == []
    first, second = objects("Present: Jane Doe (treasurer), Piet de Vries. Excused: John Smith.")
    assert (first["role"], second["name"]) == ("treasurer", "Piet de Vries")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The Checkout Service depends on the Payment Gateway.",
            [("depends_on", "Checkout Service", "Payment Gateway")],
        ),
        (
            "REQ-1: A must hold.\nREQ-2: B must hold.\nREQ-2 depends on REQ-1.",
            [("depends_on", "REQ-2", "REQ-1")],
        ),
        (
            "Owner: Jane Doe\nChair: John Smith\n\nJane Doe reports to John Smith.",
            [("reports_to", "Jane Doe", "John Smith")],
        ),
        (
            "## Order Service\n## Mail Service\n## Stock Service\nThe Order Service uses the Mail Service and the Stock Service.",
            [("uses", "Order Service", "Mail Service"), ("uses", "Order Service", "Stock Service")],
        ),
        (
            "The Order Service shall depend on the Mail Queue and must use the Seat Cache.",
            [("depends_on", "Order Service", "Mail Queue"), ("uses", "Order Service", "Seat Cache")],
        ),
        ("The Seat Cache is used by the Order Service.", [("uses", "Order Service", "Seat Cache")]),
        ("The Seat Cache will be replaced by the Hall Cache.", [("replaces", "Hall Cache", "Seat Cache")]),
        ("The Seat Cache is part of the Order Service.", [("part_of", "Seat Cache", "Order Service")]),
        ("REQ-7 supersedes REQ-5.", [("replaces", "REQ-7", "REQ-5")]),
        ("Jane Doe (CTO) works for Acme.", [("works_for", "Jane Doe", "Acme")]),
        (
            "Jane Doe, head of sales, works for Acme and reports to John Smith.",
            [("works_for", "Jane Doe", "Acme"), ("reports_to", "Jane Doe", "John Smith")],
        ),
        ("Acme Payments Inc is located in Oslo.", [("located_in", "Acme Payments Inc", "Oslo")]),
        (
            "Acme Payments Inc is a company based in New York.",
            [("located_in", "Acme Payments Inc", "New York")],
        ),
        ("Kestrel is a service. It is owned by the Platform Team.", [("owns", "Platform Team", "Kestrel")]),
        ("Kestrel is a service that depends on Redis.", [("depends_on", "Kestrel", "Redis")]),
        (
            "REQ-1: A must hold.\n\nREQ-2: B must hold.\n\n- Depends on: REQ-1\n- Part of: REQ-9",
            [("depends_on", "REQ-2", "REQ-1"), ("part_of", "REQ-2", "REQ-9")],
        ),
        (
            "REQ-1: A must hold. Owner: Jane Doe.",
            [("owns", "Jane Doe", "REQ-1")],
        ),
        (
            "# Review meeting 2024-05-06\nAttendees: Jane Doe",
            [("takes_part_in", "Jane Doe", "Review meeting 2024-05-06")],
        ),
        ("The Order Service must not use the Mail Queue.", []),
        ("The Order Service does not depend on the Mail Queue.", []),
        ("The list of the Order Service is located in Annex 2.", []),
        ("Kestrel is a service and somebody depends on Redis.", []),
        ("Jane reports to work. He works for free. It is based in part on hope.", []),
        ("Everybody depends on somebody.", []),
        ("The Checkout Service depends on luck.", []),
    ],
)
def test_relations_between_what_is_named(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert links(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "This is a test. It is an example. There is a house. Security is a concern. We are the champions.",
        "# Introduction\n\nThe quick brown fox jumps over the lazy dog.",
        "See REQ-12 and ISO-9001 for more.",
        "**Note:** this is a long remark about nothing.",
        "Note: this is a long remark about nothing.",
        "```\nREQ-12: The system must not be read from code.\n```",
        "| REQ-12 | The system must |",
        "> REQ-12: The system must",
        "Time: 10:30",
        "",
        "東京は日本の首都です。",
    ],
)
def test_what_says_nothing_for_certain(text: str) -> None:
    assert found(text) == {"objects": [], "relationships": []}


class TestWithOtherSchemas:
    def test_only_what_the_schema_has(self) -> None:
        schema = read_schema({"object_types": {"Dragon": {}}})
        assert objects("REQ-12: The system must encrypt.\nOwner: Jane Doe", schema) == []

    def test_types_and_properties_by_other_names(self) -> None:
        schema = read_schema(
            {
                "object_types": {
                    "Obligation": {
                        "properties": {"text": {}, "importance": {"enum": ["mandatory", "optional"]}},
                    },
                    "Glossary entry": {
                        "description": "A concept that is explained",
                        "properties": {"meaning": {}},
                    },
                }
            }
        )
        assert objects("REQ-1: It must work.\n\n“Ledger” means all bookings.", schema) == [
            {"type": "Obligation", "name": "REQ-1", "importance": "mandatory", "text": "It must work."},
            {"type": "Glossary entry", "name": "Ledger", "meaning": "all bookings."},
        ]

    def test_a_relation_by_another_name(self) -> None:
        schema = read_schema(
            {"object_types": {"Service": {}}, "relationship_types": {"requires": {"from": ["Service"]}}}
        )
        found_ = found("The Order Service depends on the Mail Service.", schema)
        assert [each["type"] for each in found_["relationships"]] == ["requires"]


class TestWithKnownObjects:
    REQUIREMENT = KnownObject(
        id=UUID(int=5),
        type="Requirement",
        name="REQ-12",
        name_key=name_key("REQ-12"),
        properties={"description": "The system must encrypt data."},
    )

    def test_what_is_said_of_one_comes_with_its_id(self) -> None:
        text = "### REQ-12\nStatus: done"
        assert found(text, known=[self.REQUIREMENT])["objects"] == [
            {"id": str(UUID(int=5)), "name": "REQ-12", "status": "done"}
        ]

    def test_what_is_said_again_beside_something_new_is_a_second_source(self) -> None:
        known = replace(
            self.REQUIREMENT, properties={"description": "The system must encrypt data.", "priority": "high"}
        )
        result = outcome("REQ-12: The system must encrypt data.\nStatus: done", [known])
        assert [each.property for each in result.claims] == ["status"]
        assert {each.property for each in result.support} == {"name", "description", "priority"}

    def test_said_again_it_is_a_second_source(self) -> None:
        known = KnownObject(
            id=UUID(int=6),
            type="Concept",
            name="Ledger",
            name_key="ledger",
            properties={"description": "all bookings"},
        )
        result = outcome("“Ledger” means all bookings", [known])
        assert result.claims == ()
        assert result.objects == ()
        assert result.updates == ()
        assert {each.property for each in result.support} == {"name", "description"}

    def test_what_is_known_as_something_else_stays_that(self) -> None:
        ledger = KnownObject(id=UUID(int=6), type="System", name="Ledger", name_key="ledger", properties={})
        assert found("“Ledger” means all bookings.", known=[ledger])["objects"] == [
            {"id": str(UUID(int=6)), "name": "Ledger", "description": "all bookings."}
        ]

    def test_it_can_be_related(self) -> None:
        text = "## Vault Service\nThe Vault Service satisfies REQ-12."
        assert found(text, known=[self.REQUIREMENT])["relationships"] == [
            {"type": "satisfies", "source": "Vault Service", "target": "REQ-12"}
        ]


DOCUMENT = """\
# Payments

REQ-1: The Checkout Service must answer within 2 seconds.
Owner: Jane Doe

“Card Token” means the string that stands for a card. The Checkout Service depends on the Payment Gateway.

# Review meeting 2024-05-06
Attendees: Jane Doe (CTO), John Smith
Agreed: keep card tokens for 30 days.
"""


def test_a_document_goes_through_the_merge_without_a_rejection() -> None:
    result = outcome(DOCUMENT)
    assert result.rejections == ()
    assert sorted((each.type, each.name) for each in result.objects) == [
        ("Component", "Checkout Service"),
        ("Component", "Payment Gateway"),
        ("Concept", "Card Token"),
        ("Decision", "keep card tokens for 30 days"),
        ("Event", "Review meeting 2024-05-06"),
        ("Person", "Jane Doe"),
        ("Person", "John Smith"),
        ("Requirement", "REQ-1"),
    ]
    assert sorted(each.type for each in result.relationships) == [
        "depends_on",
        "owns",
        "takes_part_in",
        "takes_part_in",
    ]
    # Only a priority that "must" stands for is in no words of the text.
    assert [each.property for each in result.claims if each.span is None] == ["priority"]


@given(st.lists(st.sampled_from(DOCUMENT.splitlines()) | st.text(max_size=30)).map("\n".join))
def test_it_is_deterministic_and_its_reply_can_always_be_merged(text: str) -> None:
    assert found(text) == found(text)
    reasons = {each.reason for each in outcome(text).rejections}
    assert reasons <= {"wrong_value", "wrong_end", "ambiguous_end", "bad_name"}


@pytest.mark.parametrize(
    "text",
    [
        "A" * 10_000,
        "A " * 5_000,
        "A.a" * 3_000,
        "uses " * 2_000,
        "uses A " * 1_500,
        "X is a y based in " * 500,
        "Priority: low. " * 700,
        'Aa Inc ("B" ' * 800,
        "The A shall " * 800,
        "**a:** " * 1_500,
        "(" * 10_000,
        "A-1 " * 2_500,
        "Aa Bb, a " * 1_200,
        "Aa Inc, a b " * 900,
        "If a b, the a " * 800,
        "the system shall " * 700,
        "Aa is a b c d " * 800,
        "Aa and Bb " * 1_000,
        "Aa and " * 1_500 + "to do",
        "stores a in " * 900,
        "|" * 10_000,
        "| a | b |\n|---|---|\n" * 800,
        "A\n\n" * 3_000,
        "A\n- " * 2_500,
        "**a** - " * 1_300,
        "Maintainer: " * 900,
        "The A " * 1_700,
        "The Aa is part of " * 600,
        "THE A SHALL " * 900,
        "As a b " * 1_500,
        "Aa Bb, CEO, " * 900,
        "of the " * 1_500,
    ],
)
def test_hostile_texts_come_to_an_end(text: str) -> None:
    found(text)


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("# Meeting 2024-05-06", "Meeting 2024-05-06"),
        ("# Weekly sync 2024-05-13", "Weekly sync 2024-05-13"),
        ("## Minutes of the project meeting, 2024-05-20", "Minutes of the project meeting, 2024-05-20"),
        ("# Minutes of the board, 14 March 2026", "Minutes of the board, 14 March 2026"),
        ("# Kick-off of Heron (2024-05-06)", "Kick-off of Heron"),
    ],
)
def test_meetings_that_come_again_are_told_apart_by_their_dates(heading: str, name: str) -> None:
    assert [(each["type"], each["name"]) for each in objects(f"{heading}\n\nNothing was decided.")] == [
        ("Event", name)
    ]
