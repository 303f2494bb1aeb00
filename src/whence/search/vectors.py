"""The vector leg: finds the chunks nearest to a vector, through the index or by an exact scan, whichever is faster."""

import time
from collections.abc import Iterable, Sequence
from math import isqrt
from uuid import UUID

from whence.models import ChunkKey, EmbeddingSpace
from whence.store import Store
from whence.store.halfvec import HalfVector
from whence.store.vector_search import VectorIndex

SWITCH = 20_000
"""Up to this many vectors an exact scan is used: it takes some milliseconds and misses none."""

_PRICE = 20
"""Cost of a vector visited through the index, relative to one in an exact scan."""

_REMEMBERED = 60.0


def exact_up_to(vectors: int, limit: int) -> int:
    """The number of candidates up to which an exact scan is faster, in a space of `vectors`.

    The index covers the whole space and has no filter: to find `limit` among n candidates it visits
    limit * vectors / n vectors.
    """
    return max(SWITCH, isqrt(_PRICE * limit * vectors))


class VectorLeg:
    def __init__(self, store: Store) -> None:
        self._store = store
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
            found = await nearest.search("indexed", *where, limit=limit, document_ids=document_ids)
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
