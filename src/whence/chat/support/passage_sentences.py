"""Splits passages into sentences with their words, to find the support of an answer. Cached."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from whence.chat.support.quantities import Figures, figures
from whence.chunk import sentences
from whence.chunk.boundaries import line_feeds
from whence.chunk.markdown import Landmark, landmarks
from whence.text.content_words import words

_NOTHING: frozenset[str] = frozenset()


class SentenceSpan(NamedTuple):
    start: int
    end: int
    words: frozenset[str]
    """Includes the marks of its figures."""
    above: frozenset[str] = _NOTHING
    """Words of the titles above it."""
    is_title: bool = False


@lru_cache(maxsize=1024)  # the same chunks are found again and again
def sentence_spans(text: str) -> tuple[SentenceSpan, ...]:
    return tuple(_spans(text))


def _spans(text: str) -> Iterator[SentenceSpan]:
    titles = [mark for mark in landmarks(line_feeds(text)) if mark.kind == "header"]
    over: list[tuple[Landmark, frozenset[str]]] = []
    passed = 0
    for one in sentences(text):
        is_title = False
        while passed < len(titles) and titles[passed].start < one.end_offset:
            title = titles[passed]
            over = [above for above in over if above[0].level < title.level]
            over.append((title, _said(figures(title.title))))
            is_title = title.end >= one.end_offset
            passed += 1
        above = _NOTHING.union(*(found for _, found in over))
        yield SentenceSpan(one.start_offset, one.end_offset, _said(figures(one.text)), above, is_title)


def _said(read: Figures) -> frozenset[str]:
    return read.marks.union(words(read.rest))
