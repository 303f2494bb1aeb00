"""Chunks: reads by id, by job and in bulk, and the COPY that writes them. One statement reads a chunk with its source.

Reads return dicts with the API's field names, ids as text, metadata and vectors as JSON from Postgres. Building
dataclasses and serialising them again cost more than the query (docs/benchmarks.md).
"""

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, LiteralString, NamedTuple
from uuid import UUID

import orjson
from orjson import Fragment

from whence import links
from whence.errors import ChunkNotFound, JobNotFound
from whence.models import Chunk, now
from whence.store import grounds
from whence.store.binary_copy import copy, integer, jsonb, moment, packed
from whence.store.pool import Params, Queries, Row, Statements

CHUNK: LiteralString = """
       c.project_id::text, c.id::text, c.document_id::text, c.job_id::text, c.chunk_index, c.text,
       encode(c.content_hash, 'hex'), c.metadata::text, c.created_at, d.version,
       coalesce('span=' || (c.metadata ->> 'startOffset') || '-' || (c.metadata ->> 'endOffset') || '&', '') || 'v=' || d.version"""
_SOURCE: LiteralString = """,
       j.name, j.type, j.status, j.file_name, j.file_type, j.file_size, j.created_at, j.completed_at"""
_EMBEDDING: LiteralString = """,
       v.embedding::text"""
# IS NOT DISTINCT FROM, because with `=` the planner joins all documents of a project that has no statistics.
_FROM: LiteralString = """
FROM kb.chunks c
JOIN kb.documents d ON d.id = c.document_id AND d.project_id IS NOT DISTINCT FROM c.project_id"""
_JOIN_SOURCE: LiteralString = """
JOIN kb.jobs j ON j.project_id = c.project_id AND j.id = c.job_id"""
_JOIN_EMBEDDING: LiteralString = """
LEFT JOIN kb.chunk_vectors v
       ON v.project_id = c.project_id AND v.id = c.id
      AND v.space_id = (SELECT p.space_id FROM kb.projects p WHERE p.id = c.project_id)"""

# `project_id` is null for a key with access to all projects.
_BY_ID: LiteralString = """
WHERE c.id = %(id)s::uuid AND (%(project_id)s::uuid IS NULL OR c.project_id = %(project_id)s)"""
_BY_IDS: LiteralString = """
WHERE c.id = ANY(%(ids)s::uuid[]) AND (%(project_id)s::uuid IS NULL OR c.project_id = %(project_id)s)
ORDER BY c.id"""
# Finds the first chunk of the page by the index alone. Joining the skipped chunks to the other tables took most of the time.
_BY_DOCUMENT: LiteralString = """
WHERE c.project_id = %(project_id)s::uuid AND c.document_id = %(of)s::uuid AND c.chunk_index >= (
    SELECT s.chunk_index FROM kb.chunks s
    WHERE s.project_id = %(project_id)s::uuid AND s.document_id = %(of)s::uuid AND s.chunk_index > %(after)s
    ORDER BY s.chunk_index LIMIT 1 OFFSET %(offset)s)
ORDER BY c.chunk_index LIMIT %(limit)s"""
_BY_JOB: LiteralString = """
WHERE c.project_id = %(project_id)s::uuid AND c.job_id = %(of)s::uuid AND c.chunk_index >= (
    SELECT s.chunk_index FROM kb.chunks s
    WHERE s.project_id = %(project_id)s::uuid AND s.job_id = %(of)s::uuid AND s.chunk_index > %(after)s
    ORDER BY s.chunk_index LIMIT 1 OFFSET %(offset)s)
ORDER BY c.chunk_index LIMIT %(limit)s"""
SELECT_PLACE: LiteralString = """
SELECT chunk_index FROM kb.chunks
WHERE project_id = %(project_id)s::uuid AND id = %(after)s AND %(of)s::uuid IN (document_id, job_id)
"""


