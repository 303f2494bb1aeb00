"""Turns each row of a table into an object."""

from collections.abc import Iterable

from whence.offline.rules import word_lists as lists
from whence.offline.rules.findings import Findings, Subject
from whence.offline.rules.people import add_listed_people
from whence.offline.rules.relations import relate_listed
from whence.offline.rules.shapes import bare
from whence.text.tables import Table


def read_rows(table: Table, heading: str, findings: Findings) -> None:
    """Adds one object for each row, if column heads and heading give the type of the rows."""
    heads = [bare(head) for head in table.heads]
    rows = [[bare(cell.replace("\\|", "|")) for cell in row] for row in table.rows]
    column = _name_column(heads, rows, findings)
    names = [row[column] for row in rows if row[column]]
    type_name = findings.vocabulary.type_of_rows(heads, names, heading)
    if type_name is None:
        return
    subjects = [findings.add(type_name, row[column]) for row in rows]
    for row, subject in zip(rows, subjects, strict=True):
        if subject is not None:
            cells = [cell for at, cell in enumerate(zip(heads, row, strict=True)) if at != column]
            _tell_cells(cells, subject, findings)


def _tell_cells(cells: list[tuple[str, str]], subject: Subject, findings: Findings) -> None:
    for head, cell in cells:
        if not any(map(str.isalnum, cell)):
            continue
        add_listed_people(head, cell, findings, owned=subject)
        if relate_listed(subject, head, cell, findings):
            continue
        is_statement = findings.vocabulary.type_named(head) == subject.type
        findings.tell(subject, "description" if is_statement else head, cell, is_additional=True)


def _name_column(heads: list[str], rows: list[list[str]], findings: Findings) -> int:
    """The column with the names: one headed as such, one headed with a type, or the first. Skips columns of plain numbers."""
    by_name = [at for at, head in enumerate(heads) if head.lower() in lists.NAME_HEADS]
    by_type = [at for at, head in enumerate(heads) if findings.vocabulary.type_named(head)]
    candidates = [*by_name, *by_type, *range(len(heads))]
    return next((at for at in candidates if not _are_numbers(row[at] for row in rows)), 0)


def _are_numbers(cells: Iterable[str]) -> bool:
    return not any(any(map(str.isalpha, cell)) for cell in cells)
