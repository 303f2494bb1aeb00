"""Numbers the chunks of a project, segment after segment, so that their values fit into arrays."""

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
    """The number of each segment's first chunk, then the total."""
    ids: Sequence[bytes]
    """The chunk ids of each segment, joined: ascending, 16 bytes each."""

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
        """The values of these chunks; 0 for chunks without a number."""
        numbers = self.numbers_of(chunk_ids)
        found, here = np.zeros(len(numbers)), numbers >= 0
        found[here] = values[numbers[here]]
        return dict(zip(chunk_ids, found.tolist(), strict=True))

    def numbers_of(self, chunk_ids: Collection[ChunkKey]) -> Numbers:
        """The number of each chunk; -1 for chunks without one."""
        wanted = np.array(list(chunk_ids), "S16")
        found = np.full(len(wanted), -1)
        for start, joined in zip(self.starts.tolist(), self.ids, strict=False):
            ids = np.frombuffer(joined, "S16")
            places = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
            found = np.where(ids[places] == wanted, start + places, found)
        return found

    def alive(self, segments: Iterable[_Segment]) -> NDArray[np.bool_] | None:
        """Live chunks by number; None if all are live."""
        dead = [
            (start, one.dead) for start, one in zip(self.starts.tolist(), segments, strict=False) if one.dead
        ]
        if not dead:
            return None
        alive = np.ones(self.total, np.bool_)
        for start, places in dead:
            alive[start + np.frombuffer(places, "<u2").astype(np.int64)] = False
        return alive
