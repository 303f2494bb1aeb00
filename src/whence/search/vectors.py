"""The vector leg: finds the chunks nearest to a vector, through the HNSW index of its space or by an exact scan, whichever is faster.

A worker builds the index after the ingest that made the project large: inserting vectors into an existing index is slow, building an
index of existing vectors is fast. So the first build waits until the queue is nearly empty.
"""

import logging
import time
from collections.abc import Iterable, Sequence
from math import isqrt
from uuid import UUID

from whence.errors import ProjectNotFound
from whence.models import ChunkKey, EmbeddingSpace
from whence.store import Store
from whence.store.halfvec import HalfVector
from whence.store.vector_search import VectorIndex

SWITCH = 20_000
"""Up to this many vectors an exact scan is used: it takes some milliseconds and misses none."""

_PRICE = 20
"""Cost of a vector visited through the index, relative to one in an exact scan."""

FEW = 200_000
"""In a space of up to this many vectors, half of `ef_search` finds nearly all (docs/benchmarks.md)."""

_REMEMBERED = 60.0

MAKE_INDEX = "whence:vector-index"
"""The task that builds the index of a space."""

BUSY = 20
"""More documents than this in the queue count as a bulk load."""

log = logging.getLogger("whence.search")


def exact_up_to(vectors: int, limit: int) -> int:
    """The number of candidates up to which an exact scan is faster, in a space of `vectors`.

    The index covers the whole space and has no filter: to find `limit` among n candidates it visits
    limit * vectors / n vectors.
    """
    return max(SWITCH, isqrt(_PRICE * limit * vectors))


class VectorLeg:
    def __init__(self, store: Store, ef_search: int = 200) -> None:
        """`ef_search` is the number of vectors that the index of a space compares; half as many in a small one."""
        self._store = store
        self._ef_search = ef_search
        self._indexes: dict[UUID, tuple[float, VectorIndex]] = {}

    async def nearest(
        self,
        project_id: UUID,
        space: EmbeddingSpace,
        vector: HalfVector,
        *,
        among: int,
        limit: int,
        document_ids: Sequence[UUID] | None = None,
    ) -> dict[ChunkKey, float]:
        """The cosines of the nearest chunks, nearest first. `among` is the approximate number of chunks in the project."""
        nearest, where = self._store.nearest, (project_id, space, vector)
        if await self._by_index(project_id, space, among, limit, document_ids):
            ef = self._ef_search // (2 if (await self._index(space)).vectors <= FEW else 1)
            found = await nearest.search("indexed", *where, limit=limit, document_ids=document_ids, ef=ef)
            if len(found) == limit:
                return _cosines(found)
        return _cosines(await nearest.search("exact", *where, limit=limit, document_ids=document_ids))

    async def cosines(
        self, project_id: UUID, space: EmbeddingSpace, vector: HalfVector, ids: Sequence[ChunkKey]
    ) -> dict[ChunkKey, float]:
        """Cosines of chunks found by other means."""
        return _cosines(await self._store.nearest.distances(project_id, space, vector, ids))

    async def _by_index(
        self,
        project_id: UUID,
        space: EmbeddingSpace,
        among: int,
        limit: int,
        document_ids: Sequence[UUID] | None,
    ) -> bool:
        if among <= SWITCH:
            return False
        index = await self._index(space)
        if index.state != "valid":
            return False
        most = exact_up_to(index.vectors, limit)
        if among > most and document_ids is not None:
            among = await self._store.nearest.count(
                project_id, space, most=most + 1, document_ids=document_ids
            )
        return among > most

    async def _index(self, space: EmbeddingSpace) -> VectorIndex:
        until, known = self._indexes.get(space.id, (0.0, None))
        if known is None or until < time.monotonic():
            known = await self._store.nearest.index(space)
            self._indexes[space.id] = (time.monotonic() + _REMEMBERED, known)
        return known


def _cosines(found: Iterable[tuple[ChunkKey, float]]) -> dict[ChunkKey, float]:
    return {chunk_id: 1.0 - distance for chunk_id, distance in found}


def vector_lock(space_id: UUID) -> str:
    return f"vectors {space_id}"


def is_large(vectors: int) -> bool:
    """Whether a project with this many vectors needs an index."""
    return vectors > SWITCH


async def ask_for_index(store: Store, project_id: UUID) -> bool:
    """Queues the build of the project's index if the project is large and has none. Returns whether it did."""
    try:
        space, _ = await store.vectors.spaces(project_id)
    except ProjectNotFound:
        return False
    if space is None or not await _wanted(store, project_id, space):
        return False
    async with store.transaction() as tx:
        if await tx.queue.waits(MAKE_INDEX, lock=vector_lock(space.id)):
            return False
        await tx.queue.defer(
            MAKE_INDEX, lock=vector_lock(space.id), project_id=str(project_id), space_id=str(space.id)
        )
    return True


async def _wanted(store: Store, project_id: UUID, space: EmbeddingSpace) -> bool:
    if (await store.nearest.index(space)).state == "valid":
        return False
    return is_large(await store.nearest.count(project_id, space, most=SWITCH + 1))


async def make_index(store: Store, project_id: UUID, space_id: UUID) -> None:
    """Builds the index, unless it exists or the project no longer needs it."""
    index = next((found for found in await store.nearest.indexes() if found.space.id == space_id), None)
    if index is None or not await _wanted(store, project_id, index.space):
        return
    vectors = await store.nearest.space_size(index.space)
    if await store.nearest.build(index.space, vectors=vectors):
        log.info("Made the index of %d vectors of %s", vectors, index.space.model)


async def drop_unused(store: Store) -> int:
    """Drops the indexes of spaces that no project uses. Returns their number."""
    unused = [index for index in await store.nearest.indexes() if index.state != "none" and not index.used]
    for index in unused:
        await store.nearest.drop(index.space)
    return len(unused)
