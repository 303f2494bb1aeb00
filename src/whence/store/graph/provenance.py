"""Reads claims: where objects, properties and relationships came from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

from whence.models import Claim, GraphObject, Place, RelationshipClaim
from whence.store.graph.objects import COLUMNS as OBJECT_COLUMNS
from whence.store.graph.objects import object_of
from whence.store.pool import PagedQuery, Row, Statements, reader, uuids

# The page that the quote begins on: the last page with text that begins before it. Without a quote, the first page of the chunk.
PLACE: LiteralString = """
       c.id, c.chunk_index, d.id, d.name, coalesce((
           SELECT (page ->> 0)::integer FROM jsonb_array_elements(d.page_map) page
           WHERE (page ->> 1)::integer <= (c.metadata ->> 'startOffset')::integer + p.start_offset
             AND (page ->> 1)::integer < (page ->> 2)::integer
           ORDER BY (page ->> 1)::integer DESC LIMIT 1), (c.metadata ->> 'source_page')::integer),
       (c.metadata ->> 'startOffset')::integer, (c.metadata ->> 'endOffset')::integer, (
           SELECT max(e.extracted_at) FROM kb.chunk_extractions e
           WHERE e.project_id = %(project_id)s AND e.chunk_id = c.id AND e.schema_number = p.schema_number)"""
JOIN_PLACE: LiteralString = """
JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = p.chunk_id
JOIN kb.documents d ON d.project_id = %(project_id)s AND d.id = c.document_id"""
NEWEST_FIRST: LiteralString = "p.extracted_at DESC, p.id DESC"
# Whether the claim is current. Claims of the object's own name come before those of merged objects, claims with a quote before those
# without, newer before older. A shown claim of a chunk comes before its hidden ones.
_IS_CURRENT: LiteralString = """NOT EXISTS (
           SELECT FROM kb.object_provenance n
           JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = n.object_id
           WHERE n.project_id = %(project_id)s AND n.object_id = p.object_id AND n.property_name = p.property_name
             AND ((n.chunk_id = p.chunk_id AND n.id <> p.id) OR (
                n.property_name <> 'name' OR n.said_of = n.object_id,
                n.property_name <> 'name' OR n.value = to_jsonb(o.name),
                n.property_name <> 'name' OR n.quote IS NOT NULL, n.extracted_at, n.id) > (
                p.property_name <> 'name' OR p.said_of = p.object_id,
                p.property_name <> 'name' OR p.value = to_jsonb(o.name),
                p.property_name <> 'name' OR p.quote IS NOT NULL, p.extracted_at, p.id)))"""
CLAIM: LiteralString = f"""
       p.id, p.object_id, p.property_name, p.value, p.operation, p.schema_number, p.quote, p.start_offset, p.end_offset,
       p.extracted_at, {_IS_CURRENT},"""

# Shown claims, and hidden ones that the same chunk made under another name of the property.
_ALL: LiteralString = """(
    SELECT q.id, q.object_id, q.said_of, q.chunk_id, q.property_name, q.value, q.operation, q.schema_number, q.quote,
           q.start_offset, q.end_offset, q.extracted_at
    FROM kb.object_provenance q
    WHERE q.project_id = %(project_id)s AND q.object_id = %(object_id)s
    UNION ALL
    SELECT h.id, q.object_id, h.said_of, h.chunk_id, h.property_name, h.value, h.operation, h.schema_number, h.quote,
           h.start_offset, h.end_offset, h.extracted_at
    FROM kb.object_provenance q
    JOIN kb.hidden_claims h ON h.project_id = %(project_id)s AND h.said_of = q.said_of AND h.chunk_id = q.chunk_id
                           AND h.property_name = q.property_name
    WHERE q.project_id = %(project_id)s AND q.object_id = %(object_id)s)"""

# With documents, only claims of their chunks.
_WITHIN: LiteralString = """(%(document_ids)s::uuid[] IS NULL OR EXISTS (
          SELECT FROM kb.chunks k WHERE k.project_id = %(project_id)s AND k.id = q.chunk_id
            AND k.document_id = ANY(%(document_ids)s::uuid[])))"""
CURRENT: LiteralString = f"""
SELECT {CLAIM} {PLACE}
FROM (SELECT DISTINCT ON (q.object_id, q.property_name) q.* FROM kb.object_provenance q
      JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = q.object_id
      WHERE q.project_id = %(project_id)s AND q.object_id = ANY(%(ids)s) AND {_WITHIN}
      ORDER BY q.object_id, q.property_name, q.property_name = 'name' AND q.said_of <> q.object_id,
               q.property_name = 'name' AND q.value <> to_jsonb(o.name), q.property_name = 'name' AND q.quote IS NULL,
               q.extracted_at DESC, q.id DESC) p {JOIN_PLACE}
