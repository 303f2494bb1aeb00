"""Documents: one row per source, including its text. A new one is inserted with its job and its task."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Literal, LiteralString, NamedTuple
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from whence import links
from whence.errors import Conflict, DocumentNotFound, ProjectNotFound
from whence.models import (
    VALID_FROM,
    Document,
    EmbeddingSpace,
    Filters,
    Job,
    JobStatus,
    Page,
    Project,
    now,
)
from whence.store import chunks, grounds, jobs, projects
from whence.store.document_identity import COLUMNS, SAME_AS_ANOTHER, DocumentIdentity, Original, document_of
from whence.store.graph.locks import select_ids
from whence.store.graph.removal import CHUNKS_OF_DOCUMENT, ClaimRemoval
from whence.store.pool import Row, fields_of, reader
from whence.store.queue import DEFERRED
from whence.store.vectors import space_of
from whence.text.dates import own_date

_VIEW: LiteralString = """
SELECT d.id::text, d.project_id::text, d.name, d.origin, d.mime, d.size, encode(d.sha256, 'hex'),
       d.current_job_id::text, j.status, j.error_details, j.config -> 'chunking',
       (SELECT count(*) FROM kb.chunks c WHERE c.project_id = d.project_id AND c.document_id = d.id),
       jsonb_array_length(d.page_map), d.created_at, d.updated_at, d.metadata,
       CASE WHEN e.id IS NOT NULL THEN jsonb_build_object(
           'job_id', e.id, 'status', e.status, 'schema_version', 'v' || e.schema_number) END,
       d.version, d.version_at, d.valid_from
FROM kb.documents d
LEFT JOIN kb.jobs j ON j.project_id = d.project_id AND j.id = d.current_job_id
LEFT JOIN LATERAL (
    SELECT e.id, e.status, e.schema_number FROM kb.jobs e
    WHERE e.project_id = d.project_id AND e.document_id = d.id AND e.type = 'extraction'
    ORDER BY e.created_at DESC, e.id DESC LIMIT 1
) e ON true"""
_OF_TYPE: LiteralString = """(%(mimes)s::text[] IS NULL
       OR EXISTS (SELECT FROM unnest(%(mimes)s::text[]) AS wanted (mime)
                  WHERE d.mime = wanted.mime OR (right(wanted.mime, 1) = '/' AND starts_with(d.mime, wanted.mime)))
       OR EXISTS (SELECT FROM unnest(%(extensions)s::text[]) AS wanted (extension)
                  WHERE right(lower(d.name), length(wanted.extension)) = wanted.extension))"""
_FILTER: LiteralString = f"""
WHERE d.project_id = %(project_id)s::uuid
  AND {_OF_TYPE}
  AND (%(name)s::text IS NULL OR position(lower(%(name)s) IN lower(d.name)) > 0)"""

INSERT: LiteralString = """
INSERT INTO kb.documents (project_id, id, name, origin, mime, size, sha256, text, original_key, fetched,
                          metadata, current_job_id, valid_from, created_at, updated_at)
VALUES (%(project_id)s, %(id)s, %(name)s, %(origin)s, %(mime)s, %(size)s, %(sha256)s, %(text)s, %(original_key)s,
        %(fetched)s, %(metadata)s, %(current_job_id)s, %(valid_from)s, %(created_at)s, %(updated_at)s)