def _select(where: LiteralString) -> dict[tuple[bool, bool], LiteralString]:
    """Statements by (with source, with embedding), so that a query reads only the requested columns."""
    return {
        (False, False): f"SELECT {CHUNK}{_FROM}{where}",
        (True, False): f"SELECT {CHUNK}{_SOURCE}{_FROM}{_JOIN_SOURCE}{where}",
        (False, True): f"SELECT {CHUNK}{_EMBEDDING}{_FROM}{_JOIN_EMBEDDING}{where}",
        (True, True): f"SELECT {CHUNK}{_SOURCE}{_EMBEDDING}{_FROM}{_JOIN_SOURCE}{_JOIN_EMBEDDING}{where}",
    }


SELECT_BY_ID = _select(_BY_ID)
SELECT_BY_IDS = _select(_BY_IDS)
SELECT_BY_JOB = _select(_BY_JOB)
SELECT_BY_DOCUMENT = _select(_BY_DOCUMENT)
COUNT_BY_DOCUMENT: LiteralString = """
SELECT count(*) FROM kb.chunks c WHERE c.project_id = %(project_id)s AND c.document_id = %(document_id)s
"""
SELECT_JOB: LiteralString = """
SELECT j.project_id::text, (SELECT count(*) FROM kb.chunks c WHERE c.project_id = j.project_id AND c.job_id = j.id)
FROM kb.jobs j
WHERE j.id = %(job_id)s::uuid AND (%(project_id)s::uuid IS NULL OR j.project_id = %(project_id)s)
"""
COUNT_BY_JOB: LiteralString = """
SELECT c.job_id::text, count(*)
FROM unnest(%(project_ids)s::uuid[], %(job_ids)s::uuid[]) AS wanted (project_id, job_id)
JOIN kb.chunks c ON c.project_id = wanted.project_id AND c.job_id = wanted.job_id
GROUP BY c.job_id
"""
COPY: LiteralString = """
COPY kb.chunks (project_id, id, document_id, job_id, chunk_index, text, content_hash, metadata, created_at)
FROM STDIN (FORMAT binary)
"""

LAYOUT: LiteralString = """
SELECT c.id, c.content_hash, (c.metadata ->> 'token_count')::integer,
       EXISTS (SELECT FROM kb.chunk_vectors v
               WHERE v.project_id = %(project_id)s AND v.id = c.id AND v.space_id = %(space_id)s)
FROM kb.chunks c
WHERE c.project_id = %(project_id)s AND c.document_id = %(document_id)s
ORDER BY c.chunk_index
"""
IDS_OF_DOCUMENT: LiteralString = """
SELECT id FROM kb.chunks WHERE project_id = %(project_id)s AND document_id = %(of)s
"""
IDS_OF_JOB: LiteralString = "SELECT id FROM kb.chunks WHERE project_id = %(project_id)s AND job_id = %(of)s"
REMOVE: LiteralString = f"""{grounds.gone("%(ids)s", "%(reason)s")}
DELETE FROM kb.chunks WHERE project_id = %(project_id)s AND id = ANY(%(ids)s)
"""
MOVE: LiteralString = """
UPDATE kb.chunks c
SET chunk_index = moved.chunk_index, job_id = %(job_id)s, metadata = moved.metadata::jsonb
FROM unnest(%(ids)s::uuid[], %(indexes)s::integer[], %(metadata)s::text[]) AS moved (id, chunk_index, metadata)
WHERE c.project_id = %(project_id)s AND c.id = moved.id
"""

_TOTALS_TTL = 60.0
_TOTALS_SIZE = 10_000
_PROJECT, _JOB = 0, 3  # positions in a row

_SOURCE_FIELDS = "job_name job_type status file_name file_type file_size created_at completed_at".split()

ChunkView = dict[str, Any]
"""A chunk with the API's field names; `source` and `embedding` only if requested."""


class Laid(NamedTuple):
    id: UUID
    content_hash: bytes
    token_count: int | None
    embedded: bool


