"""Reads claims: where objects, properties and relationships came from."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, LiteralString
from uuid import UUID

from whence.models import Claim, GraphObject, Place, RelationshipClaim, Word
from whence.store.graph.objects import COLUMNS as OBJECT_COLUMNS
from whence.store.graph.objects import object_of
from whence.store.graph.rejected_claims import rejects_claim
from whence.store.graph.set_values import is_set, keys_of, set_values_of
from whence.store.pool import PagedQuery, Row, Statements, reader

# The page that the quote begins on: the last page with text that begins before it. Without a quote, the first page of the chunk.
_PLACE: LiteralString = """
       c.id, c.chunk_index, d.id, d.name, coalesce((
           SELECT (page ->> 0)::integer FROM jsonb_array_elements(d.page_map) page
           WHERE (page ->> 1)::integer <= (c.metadata ->> 'startOffset')::integer + p.start_offset
             AND (page ->> 1)::integer < (page ->> 2)::integer
           ORDER BY (page ->> 1)::integer DESC LIMIT 1), (c.metadata ->> 'source_page')::integer),
       (c.metadata ->> 'startOffset')::integer, (c.metadata ->> 'endOffset')::integer, (
           SELECT max(e.extracted_at) FROM kb.chunk_extractions e
           WHERE e.project_id = %(project_id)s AND e.chunk_id = c.id AND e.schema_number = p.schema_number)"""
_JOIN_PLACE: LiteralString = """
JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = p.chunk_id
JOIN kb.documents d ON d.project_id = %(project_id)s AND d.id = c.document_id"""
# Whether the claim is current: not if a person set the value. Claims of the object's own name come before those of merged objects, claims with a quote before those
# without, newer before older. A shown claim of a chunk comes before its hidden ones.
_CLAIM: LiteralString = f"""
       p.id, p.object_id, p.property_name, p.value, p.operation, p.schema_number, p.quote, p.start_offset, p.end_offset,
       p.extracted_at, NOT {is_set("p.object_id", "p.property_name")} AND NOT EXISTS (
           SELECT FROM kb.object_provenance n
           JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = n.object_id
           WHERE n.project_id = %(project_id)s AND n.object_id = p.object_id AND n.property_name = p.property_name
             AND ((n.chunk_id = p.chunk_id AND n.id <> p.id) OR (
                n.property_name <> 'name' OR n.said_of = n.object_id,
                n.property_name <> 'name' OR n.value = to_jsonb(o.name),
                n.property_name <> 'name' OR n.quote IS NOT NULL, n.extracted_at, n.id) > (
                p.property_name <> 'name' OR p.said_of = p.object_id,
                p.property_name <> 'name' OR p.value = to_jsonb(o.name),
                p.property_name <> 'name' OR p.quote IS NOT NULL, p.extracted_at, p.id))),"""

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
CURRENT: LiteralString = f"""
SELECT {_CLAIM} {_PLACE}
FROM (SELECT DISTINCT ON (q.object_id, q.property_name) q.* FROM kb.object_provenance q
      JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = q.object_id
      WHERE q.project_id = %(project_id)s AND q.object_id = ANY(%(ids)s)
      ORDER BY q.object_id, q.property_name, q.property_name = 'name' AND q.said_of <> q.object_id,
               q.property_name = 'name' AND q.value <> to_jsonb(o.name), q.property_name = 'name' AND q.quote IS NULL,
               q.extracted_at DESC, q.id DESC) p {_JOIN_PLACE}
ORDER BY p.object_id, p.property_name
"""
_SET: LiteralString = "id, object_id, property_name, value, schema_number, extracted_at"
SET_VALUES: LiteralString = f"""
SELECT v.id, wanted.id, v.property_name, v.value, v.schema_number, v.created_at, v.author, v.reason
FROM unnest(%(ids)s::uuid[]) AS wanted (id), LATERAL ({set_values_of("wanted.id")}) v
WHERE %(property_name)s::text IS NULL OR v.property_name = %(property_name)s
ORDER BY wanted.id, v.property_name
"""
_REJECTED: LiteralString = """id, object_id, property_name, value, operation, schema_number, quote, start_offset, end_offset,
    extracted_at"""
REJECTED: LiteralString = f"""
SELECT p.id, %(object_id)s::uuid, p.property_name, p.value, p.operation, p.schema_number, p.quote, p.start_offset, p.end_offset,
       p.extracted_at, t.author, t.reason, t.id, {_PLACE}