ON CONFLICT (project_id, sha256, hashtextextended(coalesce(origin, name), 0)) DO NOTHING
"""
SELECT_ONE: LiteralString = f"""
SELECT {COLUMNS} FROM kb.documents d
WHERE d.id = %(id)s::uuid AND (%(project_id)s::uuid IS NULL OR d.project_id = %(project_id)s)
"""
SELECT_TEXT: LiteralString = """
SELECT d.text, d.page_map FROM kb.documents d
WHERE d.id = %(id)s::uuid AND (%(project_id)s::uuid IS NULL OR d.project_id = %(project_id)s)
"""
SELECT_PART: LiteralString = """
SELECT substr(d.text, %(start)s + 1, %(end)s - %(start)s), d.version FROM kb.documents d
WHERE d.project_id = %(project_id)s AND d.id = %(id)s
"""
SELECT_PAGES: LiteralString = """
SELECT d.id::text, d.page_map FROM kb.documents d WHERE d.project_id = %(project_id)s AND d.id = ANY(%(ids)s)
"""
SELECT_VIEW: LiteralString = f"""{_VIEW}
WHERE d.id = %(id)s::uuid AND (%(project_id)s::uuid IS NULL OR d.project_id = %(project_id)s)"""
_WITH_STATUS: LiteralString = """
  AND EXISTS (SELECT FROM kb.jobs j
              WHERE j.project_id = d.project_id AND j.id = d.current_job_id AND j.status = %(status)s)"""
_LISTED: dict[bool, LiteralString] = {
    False: f"FROM kb.documents d{_FILTER}",
    True: f"FROM kb.documents d{_FILTER}{_WITH_STATUS}",
}
"""By whether the status is filtered. Without a filter, no job is looked up."""
DocumentOrder = Literal["created", "name", "size", "updated"]
_ORDERS: dict[DocumentOrder, LiteralString] = {
    "created": "d.id",
    "name": "lower(d.name)",
    "size": "d.size",
    "updated": "d.updated_at",
}
COUNT: dict[bool, LiteralString] = {asked: f"SELECT count(*) {listed}" for asked, listed in _LISTED.items()}


def select_page(*, with_status: bool = False, order: LiteralString = "d.id DESC") -> LiteralString:
    """Selects the ids of the page first. Joining the skipped documents to the other tables took most of the time."""
    return f"""{_VIEW}
WHERE d.project_id = %(project_id)s::uuid AND d.id = ANY(ARRAY(
    SELECT d.id {_LISTED[with_status]} AND (%(after)s::uuid IS NULL OR d.id < %(after)s)
    ORDER BY {order} LIMIT %(limit)s OFFSET %(offset)s))
ORDER BY {order}"""


LOCK: LiteralString = f"""
SELECT {COLUMNS} FROM kb.documents d WHERE d.project_id = %(project_id)s AND d.id = %(id)s FOR UPDATE
"""
USE_JOB: LiteralString = """
UPDATE kb.documents SET current_job_id = %(job_id)s WHERE project_id = %(project_id)s AND id = %(id)s
"""
USE_NEWEST_JOB: LiteralString = """
UPDATE kb.documents d
SET current_job_id = (SELECT j.id FROM kb.jobs j WHERE j.project_id = %(project_id)s AND j.document_id = %(id)s
                        AND j.type = 'document_processing' AND (j.status <> 'completed' OR EXISTS (
                            SELECT FROM kb.chunks c WHERE c.project_id = %(project_id)s AND c.job_id = j.id))
                      ORDER BY j.status = 'cancelled', j.id DESC LIMIT 1)
WHERE d.project_id = %(project_id)s AND d.id = %(id)s
"""
USE_VALIDATORS: LiteralString = """
UPDATE kb.documents SET fetched = %(fetched)s
WHERE project_id = %(project_id)s AND id = %(id)s AND sha256 = %(sha256)s
"""
MOVE: LiteralString = """
UPDATE kb.documents SET name = %(name)s, origin = %(origin)s, updated_at = %(now)s
WHERE project_id = %(project_id)s AND id = %(id)s
"""
DESCRIBE: LiteralString = """
UPDATE kb.documents
SET metadata = (metadata || %(said)s::jsonb) - %(unsaid)s::text[], updated_at = %(now)s,
    valid_from = CASE WHEN %(is_dated)s THEN coalesce(%(valid_from)s, dated_at) ELSE valid_from END
