"""New documents: inserts one with its job and task, and locks the rows that the end of its job needs."""

from typing import Any, LiteralString, NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb

from whence.errors import DocumentNotFound, ProjectNotFound
from whence.models import Document, EmbeddingSpace, Job, Project
from whence.store import chunks, documents, jobs, projects
from whence.store.pool import Queries
from whence.store.queue import DEFERRED
from whence.store.vectors import space_of

# Inserts the document, its job and its task, or nothing.
BEGIN: LiteralString = f"""
WITH document AS ({documents.INSERT} RETURNING project_id, id),
job AS (
    INSERT INTO kb.jobs (project_id, id, document_id, type, name, status, config, file_name, file_type, file_size, created_at)
    SELECT project_id, %(current_job_id)s, id, 'document_processing', %(name)s, 'pending', %(config)s, %(name)s, %(mime)s,
           %(size)s, %(created_at)s
    FROM document)
SELECT {DEFERRED} FROM document
"""


class HeldDocument(NamedTuple):
    project: Project
    space: EmbeddingSpace | None
    document: Document
    job: Job | None
    """None if the run no longer owns the job."""
    laid: list[chunks.Laid]
    """The document's chunks, and whether they have vectors in the given space."""


class Arrivals:
    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    async def begin(self, document: Document, *, config: dict[str, Any], task: str) -> bool:
        """Insert the document with its current job and its task. Returns False if the project has the same bytes."""
        arguments = {"project_id": str(document.project_id), "job_id": str(document.current_job_id)}
        deferred = {"queue": "default", "task": task, "lock": str(document.id), "args": Jsonb(arguments)}
        params = {**documents.insertion(document), **deferred, "config": Jsonb(config)}
        # `run`, because this writes: only reads are repeated after a lost connection.
        return await self._queries.run(BEGIN, params) == 1

    async def hold(self, job: Job, run_id: UUID, space_id: UUID) -> HeldDocument:
        """Lock project, document and job until the transaction ends, and read the chunks.

        Updates and deletions lock in the same order.
        """
        project_id, document_id = job.project_id, job.document_id
        laid = {"project_id": project_id, "document_id": document_id, "space_id": space_id}
        held, locked, own, rows = await self._queries.together(
            [
                (projects.HOLD, {"id": project_id}),
                (documents.LOCK, {"id": document_id, "project_id": project_id}),
                (jobs.HOLD, {"project_id": project_id, "id": job.id, "run_id": run_id}),
                (chunks.LAYOUT, laid),
            ]
        )
        if not held:
            raise ProjectNotFound(details={"project_id": str(project_id)})
        if not locked:
            raise DocumentNotFound(details={"document_id": str(document_id)})
        return HeldDocument(
            project=projects.project_of(held[0]),
            space=space_of(held[0][6:]),
            document=documents.document_of(locked[0]),
            job=jobs.job_of(own[0]) if own else None,
            laid=[chunks.Laid(*row) for row in rows],
        )
