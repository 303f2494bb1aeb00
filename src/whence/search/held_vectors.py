"""The vectors of a project in memory, and the nearest of them. Pure.

Few vectors are compared one by one. Of many, *sketches* are compared first: one bit for each dimension, set where the vector
is above the mean. Then the vectors with the nearest sketches are compared, at sixteen bits for each dimension.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.search.postings import Floats, Numbers
from whence.store.halfvec import HEAD, HalfVector

FEW = 10_000
"""Up to this many vectors are compared one by one: it takes less time than a database query."""

_SKETCHED = 1_000
"""Vectors that are compared after the sketches, or 30 for each wanted one if that is more (docs/benchmarks.md)."""
_FOR_EACH = 30
_PART = 8_192
"""Number of vectors read at once, to limit memory."""
_LOOP_NUMBERS = 1_500_000
"""Numbers that one thread multiplies in about a millisecond."""
_SKETCH_COST = 32
"""Numbers of sketches that are compared in the time of one multiplication."""
_FOR_MEAN = 4_096
_LARGEST = 32_767  # of sixteen bits

Unit = NDArray[np.float32]
"""A vector of length 1."""


class Near(NamedTuple):
    numbers: Numbers
    cosines: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketches:
    mean: Unit
    words: NDArray[np.uint64]
    """64 dimensions in each row, by the number of the vector."""

    @classmethod
    def of(cls, mean: Unit, parts: "list[NDArray[np.uint64]]") -> "Sketches":
        return cls(mean=mean, words=np.ascontiguousarray(np.concatenate(parts).T))

    def nearest(self, wanted: Unit, most: int) -> Numbers:
        """The numbers of the `most` vectors whose sketches differ least."""
        distances = np.zeros(self.words.shape[1], np.uint16)
        for word, column in zip(sketched(wanted[np.newaxis], self.mean)[0], self.words, strict=True):
            distances += np.bitwise_count(column ^ word)
        reached = np.cumsum(np.bincount(distances))
        last = int(np.searchsorted(reached, most))
        numbers = np.flatnonzero(distances <= last)
        superfluous = np.flatnonzero(distances[numbers] == last)[::-1][: max(len(numbers) - most, 0)]
        return np.delete(numbers, superfluous)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldVectors:
    rows: "NDArray[np.float32] | NDArray[np.int16]"
    factors: NDArray[np.float32] | None
    """For rows of sixteen bits: the factor of each row."""
    sketches: Sketches | None
    """None for few vectors."""

    @property
    def nbytes(self) -> int:
        size = self.rows.nbytes
        if self.sketches is not None:
            size += self.sketches.words.nbytes
        return size

    @property
    def is_slow(self) -> bool:
        """Whether finding the nearest takes more than about a millisecond."""
        return self.rows.size // (_SKETCH_COST if self.sketches else 1) > _LOOP_NUMBERS

    def cosines(self, wanted: Unit, numbers: "Numbers | slice") -> Floats:
        rows = self.rows[numbers]
        if self.factors is None:
            return np.asarray(rows @ wanted, np.float64)
        return np.asarray(rows.astype(np.float32) @ wanted * self.factors[numbers], np.float64)

    def nearest(self, wanted: Unit, limit: int) -> Near:
        """The nearest `limit` vectors, and ties with the last of them."""
        if self.sketches is None:
            numbers = np.arange(len(self.rows))
            cosines = self.cosines(wanted, slice(None))
        else:
            numbers = self.sketches.nearest(wanted, max(_SKETCHED, _FOR_EACH * limit))
            cosines = self.cosines(wanted, numbers)
        if len(numbers) > limit:
            enough = cosines >= np.partition(cosines, len(cosines) - limit)[-limit]
            numbers, cosines = numbers[enough], cosines[enough]
        return Near(numbers, cosines)


def unit(vector: HalfVector) -> Unit | None:
    """The vector with length 1; None for a zero vector, which has no cosine."""
    wanted = np.frombuffer(vector, ">f2", offset=HEAD).astype(np.float32)
    length = float(np.linalg.norm(wanted))
    return wanted / length if length else None


def sketched(rows: NDArray[np.float32], mean: Unit) -> NDArray[np.uint64]:
    bits = np.packbits(rows > mean, axis=1)
    padded = np.zeros((len(rows), -(-bits.shape[1] // 8) * 8), np.uint8)
    padded[:, : bits.shape[1]] = bits
    return padded.view(np.uint64)


def hold_vectors(halves: "NDArray[np.float16]", places: Numbers) -> tuple[HeldVectors, NDArray[np.bool_]]:
    """The vectors at these places, and which of them have a length."""
    if len(places) <= FEW:
        rows, lengths = _normalised(halves[places])
        return HeldVectors(rows=rows, factors=None, sketches=None), lengths > 0
    mean = _normalised(halves[places[:: len(places) // _FOR_MEAN]])[0].mean(axis=0)
    small = np.empty((len(places), halves.shape[1]), np.int16)
    factors = np.empty(len(places), np.float32)
    usable, words = np.empty(len(places), np.bool_), []
    for start in range(0, len(places), _PART):
        part = slice(start, start + _PART)
        rows, lengths = _normalised(halves[places[part]])
        largest = np.where(lengths > 0, np.abs(rows).max(axis=1), 1)
        small[part] = np.rint(rows * (_LARGEST / largest)[:, np.newaxis])
        factors[part], usable[part] = largest / _LARGEST, lengths > 0
        words.append(sketched(rows, mean))
    return HeldVectors(rows=small, factors=factors, sketches=Sketches.of(mean, words)), usable


def _normalised(halves: "NDArray[np.float16]") -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    rows = halves.astype(np.float32)
    lengths = np.linalg.norm(rows, axis=1)
    rows /= np.where(lengths > 0, lengths, 1)[:, np.newaxis]
    return rows, lengths
