"""What of a passage can be quoted: its sentences, the rows of its tables and, for who asks for it, its code. Pure.

Titles, questions and the heads of tables are not quoted by themselves. They lend their words to what stands below them,
which says what they are about. Markup and pictures are left out.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from whence.chat.fences import unbracketed
from whence.chat.words import words
from whence.chunk import sentences
from whence.chunk.boundaries import line_feeds
from whence.chunk.markdown import Landmark, landmarks

Kind = Literal["sentence", "reply", "row", "code"]
"""A reply is the sentence after a question, and may have none of its words."""

_NOTHING: frozenset[str] = frozenset()
_FENCE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})[^\S\n]*(\S*)[^\n]*$", re.MULTILINE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<!--.*?-->|!\[[^\]]*\]\([^)]*\)", re.DOTALL)
_MOSTLY = 0.25  # of a text that is tags and pictures, from which it is no sentence
_SYMBOLS = re.compile(r"[{}();=<>$\\_\[\]|]")
_CODE = 0.1  # of a text that is such symbols, from which it is code
_LIST_MARK = re.compile(r"(?:[-*+•‣◦]|\(?\d{1,3}[.)])\s+")
_QUESTION = re.compile(r"[?？؟][\"”’)*_]*\Z")
_RULE = re.compile(r"[\s|:-]*")
_LONG_TITLE = 4
"""Words from which a title says something by itself."""


class Quotable(NamedTuple):
    text: str
    """As it is quoted: on one line and without ids in brackets, unless it is code."""
    start: int
    end: int
    """Where it stands in the passage."""
    kind: Kind
    words: frozenset[str]
    lent: frozenset[str]
    """Words of what stands above it."""

    def having(self, alone: frozenset[str]) -> "Quotable":
        """With those of some characters among its words that stand anywhere in it."""
        found = alone.intersection(self.text) if alone else None
        return self._replace(words=self.words | found) if found else self


@lru_cache(maxsize=1024)  # the same chunks are found again and again
def quotables(text: str) -> tuple[Quotable, ...]:
    """In reading order."""
    return tuple(_quotables(line_feeds(text)))


def _quotables(text: str) -> Iterator[Quotable]:
    reached = _end_of_code(text)
    if reached:
        yield _code(text[:reached].rstrip().removesuffix("```").strip("\n"), 0, reached)
    title = _NOTHING
    for mark in landmarks(text):
        if mark.start < reached:
            continue
        yield from _prose(text, reached, mark.start, title)
        reached = mark.end
        if mark.kind == "header":
            title = frozenset(words(mark.title))
            if len(title) >= _LONG_TITLE:
                yield Quotable(mark.title, mark.start, mark.end, "sentence", title, _NOTHING)
        elif mark.kind == "table":
            yield from _rows(text, mark, title)
        elif mark.kind == "code":
            yield _code(text[mark.start : mark.end], mark.start, mark.end)
    yield from _prose(text, reached, len(text), title)


def _end_of_code(text: str) -> int:
    """How much of a passage is the rest of code that began before it: a fence is closed that was not opened."""
    fences = list(_FENCE.finditer(text))
    return fences[0].end() if len(fences) % 2 and not fences[0][1] else 0


def _prose(text: str, start: int, end: int, title: frozenset[str]) -> Iterator[Quotable]:
    asked = _NOTHING
    for one in sentences(text[start:end]):
        at, ends = start + one.start_offset, start + one.end_offset
        if _share(_TAG, one.text) > _MOSTLY:
            continue
        if len(_SYMBOLS.findall(one.text)) > _CODE * len(one.text):
            yield _code(one.text, at, ends)
            continue
        found = frozenset(words(one.text))
        if _QUESTION.search(one.text):
            asked = found
            continue
        mark = _LIST_MARK.match(one.text)
        begins = mark.end() if mark else 0
        line = unbracketed(" ".join(one.text[begins:].split())) if found else ""
        if line:
            kind: Kind = "reply" if asked else "sentence"
            yield Quotable(line, at + begins, ends, kind, found, asked or title)
        asked = _NOTHING


def _rows(text: str, table: Landmark, title: frozenset[str]) -> Iterator[Quotable]:
    head: frozenset[str] | None = None
    at = table.start
    for line in text[table.start : table.end].split("\n"):
        cells = [" ".join(cell.split()) for cell in line.strip().strip("|").split("|")]
        found = frozenset(words(" ".join(cells)))
        if head is None:
            head = found
        elif not _RULE.fullmatch(line):
            row = unbracketed(" · ".join(filter(None, cells)))
            yield Quotable(row, at, at + len(line), "row", found, head | title)
        at += len(line) + 1


def _code(text: str, start: int, end: int) -> Quotable:
    fenced = text if text.lstrip().startswith(("```", "~~~")) else f"```\n{text}\n```"
    return Quotable(fenced, start, end, "code", frozenset(words(text)), _NOTHING)


def _share(pattern: re.Pattern[str], text: str) -> float:
    return sum(len(found[0]) for found in pattern.finditer(text)) / max(len(text), 1)