WHERE project_id = %(project_id)s AND id = %(id)s
"""
REPLACE: LiteralString = """
UPDATE kb.documents d
SET name = %(name)s, origin = %(origin)s, size = %(size)s, sha256 = %(sha256)s, original_key = %(key)s,
    fetched = %(fetched)s, mime = t.mime, text = t.text, page_map = t.page_map, updated_at = %(now)s,
    version = d.version + 1, dated_at = t.dated_at,
    version_at = CASE WHEN d.version > 0 AND d.sha256 = %(sha256)s THEN d.version_at ELSE %(now)s END,
    valid_from = coalesce(%(valid_from)s, t.dated_at)
FROM kb.job_texts t
WHERE d.project_id = %(project_id)s AND d.id = %(id)s AND t.project_id = %(project_id)s AND t.job_id = %(job_id)s
"""
_ITS_CHUNKS: LiteralString = (
    "SELECT c.id FROM kb.chunks c WHERE c.project_id = %(project_id)s AND c.document_id = %(id)s"
)
MATCHING: LiteralString = f"""
SELECT d.id FROM kb.documents d
WHERE d.project_id = %(project_id)s
  AND (%(document_ids)s::uuid[] IS NULL OR d.id = ANY(%(document_ids)s))
  AND {_OF_TYPE}
  AND (%(metadata)s::jsonb IS NULL OR d.metadata @> %(metadata)s::jsonb)
  AND (%(created_from)s::timestamptz IS NULL OR d.created_at >= %(created_from)s)
  AND (%(created_before)s::timestamptz IS NULL OR d.created_at < %(created_before)s)
  AND (%(updated_from)s::timestamptz IS NULL OR d.updated_at >= %(updated_from)s)
  AND (%(updated_before)s::timestamptz IS NULL OR d.updated_at < %(updated_before)s)
"""
DELETE: LiteralString = f"""{grounds.gone(_ITS_CHUNKS, "'deleted'")}
DELETE FROM kb.documents WHERE project_id = %(project_id)s AND id = %(id)s
"""
# Inserts the document, its job and its task, or nothing.
BEGIN: LiteralString = f"""
WITH document AS ({INSERT} RETURNING project_id, id),
job AS (
    INSERT INTO kb.jobs (project_id, id, document_id, type, name, status, config, file_name, file_type, file_size, created_at)
    SELECT project_id, %(current_job_id)s, id, 'document_processing', %(name)s, 'pending', %(config)s, %(name)s, %(mime)s,
           %(size)s, %(created_at)s
    FROM document)
SELECT {DEFERRED} FROM document
"""


DocumentView = dict[str, Any]
_view = reader(
    dict[str, Any],
    "id, project_id, name, origin, file_type, file_size, sha256, job_id, status, error, chunking, chunk_count, page_count,"
    "created_at, updated_at, metadata, extraction, version, version_at, valid_from",
)


class HeldDocument(NamedTuple):
    project: Project
    space: EmbeddingSpace | None
    document: Document
    job: Job | None
    """The job's row; None if the run no longer owns the job."""
    laid: list[chunks.Laid]
    """The document's chunks, each with whether it has a vector in the given space."""