class Chunks(Statements):
    def __init__(self, queries: Queries, totals: "Totals") -> None:
        super().__init__(queries)
        self._totals = totals

    async def get(
        self,
        chunk_id: str,
        *,
        project_id: UUID | None,
        job_id: str | None = None,
        source: bool = False,
        embedding: bool = False,
    ) -> ChunkView:
        """One chunk. With `job_id`, the chunk must belong to that job."""
        params = {"id": chunk_id, "project_id": project_id}
        row = await self._queries.one(SELECT_BY_ID[source, embedding], params)
        if row is None or (job_id is not None and row[_JOB] != job_id):
            if job_id is not None:
                await self._read_job(job_id, project_id)
            raise ChunkNotFound(details={"chunk_id": chunk_id})
        found = await self._build_views([row], source=source, embedding=embedding)
        if not found:
            raise JobNotFound("Source job not found", details={"job_id": row[_JOB]})
        return found[0]

    async def bulk(
        self, ids: Iterable[str], *, project_id: UUID | None, source: bool = False, embedding: bool = False
    ) -> list[ChunkView]:
        """The existing chunks among `ids`, ordered by id. A chunk whose job was deleted meanwhile is left out."""
        params = {"ids": "{" + ",".join(ids) + "}", "project_id": project_id}
        rows = await self._queries.all(SELECT_BY_IDS[source, embedding], params)
        return await self._build_views(rows, source=source, embedding=embedding)

    async def of_job(
        self,
        job_id: str,
        *,
        project_id: UUID | None,
        limit: int,
        offset: int,
        after: UUID | None = None,
        source: bool = False,
        embedding: bool = False,
    ) -> tuple[list[ChunkView], int]:
        """Chunks in reading order, those behind the id `after`, and their total."""
        owner, total = await self._read_job(job_id, project_id)
        params = await self._locate_page(owner, job_id, limit=limit, offset=offset, after=after)
        rows = await self._queries.all(SELECT_BY_JOB[source, embedding], params)
        found = await self._build_views(rows, source=source, embedding=embedding)
        if rows and not found:
            raise JobNotFound("Source job not found", details={"job_id": job_id})
        return found, total

    async def of_document(
        self,
        project_id: UUID,
        document_id: UUID,
        *,
        limit: int,
        offset: int,
        after: UUID | None = None,
        source: bool = False,
        embedding: bool = False,
    ) -> tuple[list[ChunkView], int]:
        """Like `of_job`, for a document."""
        params = await self._locate_page(project_id, document_id, limit=limit, offset=offset, after=after)
        rows = await self._queries.all(SELECT_BY_DOCUMENT[source, embedding], params)
        found = await self._build_views(rows, source=source, embedding=embedding)
        return found, await self.count(project_id, document_id)

    async def _locate_page(
        self, project_id: UUID | str, of: UUID | str, *, limit: int, offset: int, after: UUID | None
    ) -> dict[str, Any]:
        params = {"project_id": project_id, "of": of, "limit": limit, "offset": offset, "after": after}
        place = -1 if after is None else await self._queries.value(SELECT_PLACE, params)
        if place is None:
            raise ChunkNotFound(details={"chunk_id": str(after)})
        return {**params, "after": place}

    async def count(self, project_id: UUID, document_id: UUID) -> int:
        params = {"project_id": project_id, "document_id": document_id}
        return int(await self._queries.value(COUNT_BY_DOCUMENT, params))

    async def layout(self, project_id: UUID, document_id: UUID, space_id: UUID) -> list[Laid]:
        params = {"project_id": project_id, "document_id": document_id, "space_id": space_id}
        return [Laid(*row) for row in await self._queries.all(LAYOUT, params)]

    async def ids_of_document(self, project_id: UUID, document_id: UUID) -> list[UUID]:
        return await self._queries.column(IDS_OF_DOCUMENT, {"project_id": project_id, "of": document_id})

    async def ids_of_job(self, project_id: UUID, job_id: UUID) -> list[UUID]:
        return await self._queries.column(IDS_OF_JOB, {"project_id": project_id, "of": job_id})

    async def remove(
        self, project_id: UUID, ids: Sequence[UUID], *, reason: Literal["changed", "deleted"] = "deleted"
    ) -> None:
        """Remove chunks. Answers that cite them become stale for this reason."""
        if ids:
            params = {"project_id": project_id, "ids": list(ids), "reason": reason, "now": now()}
            await self._queries.run(REMOVE, params)

    def recount(self, job_id: str) -> None:
        self._totals.forget(job_id)

    async def move(self, project_id: UUID, chunks: Sequence[Chunk]) -> None:
        """Give reused chunks their index, job and metadata in the document's new version."""
        if not chunks:
            return
        params = {
            "project_id": project_id,
            "job_id": chunks[0].job_id,
            "ids": [chunk.id for chunk in chunks],
            "indexes": [chunk.chunk_index for chunk in chunks],
            "metadata": [
                None if one.metadata is None else orjson.dumps(one.metadata).decode() for one in chunks
            ],
        }
        await self._queries.run(MOVE, params)

    async def insert(self, chunks: Iterable[Chunk]) -> None:
        await copy(self._queries, COPY, map(_encode_row, chunks))

    async def _read_job(self, job_id: str, project_id: UUID | None) -> tuple[str, int]:
        row = await self._queries.one(SELECT_JOB, {"job_id": job_id, "project_id": project_id})
        if row is None:
            raise JobNotFound(details={"job_id": job_id})
        return row[0], row[1]

    async def _build_views(self, rows: Sequence[Row], *, source: bool, embedding: bool) -> list[ChunkView]:
        views = [chunk_view(row) for row in rows]
        if embedding:
            for view, row in zip(views, rows, strict=True):
                view["embedding"] = None if row[-1] is None else Fragment(row[-1])
        if not source:
            return views
        jobs = {row[_JOB]: row for row in rows}
        totals = await self._totals.of({job_id: row[_PROJECT] for job_id, row in jobs.items()}, self._queries)
        # The source of each job is encoded once for all its chunks.
        sources = {job_id: Fragment(_encode_source(jobs[job_id], total)) for job_id, total in totals.items()}
        if len(sources) < len(jobs):  # a job was deleted between the two statements
            views = [view for view in views if view["job_id"] in sources]
        for view in views:
            view["source"] = sources[view["job_id"]]
        return views


