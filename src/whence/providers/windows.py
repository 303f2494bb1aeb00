"""Texts that are too long for a model, in pieces that are not. Pure functions."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

_NEAR = 4
"""A piece ends at white space in its last quarter if there is some; else where it is full."""


class Window(NamedTuple):
    text: str
    owner: int
    """The index of the text that it is a part of."""
    weight: int
    """Its bytes: windows of one text count as much as they say."""


def even_spans(length: int, limit: int) -> list[tuple[int, int]]:
    """As few spans as fit under the limit, of nearly one length: a last one of three tokens would mean nothing."""
    count = max(1, -(-length // limit))
    edges = [length * n // count for n in range(count + 1)]
    return list(pairwise(edges))


def windows(texts: Sequence[str], max_bytes: int) -> Iterator[Window]:
    for owner, text in enumerate(texts):
        for piece in _pieces(text, max_bytes):
            yield Window(piece, owner, max(1, len(piece.encode())))


def _pieces(text: str, max_bytes: int) -> Iterator[str]:
    """Slices of the text, all of it, none larger than the limit; cut at white space where there is some."""
    start = 0
    while True:
        # A character has at least a byte, so more than this never fits.
        ahead = text[start : start + max_bytes]
        encoded = ahead.encode()
        if len(encoded) <= max_bytes and start + len(ahead) == len(text):
            break
        # Without the character that the cut may have torn.
        full = len(encoded[:max_bytes].decode("utf-8", "ignore"))
        nearest = range(full - 1, full - 1 - full // _NEAR, -1)
        length = next((n + 1 for n in nearest if ahead[n].isspace()), full)
        yield ahead[:length]
        start += length
    yield ahead


def batches(found: Sequence[Window], *, max_inputs: int, max_bytes: int) -> Iterator[range]:
    """Ranges of consecutive windows that go into one request each."""
    start, held = 0, 0
    for n, window in enumerate(found):
        if n > start and (n - start == max_inputs or held + window.weight > max_bytes):
            yield range(start, n)
            start, held = n, 0
        held += window.weight
    if start < len(found):
        yield range(start, len(found))


def apportioned(total: int, weights: Sequence[int]) -> list[int]:
    """Whole numbers in the proportion of the weights that sum up to the total exactly."""
    whole = sum(weights)
    edges, reached = [0], 0
    for weight in weights:
        reached += weight
        edges.append(total * reached // whole)
    return [after - before for before, after in pairwise(edges)]
