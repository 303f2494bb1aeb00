"""Reads for `whence doctor --deep`, which compares chunks with their vectors and the text index."""

from typing import LiteralString, NamedTuple
from uuid import UUID

from whence.store.lexical import HeldSegment
from whence.store.pool import Statements

FREEZE: LiteralString = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
SELECT_PROJECTS: LiteralString = "SELECT id, name FROM kb.projects ORDER BY id"
SELECT_LACKING: LiteralString = """
SELECT c.document_id, count(*) FROM kb.chunks c
JOIN kb.projects p ON p.id = c.project_id
LEFT JOIN kb.chunk_vectors v ON v.project_id = c.project_id AND v.id = c.id AND v.space_id = p.space_id
WHERE c.project_id = %(project_id)s AND v.id IS NULL
GROUP BY c.document_id ORDER BY c.document_id
"""
COUNT_STRAY: LiteralString = """
SELECT count(*) FILTER (WHERE c.id IS NULL),
       count(*) FILTER (WHERE c.id IS NOT NULL AND v.space_id IS DISTINCT FROM p.space_id
                          AND v.space_id IS DISTINCT FROM p.next_space_id)
FROM kb.chunk_vectors v
LEFT JOIN kb.projects p ON p.id = v.project_id
LEFT JOIN kb.chunks c ON c.project_id = v.project_id AND c.id = v.id
WHERE v.project_id = %(project_id)s
"""
SELECT_DOCUMENTS: LiteralString = """
SELECT d.id, d.original_key IS NOT NULL, j.id IS NOT NULL, coalesce(d.text ~ '\\S', false),
       EXISTS (SELECT FROM kb.chunks c WHERE c.project_id = %(project_id)s AND c.document_id = d.id)
FROM kb.documents d
LEFT JOIN kb.jobs j ON j.project_id = %(project_id)s AND j.id = d.current_job_id
WHERE d.project_id = %(project_id)s
ORDER BY d.id
"""
SELECT_TEXT: LiteralString = """
SELECT text FROM kb.documents WHERE project_id = %(project_id)s AND id = %(document_id)s
"""
SELECT_CHUNKS: LiteralString = """
SELECT text, content_hash, (metadata ->> 'startOffset')::integer, (metadata ->> 'endOffset')::integer
FROM kb.chunks WHERE project_id = %(project_id)s AND document_id = %(document_id)s
"""
SELECT_CHUNK_IDS: LiteralString = """
SELECT coalesce(string_agg(uuid_send(id), ''::bytea ORDER BY id), ''::bytea) FROM kb.chunks
WHERE project_id = %(project_id)s
"""
SELECT_SEGMENTS: LiteralString = """
SELECT id, chunk_ids, lengths, dead FROM kb.lexical_segments
WHERE project_id = %(project_id)s AND live > 0
ORDER BY id
"""


class StrayVectors(NamedTuple):
    without_chunk: int
    in_other_space: int
    """Number of vectors outside the project's current and next space."""


class DocumentState(NamedTuple):
    id: UUID
    has_original: bool
    has_current_job: bool
    has_text: bool
    """Whether it has a text that is not only white space, so its ingest was completed."""
    has_chunks: bool


class StoredChunk(NamedTuple):
    content: str
    content_hash: bytes
    start: int | None
    """Span in the document's text; None for chunks stored without offsets."""
    end: int | None


class Consistency(Statements):
    """Call `freeze` first in a transaction, so that all reads see one snapshot."""

    async def freeze(self) -> None:
        await self._queries.run(FREEZE)

    async def projects(self) -> list[tuple[UUID, str]]:
        return [(row[0], row[1]) for row in await self._queries.all(SELECT_PROJECTS)]

    async def lacking_vectors(self, project_id: UUID) -> dict[UUID, int]:
        """Number of chunks without a vector in the project's space, by document."""
        return dict(await self._queries.all(SELECT_LACKING, {"project_id": project_id}))

    async def stray_vectors(self, project_id: UUID) -> StrayVectors:
        row = await self._queries.one(COUNT_STRAY, {"project_id": project_id})
        assert row is not None, "it counts"
        return StrayVectors(*row)

    async def documents(self, project_id: UUID) -> list[DocumentState]:
        rows = await self._queries.all(SELECT_DOCUMENTS, {"project_id": project_id})
        return [DocumentState(*row) for row in rows]

    async def text_and_chunks(self, project_id: UUID, document_id: UUID) -> tuple[str, list[StoredChunk]]:
        params = {"project_id": project_id, "document_id": document_id}
        text = await self._queries.value(SELECT_TEXT, params)
        return text or "", [StoredChunk(*row) for row in await self._queries.all(SELECT_CHUNKS, params)]

    async def chunk_ids(self, project_id: UUID) -> bytes:
        """All chunk ids, ascending, 16 bytes each."""
        return bytes(await self._queries.value(SELECT_CHUNK_IDS, {"project_id": project_id}))

    async def segments(self, project_id: UUID) -> list[HeldSegment]:
        """The segments of the text index with live chunks."""
        rows = await self._queries.all(SELECT_SEGMENTS, {"project_id": project_id})
        return [HeldSegment(*row) for row in rows]