class Totals:
    """Cache of chunk counts per job, valid for a minute, so that `source` needs no count on every read."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, int]] = {}

    async def of(self, jobs: Mapping[str, str], queries: Queries) -> dict[str, int]:
        """Counts by job id; `jobs` maps job to project. Jobs without chunks are left out."""
        moment = time.monotonic()
        known = {job_id: self._known[job_id] for job_id in jobs if job_id in self._known}
        counts = {job_id: count for job_id, (until, count) in known.items() if until > moment}
        missing = [job_id for job_id in jobs if job_id not in counts]
        if missing:
            params: Params = {"job_ids": missing, "project_ids": [jobs[job_id] for job_id in missing]}
            fresh: dict[str, int] = dict(await queries.all(COUNT_BY_JOB, params))
            if len(self._known) + len(fresh) > _TOTALS_SIZE:
                self._known.clear()
            self._known |= {job_id: (moment + _TOTALS_TTL, count) for job_id, count in fresh.items()}
            counts |= fresh
        return counts

    def forget(self, job_id: str) -> None:
        self._known.pop(job_id, None)


def _encode_row(chunk: Chunk) -> bytes:
    ids = (chunk.project_id.bytes, chunk.id.bytes, chunk.document_id.bytes, chunk.job_id.bytes)
    content = chunk.content.encode()
    digest = hashlib.sha256(content).digest()
    metadata = None if chunk.metadata is None else jsonb(orjson.dumps(chunk.metadata))
    return packed(*ids, integer(chunk.chunk_index), content, digest, metadata, moment(chunk.created_at))


def chunk_view(row: Row) -> ChunkView:
    metadata = row[7]
    return {
        "id": row[1],
        "job_id": row[3],
        "document_id": row[2],
        "chunk_index": row[4],
        "content": row[5],
        "content_hash": row[6],
        "metadata": None if metadata is None else Fragment(metadata),
        "created_at": row[8],
        "document_version": row[9],
        "url": links.absolute(f"/d/{row[2]}?{row[10]}"),
    }


def _encode_source(row: Row, total_chunks: int) -> bytes:
    """The chunk's job as JSON for clients: the same ten fields on every endpoint, no internals."""
    source = {
        "job_id": row[_JOB],
        **dict(zip(_SOURCE_FIELDS, row[11:19], strict=True)),
        "total_chunks": total_chunks,
    }
    return orjson.dumps(source, option=orjson.OPT_UTC_Z)
