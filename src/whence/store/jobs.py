"""Jobs: one row per run of work on a document."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from whence.errors import Conflict, JobNotFound
from whence.models import OPEN, Job, JobStage, JobStatus, JobType, new_id, now
from whence.store import grounds
from whence.store.pool import PagedQuery, Params, Statements, fields_of, reader, records, uuids

_COLUMNS: LiteralString = """
    project_id, id, document_id, type, name, status, stage, done, total, attempts, config, error_details,
    file_name, file_type, file_size, created_at, started_at, completed_at, schema_number"""
job_of = reader(Job, _COLUMNS)

INSERT: LiteralString = f"""
INSERT INTO kb.jobs ({_COLUMNS})
VALUES (%(project_id)s, %(id)s, %(document_id)s, %(type)s, %(name)s, %(status)s, %(stage)s, %(done)s, %(total)s,
        %(attempts)s, %(config)s, %(error_details)s, %(file_name)s, %(file_type)s, %(file_size)s, %(created_at)s,
        %(started_at)s, %(completed_at)s, %(schema_number)s)
"""
SELECT_ONE: LiteralString = f"""
SELECT {_COLUMNS} FROM kb.jobs
WHERE id = %(id)s::uuid AND (%(project_id)s::uuid IS NULL OR project_id = %(project_id)s)
"""
SELECT_MANY: LiteralString = f"""
SELECT {_COLUMNS} FROM kb.jobs WHERE project_id = %(project_id)s AND id = ANY(%(ids)s)
"""
_FILTER: LiteralString = """
WHERE project_id = %(project_id)s
  AND (%(status)s::text IS NULL OR status = %(status)s)
  AND (%(type)s::text IS NULL OR type = %(type)s)
  AND (%(document_id)s::uuid IS NULL OR document_id = %(document_id)s)"""
PAGED = PagedQuery(job_of, _COLUMNS, f"FROM kb.jobs {_FILTER}", "id DESC", is_after="id < %(after)s")
TAKE: LiteralString = f"""
UPDATE kb.jobs
SET status = 'processing', run_id = %(run_id)s, attempts = attempts + 1, tries = tries + 1,
    started_at = coalesce(started_at, %(now)s), error_details = NULL,
    stage = CASE WHEN type = 'document_processing' THEN coalesce(stage, 'parsing') ELSE stage END
WHERE project_id = %(project_id)s AND id = %(id)s AND status IN ('pending', 'processing')
RETURNING {_COLUMNS}, tries
"""
PROGRESS: LiteralString = """
UPDATE kb.jobs
SET tries = CASE WHEN done < %(done)s THEN 1 ELSE tries END, stage = %(stage)s, done = %(done)s, total = %(total)s,
    config = config || %(noted)s
WHERE project_id = %(project_id)s AND id = %(id)s AND run_id = %(run_id)s AND status = 'processing'
"""
HOLD: LiteralString = f"""
SELECT {_COLUMNS} FROM kb.jobs
WHERE project_id = %(project_id)s AND id = %(id)s AND run_id = %(run_id)s AND status = 'processing'
FOR UPDATE
"""
HOLD_ALL: LiteralString = """
SELECT id FROM kb.jobs
WHERE project_id = %(project_id)s AND (%(document_id)s::uuid IS NULL OR document_id = %(document_id)s)
ORDER BY id FOR UPDATE
"""
NOTE: LiteralString = """
UPDATE kb.jobs SET config = config || %(noted)s, schema_number = %(schema_number)s
WHERE project_id = %(project_id)s AND id = %(id)s AND run_id = %(run_id)s AND status = 'processing'
"""
END: LiteralString = """
UPDATE kb.jobs
SET status = %(status)s, error_details = %(error_details)s, completed_at = %(completed_at)s, run_id = NULL,
    tries = CASE WHEN %(counts)s THEN tries ELSE tries - 1 END
WHERE project_id = %(project_id)s AND id = %(id)s AND run_id = %(run_id)s AND status = 'processing'
"""
_CANCEL: LiteralString = """
UPDATE kb.jobs
SET status = 'cancelled', completed_at = %(now)s, run_id = NULL, error_details = %(error_details)s
WHERE project_id = %(project_id)s AND status IN ('pending', 'processing')"""
CANCEL: LiteralString = f"{_CANCEL} AND id = %(id)s"
SUPERSEDE: LiteralString = f"{_CANCEL} AND document_id = %(document_id)s RETURNING type"
SELECT_UNBEGUN: LiteralString = f"""
SELECT {_COLUMNS} FROM kb.jobs
WHERE project_id = %(project_id)s AND document_id = %(document_id)s AND type = 'extraction' AND status = 'pending'
  AND schema_number IS NULL
ORDER BY id
"""
_WAITS: LiteralString = """j.type = 'extraction' AND j.status = 'pending' AND j.schema_number IS NULL AND j.config ->> 'scope' = %(scope)s"""
LOCK_DOCUMENTS: LiteralString = """
SELECT d.id FROM kb.documents d
WHERE d.project_id = %(project_id)s AND d.id = ANY(%(ids)s::uuid[]) ORDER BY d.id FOR UPDATE
"""
# Inserts a job and a task for each document that has vectors for all its chunks and no such job yet.
ORDER: LiteralString = f"""
WITH made AS (
    INSERT INTO kb.jobs (project_id, id, document_id, type, name, status, config, file_name, file_type, file_size, created_at)
    SELECT d.project_id, g.job_id, d.id, 'extraction', d.name, 'pending', %(config)s, d.name, d.mime, d.size, %(now)s
    FROM json_to_recordset(%(given)s::json) AS g (document_id uuid, job_id uuid)
    JOIN kb.documents d ON d.project_id = %(project_id)s AND d.id = g.document_id
    WHERE NOT EXISTS (
        SELECT FROM kb.jobs j WHERE j.project_id = %(project_id)s AND j.document_id = d.id AND {_WAITS})
      AND NOT EXISTS (
        SELECT FROM kb.chunks c
        LEFT JOIN kb.chunk_vectors v ON v.project_id = %(project_id)s AND v.id = c.id AND v.space_id = %(space_id)s
        WHERE c.project_id = %(project_id)s AND c.document_id = d.id AND v.id IS NULL)
    RETURNING project_id, id, document_id
)
SELECT queue.procrastinate_defer_jobs_v1(array_agg(
    ROW('extraction', %(task)s, 0, m.document_id::text, NULL,
        jsonb_build_object('project_id', m.project_id, 'job_id', m.id), NULL)::queue.procrastinate_job_to_defer_v1
    ORDER BY m.id))
FROM made m HAVING count(*) > 0
"""
SELECT_WAITING: LiteralString = f"""
SELECT {_COLUMNS} FROM kb.jobs j
WHERE j.project_id = %(project_id)s AND j.document_id = ANY(%(ids)s::uuid[]) AND {_WAITS} ORDER BY j.id
"""
_OF_PARENT: LiteralString = """
FROM kb.jobs j WHERE j.config ->> 'parent' = %(id)s::text AND (%(project_id)s::uuid IS NULL OR j.project_id = %(project_id)s)"""
SELECT_PARENT: LiteralString = f"""
SELECT j.project_id, %(id)s::text::uuid, min(j.config ->> 'scope'), count(*) FILTER (WHERE j.status = 'pending'),
       count(*) FILTER (WHERE j.status = 'processing'), count(*) FILTER (WHERE j.status = 'completed'),
       count(*) FILTER (WHERE j.status = 'failed'), count(*) FILTER (WHERE j.status = 'cancelled'),
       min(j.created_at), min(j.started_at), max(j.completed_at)
{_OF_PARENT} GROUP BY j.project_id
"""
CANCEL_PARENT: LiteralString = f"{_CANCEL} AND config ->> 'parent' = %(id)s::text"
RETRY: LiteralString = """
UPDATE kb.jobs
SET status = 'pending', tries = 0, completed_at = NULL, run_id = NULL, error_details = NULL
WHERE project_id = %(project_id)s AND id = %(id)s AND status IN ('failed', 'cancelled')
"""
AMEND: LiteralString = """
UPDATE kb.jobs SET config = jsonb_set(config, '{original}', config -> 'original' || %(original)s)
WHERE project_id = %(project_id)s AND id = %(id)s AND config ? 'original'
"""
_ITS_CHUNKS: LiteralString = (
    "SELECT c.id FROM kb.chunks c WHERE c.project_id = %(project_id)s AND c.job_id = %(id)s"
)
DELETE: LiteralString = f"""{grounds.gone(_ITS_CHUNKS, "'deleted'")}
DELETE FROM kb.jobs WHERE project_id = %(project_id)s AND id = %(id)s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Progress of a job, and entries to add to its `config`."""

    stage: JobStage
    done: int = 0
    total: int | None = None
    noted: dict[str, Any] | None = None

    def of(self, job: Job, run_id: UUID) -> Params:
        params = {"project_id": job.project_id, "id": job.id, "run_id": run_id}
        return {**params, **fields_of(self), "noted": self.noted or {}}


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentJob:
    """Extractions that were ordered together, presented as one job."""

    project_id: UUID
    id: UUID
    scope: str
    pending: int
    processing: int
    completed: int
    failed: int
    cancelled: int
    created_at: datetime
    started_at: datetime | None
    last_completed_at: datetime | None

    @property
    def done(self) -> int:
        """Number of documents whose extraction has ended."""
        return self.completed + self.failed + self.cancelled

    @property
    def total(self) -> int:
        """Number of documents."""
        return self.pending + self.processing + self.done

    @property
    def status(self) -> JobStatus:
        """`failed` if one of the extractions failed."""
        if self.pending or self.processing:
            return "processing" if self.started_at else "pending"
        if self.failed:
            return "failed"
        return "completed" if self.completed else "cancelled"


_CANCELLED = {"code": "CANCELLED", "message": "The job was cancelled", "details": {}}
_parent_of = reader(ParentJob)


class Jobs(Statements):
    async def insert(self, job: Job) -> None:
        await self._queries.run(INSERT, fields_of(job))

    async def get(self, job_id: UUID, *, project_id: UUID | None = None) -> Job:
        row = await self._queries.one(SELECT_ONE, {"id": job_id, "project_id": project_id})
        if row is None:
            raise JobNotFound(details={"job_id": str(job_id)})
        return job_of(row)

    async def hold_all(self, project_id: UUID, document_id: UUID | None = None) -> None:
        """Lock the jobs of the document or the project. A running extraction locks its job before a chunk, so a deletion must do the
        same.
        """
        await self._queries.run(HOLD_ALL, {"project_id": project_id, "document_id": document_id})

    async def many(self, project_id: UUID, ids: Sequence[UUID]) -> list[Job]:
        rows = await self._queries.all(SELECT_MANY, {"project_id": project_id, "ids": list(ids)})
        return [job_of(row) for row in rows]

    async def page(
        self,
        project_id: UUID,
        *,
        limit: int,
        offset: int = 0,
        after: UUID | None = None,
        status: JobStatus | None = None,
        job_type: JobType | None = None,
        document_id: UUID | None = None,
    ) -> tuple[list[Job], int]:
        params = {"project_id": project_id, "status": status, "type": job_type, "document_id": document_id}
        return await self._queries.page(PAGED, params, limit=limit, offset=offset, after=after)

    async def take(self, project_id: UUID, job_id: UUID, run_id: UUID) -> tuple[Job, int] | None:
        """Make `run_id` the job's owner; only it may write. Returns the job and the number of attempts without progress.

        Returns None if the job is finished or deleted.
        """
        params = {"project_id": project_id, "id": job_id, "run_id": run_id, "now": now()}
        row = await self._queries.one(TAKE, params)
        return None if row is None else (job_of(row), row[-1])

    async def progress(self, job: Job, run_id: UUID, progress: Progress) -> bool:
        """Store the progress. Returns False if the run no longer owns the job: cancelled, taken over or deleted."""
        return bool(await self._queries.run(PROGRESS, progress.of(job, run_id)))

    async def note(self, job: Job, run_id: UUID, *, schema_number: int, noted: dict[str, Any]) -> bool:
        """Set the schema version and add to the job's `config`. Returns False as `progress` does."""
        params = {"project_id": job.project_id, "id": job.id, "run_id": run_id}
        return bool(await self._queries.run(NOTE, {**params, "schema_number": schema_number, "noted": noted}))

    async def end(
        self,
        job: Job,
        run_id: UUID,
        status: JobStatus,
        *,
        error: dict[str, Any] | None = None,
        counts: bool = True,
    ) -> bool:
        """End the run with this status; `pending` makes the job wait for another run. Returns False as `progress` does.

        With `counts=False` the run does not count as an attempt.
        """
        params = {
            "project_id": job.project_id,
            "id": job.id,
            "run_id": run_id,
            "status": status,
            "error_details": error,
            "counts": counts,
            "completed_at": None if status in OPEN else now(),
        }
        return bool(await self._queries.run(END, params))

    async def cancel(self, job: Job) -> Job:
        """Cancel the job; a running worker stops at its next step."""
        params = {"project_id": job.project_id, "id": job.id, "now": now(), "error_details": _CANCELLED}
        if not await self._queries.run(CANCEL, params):
            raise Conflict(f"The job is already {job.status}", details={"status": job.status})
        return await self.get(job.id, project_id=job.project_id)

    async def supersede(self, project_id: UUID, document_id: UUID) -> set[JobType]:
        """Cancel the document's open jobs in favour of a newer version. Returns their types."""
        words = "A newer version of the document replaced it"
        reason = {"code": "SUPERSEDED", "message": words, "details": {}}
        params = {"project_id": project_id, "document_id": document_id, "now": now()}
        return set(await self._queries.column(SUPERSEDE, {**params, "error_details": reason}))

    async def unbegun(self, project_id: UUID, document_id: UUID) -> list[Job]:
        """Pending extractions of the document that have not begun. Each uses the schema that is current when it begins."""
        params = {"project_id": project_id, "document_id": document_id}
        return [job_of(row) for row in await self._queries.all(SELECT_UNBEGUN, params)]

    async def order_extractions(
        self, project_id: UUID, ids: Sequence[UUID], *, scope: str, space_id: UUID, task: str
    ) -> list[Job]:
        """Queue an extraction of each document. Returns the new and the already waiting ones; the new ones have a common `parent`."""
        params = {"project_id": project_id, "ids": uuids(ids), "scope": scope}
        given = [{"document_id": ident, "job_id": new_id()} for ident in ids]
        order = {"given": records(given), "config": Jsonb({"scope": scope, "parent": str(new_id())})}
        async with self._queries.joined() as tx:
            await tx.all(LOCK_DOCUMENTS, params)
            await tx.all(ORDER, {**params, **order, "space_id": space_id, "task": task, "now": now()})
            return [job_of(row) for row in await tx.all(SELECT_WAITING, params)]

    async def parent(self, job_id: UUID, *, project_id: UUID | None = None) -> ParentJob:
        """The state of all extractions with this parent."""
        row = await self._queries.one(SELECT_PARENT, {"id": str(job_id), "project_id": project_id})
        if row is None:
            raise JobNotFound(details={"job_id": str(job_id)})
        return _parent_of(row)

    async def cancel_parent(self, parent: ParentJob) -> ParentJob:
        """Cancel the parent's extractions that have not ended."""
        params = {"project_id": parent.project_id, "id": str(parent.id), "now": now()}
        if not await self._queries.run(CANCEL_PARENT, {**params, "error_details": _CANCELLED}):
            raise Conflict(f"The job is already {parent.status}", details={"status": parent.status})
        return await self.parent(parent.id, project_id=parent.project_id)

    async def retry(self, job: Job) -> Job:
        if not await self._queries.run(RETRY, {"project_id": job.project_id, "id": job.id}):
            raise Conflict(
                f"Only a job that failed or was cancelled can be tried again; this one is {job.status}",
                details={"status": job.status},
            )
        return replace(job, status="pending", completed_at=None, error_details=None)

    async def amend(self, job: Job, **original: Any) -> None:
        """Change fields of the original in the job's `config`, but not its bytes."""
        params = {"project_id": job.project_id, "id": job.id, "original": original}
        await self._queries.run(AMEND, params)

    async def delete(self, project_id: UUID, job_id: UUID) -> None:
        if not await self._queries.run(DELETE, {"project_id": project_id, "id": job_id, "now": now()}):
            raise JobNotFound(details={"job_id": str(job_id)})