FROM ({keys_of("%(object_id)s")}) k
JOIN kb.rejected_claims p ON p.project_id = %(project_id)s AND p.type = k.type AND p.name_key = k.name_key {_JOIN_PLACE}
CROSS JOIN LATERAL (
    SELECT w.id, w.author, w.reason FROM kb.rejected_texts t
    JOIN kb.curations w ON w.project_id = %(project_id)s AND w.id = t.curation_id
    WHERE t.is_active AND {rejects_claim("p", "p")}
    ORDER BY w.id DESC LIMIT 1) t
WHERE %(property_name)s::text IS NULL OR p.property_name = %(property_name)s
ORDER BY p.property_name, p.extracted_at DESC, p.id DESC
"""
_TIE: LiteralString = """p.id, p.relationship_id, p.properties, p.schema_number, p.quote, p.start_offset, p.end_offset,
       p.extracted_at,"""
# The newest of each relationship.
CURRENT_OF_RELATIONSHIP: LiteralString = f"""
SELECT {_TIE} {_PLACE}
FROM (SELECT DISTINCT ON (q.relationship_id) q.* FROM kb.relationship_provenance q
      WHERE q.project_id = %(project_id)s AND q.relationship_id = ANY(%(ids)s)
      ORDER BY q.relationship_id, q.extracted_at DESC, q.id DESC) p {_JOIN_PLACE}
ORDER BY p.relationship_id
"""
_EVENTS: LiteralString = f"""
FROM (SELECT p.extracted_at AS happened_at, p.id, p.operation AS event, p.property_name, p.value,
             'v' || p.schema_number AS schema_version, p.quote,
             p.chunk_id, c.document_id, NULL::uuid AS dropped_id, NULL::text AS dropped_name,
             NULL::text AS author, NULL::text AS reason
      FROM {_ALL} p
      JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = p.chunk_id
      UNION ALL
      SELECT m.merged_at, m.id, 'merged', NULL, NULL, NULL, NULL, NULL, NULL, m.dropped_id, m.name, NULL, NULL
      FROM kb.object_merges m
      WHERE m.project_id = %(project_id)s AND m.object_id = %(object_id)s
      UNION ALL
      SELECT w.created_at, w.id, CASE w.action WHEN 'set' THEN 'set' WHEN 'reject' THEN 'rejected' ELSE 'undone' END,
             w.property_name, w.value, NULL, NULL, NULL, NULL, NULL, NULL, w.author, w.reason
      FROM kb.curations w
      WHERE w.project_id = %(project_id)s AND EXISTS (
          SELECT FROM ({keys_of("%(object_id)s")}) k
          WHERE (k.type, k.name_key) IN ((w.type, w.name_key), (w.target_type, w.target_key)))) e"""
_CHUNKS_OF_OBJECT: LiteralString = f"""
FROM (SELECT q.chunk_id, array_agg(q.property_name ORDER BY q.property_name) AS property_names,
             max(q.schema_number) AS schema_number, min(q.start_offset) AS start_offset
      FROM kb.object_provenance q
      WHERE q.project_id = %(project_id)s AND q.object_id = %(object_id)s GROUP BY q.chunk_id) p {_JOIN_PLACE}"""
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
_rejected_of = reader(Claim, _REJECTED + ", current, origin")


def _to_claim(row: Row) -> Claim:
    return _claim_of((*row[:11], _place_of(row[11:])))


def _to_set_value(row: Row) -> Claim:
    said: dict[str, Any] = dict.fromkeys(("quote", "start_offset", "end_offset", "origin"))
    said |= dict(zip(_SET.split(", "), row, strict=False))
    word = Word(author=row[-2], reason=row[-1], curation_id=row[0])
    return Claim(**said, operation="set", current=True, word=word)


def _to_rejected(row: Row) -> Claim:
    word = Word(author=row[10], reason=row[11], curation_id=row[12])
    return replace(_rejected_of((*row[:10], False, _place_of(row[13:]))), word=word)


def _to_relationship_claim(row: Row) -> RelationshipClaim:
    return _tie_of((*row[:8], _place_of(row[8:])))


def _to_mention(row: Row) -> Mention:
    return Mention(property_names=tuple(row[0]), schema_number=row[1], place=_place_of(row[2:]))


_OF_OBJECT = PagedQuery(
    _to_claim,
    _CLAIM + _PLACE,
    f"FROM {_ALL} p {_JOIN_PLACE} WHERE %(property_name)s::text IS NULL OR p.property_name = %(property_name)s",
    "p.extracted_at DESC, p.id DESC",
)
_EVENT: LiteralString = """
       happened_at, id, event, property_name, value, schema_version, quote, chunk_id, document_id, dropped_id, dropped_name,
       author, reason"""
_HISTORY = PagedQuery(reader(Event, _EVENT), _EVENT, _EVENTS, "happened_at, id")
_MENTIONS = PagedQuery(
    _to_mention, f"p.property_names, p.schema_number, {_PLACE}", _CHUNKS_OF_OBJECT, "d.id, c.chunk_index"
)
_MENTIONED = PagedQuery(
    lambda row: (object_of(row), tuple[str, ...](row[-1])),
    f"{OBJECT_COLUMNS}, p.property_names",
    _OBJECTS_OF_CHUNK,
    "o.id",
)
_OLDER = PagedQuery(
    _to_claim,
    _CLAIM + _PLACE,
    f"""FROM kb.object_provenance p {_JOIN_PLACE}