class Documents(DocumentIdentity):
    async def insert(self, document: Document) -> bool:
        """Return False and insert nothing if the project has the same document; see `same`."""
        return await self._queries.run(INSERT, fields_of(document)) == 1

    async def begin(self, document: Document, *, config: dict[str, Any], task: str) -> bool:
        """Insert the document with its current job and its task. Returns False as `insert` does."""
        arguments = {"project_id": str(document.project_id), "job_id": str(document.current_job_id)}
        deferred = {"queue": "default", "task": task, "lock": str(document.id), "args": arguments}
        # `run`, because this writes: only reads are repeated after a lost connection.
        return await self._queries.run(BEGIN, {**fields_of(document), **deferred, "config": config}) == 1

    async def hold(self, job: Job, run_id: UUID, space_id: UUID) -> HeldDocument:
        """Lock project, document and job until the transaction ends, and read the chunks.

        Updates and deletions lock in the same order.
        """
        project_id, document_id = job.project_id, job.document_id
        layout = {"project_id": project_id, "document_id": document_id, "space_id": space_id}
        held, locked, own, rows = await self._queries.together(
            [
                (projects.HOLD, {"id": project_id}),
                (LOCK, {"id": document_id, "project_id": project_id}),
                (jobs.HOLD, {"project_id": project_id, "id": job.id, "run_id": run_id}),
                (chunks.LAYOUT, layout),
            ]
        )
        if not held:
            raise ProjectNotFound(details={"project_id": str(project_id)})
        if not locked:
            raise _not_found(document_id)
        return HeldDocument(
            project=projects.project_of(held[0]),
            space=space_of(held[0][6:]),
            document=document_of(locked[0]),
            job=jobs.job_of(own[0]) if own else None,
            laid=[chunks.Laid(*row) for row in rows],
        )

    async def get(self, document_id: UUID, *, project_id: UUID | None = None) -> Document:
        """The document without its text, which may be long."""
        return document_of(await self._read_one(SELECT_ONE, document_id, project_id))

    async def lock(self, project_id: UUID, document_id: UUID) -> Document:
        return document_of(await self._read_one(LOCK, document_id, project_id))

    async def _read_one(self, query: LiteralString, document_id: UUID, project_id: UUID | None) -> Row:
        row = await self._queries.one(query, {"id": document_id, "project_id": project_id})
        if row is None:
            raise _not_found(document_id)
        return row

    async def content(
        self, document_id: UUID, *, project_id: UUID | None = None
    ) -> tuple[str | None, tuple[Page, ...]]:
        """The text and its pages. The text is None until the document was first parsed."""
        row = await self._read_one(SELECT_TEXT, document_id, project_id)
        return row[0], pages(row[1])

    async def part(
        self, project_id: UUID, document_id: UUID, *, start: int, end: int
    ) -> tuple[str, int] | None:
        """`text[start:end]`, cut at the end of the text, and the document's version. None if there is no such document or text."""
        params = {"project_id": project_id, "id": document_id, "start": start, "end": end}
        row = await self._queries.one(SELECT_PART, params)
        return None if row is None or row[0] is None else (row[0], row[1])

    async def pages(self, project_id: UUID, ids: Sequence[UUID]) -> dict[str, tuple[Page, ...]]:
        rows = await self._queries.all(SELECT_PAGES, {"project_id": project_id, "ids": list(ids)})
        return {row[0]: pages(row[1]) for row in rows}

    async def view(self, document_id: UUID, *, project_id: UUID | None = None) -> DocumentView:
        return _build_view(await self._read_one(SELECT_VIEW, document_id, project_id))

    async def page(
        self,
        project_id: UUID,
        *,
        limit: int,
        offset: int = 0,
        after: UUID | None = None,
        status: JobStatus | None = None,
        mimes: Sequence[str] = (),
        extensions: Sequence[str] = (),
        name: str | None = None,
        sort: DocumentOrder = "created",
        descending: bool = True,
    ) -> tuple[list[DocumentView], int]:
        """Documents, newest first, and their total. `after` is the id of the last document before the page and needs this order. Types and
        extensions work as in `Filters`; `name` is a substring.
        """
        params = {"project_id": project_id, "status": status, "name": name, **_bind_types(mimes, extensions)}
        wanted = {**params, "limit": limit, "offset": offset, "after": after}
        way: LiteralString = "DESC" if descending else "ASC"
        order = f"{_ORDERS[sort]} {way}, d.id {way}" if sort != "created" else f"d.id {way}"
        rows = await self._queries.all(select_page(with_status=status is not None, order=order), wanted)
        return [_build_view(row) for row in rows], await self._queries.value(
            COUNT[status is not None], params
        )

    async def matching(self, project_id: UUID, filters: Filters) -> list[UUID]:
        params = fields_of(filters) | _bind_types(filters.mimes, filters.extensions)
        ids = None if filters.document_ids is None else list(filters.document_ids)
        return await self._queries.column(MATCHING, {**params, "project_id": project_id, "document_ids": ids})

    async def use_job(self, project_id: UUID, document_id: UUID, job_id: UUID) -> None:
        await self._queries.run(USE_JOB, {"project_id": project_id, "id": document_id, "job_id": job_id})

    async def use_newest_job(self, project_id: UUID, document_id: UUID) -> None:
        """Make the newest processing job current. Completed jobs without chunks do not count; cancelled ones come last."""
        await self._queries.run(USE_NEWEST_JOB, {"project_id": project_id, "id": document_id})

    async def move(self, document: Document) -> None:
        params = {"project_id": document.project_id, "id": document.id, "now": now()}
        try:
            await self._queries.run(MOVE, {**params, "name": document.name, "origin": document.origin})
        except psycopg.errors.UniqueViolation as exc:
            raise Conflict(SAME_AS_ANOTHER) from exc

    async def describe(self, project_id: UUID, document_id: UUID, metadata: Mapping[str, Any]) -> None:
        """Merge into the document's metadata. None removes a key; other keys stay. A new date recomputes the graph's values."""
        params = {
            "project_id": project_id,
            "id": document_id,
            "said": {name: value for name, value in metadata.items() if value is not None},
            "unsaid": [name for name, value in metadata.items() if value is None],
            "is_dated": VALID_FROM in metadata,
            "valid_from": own_date(metadata),
            "now": now(),
        }
        async with self._queries.transaction() as tx:
            if not await tx.run(DESCRIBE, params):
                raise _not_found(document_id)
            if VALID_FROM in metadata:
                await tx.be_patient()
                of_document = {"project_id": project_id, "document_id": document_id}
                await ClaimRemoval(tx).reorder(
                    project_id, partial(select_ids, CHUNKS_OF_DOCUMENT, of_document)
                )

    async def use_validators(self, project_id: UUID, document_id: UUID, original: Original) -> None:
        """Store the HTTP validators if the document still has the original's bytes."""
        params = {"project_id": project_id, "id": document_id, "sha256": original.sha256}
        await self._queries.run(USE_VALIDATORS, {**params, "fetched": original.fetched})

    async def replace(
        self,
        project_id: UUID,
        document_id: UUID,
        *,
        job_id: UUID,
        original: Original,
        valid_from: datetime | None,
        now: Any,
    ) -> None:
        """Give the document the text that the job staged, and the data of its original.

        Its own date is `valid_from`, else the file's date. Call `ClaimRemoval.reorder` afterwards to recompute the graph's values.
        """
        params = {
            "project_id": project_id,
            "id": document_id,
            "job_id": job_id,
            "now": now,
            "valid_from": valid_from,
        }
        try:
            await self._queries.run(REPLACE, fields_of(original) | params)
        except psycopg.errors.UniqueViolation as exc:
            raise Conflict(SAME_AS_ANOTHER) from exc

    async def delete(self, project_id: UUID, document_id: UUID) -> None:
        """Delete the document, its jobs, chunks and vectors. `search.index.bury` removes chunks from the text index."""
        if not await self._queries.run(DELETE, {"project_id": project_id, "id": document_id, "now": now()}):
            raise _not_found(document_id)


def _build_view(row: Row) -> DocumentView:
    view = _view(row)
    return {**view, "url": links.to_document(view["id"], version=view["version"])}


def _bind_types(mimes: Sequence[str], extensions: Sequence[str]) -> dict[str, list[str] | None]:
    return {"mimes": list(mimes) if mimes or extensions else None, "extensions": list(extensions)}


def page_map(pages: Sequence[Page]) -> Jsonb | None:
    """A recognised page has its confidence as a fourth number."""
    return Jsonb([_encode_page(page) for page in pages]) if pages else None


def pages(page_map: list[list[Any]] | None) -> tuple[Page, ...]:
    return tuple(
        Page(number=number, start=start, end=end, confidence=more[0] if more else None)
        for number, start, end, *more in page_map or ()
    )


def _encode_page(page: Page) -> list[float]:
    recognised = [] if page.confidence is None else [page.confidence]
    return [page.number, page.start, page.end, *recognised]


def _not_found(document_id: UUID) -> DocumentNotFound:
    return DocumentNotFound(details={"document_id": str(document_id)})
