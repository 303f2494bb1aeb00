"""Finds table rows with commas, semicolons or tabs between their cells. Pure.

Most lines of prose have commas. Lines are rows if they have as many cells as their neighbours and if at least half of the
delimiters are neither followed by a space, as in a sentence, nor between digits, as in a number.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

_DELIMITERS = "\t;,"
_CELLS = {
    delimiter: re.compile(rf'(?:^|{delimiter})[ ]*("(?:[^"]|"")*"|[^{delimiter}]*)')
    for delimiter in _DELIMITERS
}
_PARTS = {
    delimiter: re.compile(rf"(?<!\d){delimiter}(?! )|{delimiter}(?![ \d])") for delimiter in _DELIMITERS
}
_LINE = re.compile(r"[^\n]*\n?")
_FEW_CELLS = 2
_LEAST_ROWS = {_FEW_CELLS: 3}
"""Minimum number of rows, by number of cells; otherwise two."""


class Row(NamedTuple):
    start: int
    end: int
    cells: tuple[str, ...]

    @property
    def has_figures(self) -> bool:
        return any(character.isdigit() for cell in self.cells for character in cell)


class Rows(NamedTuple):
    start: int
    end: int
    head: Row | None
    """The first row, if it has no digits and another row has."""
    rows: tuple[Row, ...]


def delimited(text: str) -> list[Rows]:
    """The tables in reading order. Uses the first delimiter that gives any."""
    for delimiter in _DELIMITERS:
        if delimiter in text and (found := list(_tables(text, delimiter))):
            return found
    return []


def _tables(text: str, delimiter: str) -> Iterator[Rows]:
    lines = (_row(line, delimiter) for line in _LINE.finditer(text))
    for count, group in groupby(lines, key=lambda row: len(row.cells)):
        rows = tuple(group)
        if count < _FEW_CELLS or len(rows) < _LEAST_ROWS.get(count, 2):
            continue
        start, end = rows[0].start, rows[-1].end
        if 2 * len(_PARTS[delimiter].findall(text, start, end)) < (count - 1) * len(rows):
            continue
        is_headed = not rows[0].has_figures and any(row.has_figures for row in rows)
        yield Rows(start, end, rows[0] if is_headed else None, rows[1:] if is_headed else rows)


def _row(line: re.Match[str], delimiter: str) -> Row:
    written = line[0].rstrip(" \r\n")
    is_row = delimiter in written and not written[0].isspace()
    found = _CELLS[delimiter].findall(written) if is_row else []
    cells = tuple(" ".join(_unquoted(cell).split()) for cell in found)
    return Row(line.start(), line.start() + len(written), cells)


def _unquoted(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell
