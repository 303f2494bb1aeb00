"""Splits an answer into sentences, each with its citations. Pure.

Rows of a table, and lines that end with a citation, are sentences of their own, whatever their punctuation.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from whence.chat.citing import Cited, Validated
from whence.chunk import sentences
from whence.chunk.boundaries import line_feeds
from whence.chunk.markdown import landmarks

_LINE_END = re.compile(r"[^\S\n]*\n\s*(\S)")
_ITEM = re.compile(r"^[ \t>]*\(?\d{1,3}[.)][ \t]+", re.MULTILINE)
_RULE = re.compile(r"[\s|:-]*-[\s|:-]*")


class Statement(NamedTuple):
    start: int
    end: int
    """Includes the citations in the sentence and right behind it on its line."""
    begins: int
    """Start of the text after an item number, which is no figure of the sentence."""
    cited: Sequence[Cited]
    is_head: bool
    """Whether it is the head row of a table."""


class _Lines(NamedTuple):
    ends: list[int]
    """Line ends that end a sentence."""
    heads: frozenset[int]
    """Starts of the head rows of tables."""


def statements(validated: Validated) -> Iterator[Statement]:
    """All sentences of a response in order, without code blocks unless they are cited."""
    response, cited = validated.text, validated.cited
    plain, cited_at, places = _without(response, cited)
    lines = _lines(plain, cited_at)
    spans = [
        (places(start), places(end - 1) + 1, start in lines.heads)
        for start, end in _sentence_spans(plain, lines)
    ]
    owned = _owned(response, cited, spans)
    for number, (start, end, is_head) in enumerate(spans):
        own = owned.get(number, [])
        if own or not _is_inside(start, validated.code):
            first = min(start, own[0].start) if own else start
            item = _ITEM.match(response, first)
            begins = item.end() if item else first
            yield Statement(first, max(end, own[-1].end) if own else end, begins, own, is_head)


def _without(response: str, cited: Sequence[Cited]) -> tuple[str, Sequence[int], Callable[[int], int]]:
    """The text without citations and the blanks before them, their places in it, and a map of its offsets to the response."""
    parts: list[str] = []
    plain_starts, response_starts = [0], [0]
    length = at = 0
    for one in cited:
        part = response[at : one.start].rstrip(" \t")
        parts.append(part)
        length += len(part)
        at = one.end
        plain_starts.append(length)
        response_starts.append(at)
    parts.append(response[at:])

    def place(offset: int) -> int:
        found = bisect_right(plain_starts, offset) - 1
        return response_starts[found] + offset - plain_starts[found]

    return "".join(parts), plain_starts[1:], place


def _lines(plain: str, cited_at: Sequence[int]) -> _Lines:
    ends = {place for place in cited_at if _ends_line(plain, place)}
    heads: set[int] = set()
    for table in landmarks(line_feeds(plain)):
        if table.kind != "table":
            continue
        ends.add(table.start)
        rows = plain[table.start : table.end].split("\n")
        at = table.start
        for row in rows:
            ends.add(at + len(row))
            at += len(row) + 1
        if _RULE.fullmatch("".join(rows[1:2])):
            heads.add(table.start)
    return _Lines(sorted(ends), frozenset(heads))


def _ends_line(plain: str, place: int) -> bool:
    """Whether the line ends here and the next does not begin with a lower-case letter, which would continue the sentence."""
    found = _LINE_END.match(plain, place)
    return found is not None and not found[1].islower()


def _sentence_spans(plain: str, lines: _Lines) -> Iterator[tuple[int, int]]:
    for one in sentences(plain):
        first = bisect_right(lines.ends, one.start_offset)
        inside = lines.ends[first : bisect_left(lines.ends, one.end_offset)]
        for start, end in pairwise([one.start_offset, *inside, one.end_offset]):
            text = plain[start:end]
            if stripped := text.strip():
                begins = start + len(text) - len(text.lstrip())
                yield begins, begins + len(stripped)


def _owned(
    response: str, cited: Sequence[Cited], spans: Sequence[tuple[int, int, bool]]
) -> dict[int, list[Cited]]:
    """The citations of each sentence, by its index."""
    starts = [start for start, _, _ in spans]
    owned: dict[int, list[Cited]] = {}
    for one in cited:
        owner = max(bisect_right(starts, one.start) - 1, 0)
        end = spans[owner][1] if spans else 0
        if one.start >= end and "\n" in response[end : one.start] and owner + 1 < len(spans):
            owner += 1
        owned.setdefault(owner, []).append(one)
    return owned


def _is_inside(place: int, blocks: Sequence[tuple[int, int]]) -> bool:
    found = bisect_right(blocks, place, key=lambda block: block[0]) - 1
    return found >= 0 and place < blocks[found][1]
