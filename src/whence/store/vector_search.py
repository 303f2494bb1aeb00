"""Which vectors are nearest to one: by reading all of them, or by the HNSW index of their space.

The planner takes a partial index over an expression only where the statement itself names the space and its
dimensions, so these statements are composed for each space. `+ 0` keeps it from the index where all are to be read.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import LiteralString, cast
from uuid import UUID

import psycopg
from psycopg import sql

from whence.models import ChunkKey, EmbeddingSpace
from whence.store.halfvec import HalfVector
from whence.store.pool import Connection, Queries, Row, Statement, configure, keys

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
# What an index gives is nearly in order; the few that it gives are put into order.
_INDEXED: LiteralString = """
WITH found AS MATERIALIZED (
    SELECT v.id, v.embedding::halfvec({dimensions}) <=> %(vector)s::halfvec({dimensions}) AS distance
    FROM kb.chunk_vectors v
    WHERE v.project_id = %(project_id)s AND v.space_id = {space}{condition}
    ORDER BY v.embedding::halfvec({dimensions}) <=> %(vector)s::halfvec({dimensions}) LIMIT %(limit)s)
SELECT uuid_send(id), distance FROM found ORDER BY distance, id
"""
# Not a join, which the planner would rather sort: each vector that the index gives is looked up by itself.
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
# One value each, as they come: a row for each vector would cost more than what is in it.
WHOLE: LiteralString = """
SELECT string_agg(uuid_send(v.id), ''::bytea ORDER BY v.id),
       string_agg(substring(halfvec_send(v.embedding) FROM 5), ''::bytea ORDER BY v.id)
FROM kb.chunk_vectors v
WHERE v.project_id = %(project_id)s AND v.space_id = %(space_id)s
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
_ROW = 400  # bytes that the graph takes for a vector of no dimensions
_LEAST, _MOST = 64, 2048  # megabytes to build in
_LOCK = 6_402_373_705  # any number that nobody else locks


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorIndex:
    """What there is of the index of a space."""

    space: EmbeddingSpace
    state: str
    """`valid`, `broken` (its making was interrupted), or `none`."""
    vectors: int
    """About how many are in it; all that are in the space, of whatever project."""
    used: bool
    """Some project is in the space, or on its way there."""


