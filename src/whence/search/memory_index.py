"""Holds projects in memory, to rank their chunks without a database query.

The segments of a project's text index and their numbers of live chunks identify its state: the postings of a segment never
change, its dead chunks only increase, and a chunk's vector in a space is written once. The state is read with the hits. A
ranking from memory is valid if the state has not changed.
"""

import asyncio
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from operator import attrgetter
from uuid import UUID

import numpy as np

from whence.background import BackgroundWork
from whence.models import ChunkKey, EmbeddingSpace
from whence.search import postings
from whence.search.held_vectors import FEW, HeldVectors, hold_vectors, unit
from whence.search.postings import Numbering
from whence.store import Store
from whence.store.halfvec import HalfVector
from whence.store.lexical import SegmentPostings, WholeSegment, state_of
from whence.store.search_reads import Setting

READING = "reading projects into memory"
"""The name of the background task."""

MOST_CHUNKS = 200_000
"""Maximum size of a project to hold: the sketches of as many vectors are compared in the time of a database query."""

MOST_NAME_WORDS = 20_000
"""Maximum number of distinct words of names to hold, about 2 MB."""

_UNUSED = 60.0
"""Seconds without use after which a project can be evicted for another."""
_FORGOTTEN = 600.0
"""Seconds without use after which a project is evicted in any case."""
_PAUSE = 5.0
"""Minimum seconds between two reads of a project of up to `FEW` chunks, because an ingest changes it all the time."""

_MOST_TRIED = 10_000
"""Maximum number of projects whose last read time is remembered."""
_VECTOR_BYTES = 4  # for each dimension
_SMALL_BYTES = 2.2  # the same in a project of more than `FEW` chunks
_POSTING_BYTES = 500
"""For each chunk, until a project's own size is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldProject:
    """A snapshot of everything that a search of a project reads."""

    space: EmbeddingSpace
    state: bytes
    segments: Sequence[WholeSegment]
    """Without dead chunks."""
    numbering: Numbering
    vectors: HeldVectors
    """By row number."""
    name_words: Collection[str] | None
    """The words of the documents' names, in lower case; None if they are too many."""
    size: int
    """Approximate size in bytes."""

    def postings(self, terms: Sequence[int]) -> list[SegmentPostings]:
        return [segment.postings(terms) for segment in self.segments]

    def has_no_name_with(self, words: Collection[str]) -> bool:
        return self.name_words is not None and not any(word in self.name_words for word in words)

    def near(
        self,
        vector: HalfVector,
        *,
        limit: int,
        also: Collection[ChunkKey] = (),
        numbering: Numbering | None = None,
    ) -> dict[ChunkKey, float]:
        """The cosines of the nearest chunks, nearest first, then of `also`. `numbering` is that of the search, if it has one."""
        wanted = unit(vector)
        if wanted is None:
            return {}
        numbering = numbering or Numbering.of(self.segments)
        near = self.vectors.nearest(wanted, limit)
        best = sorted(zip((-near.cosines).tolist(), numbering.ids_of(near.numbers), strict=True))[:limit]
        found = {ident: -value for value, ident in best}
        others = [ident for ident in also if ident not in found]
        cosines = self.vectors.cosines(wanted, numbering.numbers_of(others))
        return found | dict(zip(others, cosines.tolist(), strict=True))


def hold(
    space: EmbeddingSpace,
    segments: Sequence[WholeSegment],
    chunk_ids: bytes | bytearray,
    numbers: bytes | bytearray,
    name_words: Collection[str] = (),
) -> HeldProject | None:
    """Builds the snapshot; None if a live chunk has no vector or a zero vector."""
    state, segments = state_of(segments), joined(segments)
    numbering = Numbering.of(segments)
    wanted = np.frombuffer(b"".join(numbering.ids), "S16")
    known = np.frombuffer(chunk_ids, "S16")
    if not len(known):
        return None
    places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    halves = np.frombuffer(numbers, ">f2").reshape(len(known), space.dimensions)
    vectors, usable = hold_vectors(halves, places)
    if not np.all(usable & (known[places] == wanted)):
        return None
    return HeldProject(
        space=space,
        state=state,
        segments=segments,
        numbering=numbering,
        vectors=vectors,
        name_words=frozenset(name_words) if len(name_words) <= MOST_NAME_WORDS else None,
        size=vectors.nbytes + sum(segment.bytes for segment in segments),
    )


def joined(segments: Sequence[WholeSegment]) -> list[WholeSegment]:
    """The live chunks in few segments: each makes a search slower."""
    groups: list[list[WholeSegment]] = []
    room = 0
    for segment in sorted(filter(attrgetter("live"), segments), key=attrgetter("chunk_ids")):
        if segment.live > room:
            groups.append([])
            room = postings.MOST_CHUNKS
        groups[-1].append(segment)
        room -= segment.live
    return [_one(group) if len(group) > 1 or group[0].dead else group[0] for group in groups]


def _one(segments: Sequence[WholeSegment]) -> WholeSegment:
    order, found = postings.join(segments, [segment.blocks for segment in segments])
    ids = np.frombuffer(b"".join(segment.chunk_ids for segment in segments), "S16")
    blocks = list(postings.to_blocks(found))
    return WholeSegment(
        id=segments[0].id,
        size=len(order),
        live=len(order),
        length=sum(segment.length for segment in segments),
        dead=b"",
        chunk_ids=ids[order].tobytes(),
        first_terms=[first for first, _ in blocks],
        blocks=[payload for _, payload in blocks],
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
        """When each project was last read."""
        self._sizes: dict[UUID, float] = {}
        """Bytes for each chunk of the projects that were read."""
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
        """Reads a project in the background for the next searches."""
        now, chunks = time.monotonic(), setting.chunks
        if setting.space is None or not 0 < chunks <= MOST_CHUNKS or self.get(project_id, setting):
            return
        pause = _PAUSE * max(1, chunks / FEW)
        if now < self._tried.get(project_id, -pause) + pause:
            return
        vector = (_VECTOR_BYTES if chunks <= FEW else _SMALL_BYTES) * setting.space.dimensions
        if not self._has_room(self._sizes.get(project_id, vector + _POSTING_BYTES) * chunks, now):
            return
        if len(self._tried) >= _MOST_TRIED:
            self._tried.clear()
            self._sizes.clear()
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
                words = await self._store.hits.name_words(project_id, most=MOST_NAME_WORDS + 1)
                held = await asyncio.to_thread(hold, space, segments, *vectors, words)
            if held is None:
                return
            self._sizes[project_id] = held.size / held.numbering.total
            if self._has_room(held.size, time.monotonic()):
                self._kept[project_id] = time.monotonic(), held

    def _has_room(self, wanted: float, now: float) -> bool:
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