ORDER BY p.object_id, p.property_name
"""
_TIE: LiteralString = """p.id, p.relationship_id, p.properties, p.schema_number, p.quote, p.start_offset, p.end_offset,
       p.extracted_at,"""
# The newest of each relationship.
CURRENT_OF_RELATIONSHIP: LiteralString = f"""
SELECT {_TIE} {PLACE}
FROM (SELECT DISTINCT ON (q.relationship_id) q.* FROM kb.relationship_provenance q
      WHERE q.project_id = %(project_id)s AND q.relationship_id = ANY(%(ids)s) AND {_WITHIN}
      ORDER BY q.relationship_id, q.extracted_at DESC, q.id DESC) p {JOIN_PLACE}
ORDER BY p.relationship_id
"""
_BY_SOURCE: LiteralString = """p.chunk_id IN (
            SELECT k.id FROM kb.chunks k WHERE k.project_id = %(project_id)s AND (k.id = %(id)s OR k.document_id = %(id)s))"""
# The claims of a chunk or of all chunks of a document.
_STATED: LiteralString = f"""
FROM (SELECT p.id, p.chunk_id, p.start_offset, {_IS_CURRENT} AS current
      FROM kb.object_provenance p
      JOIN kb.graph_objects t ON t.project_id = %(project_id)s AND t.id = p.object_id
      WHERE p.project_id = %(project_id)s AND {_BY_SOURCE}
        AND (%(type)s::text IS NULL OR t.type = %(type)s)
        AND (%(property_name)s::text IS NULL OR p.property_name = %(property_name)s)
      UNION ALL
      SELECT p.id, p.chunk_id, p.start_offset, NOT EXISTS (
          SELECT FROM kb.relationship_provenance n
          WHERE n.project_id = %(project_id)s AND n.relationship_id = p.relationship_id
            AND (n.extracted_at, n.id) > (p.extracted_at, p.id))
      FROM kb.relationship_provenance p
      JOIN kb.relationships t ON t.project_id = %(project_id)s AND t.id = p.relationship_id
      WHERE p.project_id = %(project_id)s AND {_BY_SOURCE}
        AND (%(type)s::text IS NULL OR t.type = %(type)s)
        AND (%(property_name)s::text IS NULL OR p.properties ? %(property_name)s)) e
JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = e.chunk_id
WHERE %(current)s::boolean IS NULL OR e.current = %(current)s"""
BY_ID: LiteralString = f"""
SELECT {CLAIM} {PLACE}
FROM kb.object_provenance p {JOIN_PLACE}
WHERE p.project_id = %(project_id)s AND p.id = ANY(%(ids)s)
"""
RELATIONSHIP_CLAIMS_BY_ID: LiteralString = f"""
SELECT {_TIE} {PLACE}
FROM kb.relationship_provenance p {JOIN_PLACE}
WHERE p.project_id = %(project_id)s AND p.id = ANY(%(ids)s)
"""
_EVENTS: LiteralString = f"""
FROM (SELECT p.extracted_at AS happened_at, p.id, p.operation AS event, p.property_name, p.value,
             'v' || p.schema_number AS schema_version, p.quote,
             p.chunk_id, c.document_id, NULL::uuid AS dropped_id, NULL::text AS dropped_name
      FROM {_ALL} p
      JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = p.chunk_id
      UNION ALL
      SELECT m.merged_at, m.id, 'merged', NULL, NULL, NULL, NULL, NULL, NULL, m.dropped_id, m.name
      FROM kb.object_merges m
      WHERE m.project_id = %(project_id)s AND m.object_id = %(object_id)s) e"""
_CHUNKS_OF_OBJECT: LiteralString = f"""
FROM (SELECT q.chunk_id, array_agg(q.property_name ORDER BY q.property_name) AS property_names,
             max(q.schema_number) AS schema_number, min(q.start_offset) AS start_offset
      FROM kb.object_provenance q
      WHERE q.project_id = %(project_id)s AND q.object_id = %(object_id)s GROUP BY q.chunk_id) p {JOIN_PLACE}"""
_OBJECTS_OF_CHUNK: LiteralString = """
FROM (SELECT q.object_id, array_agg(q.property_name ORDER BY q.property_name) AS property_names
      FROM kb.object_provenance q
      WHERE q.project_id = %(project_id)s AND q.chunk_id = %(chunk_id)s GROUP BY q.object_id) p
JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = p.object_id"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A chunk that mentions an object."""

    place: Place
    property_names: tuple[str, ...]
    """Properties it makes claims about."""
    schema_number: int
    """The newest schema of its claims."""


Event = dict[str, Any]
"""A step in the history of an object, with the API's field names."""

_place_of, _claim_of, _tie_of = reader(Place), reader(Claim), reader(RelationshipClaim)


def to_claim(row: Row) -> Claim:
    return _claim_of((*row[:11], _place_of(row[11:])))


def _to_relationship_claim(row: Row) -> RelationshipClaim:
    return _tie_of((*row[:8], _place_of(row[8:])))


def _to_mention(row: Row) -> Mention:
    return Mention(property_names=tuple(row[0]), schema_number=row[1], place=_place_of(row[2:]))


_OF_OBJECT = PagedQuery(
    to_claim,
    CLAIM + PLACE,
    f"FROM {_ALL} p {JOIN_PLACE} WHERE %(property_name)s::text IS NULL OR p.property_name = %(property_name)s",
    "p.extracted_at DESC, p.id DESC",
)
_EVENT: LiteralString = """
       happened_at, id, event, property_name, value, schema_version, quote, chunk_id, document_id, dropped_id, dropped_name"""
_HISTORY = PagedQuery(reader(Event, _EVENT), _EVENT, _EVENTS, "happened_at, id")
_MENTIONS = PagedQuery(
    _to_mention, f"p.property_names, p.schema_number, {PLACE}", _CHUNKS_OF_OBJECT, "d.id, c.chunk_index"
)
_MENTIONED = PagedQuery(
    lambda row: (object_of(row), tuple[str, ...](row[-1])),
    f"{OBJECT_COLUMNS}, p.property_names",
    _OBJECTS_OF_CHUNK,
    "o.id",
)
_OLDER = PagedQuery(
    to_claim,
    CLAIM + PLACE,
    f"""FROM kb.object_provenance p {JOIN_PLACE}
WHERE p.project_id = %(project_id)s AND p.schema_number < %(schema_number)s""",
    "p.object_id, p.property_name, p.extracted_at DESC, p.id DESC",
)
_OF_RELATIONSHIP = PagedQuery(
    _to_relationship_claim,
    _TIE + PLACE,
    f"""FROM kb.relationship_provenance p {JOIN_PLACE}
WHERE p.project_id = %(project_id)s AND p.relationship_id = ANY(%(ids)s)""",
    "p.extracted_at DESC, p.id DESC",
)
_IN_READING_ORDER = PagedQuery(
    lambda row: row, "e.id, e.current", _STATED, "c.chunk_index, e.start_offset NULLS LAST, e.id"
)


