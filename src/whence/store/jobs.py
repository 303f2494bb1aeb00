"""Jobs: one row for each run of work on a document."""

from typing import LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from whence.errors import JobNotFound
from whence.store.pool import Queries
from whence.types import Job

INSERT: LiteralString = """
INSERT INTO kb.jobs (project_id, id, document_id, type, name, status, config, error_details,
                     file_name, file_type, file_size, created_at, started_at, completed_at)
VALUES (%(project_id)s, %(id)s, %(document_id)s, %(type)s, %(name)s, %(status)s, %(config)s, %(error_details)s,
        %(file_name)s, %(file_type)s, %(file_size)s, %(created_at)s, %(started_at)s, %(completed_at)s)
"""
DELETE: LiteralString = "DELETE FROM kb.jobs WHERE project_id = %(project_id)s AND id = %(id)s"


class Jobs:
    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    async def insert(self, job: Job) -> None:
        params = {
            "project_id": job.project_id,
            "id": job.id,
            "document_id": job.document_id,
            "type": job.type,
            "name": job.name,
            "status": job.status,
            "config": Jsonb(job.config),
            "error_details": None if job.error_details is None else Jsonb(job.error_details),
            "file_name": job.file_name,
            "file_type": job.file_type,
            "file_size": job.file_size,
            "created_at": job.created_at,
            "started_at": job.started_at,
            "completed_at": job.completed_at,
        }
        await self._queries.run(INSERT, params)

    async def delete(self, project_id: UUID, job_id: UUID) -> None:
        """The job and the chunks it made."""
        if not await self._queries.run(DELETE, {"project_id": project_id, "id": job_id}):
            raise JobNotFound(details={"job_id": str(job_id)})
