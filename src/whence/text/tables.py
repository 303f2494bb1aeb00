"""Reads tables: markdown rows (the parsers' form of sheets and Word tables) and comma-, semicolon- or tab-separated lines. Pure.

A chunk may begin in the middle of a table. `table_heads` finds the head of its rows.

Most lines of prose have commas. `delimited_tables` takes lines for rows if they have as many cells as their neighbours and if at
least half of the delimiters are neither followed by a space, as in a sentence, nor between digits, as in a number.
"""

import csv
import re
import sys
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
        if 2 * len(_NO_PROSE[delimiter].findall(text, rows[0].start, rows[-1].end)) >= (count - 1) * len(
            rows
        ):
            is_headed = not rows[0].has_figures and any(row.has_figures for row in rows)
            yield Rows(rows[0], rows[1:]) if is_headed else Rows(None, rows)


def _row(line: re.Match[str], delimiter: str) -> Row:
    written = line[0].rstrip(" \r\n")
    is_row = delimiter in written and not written[0].isspace()
    cells = split_delimited(written, delimiter) if is_row else ()
    return Row(line.start(), line.start() + len(written), cells)


def read_pipe_table(lines: Sequence[str], at: int, head: str = "") -> Table | None:
    """The markdown table at line `at`. `head` is the head of a table that began in an earlier chunk."""
    if "|" not in lines[at]:
        return None
    after = lines[at + 1] if at + 1 < len(lines) else ""
    is_head = _is_rule(after)
    first, line = (at + 2, lines[at]) if is_head else (at, head)
    heads = split_pipes(line)
    end = first
    while heads and end < len(lines) and _is_row_of(line, lines[end]):
        end += 1
    return _table(heads, map(split_pipes, lines[first:end]), end=end) if heads and end > at else None


def read_delimited_table(
    lines: Sequence[str], at: int, head: str = "", *, accepts: Callable[[Cells], bool]
) -> Table | None:
    """The delimited table at line `at`. `accepts` checks the heads, because most lines of prose have commas."""
    for delimiter in _DELIMITERS:
        if delimiter not in lines[at]:
            continue
        carried, cells = split_delimited(head, delimiter), split_delimited(lines[at], delimiter)
        is_carried = _are_heads(carried) and len(carried) == len(cells)
        heads, first = (carried, at) if is_carried else (cells, at + 1)
        if not _are_heads(heads) or not accepts(heads):
            continue
        end = first
        while end < len(lines) and len(split_delimited(lines[end], delimiter)) == len(heads):
            end += 1
        if end > first:
            return _table(heads, (split_delimited(line, delimiter) for line in lines[first:end]), end=end)
    return None


def table_heads(text: str, starts: Iterable[int]) -> Iterator[str]:
    """The head line of the table at each offset, in order; empty outside tables and inside a head."""
    waiting = iter(starts)
    start = next(waiting, None)
    head = previous = ""
    for found in _LINE.finditer(text):
        if start is None:
            return
        line = found[0]
        is_row = _is_row_of(head, line) if "|" in head else bool(line.strip())
        if not is_row:
            head = ""
        if not head and (_is_rule(line) or _is_first_row(previous, line)):
            head = previous.strip()
        while start is not None and start < found.end():
            yield head
            start = next(waiting, None)
        previous = line
    while start is not None:
        yield ""
        start = next(waiting, None)


def split_pipes(line: str) -> Cells:
    """The cells of a markdown row; none for any other line."""
    text = line.strip()
    if "|" not in text or len(text) > _LONGEST_ROW:
        return ()
    inner = text.removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return tuple(cell.strip() for cell in _CELL_END.split(inner))


def split_delimited(line: str, delimiter: str) -> Cells:
    if not line.strip() or len(line) > _LONGEST_ROW:
        return ()
    return tuple(cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), ()))


def is_whole_row(head: str, line: str) -> bool:
    """Whether the line is a complete row of the table. A row that was cut lacks cells or its closing pipe."""
    delimiter = next((each for each in _DELIMITERS if each in head), None)
    if "|" in head or delimiter is None:
        return _is_row_of(head, line)
    return len(split_delimited(line, delimiter)) == len(split_delimited(head, delimiter))


def _table(heads: Cells, rows: Iterable[Cells], *, end: int) -> Table:
    kept = tuple(row for row in rows if len(row) == len(heads) and any(map(str.isalnum, "".join(row))))
    return Table(heads=heads, rows=kept, end=end)


def _is_rule(line: str) -> bool:
    return "|" in line and len(line) <= _LONGEST_ROW and _RULE.fullmatch(line) is not None


def _is_row_of(head: str, line: str) -> bool:
    """Whether a row begins and ends like its head; a row that was cut does not."""
    row, head = line.strip(), head.strip()
    is_whole = row.startswith("|") == head.startswith("|") and row.endswith("|") == head.endswith("|")
    return "|" in row and is_whole


def _is_first_row(head: str, line: str) -> bool:
    delimiter = next((each for each in _DELIMITERS if each in head), None)
    if delimiter is None or delimiter not in line:
        return False
    heads = split_delimited(head, delimiter)
    return _are_heads(heads) and len(split_delimited(line, delimiter)) == len(heads)


def _are_heads(cells: Cells) -> bool:
    """Whether the cells may be column heads: short, with a letter."""
    return len(cells) >= _LEAST_COLUMNS and all(
        0 < len(cell) <= _LONGEST_HEAD and any(map(str.isalpha, cell)) for cell in cells
    )
