"""Splits long texts into windows that fit a model, windows into requests, and averages their vectors. Pure functions."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from whence.providers.base import Vectors

_NEAR = 4
"""A window ends at white space in its last quarter if there is any, else at its limit."""


class Window(NamedTuple):
    text: str
    owner: int
    """Index of its text."""
    weight: int
    """Its bytes: the share of the window in the vector of its text."""


def even_spans(length: int, limit: int) -> list[tuple[int, int]]:
    """The fewest spans within the limit, of nearly equal length: a last span of three tokens would mean nothing."""
    count = max(1, -(-length // limit))
    edges = [length * n // count for n in range(count + 1)]
    return list(pairwise(edges))


def windows(texts: Sequence[str], max_bytes: int) -> Iterator[Window]:
    for owner, text in enumerate(texts):
        for piece in _split_pieces(text, max_bytes):
            yield Window(piece, owner, max(1, len(piece.encode())))


def _split_pieces(text: str, max_bytes: int) -> Iterator[str]:
    """Slices that make up the text, none larger than the limit, cut at white space where possible."""
    start = 0
    while True:
        # A character has at least one byte, so more characters never fit.
        ahead = text[start : start + max_bytes]
        encoded = ahead.encode()
        if len(encoded) <= max_bytes and start + len(ahead) == len(text):
            break
        # Without a character that the cut has split.
        full = len(encoded[:max_bytes].decode("utf-8", "ignore"))
        nearest = range(full - 1, full - 1 - full // _NEAR, -1)
        length = next((n + 1 for n in nearest if ahead[n].isspace()), full)
        yield ahead[:length]
        start += length
    yield ahead


def batches(sizes: Sequence[int], *, max_inputs: int, max_size: int) -> Iterator[range]:
    """Ranges of consecutive texts of these sizes that are embedded together. One that is too large is alone."""
    start, held = 0, 0
    for n, size in enumerate(sizes):
        if n > start and (n - start == max_inputs or held + size > max_size):
            yield range(start, n)
            start, held = n, 0
        held += size
    if start < len(sizes):
        yield range(start, len(sizes))


def apportioned(total: int, weights: Sequence[int]) -> list[int]:
    """The total, split into integers in proportion to the weights."""
    edges = [total * reached // sum(weights) for reached in accumulate(weights, initial=0)]
    return [after - before for before, after in pairwise(edges)]


def normalised(vectors: "Vectors") -> "Vectors":
    """Each row divided by its length. A row of zeros has no direction and stays zero."""
    # In float64: the squares of small or large float32 leave its range.
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    return (wide / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def averaged(vectors: "Vectors", *, weights: Sequence[float], owners: Sequence[int], count: int) -> "Vectors":
    """The weighted mean direction of the rows of each owner, 0 to `count` - 1; each owns at least one."""
    sums = np.zeros((count, vectors.shape[1]), dtype=np.float64)
    np.add.at(sums, np.asarray(owners, dtype=np.intp), vectors * np.asarray(weights)[:, None])
    return normalised(sums.astype(np.float32))
