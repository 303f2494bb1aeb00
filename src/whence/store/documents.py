"""Documents: one row for each source, its text included."""

from typing import LiteralString
from uuid import UUID

from whence.errors import DocumentNotFound
from whence.store.pool import Queries
from whence.types import Document

INSERT: LiteralString = """
INSERT INTO kb.documents (project_id, id, name, origin, mime, size, sha256, text, created_at, updated_at)
VALUES (%(project_id)s, %(id)s, %(name)s, %(origin)s, %(mime)s, %(size)s, %(sha256)s, %(text)s,
        %(created_at)s, %(updated_at)s)
"""
DELETE: LiteralString = "DELETE FROM kb.documents WHERE project_id = %(project_id)s AND id = %(id)s"


class Documents:
    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    async def insert(self, document: Document) -> None:
        params = {
            "project_id": document.project_id,
            "id": document.id,
            "name": document.name,
            "origin": document.origin,
            "mime": document.mime,
            "size": document.size,
            "sha256": document.sha256,
            "text": document.text,
            "created_at": document.created_at,
            "updated_at": document.updated_at,
        }
        await self._queries.run(INSERT, params)

    async def delete(self, project_id: UUID, document_id: UUID) -> None:
        """The document, its jobs, its chunks and their vectors, in one statement."""
        if not await self._queries.run(DELETE, {"project_id": project_id, "id": document_id}):
            raise DocumentNotFound(details={"document_id": str(document_id)})
