"""Priorities in the words of those who write them."""

from typing import Any
from uuid import UUID

import pytest

from whence.extract import (
    DEFAULT_SCHEMA,
    ChunkText,
    ExtractionContext,
    Schema,
    merge,
    proposals,
    propose,
    read_schema,
)


def priority(text: str, schema: Schema = DEFAULT_SCHEMA) -> Any:
    """Of the only requirement there is, once it is merged."""
    primary = ChunkText(id=UUID(int=1), text=text)
    reply = proposals(propose(schema, ExtractionContext(primary=primary)))
    outcome = merge(schema=schema, known=(), primary=primary, context=(), reply=reply, blind=True)
    assert outcome.rejections == ()
    (found,) = outcome.objects
    return found.properties.get("priority")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Must", "high"),
        ("Must have", "high"),
        ("MUST-HAVE", "high"),
        ("Should", "medium"),
        ("Should have", "medium"),
        ("Could", "low"),
        ("could have", "low"),
        ("Won't", "low"),
        ("Won’t have", "low"),
        ("Nice to have", "low"),
        ("P0", "critical"),
        ("P1", "high"),
        ("P2 (Medium)", "medium"),
        ("1 - High", "high"),
        ("3 – Low", "low"),
        ("High (1)", "high"),
        ("Very high", "critical"),
        ("Hoch", "high"),
        ("mittel", "medium"),
        ("Niedrig", "low"),
        ("Soll", "medium"),
        ("Kann", "low"),
        ("Critical", "critical"),
        ("low", "low"),
    ],
)
def test_what_is_plain_becomes_a_value_of_the_schema(said: str, meant: str) -> None:
    row = "| ID | Requirement | Priority | Owner |\n|---|---|---|---|\n"
    assert priority(f"{row}| NFR-4 | Passwords are hashed with Argon2 | {said} | – |") == meant
    assert priority(f"R-5: The system must run. Priority: {said}") == meant
    assert priority(f"## REQ-5\n\nThe system must run.\n\n- Priority: {said}") == meant


@pytest.mark.parametrize("said", ["1", "A", "as soon as we can", "High risk", "M"])
def test_what_is_not_leaves_what_must_stands_for(said: str) -> None:
    assert priority(f"R-5: The system must run. Priority: {said}") == "high"
    assert priority(f"R-5: The system should run. Priority: {said}") == "medium"


def test_a_schema_with_words_of_its_own_has_those() -> None:
    def schema(**definition: Any) -> Schema:
        return read_schema({"object_types": {"Requirement": {"properties": {"priority": definition}}}})

    moscow = schema(enum=["must", "should", "could", "won't"])
    assert priority("R-5: The system must run. Priority: Should have", moscow) == "should"
    assert priority("R-5: The system must run. Priority: Won’t", moscow) == "won't"
    assert priority("R-5: The system must run. Priority: low", moscow) == "could"
    assert priority("R-5: The system must run. Priority: Must have", schema(type="string")) == "Must have"
    assert priority("R-5: The system must run.", schema(type="string")) == "must"
