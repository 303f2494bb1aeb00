"""Passages as sentences and their words, which are asked for more than once: to quote them, and to find what supports an answer."""

from functools import lru_cache
from typing import NamedTuple

from whence.chat.words import words
from whence.chunk import sentences


class Span(NamedTuple):
    start: int
    end: int
    words: frozenset[str]


@lru_cache(maxsize=1024)  # the same chunks are found again and again
def sentence_spans(text: str) -> tuple[Span, ...]:
    return tuple(
        Span(one.start_offset, one.end_offset, frozenset(words(one.text))) for one in sentences(text)
    )
