"""Rows of a table whose head says what they are: `| ID | Requirement | Priority |`."""

import re

from whence.extract.rules.blocks import Block
from whence.extract.rules.cues import IDENTIFIER
from whence.extract.rules.findings import Findings, Subject
from whence.extract.rules.identifiers import is_usual, prefix_of
from whence.extract.rules.modals import modal_of_any
from whence.extract.rules.people import is_person, people
from whence.extract.rules.place import Place
from whence.extract.rules.shorten import MUST_NOT_END, shortened
from whence.extract.rules.vocabulary import Role
from whence.extract.rules.words import OWNER_KEYS

_IDENTIFIER = re.compile(IDENTIFIER)
_NUMBERS = frozenset(
    [
        "id",
        "#",
        "no",
        "no.",
        "nr",
        "nr.",
        "kennung",
        "number",
        "ref",
        "key",
        "req id",
        "requirement id",
        "identifier",
    ]
)
_WHAT: dict[str, Role] = {
    "requirement": "requirement",
    "requirements": "requirement",
    "anforderung": "requirement",
    "user story": "requirement",
    "story": "requirement",
    "acceptance criterion": "requirement",
    "action": "task",
    "action item": "task",
    "task": "task",
    "decision": "decision",
    "component": "component",
    "service": "component",
    "module": "component",
    "system": "system",
    "term": "concept",
    "word": "concept",
    "abbreviation": "concept",
    "acronym": "concept",
    "name": "person",
    "attendee": "person",
    "participant": "person",
}
_DESCRIBED = frozenset(
    ["description", "definition", "meaning", "purpose", "responsibility", "explanation", "text", "summary"]
)
_SENTENCES: frozenset[Role] = frozenset(["requirement", "task", "decision"])
"""What is named by a number, or else by all that is said of it."""
_WHO_DOES_WHAT = {
    "who": "owner",
    "what": "task",
    "by": "due",
    "by when": "due",
    "when": "due",
    "until": "due",
}
_AT_LEAST = 4
"""Words of a cell that says what is required."""
_DUE = frozenset(["by", "by when", "due", "due date", "deadline", "until"])


def row(block: Block, place: Place, findings: Findings) -> None:
    cells = [(head, cell) for head, cell in _cells(block, place) if any(map(str.isalnum, cell))]
    subject = _subject(cells, place, findings) if cells else None
    if subject is None:
        return
    for head, cell in cells:
        if head not in _NUMBERS and head not in _WHAT:
            findings.tell(subject, "description" if head in _DESCRIBED else head, cell)
            people(head, cell, subject, findings)
    if modal := next((found for _, cell in cells if (found := modal_of_any(cell))), None):
        findings.rank(subject, modal)


def _cells(block: Block, place: Place) -> list[tuple[str, str]]:
    """`| Who | What | By |` is about tasks below a heading for them, or where something is due."""
    cells = [(head.lower(), cell) for head, cell in block.cells]
    heads = {head for head, _ in cells}
    is_due = place.sections.kind in {"actions", "tasks"} or not heads.isdisjoint(_DUE)
    if not is_due or not {"who", "what"} <= heads:
        return cells
    return [(_WHO_DOES_WHAT.get(head, head), cell) for head, cell in cells]


def _subject(cells: list[tuple[str, str]], place: Place, findings: Findings) -> Subject | None:
    number = next((cell for head, cell in cells if head in _NUMBERS and _IDENTIFIER.fullmatch(cell)), None)
    typed = next(((_WHAT[head], cell) for head, cell in cells if head in _WHAT), None)
    if typed is None:
        if number is not None and place.sections.kind == "requirements":
            return findings.add("requirement", number)
        return _numbered(cells, findings)
    role, cell = typed
    if role in _SENTENCES:
        subject = findings.add(role, number or _named(role, cell, cells)) if number or " " in cell else None
        if subject is not None:
            findings.tell(subject, "description", cell)
        return subject
    if role == "person":
        has_role = any(head in {"role", "title", "position", "function"} for head, _ in cells)
        return findings.add("person", cell) if has_role and is_person(cell) else None
    is_explained = any(head in _DESCRIBED for head, _ in cells)
    return findings.add(role, cell) if is_explained else None


def _numbered(cells: list[tuple[str, str]], findings: Findings) -> Subject | None:
    """A row that begins with the identifier of a requirement, whatever its head says, and tells what it is."""
    (_, first), *others = cells
    is_known = _IDENTIFIER.fullmatch(first) and (
        is_usual(prefix_of(first)) or prefix_of(first) in findings.trusted
    )
    said = next((cell for _, cell in others if len(cell.split()) >= _AT_LEAST), None)
    if not is_known or said is None:
        return None
    subject = findings.add("requirement", first)
    if subject is not None:
        findings.entitle(subject, "description", said)
    return subject


def _named(role: Role, said: str, cells: list[tuple[str, str]]) -> str:
    """Who does a task is a part of its name."""
    name = said.rstrip(MUST_NOT_END)
    doer = next((cell for head, cell in cells if head in OWNER_KEYS), "") if role == "task" else ""
    return shortened(f"{name} ({doer})" if doer else name)