class Nearest:
    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    async def exact(
        self,
        project_id: UUID,
        space: EmbeddingSpace,
        vector: HalfVector,
        *,
        limit: int,
        document_ids: Sequence[UUID] | None = None,
    ) -> list[tuple[ChunkKey, float]]:
        """Every vector is read: ids and cosine distances, the nearest first."""
        statement = exact(space, filtered=document_ids is not None)
        return await self._nearest(statement, project_id, vector, limit, document_ids)

    async def indexed(
        self,
        project_id: UUID,
        space: EmbeddingSpace,
        vector: HalfVector,
        *,
        limit: int,
        document_ids: Sequence[UUID] | None = None,
    ) -> list[tuple[ChunkKey, float]]:
        """By the index of the space, which may miss one now and then, and gives up where few pass the filter."""
        statement = indexed(space, filtered=document_ids is not None)
        return await self._nearest(statement, project_id, vector, limit, document_ids)

    async def _nearest(
        self,
        statement: Statement,
        project_id: UUID,
        vector: HalfVector,
        limit: int,
        document_ids: Sequence[UUID] | None,
    ) -> list[tuple[ChunkKey, float]]:
        params: dict[str, object] = {"project_id": project_id, "vector": vector, "limit": limit}
        if document_ids is not None:
            params["document_ids"] = list(document_ids)
        return cast("list[tuple[ChunkKey, float]]", await self._queries.all(statement, params))

    async def vectors(
        self, project_id: UUID, space: EmbeddingSpace, ids: Iterable[UUID]
    ) -> dict[UUID, HalfVector]:
        params = {"project_id": project_id, "space_id": space.id, "ids": list(ids)}
        return {row[0]: HalfVector(row[1]) for row in await self._queries.all(VECTORS, params)}

    async def distances(
        self, project_id: UUID, space: EmbeddingSpace, vector: HalfVector, ids: Iterable[ChunkKey]
    ) -> list[tuple[ChunkKey, float]]:
        """Of chunks that were found otherwise, as many of them as have a vector."""
        params = {"project_id": project_id, "space_id": space.id, "vector": vector, "ids": keys(ids)}
        return cast("list[tuple[ChunkKey, float]]", await self._queries.all(DISTANCES, params))

    async def whole(self, project_id: UUID, space: EmbeddingSpace) -> tuple[bytes, bytes]:
        """All vectors: the ids of their chunks, ascending, 16 bytes each; and their numbers, each of two bytes, big-endian."""
        row = await self._queries.one(WHOLE, {"project_id": project_id, "space_id": space.id})
        return (row[0] or b"", row[1] or b"") if row else (b"", b"")

    async def count(
        self,
        project_id: UUID,
        space: EmbeddingSpace,
        *,
        most: int,
        document_ids: Sequence[UUID] | None = None,
    ) -> int:
        """How many vectors there are to search, counted no further than `most`."""
        params = {"project_id": project_id, "space_id": space.id, "most": most}
        if document_ids is None:
            row = await self._queries.one(COUNT, params)
        else:
            row = await self._queries.one(COUNT_OF, {**params, "document_ids": list(document_ids)})
        return int(row[0]) if row else 0

    async def space_size(self, space: EmbeddingSpace) -> int:
        """Of every project, all counted: for who is about to read them all anyway."""
        row = await self._queries.one(SIZE, {"space_id": space.id})
        return int(row[0]) if row else 0

    async def largest(self, space: EmbeddingSpace, *, most: int) -> int:
        """How many vectors the project with the most has, counted no further than `most`."""
        row = await self._queries.one(LARGEST, {"space_id": space.id, "most": most})
        return int(row[0]) if row else 0

    async def index(self, space: EmbeddingSpace) -> VectorIndex:
        (found,) = await self._indexes(space.id)
        return found

    async def indexes(self) -> list[VectorIndex]:
        """Of every space."""
        return await self._indexes(None)

    async def _indexes(self, space_id: UUID | None) -> list[VectorIndex]:
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
        """Make the index while everyone goes on reading and writing. False where somebody else is making one.

        In memory where it fits: it takes ten times as long as soon as the graph does not.
        """
        megabytes = vectors * (2 * space.dimensions + _ROW) * 5 // 4 >> 20
        memory = f"{min(max(megabytes, _LEAST), _MOST)}MB"
        async with self._queries.connection() as conn:
            if await _one(conn, _TRY_LOCK) != (True,):
                return False
            try:
                await conn.execute("SET statement_timeout = 0")
                await conn.execute("SELECT set_config('maintenance_work_mem', %s, false)", [memory])
                await conn.execute(_composed(_DROP, space))
                try:
                    await conn.execute(_composed(_CREATE, space))
                except psycopg.errors.DiskFull:
                    # Full is the memory that processes share: containers give little of it. One can do without.
                    await conn.execute(_composed(_DROP, space))
                    await conn.execute("SET max_parallel_maintenance_workers = 0")
                    await conn.execute(_composed(_CREATE, space))
            finally:
                if not conn.broken:
                    await conn.execute("RESET ALL")
                    await _one(conn, _UNLOCK)
                    await configure(conn)
        return True

    async def drop(self, space: EmbeddingSpace) -> None:
        await self._queries.run(_composed(_DROP, space))


async def _one(conn: Connection, query: LiteralString) -> Row | None:
    return await (await conn.execute(query, [_LOCK])).fetchone()


@lru_cache(maxsize=1_000)
def exact(space: EmbeddingSpace, *, filtered: bool) -> bytes:
    return _composed(_EXACT_OF if filtered else _EXACT, space).as_bytes(None)


@lru_cache(maxsize=1_000)
def indexed(space: EmbeddingSpace, *, filtered: bool) -> bytes:
    return _composed(_INDEXED, space, condition=_IN_DOCUMENTS if filtered else "").as_bytes(None)


def _composed(
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