WHERE p.project_id = %(project_id)s AND p.schema_number < %(schema_number)s""",
    "p.object_id, p.property_name, p.extracted_at DESC, p.id DESC",
)
_OF_RELATIONSHIP = PagedQuery(
    _to_relationship_claim,
    _TIE + _PLACE,
    f"""FROM kb.relationship_provenance p {_JOIN_PLACE}
WHERE p.project_id = %(project_id)s AND p.relationship_id = ANY(%(ids)s)""",
    "p.extracted_at DESC, p.id DESC",
)


class Provenance(Statements):
    async def of_object(
        self, project_id: UUID, object_id: UUID, *, property_name: str | None = None, limit: int, offset: int
    ) -> tuple[list[Claim], int]:
        """All claims about it or one of its properties, also those that are not current; the newest first.

        Before them come the values that a person set, and the claims that a person rejected.
        """
        params = {"project_id": project_id, "object_id": object_id, "property_name": property_name}
        words = await self._set_values(project_id, [object_id], property_name)
        words += [_to_rejected(row) for row in await self._queries.all(REJECTED, params)]
        shown = words[offset : offset + limit]
        claims, total = await self._queries.page(
            _OF_OBJECT, params, limit=limit - len(shown), offset=max(0, offset - len(words))
        )
        return [*shown, *claims], total + len(words)

    async def current(self, project_id: UUID, object_ids: Iterable[UUID]) -> list[Claim]:
        """One claim for each property and for the name: the one whose value the object has."""
        ids = list(object_ids)
        claims = [
            _to_claim(row) for row in await self._queries.all(CURRENT, {"project_id": project_id, "ids": ids})
        ]
        words = await self._set_values(project_id, ids)
        said = {(word.object_id, word.property_name) for word in words}
        return [*words, *(claim for claim in claims if (claim.object_id, claim.property_name) not in said)]

    async def _set_values(
        self, project_id: UUID, ids: list[UUID], property_name: str | None = None
    ) -> list[Claim]:
        params = {"project_id": project_id, "ids": ids, "property_name": property_name}
        return [_to_set_value(row) for row in await self._queries.all(SET_VALUES, params)]

    async def history(
        self, project_id: UUID, object_id: UUID, *, limit: int, offset: int
    ) -> tuple[list[Event], int]:
        """Claims about it, merges into it, and what a person said about it, the oldest first."""
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
        self, project_id: UUID, relationship_ids: Iterable[UUID]
    ) -> list[RelationshipClaim]:
        """The newest claim of each."""
        params = {"project_id": project_id, "ids": list(relationship_ids)}
        rows = await self._queries.all(CURRENT_OF_RELATIONSHIP, params)
        return [_to_relationship_claim(row) for row in rows]