class Provenance(Statements):
    async def of_object(
        self, project_id: UUID, object_id: UUID, *, property_name: str | None = None, limit: int, offset: int
    ) -> tuple[list[Claim], int]:
        """All claims about it or one of its properties, also those that are not current; the newest first."""
        params = {"project_id": project_id, "object_id": object_id, "property_name": property_name}
        return await self._queries.page(_OF_OBJECT, params, limit=limit, offset=offset)

    async def stated(
        self,
        project_id: UUID,
        ident: UUID,
        *,
        property_name: str | None = None,
        of_type: str | None = None,
        current: bool | None = None,
        limit: int,
        offset: int,
    ) -> tuple[list[tuple[Claim | RelationshipClaim, bool]], int]:
        """The claims of a chunk or a document in reading order, each with whether it is current."""
        params = {
            "project_id": project_id,
            "id": ident,
            "property_name": property_name,
            "type": of_type,
            "current": current,
        }
        rows, total = await self._queries.page(_IN_READING_ORDER, params, limit=limit, offset=offset)
        asked = {"project_id": project_id, "ids": [row[0] for row in rows]}
        found: dict[UUID, Claim | RelationshipClaim] = {}
        for row in await self._queries.all(BY_ID, asked):
            found[row[0]] = to_claim(row)
        for row in await self._queries.all(RELATIONSHIP_CLAIMS_BY_ID, asked):
            found[row[0]] = _to_relationship_claim(row)
        return [(found[row[0]], row[1]) for row in rows if row[0] in found], total

    async def current(
        self, project_id: UUID, object_ids: Iterable[UUID], *, document_ids: Sequence[UUID] | None = None
    ) -> list[Claim]:
        """One claim for each property and for the name: the one whose value the object has.

        With `document_ids`, the newest of those documents.
        """
        within = None if document_ids is None else uuids(document_ids)
        params = {"project_id": project_id, "ids": list(object_ids), "document_ids": within}
        return [to_claim(row) for row in await self._queries.all(CURRENT, params)]

    async def history(
        self, project_id: UUID, object_id: UUID, *, limit: int, offset: int
    ) -> tuple[list[Event], int]:
        """Claims about it and merges into it, the oldest first."""
        params = {"project_id": project_id, "object_id": object_id}
        return await self._queries.page(_HISTORY, params, limit=limit, offset=offset)

    async def chunks_of_object(
        self, project_id: UUID, object_id: UUID, *, limit: int, offset: int
    ) -> tuple[list[Mention], int]:
        """Document by document, in reading order."""
        params = {"project_id": project_id, "object_id": object_id}
        return await self._queries.page(_MENTIONS, params, limit=limit, offset=offset)

    async def objects_of_chunk(
        self, project_id: UUID, chunk_id: UUID, *, limit: int, offset: int
    ) -> tuple[list[tuple[GraphObject, tuple[str, ...]]], int]:
        """Each object with the properties that the chunk makes claims about."""
        params = {"project_id": project_id, "chunk_id": chunk_id}
        return await self._queries.page(_MENTIONED, params, limit=limit, offset=offset)

    async def older(
        self, project_id: UUID, schema_number: int, *, limit: int, offset: int
    ) -> tuple[list[Claim], int]:
        """Claims of schemas older than this one."""
        params = {"project_id": project_id, "schema_number": schema_number}
        return await self._queries.page(_OLDER, params, limit=limit, offset=offset)

    async def of_relationships(
        self, project_id: UUID, relationship_ids: Iterable[UUID], *, limit: int, offset: int
    ) -> tuple[list[RelationshipClaim], int]:
        """The newest first."""
        params = {"project_id": project_id, "ids": list(relationship_ids)}
        return await self._queries.page(_OF_RELATIONSHIP, params, limit=limit, offset=offset)

    async def current_of_relationships(
        self,
        project_id: UUID,
        relationship_ids: Iterable[UUID],
        *,
        document_ids: Sequence[UUID] | None = None,
    ) -> list[RelationshipClaim]:
        """The newest claim of each; with `document_ids`, the newest of those documents."""
        within = None if document_ids is None else uuids(document_ids)
        params = {"project_id": project_id, "ids": list(relationship_ids), "document_ids": within}
        rows = await self._queries.all(CURRENT_OF_RELATIONSHIP, params)
        return [_to_relationship_claim(row) for row in rows]
