"""The extractor without a model: what it finds, and that it invents nothing."""

import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.merging import Merged

from whence.extract.context import ChunkText, ExtractionContext, KnownObject
from whence.extract.default_schema import DEFAULT_SCHEMA
from whence.extract.merge import merge
from whence.extract.reply import proposals
from whence.extract.schema import Schema
from whence.extract.schema_reading import read_schema
from whence.offline.rules import propose
from whence.text.names import name_key


def found(
    text: str, schema: Schema = DEFAULT_SCHEMA, known: Sequence[KnownObject] = (), **more: Any
) -> dict[str, Any]:
    primary = ChunkText(id=UUID(int=1), text=text, **more)
    return propose(schema, ExtractionContext(primary=primary, objects=tuple(known)))


def objects(text: str, schema: Schema = DEFAULT_SCHEMA, **more: Any) -> list[dict[str, Any]]:
    return list(found(text, schema, **more)["objects"])


def links(text: str, schema: Schema = DEFAULT_SCHEMA) -> list[tuple[str, str, str]]:
    return [(each["type"], each["source"], each["target"]) for each in found(text, schema)["relationships"]]


def outcome(text: str, known: Sequence[KnownObject] = ()) -> Merged:
    reply = proposals(found(text, known=known))
    primary = ChunkText(id=UUID(int=1), text=text)
    result = merge(schema=DEFAULT_SCHEMA, known=known, primary=primary, context=(), reply=reply, blind=True)
    return Merged.of(result, known)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "- **FR-001**: Users shall log in",
            {"type": "Requirement", "name": "FR-001", "description": "Users shall log in"},
        ),
        (
            "SEC-7 – A key must be revocable.",
            {"type": "Requirement", "name": "SEC-7", "description": "A key must be revocable."},
        ),
        (
            "REQ-1: It works (Priority: low; Status: open).",
            {
                "type": "Requirement",
                "name": "REQ-1",
                "description": "It works",
                "priority": "low",
                "status": "open",
            },
        ),
        (
            "# ADR-7: Use PostgreSQL\n\nStatus: accepted",
            {"type": "Decision", "name": "ADR-7", "description": "Use PostgreSQL", "status": "accepted"},
        ),
        (
            "Requirement: OAuth 2.0\nDeadline: 1 March 2024",
            {"type": "Requirement", "name": "OAuth 2.0", "due": "1 March 2024"},
        ),
        (
            "Component: Web UI\nVersion: 2.4",
            {"type": "Component", "name": "Web UI", "version": "2.4"},
        ),
        (
            "“Card Token” means the string that stands for a card.",
            {"type": "Concept", "name": "Card Token", "description": "the string that stands for a card."},
        ),
        (
            "# Glossary\n\n- Ledger: the list of all bookings",
            {"type": "Concept", "name": "Ledger", "description": "the list of all bookings"},
        ),
        (
            "# Glossary\n\n- Booker – a person who pays",
            {"type": "Concept", "name": "Booker", "description": "a person who pays"},
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
            "# acme-sync\n\nacme-sync is a command-line tool.",
            {"type": "System", "name": "acme-sync", "description": "a command-line tool."},
        ),
        (
            "Anna Berg, head of engineering, opened.",
            {"type": "Person", "name": "Anna Berg", "role": "head of engineering"},
        ),
        ("It was Jane Doe (CTO) who spoke.", {"type": "Person", "name": "Jane Doe", "role": "CTO"}),
        (
            "Jane Doe is a principal engineer at work.",
            {"type": "Person", "name": "Jane Doe", "description": "a principal engineer at work."},
        ),
        (
            "It was bought by Acme Payments Inc. last year.",
            {"type": "Organization", "name": "Acme Payments Inc"},
        ),
        (
            "# Review, 12 March 2024",
            {"type": "Event", "name": "Review, 12 March 2024", "date": "12 March 2024"},
        ),
    ],
)
def test_what_has_a_fixed_form(text: str, expected: dict[str, Any]) -> None:
    assert objects(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "This is a test. It is an example. There is a house. Security is a concern. We are the champions.",
        "# Introduction\n\nThe quick brown fox jumps over the lazy dog.",
        "See REQ-12 and ISO-9001 for more.",
        "ISO-9001: Quality must be managed.",
        "**Note:** this is a long remark about nothing.",
        "```\nREQ-12: The system must not be read from code.\n```",
        "> REQ-12: The system must",
        "Stakeholders: all who read this",
        "Time: 10:30",
        "| Option | Default | Description |\n|---|---|---|\n| size | 12 | how many |",
        "| Method | Path |\n|---|---|\n| GET | /chunks |",
        "| Package | Why |\n|---|---|\n| click | the command line |",
        "Red, green\nblue, yellow",
        "",
        "東京は日本の首都です。",
    ],
)
def test_what_says_nothing_for_certain(text: str) -> None:
    assert found(text) == {"objects": [], "relationships": []}


