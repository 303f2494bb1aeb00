"""What of a passage can be quoted: its sentences, the rows of its tables and, for who asks for it, its code. Pure.

Lines of cells with commas, semicolons or tabs between them are rows, too. What is indented behind a sentence that leads to
it ("run this:") is code.

Titles, questions and the heads of tables are not quoted by themselves. They lend their words to what stands below them,
which says what they are about. Markup and pictures are left out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from textwrap import dedent
from typing import Literal, NamedTuple

from whence.chat.fences import unbracketed
from whence.chat.rows import delimited
from whence.chat.words import count, words
from whence.chunk import sentences
from whence.chunk.boundaries import line_feeds
from whence.chunk.markdown import Landmark, landmarks

Kind = Literal["sentence", "title", "reply", "row", "code"]
"""A reply is the sentence after a question, and may have none of its words."""

_NOTHING: frozenset[str] = frozenset()
_FENCE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})[^\S\n]*(\S*)[^\n]*$", re.MULTILINE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<!--.*?-->|!\[[^\]]*\]\([^)]*\)", re.DOTALL)
_MOSTLY = 0.25  # of a text that is tags and pictures, from which it is no sentence
_SYMBOLS = re.compile(r"[{}();=<>$\\_\[\]|]")
_CODE = 0.1  # of a text that is such symbols, from which it is code
_LIST_MARK = re.compile(r"(?:[-*+•‣◦]|\(?\d{1,3}[.)])\s+")
_QUESTION = re.compile(r"[?？؟][\"”’)*_]*\Z")
_HYPHENATED = re.compile(r"\b([^\W\d_]{1,8})-([^\W\d_]{2,8})\b")
_RULE = re.compile(r"[\s|:-]*")
_LEADS = re.compile(r"[:：][*_]*\Z")
_INDENTED = re.compile(
    r"[ \t]*\n(?:[ \t]*\n)+((?: {4}|\t)[^\n]*(?:\n(?:(?: {4}|\t)[^\n]*|[ \t]*(?=\n(?: {4}|\t))))*)"
)
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

    @property
    def leads(self) -> bool:
        """It says only what comes next."""
        return _LEADS.search(self.text) is not None

    def having(self, alone: frozenset[str], kin: Mapping[str, frozenset[str]]) -> "Quotable":
        """With those of some characters among its words that stand anywhere in it, and words whose kin it has."""
        found = alone.intersection(self.text) if alone else _NOTHING
        if kin:
            lent = _related(self.lent, kin)
            own = found | _related(self.words, kin)
            return self._replace(words=self.words | own, lent=self.lent | lent) if own or lent else self
        return self._replace(words=self.words | found) if found else self


def _related(found: frozenset[str], kin: Mapping[str, frozenset[str]]) -> frozenset[str]:
    return frozenset(word for word, its in kin.items() if not its.isdisjoint(found))


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
            title = frozenset(chain(words(mark.title), _joined(mark.title)))
            if count(title) >= _LONG_TITLE:
                yield Quotable(mark.title, mark.start, mark.end, "title", title, _NOTHING)
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
    reached = start
    for table in delimited(text[start:end]):
        yield from _sentences(text, reached, start + table.start, title)
        reached = start + table.end
        lent = title | (frozenset(words(" ".join(table.head.cells))) if table.head else _NOTHING)
        for row in table.rows:
            yield from _row(row.cells, start + row.start, start + row.end, lent)
    yield from _sentences(text, reached, end, title)


def _sentences(text: str, start: int, end: int, title: frozenset[str]) -> Iterator[Quotable]:
    asked = _NOTHING
    reached = start
    for one in sentences(text[start:end]):
        at, ends = start + one.start_offset, start + one.end_offset
        if at < reached or _share(_TAG, one.text) > _MOSTLY:
            continue
        if len(_SYMBOLS.findall(one.text)) > _CODE * len(one.text):
            yield _code(one.text, at, ends)
            continue
        found = frozenset(chain(words(one.text), _joined(one.text)))
        if _QUESTION.search(one.text) or one.text.count("**") % 2:
            asked = asked | found if asked else found
            continue
        mark = _LIST_MARK.match(one.text)
        begins = mark.end() if mark else 0
        line = unbracketed(" ".join(one.text[begins:].split())) if found else ""
        if line:
            kind: Kind = "reply" if asked else "sentence"
            yield Quotable(line, at + begins, ends, kind, found, asked or title)
        asked = _NOTHING
        if _LEADS.search(one.text) and (block := _INDENTED.match(text, ends, end)):
            reached = block.end()
            yield _code(dedent(block[1]), block.start(1), reached)


def _joined(text: str) -> Iterator[str]:
    """Words with hyphens as they are also written without: "back-up", "Wi-Fi"."""
    for found in _HYPHENATED.finditer(text):
        yield from words(found[1] + found[2])


def _rows(text: str, table: Landmark, title: frozenset[str]) -> Iterator[Quotable]:
    head: frozenset[str] | None = None
    at = table.start
    for line in text[table.start : table.end].split("\n"):
        cells = [" ".join(cell.split()) for cell in line.strip().strip("|").split("|")]
        if head is None:
            head = frozenset(words(" ".join(cells)))
        elif not _RULE.fullmatch(line):
            yield from _row(cells, at, at + len(line), head | title)
        at += len(line) + 1


def _row(cells: Sequence[str], start: int, end: int, lent: frozenset[str]) -> Iterator[Quotable]:
    found = frozenset(words(" ".join(cells)))
    if found:
        yield Quotable(unbracketed(" · ".join(filter(None, cells))), start, end, "row", found, lent)


def _code(text: str, start: int, end: int) -> Quotable:
    fenced = text if text.lstrip().startswith(("```", "~~~")) else f"```\n{text}\n```"
    return Quotable(fenced, start, end, "code", frozenset(words(text)), _NOTHING)


def _share(pattern: re.Pattern[str], text: str) -> float:
    return sum(len(found[0]) for found in pattern.finditer(text)) / max(len(text), 1)
