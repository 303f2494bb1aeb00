"""The ledger of extraction: one row for each chunk and job, also if the chunk yielded nothing. It is deleted with the chunk.

A chunk is stale if it was last read under an older schema, was never read, or could not be read.
"""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from whence.chunk_findings import ChunkExtraction, Outcome
from whence.store.graph.claims import storable
from whence.store.pool import BoundStatement, PagedQuery, Statements, fields_of, reader, uuids

PUT: LiteralString = """
INSERT INTO kb.chunk_extractions (project_id, chunk_id, job_id, schema_number, outcome, reason, rejected, rejections,
                                  prompt_tokens, completion_tokens, extracted_at, reader)
VALUES (%(project_id)s, %(chunk_id)s, %(job_id)s, %(schema_number)s, %(outcome)s, %(reason)s, %(rejected)s,
        %(rejections)s, %(prompt_tokens)s, %(completion_tokens)s, %(extracted_at)s, %(reader)s)
ON CONFLICT (project_id, chunk_id, job_id) DO UPDATE
SET schema_number = excluded.schema_number, outcome = excluded.outcome, reason = excluded.reason,
    rejected = excluded.rejected, rejections = excluded.rejections,
    prompt_tokens = chunk_extractions.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = chunk_extractions.completion_tokens + excluded.completion_tokens,
    extracted_at = excluded.extracted_at, reader = excluded.reader
"""
LAST_READING: LiteralString = """
LEFT JOIN LATERAL (
    SELECT e.schema_number, e.outcome FROM kb.chunk_extractions e
    WHERE e.project_id = %(project_id)s AND e.chunk_id = c.id
    ORDER BY e.extracted_at DESC LIMIT 1) last ON true"""
IS_STALE: LiteralString = """
(last.schema_number IS NULL OR last.schema_number < %(schema_number)s OR last.outcome = 'failed')"""
NEXT: LiteralString = f"""
SELECT c.id, c.chunk_index FROM kb.chunks c {LAST_READING}
WHERE c.project_id = %(project_id)s AND c.document_id = %(document_id)s AND c.chunk_index > %(after)s
  AND NOT EXISTS (SELECT FROM kb.chunk_extractions e
                  WHERE e.project_id = %(project_id)s AND e.chunk_id = c.id AND e.job_id = %(job_id)s)
  AND (%(schema_number)s::integer IS NULL OR {IS_STALE})
ORDER BY c.chunk_index LIMIT 1
"""
OLDEST: LiteralString = """
SELECT least(
    (SELECT min(e.schema_number) FROM kb.chunk_extractions e
     JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = e.chunk_id
     WHERE e.project_id = %(project_id)s AND c.document_id = %(document_id)s),
    (SELECT min(g.schema_number) FROM kb.remembered_objects g
     WHERE g.project_id = %(project_id)s AND g.document_id = %(document_id)s))
"""
COUNTS: LiteralString = """
SELECT count(*) FILTER (WHERE outcome = 'extracted'), count(*) FILTER (WHERE outcome = 'empty'),
       count(*) FILTER (WHERE outcome = 'failed'), coalesce(sum(rejected), 0)::bigint
FROM kb.chunk_extractions WHERE project_id = %(project_id)s AND job_id = %(job_id)s
"""
_READINGS: LiteralString = """
FROM kb.chunk_extractions e JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = e.chunk_id
WHERE e.project_id = %(project_id)s AND e.job_id = %(job_id)s
  AND (%(outcome)s::text IS NULL OR e.outcome = %(outcome)s) AND (e.rejected > 0 OR NOT %(rejected)s)"""
_READING: LiteralString = """
       e.chunk_id, c.chunk_index, (c.metadata ->> 'source_page')::integer, 'v' || e.schema_number, e.outcome, e.reason,
       e.rejected, e.rejections, e.prompt_tokens, e.completion_tokens, e.extracted_at"""
FORGET_FAILURES: LiteralString = """
DELETE FROM kb.chunk_extractions
WHERE project_id = %(project_id)s AND job_id = %(job_id)s AND outcome = 'failed'
"""
# Keeps the time of each reading, and the claims. Removes reasons and rejections, which belong to the job.
OUTLIVE: LiteralString = """
UPDATE kb.chunk_extractions SET reason = NULL, rejected = 0, rejections = '[]'
WHERE project_id = %(project_id)s AND job_id = %(job_id)s AND rejected + length(coalesce(reason, '')) > 0
"""
# A chunk without a vector cannot be read yet, because its context is found by vector.
_TO_READ: LiteralString = f"""
FROM kb.chunks c {LAST_READING}
WHERE c.project_id = %(project_id)s AND (%(every)s OR {IS_STALE}) AND EXISTS (
    SELECT FROM kb.chunk_vectors v WHERE v.project_id = %(project_id)s AND v.id = c.id)"""
_TO_READ_OF_DOCUMENT: LiteralString = f"{_TO_READ} AND c.document_id = %(document_id)s"
_STALE_CHUNK: LiteralString = """
       c.id, c.document_id, c.chunk_index, length(c.text), (c.metadata ->> 'token_count')::integer,
       'v' || last.schema_number, last.outcome, last.schema_number"""


ChunkReading = dict[str, Any]
"""The result of one chunk in one job, with the API's field names."""
StaleChunk = dict[str, Any]
"""A chunk to read again, with the API's field names. `schema_version` is None if it was never read."""

