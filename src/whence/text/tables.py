"""Reads tables: markdown rows (the parsers' form of sheets and Word tables) and comma-, semicolon- or tab-separated lines. Pure.

A chunk may begin in the middle of a table. `table_heads` finds the head of its rows.

Most lines of prose have commas. `delimited_tables` takes lines for rows if they have as many cells as their neighbours and if at
least half of the delimiters are neither followed by a space, as in a sentence, nor between digits, as in a number.
"""

import csv
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

_LONGEST_ROW = 4_000
_LONGEST_HEAD = 40
_LEAST_COLUMNS = 2
_DELIMITERS = "\t;,"
_RULE = re.compile(r"[\s|:-]*-[\s|:-]*")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_CELL_END = re.compile(r"(?<!\\)\|")
_NO_PROSE = {
    delimiter: re.compile(rf"(?<!\d){delimiter}(?! )|{delimiter}(?![ \d])") for delimiter in _DELIMITERS
}
_LEAST_ROWS = {1: sys.maxsize, 2: 3}
"""Minimum number of rows, by number of cells; otherwise two."""

Cells = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    heads: Cells
    rows: tuple[Cells, ...]
    """Each row has as many cells as there are heads."""
    end: int
    """Index of the first line after the table."""


class Row(NamedTuple):
    start: int
    end: int
    cells: Cells

    @property
    def has_figures(self) -> bool:
        return any(character.isdigit() for cell in self.cells for character in cell)


class Rows(NamedTuple):
    head: Row | None
    """The first row, if it has no digits and another row has."""
    rows: tuple[Row, ...]


def delimited_tables(text: str) -> list[Rows]:
    """The delimited tables in a text, in reading order. Uses the first delimiter that gives any."""
    for delimiter in _DELIMITERS:
        if delimiter in text and (found := list(_delimited_tables(text, delimiter))):
            return found
    return []


def _delimited_tables(text: str, delimiter: str) -> Iterator[Rows]:
    lines = (_row(line, delimiter) for line in _LINE.finditer(text))
    for count, group in groupby(lines, key=lambda row: len(row.cells)):
        rows = tuple(group)
        if not count or len(rows) < _LEAST_ROWS.get(count, 2):
            continue
        unlike_prose = len(_NO_PROSE[delimiter].findall(text, rows[0].start, rows[-1].end))
        if 2 * unlike_prose >= (count - 1) * len(rows):
            is_headed = not rows[0].has_figures and any(row.has_figures for row in rows)
            yield Rows(rows[0], rows[1:]) if is_headed else Rows(None, rows)


def _row(line: re.Match[str], delimiter: str) -> Row:
    written = line[0].rstrip(" \r\n")
    cells = split_row(written, delimiter) if written and not written[0].isspace() else ()
    return Row(line.start(), line.start() + len(written), cells)


def read_table(
    lines: Sequence[str], at: int, head: str = "", *, accepts: Callable[[Cells], object]
) -> Table | None:
    """The table at line `at`. `head` is the head of a table that began in an earlier chunk.

    `accepts` checks the heads of delimited lines, because most lines of prose have commas.
    """
    for delimiter in f"|{_DELIMITERS}":
        if delimiter not in lines[at]:
            continue
        is_ruled = delimiter == "|" and at + 1 < len(lines) and _is_rule(lines[at + 1])
        is_carried = not is_ruled and is_whole_row(head, lines[at])
        written, first = (head, at) if is_carried else (lines[at], at + 1 + is_ruled)
        heads = split_row(written, delimiter)
        if not (is_carried or is_ruled if delimiter == "|" else _are_heads(heads) and accepts(heads)):
            continue
        end = first
        while end < len(lines) and is_whole_row(written, lines[end]):
            end += 1
        if end > first or is_ruled:
            rows = (split_row(line, delimiter) for line in lines[first:end])
            kept = (row for row in rows if len(row) == len(heads) and any(map(str.isalnum, "".join(row))))
            return Table(heads=heads, rows=tuple(kept), end=end)
    return None


def table_heads(text: str, starts: Iterable[int]) -> Iterator[str]:
    """The head line of the table at each offset, in order; empty outside tables and inside a head."""
    waiting = deque(starts)
    head = previous = ""
    for found in _LINE.finditer(text):
        line = found[0]
        if not (_is_row_of(head, line) if "|" in head else line.strip()):
            head = ""
        if not head and (_is_rule(line) or _is_first_row(previous, line)):
            head = previous.strip()
        while waiting and waiting[0] < found.end():
            waiting.popleft()
            yield head
        previous = line
    yield from ("" for _ in waiting)


def split_row(line: str, delimiter: str) -> Cells:
    """The cells of a row; none for a line without the delimiter."""
    if delimiter not in line or len(line) > _LONGEST_ROW:
        return ()
    if delimiter != "|":
        return tuple(cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), ()))
    inner = line.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return tuple(cell.strip() for cell in _CELL_END.split(inner))


def is_whole_row(head: str, line: str) -> bool:
    """Whether the line is a complete row of the table. A row that was cut lacks cells or its closing pipe."""
    delimiter = _delimiter(head)
    if delimiter is None:
        return _is_row_of(head, line)
    return len(split_row(line, delimiter)) == len(split_row(head, delimiter))


def _delimiter(head: str) -> str | None:
    return None if "|" in head else next((each for each in _DELIMITERS if each in head), None)


def _is_rule(line: str) -> bool:
    return "|" in line and len(line) <= _LONGEST_ROW and _RULE.fullmatch(line) is not None


def _is_row_of(head: str, line: str) -> bool:
    """Whether a row begins and ends like its head; a row that was cut does not."""
    row, head = line.strip(), head.strip()
    is_whole = row.startswith("|") == head.startswith("|") and row.endswith("|") == head.endswith("|")
    return "|" in row and is_whole


def _is_first_row(head: str, line: str) -> bool:
    delimiter = _delimiter(head)
    return delimiter is not None and _are_heads(split_row(head, delimiter)) and is_whole_row(head, line)


def _are_heads(cells: Cells) -> bool:
    """Whether the cells may be column heads: short, with a letter."""
    return len(cells) >= _LEAST_COLUMNS and all(
        0 < len(cell) <= _LONGEST_HEAD and any(map(str.isalpha, cell)) for cell in cells
    )