class TestTables:
    SERVICES = (
        "| Service | Owner | Port | Depends on |\n| --- | --- | --- | --- |\n| Billing API | Jane Doe | 8080 | Ledger, Redis |\n"
        "| Mail \\| Queue | Ops Team | 25 |  |\n| Ledger |  |  |  |\n"
    )

    def test_a_row_is_an_object(self) -> None:
        billing, mail, ledger, *others = objects(self.SERVICES)
        assert billing == {"type": "Component", "name": "Billing API", "owner": "Jane Doe", "Port": "8080"}
        assert mail == {"type": "Component", "name": "Mail | Queue", "owner": "Ops Team", "Port": "25"}
        assert ledger == {"type": "Component", "name": "Ledger"}
        assert [(each["type"], each["name"]) for each in others] == [
            ("Person", "Jane Doe"),
            ("Component", "Redis"),
            ("Organization", "Ops Team"),
        ]

    def test_columns_relate_the_rows(self) -> None:
        assert links(self.SERVICES) == [
            ("owns", "Jane Doe", "Billing API"),
            ("depends_on", "Billing API", "Ledger"),
            ("depends_on", "Billing API", "Redis"),
            ("owns", "Ops Team", "Mail | Queue"),
        ]

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (
                "| ID | Requirement | Prio |\n|--|--|--|\n| REQ-1 | It must work. | high |",
                {"type": "Requirement", "name": "REQ-1", "description": "It must work.", "priority": "high"},
            ),
            (
                "| # | Decision | Why |\n|--|--|--|\n| 1 | Use Kafka | It is there |",
                {"type": "Decision", "name": "Use Kafka", "#": "1", "rationale": "It is there"},
            ),
            (
                "| Name | Role | E-mail |\n|--|--|--|\n| Ann Lee | CTO | ann@acme.example |",
                {"type": "Person", "name": "Ann Lee", "role": "CTO", "email": "ann@acme.example"},
            ),
            (
                "| Term | Meaning |\n|--|--|\n| Ledger | all bookings |",
                {"type": "Concept", "name": "Ledger", "description": "all bookings"},
            ),
            (
                "## Services\n\n| Name | Language |\n|--|--|\n| Kestrel | Go |",
                {"type": "Component", "name": "Kestrel", "technology": "Go"},
            ),
            ("Service,Port\nKestrel,8080", {"type": "Component", "name": "Kestrel", "Port": "8080"}),
            ("Service;Port\nKestrel;8080", {"type": "Component", "name": "Kestrel", "Port": "8080"}),
        ],
    )
    def test_heads_and_heading_say_what_the_rows_are(self, text: str, expected: dict[str, Any]) -> None:
        assert objects(text) == [expected]

    def test_a_schema_of_ones_own(self) -> None:
        schema = read_schema(
            {
                "object_types": {
                    "Dragon": {
                        "properties": {"wing_span": {"type": "number"}, "home": {}},
                        "additional_properties": False,
                    },
                    "Knight": {"properties": {"home": {}}},
                }
            }
        )
        text = "| Name | Wing span | Colour |\n|--|--|--|\n| Smaug | 20 | red |"
        assert objects(text, schema) == [{"type": "Dragon", "name": "Smaug", "wing_span": "20"}]
        assert objects("| Who | Home |\n|--|--|\n| Smaug | Erebor |", schema) == []  # both types have a home
        assert objects("| Knight | Home |\n|--|--|\n| Lancelot | Camelot |", schema) == [
            {"type": "Knight", "name": "Lancelot", "home": "Camelot"}
        ]

    def test_rows_whose_head_is_in_an_earlier_chunk(self) -> None:
        head = "| Service | Port |"
        assert objects("| Web | 80 |\n| Mail | 25 |", table_head=head) == [
            {"type": "Component", "name": "Web", "Port": "80"},
            {"type": "Component", "name": "Mail", "Port": "25"},
        ]
        assert objects("| Web | 80 |") == []

    def test_a_row_that_is_cut_by_the_end_of_its_chunk_is_left_out(self) -> None:
        """The port may be 80 or 8080."""
        head = "Service,Owner,Port"
        chunks = [f"{head}\nWeb,Ann,443\nMail,Bob,80", "80\nNews,Eve,119"]
        first, second = (
            ChunkText(id=UUID(int=at), text=text, table_head=head if at else "")
            for at, text in enumerate(chunks)
        )
        before = propose(DEFAULT_SCHEMA, ExtractionContext(primary=first, next=(second,)))["objects"]
        after = propose(DEFAULT_SCHEMA, ExtractionContext(primary=second, previous=(first,)))["objects"]
        assert [each["name"] for each in (*before, *after)] == ["Web", "News"]

    def test_every_value_is_quoted_from_its_own_row(self) -> None:
        text = "| Service | Port |\n|---|---|\n| Web | 80 |\n| Mail | 80 |\n"
        spans = [each.span for each in outcome(text).claims if each.property == "Port"]
        assert [span.start for span in spans if span] == [text.index("80"), text.rindex("80")]


