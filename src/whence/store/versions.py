"""Earlier versions of documents: their text and the spans of their chunks."""

from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString
from uuid import UUID

from whence.store.pool import Statements, reader

MOST_KEPT = 20
"""Maximum number of earlier versions kept per document."""

KEEP: LiteralString = """
INSERT INTO kb.document_versions (project_id, document_id, version, version_at, text, chunk_ids, chunk_starts)
SELECT %(project_id)s, d.id, d.version, coalesce(d.version_at, d.updated_at),
       CASE WHEN d.text IS DISTINCT FROM t.text THEN d.text END, laid.ids, laid.starts
FROM kb.documents d
JOIN kb.job_texts t ON t.project_id = %(project_id)s AND t.job_id = %(job_id)s
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(c.id ORDER BY c.chunk_index), '{}') AS ids,
           coalesce(array_agg((c.metadata ->> 'startOffset')::integer ORDER BY c.chunk_index), '{}') AS starts
    FROM kb.chunks c
    WHERE c.project_id = %(project_id)s AND c.document_id = d.id AND c.metadata ? 'startOffset') laid
WHERE d.project_id = %(project_id)s AND d.id = %(document_id)s AND d.version > 0 AND d.text IS NOT NULL
ON CONFLICT DO NOTHING
"""
FORGET: LiteralString = """
DELETE FROM kb.document_versions v USING kb.documents d
WHERE d.project_id = %(project_id)s AND d.id = %(document_id)s
  AND v.project_id = %(project_id)s AND v.document_id = %(document_id)s AND v.version <= d.version - %(most)s
"""
SELECT_OLD: LiteralString = """
SELECT coalesce(v.text, later.text, d.text), v.chunk_ids, v.chunk_starts
FROM kb.document_versions v
JOIN kb.documents d ON d.project_id = %(project_id)s AND d.id = %(document_id)s
LEFT JOIN LATERAL (
    SELECT l.text FROM kb.document_versions l
    WHERE l.project_id = %(project_id)s AND l.document_id = %(document_id)s AND l.version > v.version AND l.text IS NOT NULL
    ORDER BY l.version LIMIT 1) later ON true
WHERE v.project_id = %(project_id)s AND v.document_id = %(document_id)s AND v.version = %(version)s
"""
SELECT_CURRENT: LiteralString = """
SELECT d.text, laid.ids, laid.starts
FROM kb.documents d
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(c.id ORDER BY c.chunk_index), '{}') AS ids,
           coalesce(array_agg((c.metadata ->> 'startOffset')::integer ORDER BY c.chunk_index), '{}') AS starts
    FROM kb.chunks c
    WHERE c.project_id = %(project_id)s AND c.document_id = d.id AND c.metadata ? 'startOffset') laid
WHERE d.project_id = %(project_id)s AND d.id = %(document_id)s AND d.version = %(version)s AND d.text IS NOT NULL
"""
LIST: LiteralString = """
SELECT v.version, v.version_at, cardinality(v.chunk_ids) FROM kb.document_versions v
WHERE v.project_id = %(project_id)s AND v.document_id = %(document_id)s
UNION ALL
SELECT d.version, coalesce(d.version_at, d.updated_at),
       (SELECT count(*)::integer FROM kb.chunks c WHERE c.project_id = %(project_id)s AND c.document_id = d.id)
FROM kb.documents d
WHERE d.project_id = %(project_id)s AND d.id = %(document_id)s AND d.version > 0
ORDER BY 1 DESC
"""
CHUNK_START: LiteralString = """
SELECT (c.metadata ->> 'startOffset')::integer FROM kb.chunks c WHERE c.project_id = %(project_id)s AND c.id = %(chunk_id)s
"""
CHUNK_AT: LiteralString = """
SELECT c.id FROM kb.chunks c
WHERE c.project_id = %(project_id)s AND c.document_id = %(document_id)s
  AND (c.metadata ->> 'startOffset')::integer <= %(offset)s AND %(offset)s < (c.metadata ->> 'endOffset')::integer
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OldVersion:
    text: str
    chunk_ids: list[UUID]
    chunk_starts: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionFacts:
    version: int
    version_at: datetime
    """When this content was received. Reading the same file again does not change it."""
    chunk_count: int


_old_of = reader(OldVersion)
_facts_of = reader(VersionFacts)


class Versions(Statements):
    async def keep(self, project_id: UUID, document_id: UUID, *, job_id: UUID) -> None:
        """Keep the document's current version before the staged one replaces it, and delete the oldest."""
        params = {"project_id": project_id, "document_id": document_id}
        await self._queries.run(KEEP, {**params, "job_id": job_id})
        await self._queries.run(FORGET, {**params, "most": MOST_KEPT})

    async def old(self, project_id: UUID, document_id: UUID, version: int) -> OldVersion | None:
        """An earlier version; None for the current one and for one that is no longer kept."""
        params = {"project_id": project_id, "document_id": document_id, "version": version}
        row = await self._queries.one(SELECT_OLD, params)
        return None if row is None else _old_of(row)

    async def current(self, project_id: UUID, document_id: UUID, version: int) -> OldVersion | None:
        """The current version; None if `version` is another one."""
        params = {"project_id": project_id, "document_id": document_id, "version": version}
        row = await self._queries.one(SELECT_CURRENT, params)
        return None if row is None else _old_of(row)

    async def facts(self, project_id: UUID, document_id: UUID) -> list[VersionFacts]:
        """The current version and the kept ones, newest first."""
        rows = await self._queries.all(LIST, {"project_id": project_id, "document_id": document_id})
        return [_facts_of(row) for row in rows]

    async def chunk_start(self, project_id: UUID, chunk_id: UUID) -> int | None:
        """The current start of the chunk; None if it is gone."""
        found: int | None = await self._queries.value(
            CHUNK_START, {"project_id": project_id, "chunk_id": chunk_id}
        )
        return found

    async def chunk_at(self, project_id: UUID, document_id: UUID, offset: int) -> UUID | None:
        """The chunk with this character of the document's text."""
        params = {"project_id": project_id, "document_id": document_id, "offset": offset}
        found: UUID | None = await self._queries.value(CHUNK_AT, params)
        return found
