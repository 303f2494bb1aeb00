"""Nearest-neighbour search: an exact scan, or the HNSW index of an embedding space.

The planner uses the partial index only if the statement names the space and its dimensions, so statements are composed
per space. `+ 0` keeps it from the index in an exact scan.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, LiteralString, cast
from uuid import UUID

import psycopg
from psycopg import sql

from whence.models import ChunkKey, EmbeddingSpace
from whence.store.connection import EF_SEARCH, Connection, configure
from whence.store.halfvec import HalfVector
from whence.store.pool import LOWEST, Row, Statements, keys

_EXACT: LiteralString = """
SELECT uuid_send(v.id), (v.embedding <=> %(vector)s::halfvec) + 0 AS distance
FROM kb.chunk_vectors v
WHERE v.project_id = %(project_id)s AND v.space_id = {space}
ORDER BY distance, v.id LIMIT %(limit)s
"""
_EXACT_OF: LiteralString = """
SELECT uuid_send(v.id), (v.embedding <=> %(vector)s::halfvec) + 0 AS distance
FROM kb.chunks c
JOIN kb.chunk_vectors v ON v.project_id = %(project_id)s AND v.id = c.id AND v.space_id = {space}
WHERE c.project_id = %(project_id)s AND c.document_id = ANY(%(document_ids)s)
ORDER BY distance, v.id LIMIT %(limit)s
"""
# The index returns rows nearly in order; the outer query sorts them.
_INDEXED: LiteralString = """
WITH found AS MATERIALIZED (
    SELECT v.id, v.embedding::halfvec({dimensions}) <=> %(vector)s::halfvec({dimensions}) AS distance
    FROM kb.chunk_vectors v
    WHERE v.project_id = %(project_id)s AND v.space_id = {space}{condition}
    ORDER BY v.embedding::halfvec({dimensions}) <=> %(vector)s::halfvec({dimensions}) LIMIT %(limit)s)
SELECT uuid_send(id), distance FROM found ORDER BY distance, id
"""
# A subquery per vector from the index. With a join, the planner would sort instead of using the index.
_IN_DOCUMENTS: LiteralString = """
      AND (SELECT c.document_id FROM kb.chunks c
           WHERE c.project_id = %(project_id)s AND c.id = v.id) = ANY(%(document_ids)s)"""
_CREATE: LiteralString = """
CREATE INDEX CONCURRENTLY {name} ON kb.chunk_vectors
USING hnsw ((embedding::halfvec({dimensions})) halfvec_cosine_ops) WHERE space_id = {space}
"""
_DROP: LiteralString = "DROP INDEX CONCURRENTLY IF EXISTS kb.{name}"

_TRY_LOCK: LiteralString = "SELECT pg_try_advisory_lock(%s)"
_UNLOCK: LiteralString = "SELECT pg_advisory_unlock(%s)"
SET_EF_SEARCH: LiteralString = "SELECT set_config('hnsw.ef_search', %(ef)s::text, true)"
VECTORS: LiteralString = """
SELECT v.id, v.embedding
FROM kb.chunk_vectors v
WHERE v.project_id = %(project_id)s AND v.space_id = %(space_id)s AND v.id = ANY(%(ids)s)
"""
DISTANCES: LiteralString = """
SELECT uuid_send(v.id), v.embedding <=> %(vector)s::halfvec
FROM kb.chunk_vectors v
WHERE v.project_id = %(project_id)s AND v.space_id = %(space_id)s AND v.id = ANY(%(ids)s::uuid[])
"""
# Aggregated into two values: one row per vector would cost more than its content.
WHOLE: LiteralString = """
SELECT string_agg(uuid_send(v.id), ''::bytea ORDER BY v.id),
       string_agg(substring(halfvec_send(v.embedding) FROM 5), ''::bytea ORDER BY v.id)
FROM (SELECT id, embedding FROM kb.chunk_vectors
      WHERE project_id = %(project_id)s AND space_id = %(space_id)s AND id > %(after)s
      ORDER BY id LIMIT %(limit)s) v
"""
COUNT: LiteralString = """
SELECT count(*) FROM (
    SELECT FROM kb.chunk_vectors v
    WHERE v.project_id = %(project_id)s AND v.space_id = %(space_id)s LIMIT %(most)s) counted
