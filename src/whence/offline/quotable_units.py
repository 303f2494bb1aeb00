"""Splits a chunk into units that can be quoted: sentences, rows of tables and blocks of code. Pure.

Every unit is a slice of the chunk. Headings and questions are not units; their words count for the units below them. Pictures and
lines of markup are left out.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from whence.chunk import sentences
from whence.chunk.boundaries import line_feeds
from whence.chunk.markdown import Landmark, landmarks
from whence.text.tables import delimited_tables

Kind = Literal["sentence", "item", "row", "code", "licence"]

_LIST_MARK = re.compile(r"(?:[-*+•‣◦]|\(?\d{1,3}[.)])\s+")
_ASKS = re.compile(r"[?？؟][\"”’)*_]*\Z")
_TABLE_RULE = re.compile(r"[\s|:-]*")
_FENCE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})[^\S\n]*(\S*)[^\n]*$", re.MULTILINE)
_MARKUP = r"</?[a-zA-Z][^<>]*>|<!--.*?-->|\[?!\[[^\]]*\]\([^)]*\)(?:\]\([^)]*\))?"
"""HTML tags, comments and pictures."""
_LEADING_MARKUP = re.compile(rf"(?:\s|{_MARKUP})+", re.DOTALL)
_TRAILING_MARKUP = re.compile(rf"(?:\s|{_MARKUP})+\Z", re.DOTALL)
_LICENCE = re.compile(
    r"\bpermission is hereby granted\b|\blicensed under\b|\ball rights reserved\b|\bcopyright (?:\(c\)|©|\d)"
    r"|\bwithout warrant(?:y|ies)\b|\bredistribution and use\b|\b(?:this|the) (?:software|library) is provided\b"
    r"|\byou may (?:not use this file|obtain a copy)\b|\bthe above copyright\b|\bspdx-",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]")
_BOLD = "**"


class Unit(NamedTuple):
    start: int
    end: int
    kind: Kind
    heading: str = ""
    """The headings, the question and the head of the table that the unit belongs to."""
    head: tuple[int, int] | None = None
    """For a row: the slice with the head of its table."""


@lru_cache(maxsize=1024)  # searches often find the same chunks
def quotable_units(text: str) -> tuple[Unit, ...]:
    """The units in reading order."""
    return tuple(_units(line_feeds(text)))


def _units(text: str) -> Iterator[Unit]:
    reached = _end_of_open_code(text)
    above: list[Landmark] = []
    heading = ""
    for mark in landmarks(text):
        if mark.start < reached:
            continue
        yield from _prose(text, reached, mark.start, heading)
        reached = mark.end
        if mark.kind == "header":
            above = [*(one for one in above if one.level < mark.level), mark]
            heading = " ".join(one.title for one in above)
        elif mark.kind == "table":
            yield from _table(text, mark, heading)
        elif mark.kind == "code":
            yield Unit(mark.start, mark.end, "code", heading)
    yield from _prose(text, reached, len(text), heading)


def _end_of_open_code(text: str) -> int:
    """The end of code that began in an earlier chunk: its first fence closes it. Such code cannot be quoted."""
    fences = list(_FENCE.finditer(text))
    return fences[0].end() if len(fences) % 2 and not fences[0][1] else 0


def _prose(text: str, start: int, end: int, heading: str) -> Iterator[Unit]:
    reached = start
    for table in delimited_tables(text[start:end]):
        head = (start + table.head.start, start + table.head.end) if table.head else None
        yield from _sentences(text, reached, head[0] if head else start + table.rows[0].start, heading)
        reached = start + table.rows[-1].end
        above = f"{heading} {text[slice(*head)]}" if head else heading
        for row in table.rows:
            yield Unit(start + row.start, start + row.end, "row", above, head)
    yield from _sentences(text, reached, end, heading)


def _sentences(text: str, start: int, end: int, heading: str) -> Iterator[Unit]:
    question = ""
    for one in sentences(text[start:end]):
        if _ASKS.search(one.text):
            question = f"{question or heading} {one.text}"
            continue
        at, ends = start + one.start_offset, start + one.end_offset
        mark = _LIST_MARK.match(text, at, ends)
        at, ends = _trim_markup(text, mark.end() if mark else at, ends)
        if _WORD.search(text, at, ends):
            is_licence = _LICENCE.search(text, at, ends)
            kind: Kind = "licence" if is_licence else "item" if mark else "sentence"
            yield Unit(at, ends, kind, question or heading)
            question = ""


def _trim_markup(text: str, start: int, end: int) -> tuple[int, int]:
    """Trims markup around the sentence, and a `**` whose partner is in another sentence."""
    if leading := _LEADING_MARKUP.match(text, start, end):
        start = leading.end()
    if trailing := _TRAILING_MARKUP.search(text[start:end]):
        end = start + trailing.start()
    if text.count(_BOLD, start, end) % 2:
        start += len(_BOLD) if text.startswith(_BOLD, start) else 0
        end -= len(_BOLD) if text.endswith(_BOLD, start, end) else 0
    return start, end


def _table(text: str, table: Landmark, heading: str) -> Iterator[Unit]:
    at, head = table.start, None
    for line in text[table.start : table.end].split("\n"):
        end = at + len(line.rstrip())
        if head is None:
            head = (at, end)
        elif _TABLE_RULE.fullmatch(line):
            head = (head[0], end)
        else:
            yield Unit(at, end, "row", f"{heading} {text[slice(*head)]}", head)
        at += len(line) + 1
