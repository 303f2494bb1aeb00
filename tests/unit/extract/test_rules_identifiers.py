"""Identifiers of requirements, in whatever language what they identify is written."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest

from whence.extract import (
    DEFAULT_SCHEMA,
    ChunkText,
    ExtractionContext,
    KnownObject,
    name_key,
    propose,
)


def found(
    text: str, *, headings: tuple[str, ...] = (), known: Sequence[KnownObject] = ()
) -> list[dict[str, Any]]:
    primary = ChunkText(id=UUID(int=1), text=text, headings=headings)
    return list(propose(DEFAULT_SCHEMA, ExtractionContext(primary=primary, objects=tuple(known)))["objects"])


def names(text: str, **around: Any) -> list[str]:
    return [each["name"] for each in found(text, **around)]


GERMAN = """\
# Lastenheft

LH-1: Das System muss Aufträge innerhalb von 2 Sekunden annehmen.
LH-2: Das System soll Rechnungen als PDF ausgeben.

| Nr. | Anforderung | Prio |
|---|---|---|
| LH-3 | Ein Benutzer kann sein Kennwort ändern | Hoch |
| LH-4 | Protokolle werden ein Jahr aufbewahrt | – |
"""


def test_a_german_document() -> None:
    assert found(GERMAN) == [
        {
            "type": "Requirement",
            "name": "LH-1",
            "description": "Das System muss Aufträge innerhalb von 2 Sekunden annehmen.",
            "priority": "high",
        },
        {
            "type": "Requirement",
            "name": "LH-2",
            "description": "Das System soll Rechnungen als PDF ausgeben.",
            "priority": "medium",
        },
        {
            "type": "Requirement",
            "name": "LH-3",
            "description": "Ein Benutzer kann sein Kennwort ändern",
            "priority": "high",
        },
        {"type": "Requirement", "name": "LH-4", "description": "Protokolle werden ein Jahr aufbewahrt"},
    ]


@pytest.mark.parametrize(
    ("line", "priority"),
    [
        ("EX-1 : Le système doit chiffrer les données.", "high"),
        ("RF-1: El sistema debe cifrar los datos.", "high"),
        ("RF-1: Il sistema deve cifrare i dati.", "high"),
        ("E-1: Het systeem moet de gegevens versleutelen.", "high"),
        ("A-1: Das Gerät darf nicht ausfallen.", "high"),
        ("REQ-2: Der Kunde darf den Auftrag ändern.", "low"),
        ("REQ-1: Das Gerät muss laufen.", "high"),
    ],
)
def test_a_modal_of_another_language(line: str, priority: str) -> None:
    (one,) = found(line)
    assert one["priority"] == priority


def test_what_one_of_them_is_the_others_are() -> None:
    assert names("LH-1: Das System muss laufen.\nLH-2: Anmeldung mit zwei Faktoren") == ["LH-1", "LH-2"]
    assert names("## LH-1 Anmeldung\n\nDas System muss zwei Faktoren verlangen.") == ["LH-1"]
    assert names("## SEC-7: Password storage\n\nPasswords must be hashed.\n\n## SEC-8: Logs") == [
        "SEC-7",
        "SEC-8",
    ]


def test_without_a_dash_it_takes_two() -> None:
    assert names("LH1: Das System muss laufen.\nLH2: Das System soll leise sein.") == ["LH1", "LH2"]
    assert names("A4: Das Papier muss so groß sein.") == []
    assert names("Q1: We must sell more.\nQ2: We must sell even more.") == []


def test_several_below_a_heading_for_them_need_no_modal() -> None:
    items = "- LH-1: Anmeldung mit zwei Faktoren\n- LH-2: Ausgabe der Rechnungen als PDF"
    assert names(items, headings=("Anforderungen",)) == ["LH-1", "LH-2"]
    assert names(items, headings=("Requirements",)) == ["LH-1", "LH-2"]
    assert names(items, headings=("Changelog",)) == []
    assert names(items) == []


def test_those_that_are_known_speak_for_the_others() -> None:
    known = KnownObject(
        id=UUID(int=5), type="Requirement", name="LH-1", name_key=name_key("LH-1"), properties={}
    )
    assert names("LH-2: Ausgabe der Rechnungen als PDF", known=[known]) == ["LH-2"]
    assert names("XY-2: Ausgabe der Rechnungen als PDF", known=[known]) == []


@pytest.mark.parametrize(
    "text",
    [
        "ISO-9001: The quality of all must be good.\nISO-27001: The security must be good.",
        "COVID-19: Alle müssen zu Hause bleiben.",
        "Figure-3: The system must be seen here.",
        "UTF-8: Text muss so kodiert sein.",
        "## Requirements\n\n- ISO-9001: Quality management of all\n- ISO-27001: Security management of all",
        "- ABC-12: Fix the crash at the start\n- ABC-13: Add a way to go on",
        "| ID | Titel |\n|---|---|\n| ABC-12 | Der Absturz am Anfang ist weg |",
        "| Requirement ID | Test |\n|---|---|\n| REQ-1 | TC-4 |",
        "BUG-7: Die Seite kann nicht geöffnet werden.",
        "CVE-2024: An attacker may read all.",
    ],
)
def test_what_is_no_requirement(text: str) -> None:
    assert names(text) == []
