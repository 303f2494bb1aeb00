"""Finds the document that a file belongs to, by content hash, origin and name."""

from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

from whence.errors import Conflict, ProjectNotFound
from whence.models import Document
from whence.store.pool import Statements, fields_of, reader

COLUMNS: LiteralString = """
       d.project_id, d.id, d.name, d.mime, d.size, d.sha256, d.origin, d.original_key, d.fetched, d.current_job_id,
       d.created_at, d.updated_at, d.metadata, d.valid_from"""
document_of = reader(Document, COLUMNS)

# Compares origins if both have one, else names.
SELECT_SAME: LiteralString = f"""
SELECT {COLUMNS} FROM kb.projects p
LEFT JOIN kb.documents d ON d.project_id = %(project_id)s AND d.sha256 = %(sha256)s
     AND CASE WHEN d.origin IS NULL OR %(origin)s::text IS NULL THEN d.name = %(name)s ELSE d.origin = %(origin)s END
WHERE p.id = %(project_id)s
ORDER BY d.origin IS DISTINCT FROM %(origin)s::text, d.id LIMIT 1
"""
SELECT_RIVAL: LiteralString = """
SELECT d.id, d.name FROM kb.documents d
WHERE d.project_id = %(project_id)s AND d.sha256 = %(sha256)s AND d.id <> %(id)s
  AND coalesce(d.origin, d.name) = coalesce(%(origin)s, %(name)s)
LIMIT 1
"""
SELECT_SHARED_KEY: LiteralString = """
SELECT d.original_key FROM kb.documents d
JOIN kb.stored_originals o ON o.project_id = %(project_id)s AND o.key = d.original_key AND o.state = 'kept'
WHERE d.project_id = %(project_id)s AND d.sha256 = %(sha256)s
ORDER BY d.id LIMIT 1
"""
SELECT_ORIGIN: LiteralString = f"""
SELECT {COLUMNS} FROM kb.documents d
WHERE d.project_id = %(project_id)s AND d.origin = %(origin)s ORDER BY d.id LIMIT 1
"""
SELECT_NAMED: LiteralString = f"""
SELECT {COLUMNS} FROM kb.documents d
WHERE d.project_id = %(project_id)s AND d.name = %(name)s ORDER BY d.id
"""
SELECT_FROM_FILES: LiteralString = """
SELECT d.id, d.name, d.origin,
       CASE WHEN j.status IN ('pending', 'processing') AND j.config ? 'original'
            THEN decode(j.config -> 'original' ->> 'sha256', 'hex') ELSE d.sha256 END
FROM kb.documents d
LEFT JOIN kb.jobs j ON j.project_id = %(project_id)s AND j.id = d.current_job_id
WHERE d.project_id = %(project_id)s AND starts_with(d.origin, 'file:')
ORDER BY d.id
"""

SAME_AS_ANOTHER = "Another document of the project has the same name and content"


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """A received file and its data before parsing."""

    key: str
    """Storage key of the bytes."""
    name: str
    mime: str
    size: int
    sha256: bytes
    origin: str | None = None
    """The URL it came from; `file:` for a local file."""
    fetched: dict[str, Any] | None = None
    """HTTP validators for the next fetch: `etag`, `last_modified`."""
    declared: str | None = None
    """Content type declared by the sender, with the encoding: `text/html; charset=…`."""


class DocumentIdentity(Statements):
    async def same(
        self, project_id: UUID, sha256: bytes, *, name: str, origin: str | None
    ) -> Document | None:
        """The project's document with these bytes and this origin; with this name if either has no origin.

        Raises `ProjectNotFound` if there is no such project.
        """
        params = {"project_id": project_id, "sha256": sha256, "name": name, "origin": origin}
        row = await self._queries.one(SELECT_SAME, params)
        if row is None:
            raise ProjectNotFound(details={"project_id": str(project_id)})
        return None if row[0] is None else document_of(row)

    async def require_unlike_others(self, project_id: UUID, document_id: UUID, original: Original) -> None:
        """Raises `Conflict` if another document has the same bytes and the same origin (the same name if there is no origin)."""
        params = {"project_id": project_id, "id": document_id, **fields_of(original)}
        if (row := await self._queries.one(SELECT_RIVAL, params)) is not None:
            raise Conflict(SAME_AS_ANOTHER, details={"document_id": str(row[0]), "name": row[1]})

    async def shared_key(self, project_id: UUID, sha256: bytes) -> str | None:
        """Storage key of these bytes, if a document of the project has them. Call `Inventory.share` next."""
        params = {"project_id": project_id, "sha256": sha256}
        found: str | None = await self._queries.value(SELECT_SHARED_KEY, params)
        return found

    async def of_origin(self, project_id: UUID, origin: str) -> Document | None:
        row = await self._queries.one(SELECT_ORIGIN, {"project_id": project_id, "origin": origin})
        return None if row is None else document_of(row)

    async def named(self, project_id: UUID, name: str) -> list[Document]:
        rows = await self._queries.all(SELECT_NAMED, {"project_id": project_id, "name": name})
        return [document_of(row) for row in rows]

    async def from_files(self, project_id: UUID) -> list[tuple[UUID, str, str, bytes]]:
        """Id, name, origin and content hash of every document from a file. If an open job brings new content, its hash is used."""
        rows = await self._queries.all(SELECT_FROM_FILES, {"project_id": project_id})
        return [(row[0], row[1], row[2], row[3]) for row in rows]
