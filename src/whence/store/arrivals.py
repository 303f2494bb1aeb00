"""Documents as they arrive: a new one, its job and its place in the queue are one statement."""

from typing import Any, LiteralString

from psycopg.types.json import Jsonb

from whence.store.documents import INSERT, insertion
from whence.store.pool import Queries
from whence.store.queue import DEFERRED
from whence.types import Document

BEGIN: LiteralString = f"""
WITH document AS ({INSERT} RETURNING project_id, id),
job AS (
    INSERT INTO kb.jobs (project_id, id, document_id, type, name, status, config, file_name, file_type, file_size, created_at)
    SELECT project_id, %(current_job_id)s, id, 'document_processing', %(name)s, 'pending', %(config)s, %(name)s, %(mime)s,
           %(size)s, %(created_at)s
    FROM document)
SELECT {DEFERRED} FROM document
"""


class Arrivals:
    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    async def begin(self, document: Document, *, config: dict[str, Any], task: str) -> bool:
        """With its current job, which the task is to run; False, and nothing, where the project has the same bytes."""
        arguments = {"project_id": str(document.project_id), "job_id": str(document.current_job_id)}
        deferred = {"queue": "default", "task": task, "lock": str(document.id), "args": Jsonb(arguments)}
        params = {**insertion(document), **deferred, "config": Jsonb(config)}
        # Not as something that is read, which may go again when a connection breaks off: then it would find itself.
        return await self._queries.run(BEGIN, params) == 1
