"""What of a passage can be quoted: its sentences, the rows of its tables and, for who asks for it, its code. Pure.

Lines of cells with commas, semicolons or tabs between them are rows, too. What is indented behind a sentence that leads to
it ("run this:") is code.

Titles, questions and the heads of tables are not quoted by themselves. They lend their words to what stands below them,
which says what they are about; so does the first line of a plain text. A row knows its head, which is quoted with it. Markup and pictures are left out.
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
_AROUND_PROSE = re.compile(
    r"</?(?:p|div|br|hr|img|picture|source|b|strong|i|em|u|a|span|small|font|center|sup|sub|mark|kbd|li|ul|ol|dd|dt|td|th|tr|details|summary"
    r"|blockquote|h[1-6])\b[^<>]*>|<!--.*?-->|\[?!\[[^\]]*\]\([^)]*\)(?:\]\([^)]*\))?",
    re.DOTALL | re.IGNORECASE,
)
"""Tags that people put around and into sentences, and pictures; those of drawings and scripts are others."""
_WHOLE = re.compile(r"[.!。！…:：][\"”’)*_]*\Z")
_MOSTLY = 0.25  # of a text that is other tags, from which it is no sentence
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
_FIRST_LINE = re.compile(
    r"\s*(?![-*+•‣◦|<>#`~!\[(]|\d+[.)])(\S[^\n]{0,79}[^\s.,;:!?。！？…])[ \t]*\n[ \t]*\n(?=\s*\S)"
)
_MOST_OF_A_TITLE = 10
"""Words; a longer first line is the beginning of something."""


class Head(NamedTuple):
    """The names of a table's columns."""

    text: str
    start: int
    end: int
    words: frozenset[str]
    columns: int


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
    head: Head | None = None
    """Of a row, where its table has one."""

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
    first = None if reached else _FIRST_LINE.match(text)
    if first and count(found := frozenset(words(first[1]))) <= _MOST_OF_A_TITLE:
        title, reached = found, first.end(1)
        if count(title) >= _LONG_TITLE:
            yield Quotable(unbracketed(first[1]), first.start(1), reached, "title", title, _NOTHING)
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
        head = (
            _head(table.head.cells, start + table.head.start, start + table.head.end) if table.head else None
        )
        for row in table.rows:
            yield from _row(row.cells, start + row.start, start + row.end, title, head)
    yield from _sentences(text, reached, end, title)


def _sentences(text: str, start: int, end: int, title: frozenset[str]) -> Iterator[Quotable]:
    asked = _NOTHING
    reached = start
    for one in sentences(text[start:end]):
        at, ends = start + one.start_offset, start + one.end_offset
        if at < reached:
            continue
        at, ends = _without_markup(text, at, ends)
        said = _AROUND_PROSE.sub("", text[at:ends])
        if not said or _share(_TAG, said) > _MOSTLY:
            continue
        if len(_SYMBOLS.findall(said)) > _CODE * len(said):
            yield _code(text[at:ends], at, ends)
            continue
        found = frozenset(chain(words(said), _joined(said)))
        if _QUESTION.search(said) or _is_asked_in_bold(text, at, ends):
            asked = asked | found if asked else found
            continue
        mark = _LIST_MARK.match(text, at, ends)
        at, ends = _without_stars(text, mark.end() if mark else at, ends)
        if line := _line(text[at:ends]) if found else "":
            kind: Kind = "reply" if asked else "sentence"
            yield Quotable(line, at, ends, kind, found, asked or title)
        asked = _NOTHING
        if _LEADS.search(said) and (block := _INDENTED.match(text, ends, end)):
            reached = block.end()
            yield _code(dedent(block[1]), block.start(1), reached)


def _without_markup(text: str, start: int, end: int) -> tuple[int, int]:
    """The sentence alone, where tags and pictures stand before or behind it; nothing, where hardly a word is left."""
    marks = list(_AROUND_PROSE.finditer(text, start, end))
    if not marks:
        return start, end
    begins, ends = start, end
    for mark in marks:
        if not text[begins : mark.start()].strip():
            begins = mark.end()
    for mark in reversed(marks):
        if mark.start() >= begins and not text[mark.end() : ends].strip():
            ends = mark.start()
    bare = text[begins:ends]
    begins, ends = begins + len(bare) - len(bare.lstrip()), begins + len(bare.rstrip())
    is_sentence = _WHOLE.search(bare.strip()) or count(words(bare)) >= _LONG_TITLE or begins == start
    return (begins, ends) if is_sentence else (end, end)


def _is_asked_in_bold(text: str, start: int, end: int) -> bool:
    """Whether a passage in bold begins in the sentence, and ends with a question behind it."""
    if text.count("**", start, end) % 2 == 0:
        return False
    opens = text.rfind("**", start, end)
    paragraph = text.find("\n\n", opens)
    closes = text.find("**", opens + 2, paragraph if paragraph >= 0 else len(text))
    return closes >= 0 and _QUESTION.search(text[:closes].rstrip()) is not None


def _without_stars(text: str, start: int, end: int) -> tuple[int, int]:
    """Without what opens or closes a passage in bold that is longer than the sentence."""
    if text.count("**", start, end) % 2:
        start += 2 if text.startswith("**", start) else 0
        end -= 2 if text.endswith("**", start, end) else 0
    return start, end


def _line(text: str) -> str:
    """As it is quoted, without markup and half of a pair of stars."""
    said = " ".join(_AROUND_PROSE.sub("", text).split())
    return unbracketed(said.replace("**", "") if said.count("**") % 2 else said)


def _joined(text: str) -> Iterator[str]:
    """Words with hyphens as they are also written without: "back-up", "Wi-Fi"."""
    for found in _HYPHENATED.finditer(text):
        yield from words(found[1] + found[2])


def _rows(text: str, table: Landmark, title: frozenset[str]) -> Iterator[Quotable]:
    head: Head | None = None
    at = table.start
    for line in text[table.start : table.end].split("\n"):
        cells = [
            " ".join(cell.split()) for cell in line.strip().removeprefix("|").removesuffix("|").split("|")
        ]
        if head is None:
            head = _head(cells, at, at + len(line))
        elif not _RULE.fullmatch(line):
            yield from _row(cells, at, at + len(line), title, head)
        at += len(line) + 1


def _head(cells: Sequence[str], start: int, end: int) -> Head:
    return Head(_cells(cells, is_headed=True), start, end, frozenset(words(" ".join(cells))), len(cells))


def _row(
    cells: Sequence[str], start: int, end: int, title: frozenset[str], head: Head | None
) -> Iterator[Quotable]:
    found = frozenset(words(" ".join(cells)))
    named = head if head and head.words else None
    if found:
        text = _cells(cells, is_headed=named is not None)
        yield Quotable(text, start, end, "row", found, title | (head.words if head else _NOTHING), named)


def _cells(cells: Sequence[str], *, is_headed: bool) -> str:
    """Between dots; an empty one keeps its place below the name of its column, and otherwise says nothing."""
    shown = [_AROUND_PROSE.sub("", cell).strip() for cell in cells]
    while is_headed and shown and not shown[-1]:
        shown.pop()
    return unbracketed(" · ".join(shown if is_headed else filter(None, shown))).replace("  ", " ").strip()


def _code(text: str, start: int, end: int) -> Quotable:
    fenced = text if text.lstrip().startswith(("```", "~~~")) else f"```\n{text}\n```"
    return Quotable(fenced, start, end, "code", frozenset(words(text)), _NOTHING)


def _share(pattern: re.Pattern[str], text: str) -> float:
    return sum(len(found[0]) for found in pattern.finditer(text)) / max(len(text), 1)
