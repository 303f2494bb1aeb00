"""Holds small projects in memory, to rank their chunks without a database query.

The segments of a project's text index and their numbers of live chunks identify its state: the postings of a segment never
change, its dead chunks only increase, and a chunk's vector in a space is written once. The state is read with the hits. A
ranking from memory is valid if the state has not changed.
"""

import asyncio
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from whence.background import BackgroundWork
from whence.models import ChunkKey, EmbeddingSpace
from whence.search.postings import Numbering
from whence.store import Store
from whence.store.halfvec import HEAD, HalfVector
from whence.store.lexical import SegmentPostings, WholeSegment, state_of
from whence.store.search_reads import Setting

READING = "reading projects into memory"
"""The name of the background task."""

MOST_CHUNKS = 10_000
"""Maximum size of a project to hold. Comparing this many vectors takes less time than a database query."""

_UNUSED = 60.0
"""Seconds without use after which a project can be evicted for another."""
_FORGOTTEN = 600.0
"""Seconds without use after which a project is evicted in any case."""
_PAUSE = 5.0
"""Minimum seconds between two reads of a project, because an ingest changes it all the time."""

_MOST_TRIED = 10_000
"""Maximum number of projects whose last read time is remembered."""
_VECTOR_BYTES = 4  # for each dimension
_LOOP_NUMBERS = 1_500_000
"""Numbers that one thread multiplies in about a millisecond."""
_NOWHERE = -2.0
"""Less than any cosine."""

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldProject:
    """A snapshot of everything that a search of a project reads."""

    space: EmbeddingSpace
    state: bytes
    segments: Sequence[WholeSegment]
    numbering: Numbering
    vectors: Vectors
    """Normalised vectors, by row number."""
    alive: NDArray[np.bool_] | None
    """Live chunks by row number; None if all are live."""
    size: int
    """Approximate size in bytes."""

    @property
    def is_slow(self) -> bool:
        """Whether comparing all vectors takes more than about a millisecond."""
        return self.vectors.size > _LOOP_NUMBERS

    def postings(self, terms: Sequence[int]) -> list[SegmentPostings]:
        return [segment.postings(terms) for segment in self.segments]

    def near(
        self, vector: HalfVector, *, limit: int, also: Collection[ChunkKey] = ()
    ) -> dict[ChunkKey, float]:
        """The cosines of the nearest chunks, nearest first, then of `also`."""
        wanted = np.frombuffer(vector, ">f2", offset=HEAD).astype(np.float32)
        length = float(np.linalg.norm(wanted))
        if not length:  # a zero vector has no cosine
            return {}
        cosines = (self.vectors @ (wanted / length)).astype(np.float64)
        if self.alive is not None:
            cosines[~self.alive] = _NOWHERE
        numbers = np.flatnonzero(cosines > _NOWHERE)
        if len(numbers) > limit:
            least = np.partition(cosines, len(cosines) - limit)[-limit]
            numbers = np.flatnonzero(cosines >= least)
        best = sorted(zip((-cosines[numbers]).tolist(), self.numbering.ids_of(numbers), strict=True))[:limit]
        found = {ident: -value for value, ident in best}
        return found | self.numbering.values_of(cosines, [ident for ident in also if ident not in found])


def hold(
    space: EmbeddingSpace, segments: Sequence[WholeSegment], chunk_ids: bytes, numbers: bytes
) -> HeldProject | None:
    """Builds the snapshot; None if a live chunk has no vector or a zero vector."""
    numbering = Numbering.of(segments)
    alive = numbering.alive(segments)
    wanted = np.frombuffer(b"".join(numbering.ids), "S16")
    known = np.frombuffer(chunk_ids, "S16")
    if not len(known):
        return None
    places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    vectors = np.frombuffer(numbers, ">f2").reshape(len(known), space.dimensions)[places].astype(np.float32)
    lengths = np.linalg.norm(vectors, axis=1)
    usable = (known[places] == wanted) & (lengths > 0)
    if not np.all(usable if alive is None else usable | ~alive):
        return None
    vectors /= np.where(lengths > 0, lengths, 1)[:, None]
    return HeldProject(
        space=space,
        state=state_of(segments),
        segments=segments,
        numbering=numbering,
        vectors=vectors,
        alive=alive,
        size=vectors.nbytes + sum(segment.bytes for segment in segments),
    )


class Memory:
    """Holds projects up to `most` bytes in total. A project in use is not evicted for another."""

    def __init__(self, store: Store, *, most: int, background: BackgroundWork | None = None) -> None:
        self._store = store
        self._background = background or BackgroundWork()
        self._most = most
        self._kept: dict[UUID, tuple[float, HeldProject]] = {}
        """Each with the time of its last use."""
        self._tried: dict[UUID, float] = {}
        self._reading: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()

    def get(self, project_id: UUID, setting: Setting) -> HeldProject | None:
        _, held = self._kept.get(project_id, (0.0, None))
        if held is None or setting.space is None or held.space.id != setting.space.id:
            return None
        self._kept[project_id] = time.monotonic(), held
        return held

    def forget(self, project_id: UUID) -> None:
        self._kept.pop(project_id, None)

    def learn(self, project_id: UUID, setting: Setting) -> None:
        """Reads a small project in the background for the next searches."""
        now = time.monotonic()
        if setting.space is None or not 0 < setting.chunks <= MOST_CHUNKS or self.get(project_id, setting):
            return
        if now < self._tried.get(project_id, -_PAUSE) + _PAUSE:
            return
        if not self._has_room(_VECTOR_BYTES * setting.space.dimensions * setting.chunks, now):
            return
        if len(self._tried) >= _MOST_TRIED:
            self._tried.clear()
        self._tried[project_id] = now
        task = asyncio.create_task(self._read(project_id, setting.space))
        self._reading.add(task)
        task.add_done_callback(self._reading.discard)

    async def _read(self, project_id: UUID, space: EmbeddingSpace) -> None:
        """A failure is harmless: the next search uses the database and tries again."""
        with self._background.attempt(READING):
            async with self._turn:
                segments = await self._store.lexical.whole(project_id)
                if sum(segment.size for segment in segments) > 2 * MOST_CHUNKS:
                    return
                vectors = await self._store.nearest.whole(project_id, space)
                held = await asyncio.to_thread(hold, space, segments, *vectors)
            if held is not None and self._has_room(held.size, time.monotonic()):
                self._kept[project_id] = time.monotonic(), held

    def _has_room(self, wanted: int, now: float) -> bool:
        """Whether `wanted` more bytes fit. Evicts unused projects to make room, the longest unused first."""
        self._kept = {ident: kept for ident, kept in self._kept.items() if kept[0] + _FORGOTTEN >= now}
        over = sum(held.size for _, held in self._kept.values()) + wanted - self._most
        for used, ident in sorted((used, ident) for ident, (used, _) in self._kept.items()):
            if over <= 0 or used + _UNUSED >= now:
                break
            over -= self._kept.pop(ident)[1].size
        return over <= 0

    async def aclose(self) -> None:
        for task in self._reading:
            task.cancel()
        await asyncio.gather(*self._reading, return_exceptions=True)
