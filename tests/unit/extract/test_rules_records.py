"""Architecture decision records: one decision, with what its sections say."""

from typing import Any
from uuid import UUID

import pytest

from whence.extract import (
    DEFAULT_SCHEMA,
    ChunkText,
    ExtractionContext,
    merge,
    proposals,
    propose,
    read_schema,
)


def found(text: str, *, headings: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    primary = ChunkText(id=UUID(int=1), text=text, headings=headings)
    return list(propose(DEFAULT_SCHEMA, ExtractionContext(primary=primary))["objects"])


def decisions(text: str, *, headings: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    return [each for each in found(text, headings=headings) if each["type"] == "Decision"]


RECORD = """\
# {title}

## Status
{status}
## Context
We need transactions. Nobody knows Oracle.

## Decision
We will use PostgreSQL 16 for everything. We agreed to buy a server.

- One database for each project

## Consequences
Everybody has to learn SQL.
"""
EXPECTED = {
    "type": "Decision",
    "name": "Use PostgreSQL",
    "description": "We will use PostgreSQL 16 for everything.",
    "rationale": "We need transactions.",
    "status": "Accepted",
}


@pytest.mark.parametrize(
    "title",
    [
        "ADR 7: Use PostgreSQL",
        "ADR-007: Use PostgreSQL",
        "ADR-7 – Use PostgreSQL",
        "ADR7. Use PostgreSQL",
        "ADR: Use PostgreSQL",
        "Architecture Decision Record 7: Use PostgreSQL",
        "7. Use PostgreSQL",
        "Use PostgreSQL",
    ],
)
@pytest.mark.parametrize("status", ["Accepted", "\nAccepted\n", "Accepted."])
def test_one_decision_named_by_its_title(title: str, status: str) -> None:
    assert decisions(RECORD.format(title=title, status=status)) == [EXPECTED]


def test_it_goes_through_the_merge() -> None:
    text = RECORD.format(title="ADR 7: Use PostgreSQL", status="Accepted")
    primary = ChunkText(id=UUID(int=1), text=text)
    reply = proposals(propose(DEFAULT_SCHEMA, ExtractionContext(primary=primary)))
    outcome = merge(schema=DEFAULT_SCHEMA, known=(), primary=primary, context=(), reply=reply, blind=True)
    assert outcome.rejections == ()
    assert [each.property for each in outcome.claims if each.span is None] == []


def test_a_reason_that_is_given_goes_before_the_context() -> None:
    text = "# ADR 7: Use PostgreSQL\n\n## Context\n\nWe need a store.\n\n## Decision\n\nWe will use it because it is safe."
    (decision,) = decisions(text)
    assert decision["rationale"] == "it is safe"
    (decision,) = decisions(f"{text}\n\n## Rationale\n\nIt is cheap.")
    assert decision["rationale"] == "it is safe"


def test_pairs_tell_of_it() -> None:
    text = (
        "# ADR 7: Use PostgreSQL\n\n* Status: accepted\n* Date: 2024-05-06\n\n## Decision Outcome\n\n"
        "Chosen option: “PostgreSQL”, because we know it."
    )
    (decision,) = decisions(text)
    assert (decision["status"], decision["date"], decision["rationale"]) == (
        "accepted",
        "2024-05-06",
        "we know it",
    )
    assert decision["description"] == "Chosen option: “PostgreSQL”, because we know it."


def test_so_do_pairs_instead_of_sections() -> None:
    text = "# ADR 7: Use PostgreSQL\n\nStatus: Accepted\nContext: We need transactions.\nDecision: We will use PostgreSQL 16 for everything."
    assert decisions(text) == [EXPECTED]


def test_the_next_record_is_another() -> None:
    one, other = decisions(
        "## ADR 1: Use PostgreSQL\n\n### Decision\n\nWe use it.\n\n## ADR 2: Use Go\n\n### Decision\n\nWe write Go."
    )
    assert (one["description"], other["name"], other["description"]) == (
        "We use it.",
        "Use Go",
        "We write Go.",
    )


def test_it_goes_on_in_the_next_chunk() -> None:
    headings = ("ADR 7: Use PostgreSQL", "Decision")
    text = "## Decision\n\nWe will use PostgreSQL.\n\n## Consequences\n\nWe agreed to replace the old Oracle server."
    first, *others = decisions(text, headings=headings)
    assert first == {"type": "Decision", "name": "Use PostgreSQL", "description": "We will use PostgreSQL."}
    assert [each["name"] for each in others] == ["replace the old Oracle server"]
    (only,) = decisions("We will use PostgreSQL.", headings=headings)
    assert only == first


@pytest.mark.parametrize(
    "text",
    [
        "# Project\n\n## Status\n\nAll is well.\n\n## Context\n\nIt rains.",
        "# ADRs\n\nThere are many of them.",
    ],
)
def test_other_pages_are_none(text: str) -> None:
    assert decisions(text) == []


def test_a_schema_without_decisions_has_none() -> None:
    schema = read_schema({"object_types": {"Concept": {}}})
    text = RECORD.format(title="ADR 7: Use PostgreSQL", status="Accepted")
    primary = ChunkText(id=UUID(int=1), text=text)
    assert propose(schema, ExtractionContext(primary=primary))["objects"] == []
