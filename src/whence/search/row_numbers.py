"""The chunks of a project numbered through, segment after segment, so that what is said of them fits into arrays."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from whence.models import ChunkKey

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


class _Segment(Protocol):
    @property
    def size(self) -> int: ...
    @property
    def chunk_ids(self) -> bytes: ...
    @property
    def dead(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Numbering:
    starts: Numbers
    """The number of the first chunk of each segment; and after the last."""
    ids: Sequence[bytes]
    """Of the chunks of each segment: ascending, 16 bytes each."""

    @classmethod
    def of(cls, segments: Sequence[_Segment]) -> "Numbering":
        starts = np.cumsum([0, *(segment.size for segment in segments)])
        return cls(starts, [segment.chunk_ids for segment in segments])

    @property
    def total(self) -> int:
        return int(self.starts[-1])

    def ids_of(self, numbers: Numbers) -> list[ChunkKey]:
        segments = np.searchsorted(self.starts, numbers, "right") - 1
        places = 16 * (numbers - self.starts[segments])
        return [
            self.ids[segment][at : at + 16]
            for segment, at in zip(segments.tolist(), places.tolist(), strict=True)
        ]

    def values_of(self, values: Floats, chunk_ids: Collection[ChunkKey]) -> dict[ChunkKey, float]:
        """Of all values those of some chunks; 0 for chunks that have no number."""
        numbers = self.numbers_of(chunk_ids)
        found, here = np.zeros(len(numbers)), numbers >= 0
        found[here] = values[numbers[here]]
        return dict(zip(chunk_ids, found.tolist(), strict=True))

    def numbers_of(self, chunk_ids: Collection[ChunkKey]) -> Numbers:
        """Of each chunk its number; -1 for chunks that have none."""
        wanted = np.array(list(chunk_ids), "S16")
        found = np.full(len(wanted), -1)
        for start, joined in zip(self.starts.tolist(), self.ids, strict=False):
            ids = np.frombuffer(joined, "S16")
            places = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
            found = np.where(ids[places] == wanted, start + places, found)
        return found

    def alive(self, segments: Iterable[_Segment]) -> NDArray[np.bool_] | None:
        """Which chunks are still there; None where all are."""
        dead = [
            (start, one.dead) for start, one in zip(self.starts.tolist(), segments, strict=False) if one.dead
        ]
        if not dead:
            return None
        alive = np.ones(self.total, np.bool_)
        for start, places in dead:
            alive[start + np.frombuffer(places, "<u2").astype(np.int64)] = False
        return alive
