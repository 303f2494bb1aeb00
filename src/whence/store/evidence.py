"""Reads for evidence: pieces of documents' texts, and the cached layouts of pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString, NamedTuple
from uuid import UUID

from whence.models import Page
from whence.store.documents import pages
from whence.store.pool import Statements, uuids

# The last page ends where the text ends. Counting the text's length would take milliseconds.
_PAGED: LiteralString = """d.id, d.name, d.mime, d.version, d.original_key, d.page_map,
    coalesce((d.page_map -> -1 ->> 2)::integer, length(d.text))"""
SELECT_PAGED: LiteralString = f"""
SELECT {_PAGED} FROM kb.documents d
WHERE d.project_id = %(project_id)s AND d.id = ANY(%(ids)s::uuid[]) AND d.text IS NOT NULL
"""
SELECT_PIECES: LiteralString = """
SELECT substr(d.text, w.start + 1, w.stop - w.start)
FROM unnest(%(ids)s::uuid[], %(starts)s::integer[], %(ends)s::integer[]) WITH ORDINALITY AS w (id, start, stop, place)
JOIN kb.documents d ON d.project_id = %(project_id)s AND d.id = w.id
ORDER BY w.place
"""
SELECT_CHUNKS: LiteralString = """
SELECT c.id, c.document_id, (c.metadata ->> 'startOffset')::integer, (c.metadata ->> 'endOffset')::integer
FROM kb.chunks c
WHERE c.project_id = %(project_id)s AND c.id = ANY(%(ids)s::uuid[])
"""
SELECT_CLAIMS: LiteralString = """
SELECT p.id, c.document_id, (c.metadata ->> 'startOffset')::integer + p.start_offset,
       (c.metadata ->> 'startOffset')::integer + p.end_offset, c.id
FROM (SELECT p.id, p.chunk_id, p.start_offset, p.end_offset FROM kb.object_provenance p
      WHERE p.project_id = %(project_id)s AND p.id = ANY(%(ids)s::uuid[])
      UNION ALL
      SELECT p.id, p.chunk_id, p.start_offset, p.end_offset FROM kb.relationship_provenance p
      WHERE p.project_id = %(project_id)s AND p.id = ANY(%(ids)s::uuid[])) p
JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = p.chunk_id
"""
# A reading and its new claims have the same time, because one transaction writes them.
SELECT_READERS: LiteralString = """
SELECT e.chunk_id, e.extracted_at, e.reader FROM kb.chunk_extractions e
WHERE e.project_id = %(project_id)s AND e.chunk_id = ANY(%(ids)s::uuid[]) AND e.reader IS NOT NULL
"""
SELECT_LAYOUTS: LiteralString = """
SELECT l.page, l.width, l.height, l.rotation, l.characters FROM kb.page_layouts l
WHERE l.project_id = %(project_id)s AND l.document_id = %(document_id)s AND l.page = ANY(%(pages)s)
  AND l.version = %(version)s
"""
# Stores nothing if the document was deleted or updated meanwhile.
PUT_LAYOUT: LiteralString = """
INSERT INTO kb.page_layouts (project_id, document_id, page, version, width, height, rotation, characters)
SELECT d.project_id, d.id, %(page)s, d.version, %(width)s, %(height)s, %(rotation)s, %(characters)s
FROM kb.documents d
WHERE d.project_id = %(project_id)s AND d.id = %(document_id)s AND d.version = %(version)s
ON CONFLICT (project_id, document_id, page) DO UPDATE
SET version = excluded.version, width = excluded.width, height = excluded.height, rotation = excluded.rotation,
    characters = excluded.characters
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PagedDocument:
    """A document that has a text, without the text."""

    project_id: UUID
    id: UUID
    name: str
    mime: str
    version: int
    original_key: str | None
    pages: tuple[Page, ...]
    length: int
    """Characters of the text."""


class StoredLayout(NamedTuple):
    page: int
    width: float
    height: float
    rotation: int
    characters: bytes


class TextSpan(NamedTuple):
    """`text[start:end]` of a document."""

    document_id: UUID
    start: int
    end: int

    @classmethod
    def of(cls, document_id: UUID | str | None, start: int | None, end: int | None) -> "TextSpan | None":
        """None if any argument is None."""
        if document_id is None or start is None or end is None:
            return None
        return cls(UUID(str(document_id)), start, end)


class QuotedSpan(NamedTuple):
    """The span of a chunk or a claim; None where it has no offsets."""

    span: TextSpan | None
    chunk_id: UUID | None


class EvidenceReads(Statements):
    async def documents(self, project_id: UUID, ids: Sequence[UUID]) -> dict[UUID, PagedDocument]:
        """The documents of the project that have a text."""
        rows = await self._queries.all(SELECT_PAGED, {"project_id": project_id, "ids": uuids(ids)})
        return {
            row[0]: PagedDocument(
                project_id=project_id,
                id=row[0],
                name=row[1],
                mime=row[2],
                version=row[3],
                original_key=row[4],
                pages=pages(row[5]),
                length=row[6],
            )
            for row in rows
        }

    async def pieces(self, project_id: UUID, spans: Sequence[TextSpan]) -> list[str]:
        """The text of each span, cut at the end of the document. The documents exist."""
        params: dict[str, Any] = {
            "project_id": project_id,
            "ids": uuids(span.document_id for span in spans),
            "starts": [span.start for span in spans],
            "ends": [span.end for span in spans],
        }
        return await self._queries.column(SELECT_PIECES, params)

    async def of_chunks(self, project_id: UUID, ids: Sequence[UUID]) -> dict[UUID, QuotedSpan]:
        rows = await self._queries.all(SELECT_CHUNKS, {"project_id": project_id, "ids": uuids(ids)})
        return {row[0]: QuotedSpan(TextSpan.of(*row[1:4]), row[0]) for row in rows}

    async def of_claims(self, project_id: UUID, ids: Sequence[UUID]) -> dict[UUID, QuotedSpan]:
        """Claims about objects and relationships, except those that a person made or rejected."""
        rows = await self._queries.all(SELECT_CLAIMS, {"project_id": project_id, "ids": uuids(ids)})
        return {row[0]: QuotedSpan(TextSpan.of(*row[1:4]), row[4]) for row in rows}

    async def readers(self, project_id: UUID, chunk_ids: Sequence[UUID]) -> dict[tuple[UUID, datetime], str]:
        """The model or extractor of each reading, by chunk and `extracted_at` of its claims."""
        rows = await self._queries.all(SELECT_READERS, {"project_id": project_id, "ids": uuids(chunk_ids)})
        return {(row[0], row[1]): row[2] for row in rows}

    async def layouts(self, document: PagedDocument, numbers: Sequence[int]) -> list[StoredLayout]:
        params = {"project_id": document.project_id, "document_id": document.id, "version": document.version}
        rows = await self._queries.all(SELECT_LAYOUTS, {**params, "pages": list(numbers)})
        return [StoredLayout(*row) for row in rows]

    async def put_layout(self, document: PagedDocument, layout: StoredLayout) -> None:
        """Cache the layout, unless the document's version has changed."""
        params = {"project_id": document.project_id, "document_id": document.id, "version": document.version}
        await self._queries.run(PUT_LAYOUT, {**params, **layout._asdict()})
