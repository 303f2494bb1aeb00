"""Reads the claims that an extraction compares a chunk with."""

from collections.abc import Collection
from datetime import datetime
from typing import LiteralString
from uuid import UUID

from whence.store.pool import Row, Statements, uuids

EARLIER: LiteralString = """
SELECT p.object_id, p.said_of, coalesce(m.name, o.name), p.property_name, p.value
FROM kb.object_provenance p
JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = p.object_id
LEFT JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.dropped_id = p.said_of
WHERE p.project_id = %(project_id)s AND p.chunk_id = %(chunk_id)s
"""
EARLIER_TIES: LiteralString = """
SELECT r.type, r.source_id, r.target_id, p.said_source, p.said_target, coalesce(a.name, s.name), coalesce(b.name, t.name),
       p.quote
FROM kb.relationship_provenance p
JOIN kb.relationships r ON r.project_id = %(project_id)s AND r.id = p.relationship_id
JOIN kb.graph_objects s ON s.project_id = %(project_id)s AND s.id = r.source_id
JOIN kb.graph_objects t ON t.project_id = %(project_id)s AND t.id = r.target_id
LEFT JOIN kb.object_merges a ON a.project_id = %(project_id)s AND a.dropped_id = p.said_source
LEFT JOIN kb.object_merges b ON b.project_id = %(project_id)s AND b.dropped_id = p.said_target
WHERE p.project_id = %(project_id)s AND p.chunk_id = %(chunk_id)s
"""
ADDED: LiteralString = """
SELECT p.object_id FROM kb.chunks c
JOIN kb.object_provenance p ON p.project_id = %(project_id)s AND p.chunk_id = c.id
WHERE c.project_id = %(project_id)s AND c.document_id = %(document_id)s AND p.operation <> 'confirmed' AND p.is_grounded
  AND p.extracted_at >= %(since)s
GROUP BY p.object_id ORDER BY max(p.extracted_at) DESC, p.object_id LIMIT %(limit)s
"""
_MOST_QUOTES = 200
QUOTES_BETWEEN: LiteralString = """
SELECT DISTINCT r.type, r.source_id, r.target_id, p.quote
FROM kb.relationships r
JOIN kb.relationship_provenance p ON p.project_id = %(project_id)s AND p.relationship_id = r.id
WHERE r.project_id = %(project_id)s AND r.source_id = ANY(%(ids)s::uuid[]) AND r.target_id = ANY(%(ids)s::uuid[])
  AND (p.chunk_id <> %(chunk_id)s OR p.operation = 'confirmed') AND p.quote IS NOT NULL
LIMIT %(limit)s
"""
_MOST_CLAIMS = 500
# Without a quote, a claim may come from any sentence up to the end of its chunk. Such claims are read last: they must not
# take the places of quoted ones.
QUOTED_AGAIN: LiteralString = """
SELECT p.object_id, p.property_name, p.value, coalesce(p.quote, b.text), c.text, coalesce(p.start_offset, 0),
       coalesce(p.end_offset, length(c.text)), p.quote IS NOT NULL
FROM kb.object_provenance p
JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = p.chunk_id
CROSS JOIN LATERAL (SELECT btrim(c.text, E' \\n\\r\\t') AS text) b
WHERE p.project_id = %(project_id)s AND p.object_id = ANY(%(ids)s::uuid[]) AND p.chunk_id <> %(chunk_id)s AND p.is_grounded
  AND position(regexp_replace(lower(coalesce(p.quote, right(b.text, 10))), '\\s+', ' ', 'g')
               IN regexp_replace(lower(%(text)s), '\\s+', ' ', 'g')) > 0
ORDER BY p.quote IS NULL, p.object_id, p.property_name, p.chunk_id
LIMIT %(limit)s
"""


class KnownClaims(Statements):
    async def earlier(self, project_id: UUID, chunk_id: UUID) -> list[Row]:
        """The claims of a chunk: the object that has the claim, the object that the chunk named, its name, the property and its value."""
        return await self._queries.all(EARLIER, {"project_id": project_id, "chunk_id": chunk_id})

    async def earlier_ties(self, project_id: UUID, chunk_id: UUID) -> list[Row]:
        """The relationships that a chunk claims: type, both ends, both ends as the chunk named them, their names, and the quote."""
        return await self._queries.all(EARLIER_TIES, {"project_id": project_id, "chunk_id": chunk_id})

    async def added_by(
        self, project_id: UUID, document_id: UUID, *, since: datetime, limit: int
    ) -> list[UUID]:
        """The objects that gained values from the document after `since`, newest first."""
        params = {"project_id": project_id, "document_id": document_id, "since": since, "limit": limit}
        return await self._queries.column(ADDED, params)

    async def quotes_between(self, project_id: UUID, chunk_id: UUID, ids: Collection[UUID]) -> list[Row]:
        """The relationships between the objects that other chunks claim, or that it confirms: type, both ends and the quote."""
        if len(ids) < 2:  # noqa: PLR2004 - two ends
            return []
        params = {"project_id": project_id, "chunk_id": chunk_id, "ids": uuids(ids), "limit": _MOST_QUOTES}
        return await self._queries.all(QUOTES_BETWEEN, params)

    async def quoted_again(
        self, project_id: UUID, chunk_id: UUID, text: str, ids: Collection[UUID]
    ) -> list[Row]:
        """Claims of other chunks about the objects, if `text` contains their quotes or, without a quote, the ends of their
        chunks: object, property, value, quote, chunk's text, place, and whether it has a quote.
        """
        params = {"project_id": project_id, "chunk_id": chunk_id, "text": text, "ids": uuids(ids)}
        return await self._queries.all(QUOTED_AGAIN, params | {"limit": _MOST_CLAIMS})