_READ_BY_JOB = PagedQuery(
    reader(
        ChunkReading,
        "chunk_id, chunk_index, page, schema_version, outcome, reason, rejected, rejections, prompt_tokens,"
        "completion_tokens, extracted_at",
    ),
    _READING,
    _READINGS,
    "c.chunk_index",
    ident="e.chunk_id",
)
AMONG_READ: LiteralString = """
SELECT DISTINCT e.chunk_id FROM kb.chunk_extractions e
WHERE e.project_id = %(project_id)s AND e.chunk_id = ANY(%(ids)s::uuid[]) AND e.outcome <> 'failed' ORDER BY e.chunk_id
"""
_stale_of = reader(
    StaleChunk,
    "chunk_id, document_id, chunk_index, characters, token_count, schema_version, outcome, schema_number",
)


def put(extraction: ChunkExtraction) -> BoundStatement:
    rejections = Jsonb([storable(asdict(each)) for each in extraction.rejections])
    changed = {"reason": storable(extraction.reason), "rejections": rejections}
    return PUT, {**fields_of(extraction), **changed}


class Ledger(Statements):
    async def next_chunk(
        self,
        project_id: UUID,
        document_id: UUID,
        job_id: UUID,
        *,
        after: int = -1,
        stale_before: int | None = None,
    ) -> tuple[UUID, int] | None:
        """Id and index of the next chunk to read, in reading order; None when the job has read all.

        Chunks up to the index `after` are skipped. With `stale_before`, chunks that were last read under this schema or a newer one
        are skipped too.
        """
        params = {
            "project_id": project_id,
            "document_id": document_id,
            "job_id": job_id,
            "after": after,
            "schema_number": stale_before,
        }
        row = await self._queries.one(NEXT, params)
        return None if row is None else (row[0], row[1])

    async def oldest(self, project_id: UUID, document_id: UUID) -> int | None:
        """The oldest schema version among the document's readings and tombstones."""
        params = {"project_id": project_id, "document_id": document_id}
        oldest: int | None = await self._queries.value(OLDEST, params)
        return oldest

    async def counts(self, project_id: UUID, job_id: UUID) -> dict[str, int]:
        """Chunks of the job by outcome, and the number of rejected proposals."""
        row = await self._queries.one(COUNTS, {"project_id": project_id, "job_id": job_id}) or (0,) * 4
        return dict(zip(("extracted", "empty", "failed", "rejected"), row, strict=True))

    async def among_read(self, project_id: UUID, chunk_ids: Iterable[UUID]) -> list[UUID]:
        """The ids of chunks that were read, in order."""
        return await self._queries.column(AMONG_READ, {"project_id": project_id, "ids": uuids(chunk_ids)})

    async def readings(
        self,
        project_id: UUID,
        job_id: UUID,
        *,
        outcome: Outcome | None = None,
        rejected: bool = False,
        limit: int,
        offset: int,
        after: UUID | None = None,
    ) -> tuple[list[ChunkReading], int]:
        """Results in reading order; with `rejected`, only those with rejections."""
        params = {"project_id": project_id, "job_id": job_id, "outcome": outcome, "rejected": rejected}
        return await self._queries.page(_READ_BY_JOB, params, limit=limit, offset=offset, after=after)

    async def forget_failures(self, project_id: UUID, job_id: UUID) -> None:
        """Deletes failed readings, so that the job reads those chunks again."""
        await self._queries.run(FORGET_FAILURES, {"project_id": project_id, "job_id": job_id})

    async def outlive(self, project_id: UUID, job_id: UUID) -> None:
        """Keeps the readings of a deleted job, except failures, so that its chunks still count as read."""
        params = {"project_id": project_id, "job_id": job_id}
        await self._queries.run(FORGET_FAILURES, params)
        await self._queries.run(OUTLIVE, params)

    async def stale(
        self,
        project_id: UUID,
        schema_number: int,
        *,
        document_id: UUID | None = None,
        limit: int,
        offset: int,
    ) -> tuple[list[StaleChunk], int]:
        """Chunks to read again under the schema `schema_number`."""
        params = {"project_id": project_id, "schema_number": schema_number, "document_id": document_id}
        query = PagedQuery(
            _stale_of, _STALE_CHUNK, _select_unread(document_id), "c.document_id, c.chunk_index"
        )
        return await self._queries.page(query, {**params, "every": False}, limit=limit, offset=offset)

    async def by_version(
        self, project_id: UUID, schema_number: int, *, document_id: UUID | None = None, every: bool = False
    ) -> dict[int | None, tuple[int, int]]:
        """Chunks to read again, or all with `every`, and their characters, by the schema they were last read under.

        The schema is None for chunks that were never read.
        """
        params = {"project_id": project_id, "schema_number": schema_number, "document_id": document_id}
        rows = await self._queries.all(
            f"""SELECT CASE WHEN last.outcome <> 'failed' THEN last.schema_number END, count(*),
                       coalesce(sum(length(c.text)), 0)::bigint {_select_unread(document_id)} GROUP BY 1 ORDER BY 1""",
            {**params, "every": every},
        )
        return {row[0]: (row[1], row[2]) for row in rows}

    async def stale_documents(
        self, project_id: UUID, schema_number: int, *, document_id: UUID | None = None, every: bool = False
    ) -> list[UUID]:
        """Documents with chunks to read again."""
        params = {"project_id": project_id, "schema_number": schema_number, "document_id": document_id}
        select: LiteralString = (
            f"SELECT DISTINCT c.document_id {_select_unread(document_id)} ORDER BY c.document_id"
        )
        return await self._queries.column(select, {**params, "every": every})


def _select_unread(document_id: UUID | None) -> LiteralString:
    return _TO_READ_OF_DOCUMENT if document_id else _TO_READ
