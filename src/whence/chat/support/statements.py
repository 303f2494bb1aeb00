"""Splits an answer into sentences, each with its citations. Pure.

Rows of a table, and lines that end with a citation, are sentences of their own with any punctuation.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from whence.chat.citing import Cited, Validated
from whence.chunk import sentences

_LINE_END = re.compile(r"[^\S\n]{0,80}\n\s*(\S)")  # bounded: rows of citations are long blanks here
_STOPPED = re.compile(r"(?:\A|[\n.!?…。！？।|])[\"'”’)*_]*\Z")
_ITEM = re.compile(r"^[ \t>]*\(?\d{1,3}[.)][ \t]+", re.MULTILINE)
_ROW = re.compile(r"^[ \t>]*\|.*", re.MULTILINE)
_HEAD = re.compile(r"\|.*\n[ \t>]*\|?[ \t|:-]*-[ \t|:-]*$", re.MULTILINE)


class Statement(NamedTuple):
    start: int
    end: int
    """Includes the citations in the sentence and right behind it on its line."""
    begins: int
    """Start of the text after an item number, which is no figure of the sentence."""
    cited: Sequence[Cited]
    is_head: bool
    """Whether it is the head row of a table."""


def statements(validated: Validated) -> Iterator[Statement]:
    """All sentences of a response in order, without code blocks unless they are cited."""
    response, cited = validated.text, validated.cited
    plain = _without_citations(response, cited)
    spans = list(_spans(plain, cited))
    owned = _assign_citations(response, cited, spans)
    for number, (start, end) in enumerate(spans):
        own = owned.get(number, [])
        block = bisect_right(validated.code, start, key=lambda block: block[0]) - 1
        if own or block < 0 or start >= validated.code[block][1]:
            first = min(start, own[0].start) if own else start
            item = _ITEM.match(response, first)
            last = max(end, own[-1].end) if own else end
            yield Statement(first, last, item.end() if item else first, own, bool(_HEAD.match(plain, start)))


def _without_citations(response: str, cited: Sequence[Cited]) -> str:
    """The text of the same length, with each citation as letters of the word before, or as blanks behind a stop."""
    parts: list[str] = []
    at = 0
    for one in cited:
        part = response[at : one.start].rstrip(" \t")
        filler = ("x", " ")[bool(_STOPPED.search(part))] if part or not parts else parts[-1][:1]
        parts += (part, filler * (one.end - at - len(part)))
        at = one.end
    return "".join([*parts, response[at:]])


def _spans(plain: str, cited: Sequence[Cited]) -> Iterator[tuple[int, int]]:
    # A line that begins with a lower-case letter continues the sentence.
    line_ends = ((one.end, _LINE_END.match(plain, one.end)) for one in cited)
    ends = {end for end, found in line_ends if found and not found[1].islower()}
    ends.update(place for row in _ROW.finditer(plain) for place in row.span())
    places = sorted(ends)
    for one in sentences(plain):
        inside = places[bisect_right(places, one.start_offset) : bisect_right(places, one.end_offset - 1)]
        for start, end in pairwise([one.start_offset, *inside, one.end_offset]):
            text = plain[start:end]
            if text.strip():
                yield end - len(text.lstrip()), start + len(text.rstrip())


def _assign_citations(
    response: str, cited: Sequence[Cited], spans: Sequence[tuple[int, int]]
) -> dict[int, list[Cited]]:
    """The citations of each sentence, by its index."""
    owned: dict[int, list[Cited]] = {}
    for one in cited:
        owner = max(bisect_right(spans, one.start, key=lambda span: span[0]) - 1, 0)
        end = spans[owner][1] if spans else 0
        if one.start >= end and "\n" in response[end : one.start] and owner + 1 < len(spans):
            owner += 1
        owned.setdefault(owner, []).append(one)
    return owned