class TestPeople:
    def test_in_a_list(self) -> None:
        text = "Attendees: Jane Doe (CTO), John Smith and Maria de la Cruz"
        assert [each["name"] for each in objects(text)] == ["Jane Doe", "John Smith", "Maria de la Cruz"]
        assert objects("Attendees: everybody, Jane Doe") == []

    def test_in_a_list_below_a_heading(self) -> None:
        text = "# Review meeting 2024-05-06\n\n**Participants**\n\n- Jane Doe, project lead\n- John Smith"
        assert objects(text)[1:] == [
            {"type": "Person", "name": "Jane Doe", "role": "project lead"},
            {"type": "Person", "name": "John Smith"},
        ]

    def test_who_is_named_as_owner_owns(self) -> None:
        assert links("REQ-1: It works.\n\nOwner: Jane Doe") == [("owns", "Jane Doe", "REQ-1")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "REQ-2: B must hold.\n\n- Depends on: REQ-1\n- Part of: REQ-9",
            [("depends_on", "REQ-2", "REQ-1"), ("part_of", "REQ-2", "REQ-9")],
        ),
        (
            "Service: Order Service\n\nUses: Kafka and Redis",
            [("uses", "Order Service", "Kafka"), ("uses", "Order Service", "Redis")],
        ),
        ("Service: Order Service\n\nDepends on: luck, and more of it", []),
    ],
)
def test_a_key_that_names_a_relationship_relates(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert links(text) == expected


class TestWithOtherSchemas:
    def test_only_what_the_schema_has(self) -> None:
        schema = read_schema({"object_types": {"Dragon": {}}})
        assert objects("REQ-12: The system must encrypt.\nOwner: Jane Doe", schema) == []

    def test_types_and_properties_by_other_names(self) -> None:
        types = [("Obligation", "text"), ("Term", "meaning")]
        schema = read_schema({"object_types": {name: {"properties": {own: {}}} for name, own in types}})
        assert objects("REQ-1: It must work.\n\n“Ledger” means all bookings.", schema) == [
            {"type": "Obligation", "name": "REQ-1", "text": "It must work."},
            {"type": "Term", "name": "Ledger", "meaning": "all bookings."},
        ]

    def test_the_schemas_own_words(self) -> None:
        schema = read_schema(
            {
                "object_types": {"Dragon": {"properties": {"colour": {}}}},
                "relationship_types": {"guarded_by": {"from": ["Dragon"], "to": ["Dragon"]}},
            }
        )
        text = "Dragon: Smaug\nColour: red\nGuarded by: Ancalagon\n\nFafnir is a dragon that sleeps."
        assert found(text, schema) == {
            "objects": [
                {"type": "Dragon", "name": "Smaug", "colour": "red"},
                {"type": "Dragon", "name": "Ancalagon"},
                {"type": "Dragon", "name": "Fafnir"},
            ],
            "relationships": [{"type": "guarded_by", "source": "Smaug", "target": "Ancalagon"}],
        }


class TestWithKnownObjects:
    REQUIREMENT = KnownObject(
        id=UUID(int=5),
        type="Requirement",
        name="REQ-12",
        name_key=name_key("REQ-12"),
        properties={"description": "The system must encrypt data."},
    )

    def test_what_is_said_of_one_comes_with_its_id(self) -> None:
        assert found("### REQ-12\nStatus: done", known=[self.REQUIREMENT])["objects"] == [
            {"id": str(UUID(int=5)), "name": "REQ-12", "status": "done"}
        ]

    def test_what_is_said_again_is_a_second_source(self) -> None:
        result = outcome("REQ-12: The system must encrypt data.\nStatus: done", [self.REQUIREMENT])
        assert [each.property for each in result.claims] == ["status"]
        assert {each.property for each in result.support} == {"name", "description"}

    def test_what_is_known_as_something_else_stays_that(self) -> None:
        ledger = KnownObject(id=UUID(int=6), type="System", name="Ledger", name_key="ledger", properties={})
        assert found("“Ledger” means all bookings.", known=[ledger])["objects"] == [
            {"id": str(UUID(int=6)), "name": "Ledger", "description": "all bookings."}
        ]


DOCUMENT = """\
# Payments

REQ-1: The Checkout Service must answer within 2 seconds.
Owner: Jane Doe

“Card Token” means the string that stands for a card. Kestrel is a service for sensors.

| Service | Owner | Port |
|---|---|---|
| Billing API | John Smith | 8080 |
Service,Owner,Port
Ledger,Ann Lee,99

## Components
### Web UI
# Review meeting 2024-05-06
Attendees: Jane Doe (CTO), John Smith
"""


def test_a_document_goes_through_the_merge_and_every_value_is_quoted() -> None:
    result = outcome(DOCUMENT)
    assert result.rejections == ()
    assert all(each.span for each in result.claims)
    assert {each.type for each in result.objects} == {
        "Component",
        "Concept",
        "Event",
        "Person",
        "Requirement",
    }
    assert [each.type for each in result.relationships] == ["owns", "owns", "owns"]


@given(st.lists(st.sampled_from(DOCUMENT.splitlines()) | st.text(max_size=30)).map("\n".join))
def test_it_is_deterministic_and_says_nothing_that_is_not_in_the_text(text: str) -> None:
    proposed = found(text)
    assert proposed == found(text)
    plain = " ".join(text.split()).replace("\\|", "|")
    for each in proposed["objects"]:
        assert all(value in plain for name, value in each.items() if name != "type")
    names = {each["name"] for each in proposed["objects"]}
    assert all({each["source"], each["target"]} <= names for each in proposed["relationships"])


HOSTILE: dict[str, Callable[[int], str]] = {
    "capitals": lambda size: "A" * size,
    "capital words": lambda size: "Aa " * (size // 3),
    "dots": lambda size: "A.a" * (size // 3),
    "definitions": lambda size: "Aa is a b c d " * (size // 14),
    "pairs in a line": lambda size: "Priority: low. " * (size // 15),
    "bold keys": lambda size: "**a:** " * (size // 7),
    "dashes": lambda size: "**a** - " * (size // 8),
    "brackets": lambda size: "(" * size,
    "identifiers": lambda size: "A-1 " * (size // 4),
    "identified lines": lambda size: "REQ-1: a\n" * (size // 9),
    "people": lambda size: "Aa Bb, head " * (size // 12),
    "lists of people": lambda size: "Owner: " + "Aa Bb, " * (size // 7),
    "organizations": lambda size: "Aa Inc, " * (size // 8),
    "pipes": lambda size: "|" * size,
    "tables": lambda size: "| Service | b |\n|---|---|\n" * (size // 26),
    "rows": lambda size: "| Service | b |\n|---|---|\n" + "| a | b |\n" * (size // 10),
    "commas": lambda size: "Service,Port\n" * (size // 13),
    "lines with commas": lambda size: "aa, bb\n" * (size // 7),
    "headings": lambda size: "# A\n" * (size // 4),
    "deep headings": lambda size: "# A\n## B\n### C\n" * (size // 16),
    "labels": lambda size: "A\n\n" * (size // 3),
    "items": lambda size: "- a\n" * (size // 4),
    "dates": lambda size: "# Review " + "2024-05-06 " * (size // 11),
    "quotes": lambda size: "“a” means " * (size // 10),
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_work_grows_with_the_text_and_no_faster(make: Callable[[int], str]) -> None:
    small, large = (_calls(make(size)) for size in (2_000, 8_000))
    assert large < 6 * small + 1_000


def _calls(text: str) -> int:
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    found(text)  # what is cached is made before
    sys.setprofile(count)
    try:
        found(text)
    finally:
        sys.setprofile(None)
    return calls