"""
SIZE: LiteralString = "SELECT count(*) FROM kb.chunk_vectors WHERE space_id = %(space_id)s"
LARGEST: LiteralString = """
SELECT coalesce(max(counted.vectors), 0)
FROM kb.projects p
CROSS JOIN LATERAL (
    SELECT count(*) AS vectors FROM (
        SELECT FROM kb.chunk_vectors v
        WHERE v.project_id = p.id AND v.space_id = %(space_id)s LIMIT %(most)s) found) counted
WHERE p.space_id = %(space_id)s
"""
COUNT_OF: LiteralString = """
SELECT count(*) FROM (
    SELECT FROM kb.chunks c
    WHERE c.project_id = %(project_id)s AND c.document_id = ANY(%(document_ids)s) LIMIT %(most)s) counted
"""
INDEXES: LiteralString = """
SELECT s.id, s.provider, s.model, s.dimensions, i.indisvalid, c.reltuples,
       EXISTS (SELECT FROM kb.projects p WHERE s.id IN (p.space_id, p.next_space_id))
FROM kb.embedding_spaces s
LEFT JOIN pg_class c ON c.relname = %(prefix)s || replace(s.id::text, '-', '')
                    AND c.relnamespace = 'kb'::regnamespace
LEFT JOIN pg_index i ON i.indexrelid = c.oid
WHERE %(space_id)s::uuid IS NULL OR s.id = %(space_id)s
ORDER BY s.id
"""

_PREFIX = "chunk_vectors_hnsw_"
_ROW = 400  # bytes of graph per vector, without its dimensions
_LEAST, _MOST = 64, 2048  # MB of memory for a build
_AT_ONCE = 10_000  # vectors that one statement reads
_LOCK = 6_402_373_705  # an arbitrary key of an advisory lock

Way = Literal["exact", "indexed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorIndex:
    space: EmbeddingSpace
    state: str
    """`valid`, `broken` (the build was interrupted), or `none`."""
    vectors: int
    """Estimated number of vectors in the index, of all projects."""
    used: bool
    """True if a project uses the space or moves to it."""


class Nearest(Statements):
    async def search(
        self,
        way: Way,
        project_id: UUID,
        space: EmbeddingSpace,
        vector: HalfVector,
        *,
        limit: int,
        document_ids: Sequence[UUID] | None = None,
        ef: int = EF_SEARCH,
    ) -> list[tuple[ChunkKey, float]]:
        """Ids and cosine distances, nearest first.

        The index is approximate: it may miss a vector, and returns too few if few pass the filter. `ef` is the number of vectors that it
        compares: a larger one misses fewer and takes longer.
        """
        params: dict[str, object] = {"project_id": project_id, "vector": vector, "limit": limit}
        if document_ids is not None:
            params["document_ids"] = list(document_ids)
        statement = nearest(way, space, filtered=document_ids is not None)
        if ef == EF_SEARCH:
            return cast("list[tuple[ChunkKey, float]]", await self._queries.all(statement, params))
        async with self._queries.transaction() as tx:
            _, rows = await tx.together([(SET_EF_SEARCH, {"ef": ef}), (statement, params)])
        return cast("list[tuple[ChunkKey, float]]", rows)

    async def vectors(
        self, project_id: UUID, space: EmbeddingSpace, ids: Iterable[UUID]
    ) -> dict[UUID, HalfVector]:
        params = {"project_id": project_id, "space_id": space.id, "ids": list(ids)}
        return {row[0]: HalfVector(row[1]) for row in await self._queries.all(VECTORS, params)}

    async def distances(
        self, project_id: UUID, space: EmbeddingSpace, vector: HalfVector, ids: Iterable[ChunkKey]
    ) -> list[tuple[ChunkKey, float]]:
        """Distances of the given chunks that have a vector."""
        params = {"project_id": project_id, "space_id": space.id, "vector": vector, "ids": keys(ids)}
        return cast("list[tuple[ChunkKey, float]]", await self._queries.all(DISTANCES, params))

    async def whole(self, project_id: UUID, space: EmbeddingSpace) -> tuple[bytearray, bytearray]:
        """All vectors: chunk ids, ascending, 16 bytes each, and values of two bytes each, big-endian."""
        ids, numbers = bytearray(), bytearray()
        params = {"project_id": project_id, "space_id": space.id, "limit": _AT_ONCE}
        after = LOWEST
        while row := await self._queries.one(WHOLE, {**params, "after": after}):
            if row[0] is None:
                break
            ids += row[0]
            numbers += row[1]
            after = UUID(bytes=row[0][-16:])
        return ids, numbers

    async def count(
        self,
        project_id: UUID,
        space: EmbeddingSpace,
        *,
        most: int,
        document_ids: Sequence[UUID] | None = None,
    ) -> int:
        """Number of vectors to search, counted up to `most`. With `document_ids`, the number of their chunks."""
        params = {"project_id": project_id, "space_id": space.id, "most": most}
        if document_ids is None:
            return int(await self._queries.value(COUNT, params))
        return int(await self._queries.value(COUNT_OF, {**params, "document_ids": list(document_ids)}))

    async def space_size(self, space: EmbeddingSpace) -> int:
        """Number of vectors of all projects. Counts all rows, which only pays before an index build."""
        return int(await self._queries.value(SIZE, {"space_id": space.id}))

    async def largest(self, space: EmbeddingSpace, *, most: int) -> int:
        """Number of vectors of the project with the most, counted up to `most`."""
        return int(await self._queries.value(LARGEST, {"space_id": space.id, "most": most}))

    async def index(self, space: EmbeddingSpace) -> VectorIndex:
        (found,) = await self.indexes(space.id)
        return found

    async def indexes(self, space_id: UUID | None = None) -> list[VectorIndex]:
        rows = await self._queries.all(INDEXES, {"prefix": _PREFIX, "space_id": space_id})
        return [
            VectorIndex(
                space=EmbeddingSpace(id=row[0], provider=row[1], model=row[2], dimensions=row[3]),
                state="none" if row[4] is None else "valid" if row[4] else "broken",
                vectors=max(int(row[5] or 0), 0),
                used=row[6],
            )
            for row in rows
        ]

    async def build(self, space: EmbeddingSpace, *, vectors: int) -> bool:
        """Build the index concurrently with reads and writes. Returns False if another process is building one.

        The memory is set to hold the graph, up to a maximum: a build takes ten times as long if it does not fit.
        """
        megabytes = vectors * (2 * space.dimensions + _ROW) * 5 // 4 >> 20
        memory = f"{min(max(megabytes, _LEAST), _MOST)}MB"
        async with self._queries.connection() as conn:
            if await _read_one(conn, _TRY_LOCK) != (True,):
                return False
            try:
                await conn.execute("SET statement_timeout = 0")
                await conn.execute("SET lock_timeout = 0")
                await conn.execute("SELECT set_config('maintenance_work_mem', %s, false)", [memory])
                await conn.execute(_compose(_DROP, space))
                try:
                    await conn.execute(_compose(_CREATE, space))
                except psycopg.errors.DiskFull:
                    # Shared memory is full, as in containers. A build without parallel workers needs none.
                    await conn.execute(_compose(_DROP, space))
                    await conn.execute("SET max_parallel_maintenance_workers = 0")
                    await conn.execute(_compose(_CREATE, space))
            finally:
                if not conn.broken:
                    await conn.execute("RESET ALL")
                    await _read_one(conn, _UNLOCK)
                    await configure(conn)
        return True

    async def drop(self, space: EmbeddingSpace) -> None:
        await self._queries.run(_compose(_DROP, space))


async def _read_one(conn: Connection, query: LiteralString) -> Row | None:
    return await (await conn.execute(query, [_LOCK])).fetchone()


@lru_cache(maxsize=1_000)
def nearest(way: Way, space: EmbeddingSpace, *, filtered: bool) -> bytes:
    if way == "exact":
        return _compose(_EXACT_OF if filtered else _EXACT, space).as_bytes(None)
    return _compose(_INDEXED, space, condition=_IN_DOCUMENTS if filtered else "").as_bytes(None)


def _compose(
    template: LiteralString, space: EmbeddingSpace, *, condition: LiteralString = ""
) -> sql.Composed:
    return sql.SQL(template).format(
        name=sql.Identifier(index_name(space)),
        space=sql.Literal(space.id),
        dimensions=sql.Literal(space.dimensions),
        condition=sql.SQL(condition),
    )


def index_name(space: EmbeddingSpace) -> str:
    return _PREFIX + space.id.hex
