"""Reads claims: where objects, properties and relationships came from."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, LiteralString
from uuid import UUID

from whence.models import Claim, Place, RelationshipClaim, Word
from whence.store.graph.ledger import IS_STALE, LAST_READING
from whence.store.graph.order import AS_OF, HIDDEN, JOIN_DOCUMENT, NEWEST_FIRST, rank, with_hidden_lists
from whence.store.graph.rejected_claims import rejects_claim
from whence.store.graph.set_values import corrected_keys_of, is_set, keys_of, set_values_of
from whence.store.pool import PagedQuery, Row, Statements, part_of, reader, uuids

# The page on which the quote begins: the last page with text that begins before it. Without a quote, the chunk's first page.
PLACE: LiteralString = f"""
       c.id, c.chunk_index, d.id, d.name, coalesce((
           SELECT (page ->> 0)::integer FROM jsonb_array_elements(d.page_map) page
           WHERE (page ->> 1)::integer <= (c.metadata ->> 'startOffset')::integer + p.start_offset
             AND (page ->> 1)::integer < (page ->> 2)::integer
           ORDER BY (page ->> 1)::integer DESC LIMIT 1), (c.metadata ->> 'source_page')::integer),
       (c.metadata ->> 'startOffset')::integer, (c.metadata ->> 'endOffset')::integer, (
           SELECT max(e.extracted_at) FROM kb.chunk_extractions e
           WHERE e.project_id = %(project_id)s AND e.chunk_id = c.id AND e.schema_number = p.schema_number),
       {AS_OF}, CASE WHEN d.valid_from IS NULL THEN 'version' ELSE 'valid_from' END, d.version"""


def current(objects: LiteralString) -> LiteralString:
    """Selects `id` and `place` of the current claims about some objects, given as a condition on `p`; the newest has place 1.

    For names, claims about the object itself come before those about merged objects, then claims with a quote.
    """
    source: LiteralString = f"FROM kb.object_provenance p {JOIN_DOCUMENT}"
    lists: LiteralString = f"FROM {with_hidden_lists()} p {JOIN_DOCUMENT}"
    wanted: LiteralString = f"WHERE p.project_id = %(project_id)s AND {objects}"
    return f"""
    SELECT r.id, r.place FROM ({rank(f"{lists} {wanted} AND p.property_name <> 'name'")}) r WHERE r.is_current
    UNION ALL
    SELECT n.id, 1 FROM (
        SELECT DISTINCT ON (p.object_id) p.id {source}
        JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = p.object_id
        {wanted} AND p.property_name = 'name'
        ORDER BY p.object_id, p.said_of <> p.object_id, p.value <> to_jsonb(o.name), p.quote IS NULL, {NEWEST_FIRST}) n"""


CLAIM: LiteralString = """
       p.id, p.object_id, p.property_name, p.value, p.operation, p.schema_number, p.quote, p.start_offset, p.end_offset,
       p.elements, p.is_grounded, p.extracted_at,"""


def is_current(objects: LiteralString) -> LiteralString:
    """Whether the claim `p` is current. `objects` is a condition on the claims that it is compared with."""
    return f"NOT {is_set('p.object_id', 'p.property_name')} AND p.id IN (SELECT e.id FROM ({current(objects)}) e)"


# The claim itself as `claimed`: the inner query has a `p` of its own.
JOIN_CLAIMED: LiteralString = "CROSS JOIN LATERAL (SELECT p.object_id, p.property_name) claimed"
IS_CURRENT: LiteralString = is_current(
    "p.object_id = claimed.object_id AND p.property_name = claimed.property_name"
)

# With `document_ids`, only claims of their chunks.
_WITHIN: LiteralString = "(%(document_ids)s::uuid[] IS NULL OR d.id = ANY(%(document_ids)s::uuid[]))"

# Shown claims, hidden lists of merged objects, and hidden claims that the same chunk made under another name of the property.
_ALL: LiteralString = f"""(
    SELECT * FROM {with_hidden_lists()} a WHERE a.project_id = %(project_id)s AND a.object_id = %(object_id)s
    UNION ALL
    SELECT q.project_id, q.object_id, {HIDDEN}
    FROM kb.object_provenance q
    JOIN kb.hidden_claims h ON h.project_id = %(project_id)s AND h.said_of = q.said_of AND h.chunk_id = q.chunk_id
                           AND h.property_name = q.property_name
    WHERE q.project_id = %(project_id)s AND q.object_id = %(object_id)s)"""
CURRENT: LiteralString = f"""
SELECT {CLAIM} true, {PLACE}
FROM ({current(f"p.object_id = ANY(%(ids)s) AND {_WITHIN}")}) w
JOIN {with_hidden_lists()} p ON p.project_id = %(project_id)s AND p.object_id = ANY(%(ids)s) AND p.id = w.id {JOIN_DOCUMENT}
ORDER BY p.object_id, p.property_name, w.place
"""
_SET: LiteralString = "id, object_id, property_name, value, schema_number, extracted_at"
SET_VALUES: LiteralString = f"""
SELECT v.id, wanted.id, v.property_name, v.value, v.schema_number, v.created_at, v.author, v.reason
FROM unnest(%(ids)s::uuid[]) AS wanted (id), LATERAL ({set_values_of("wanted.id")}) v
WHERE %(property_name)s::text IS NULL OR v.property_name = %(property_name)s
ORDER BY wanted.id, v.property_name
"""
_REJECTED: LiteralString = """id, object_id, property_name, value, operation, schema_number, quote, start_offset, end_offset,
    elements, is_grounded, extracted_at"""
REJECTED_OF_OBJECT: LiteralString = f"""
SELECT p.id, %(object_id)s::uuid, p.property_name, p.value, p.operation, p.schema_number, p.quote,
       p.start_offset, p.end_offset, p.elements, p.is_grounded, p.extracted_at, t.author, t.reason, t.id, {PLACE}
FROM ({keys_of("%(object_id)s")}) k
JOIN kb.rejected_claims p ON p.project_id = %(project_id)s AND p.type = k.type AND p.name_key = k.name_key {JOIN_DOCUMENT}
CROSS JOIN LATERAL (
    SELECT w.id, w.author, w.reason FROM kb.rejected_texts t
    JOIN kb.curations w ON w.project_id = %(project_id)s AND w.id = t.curation_id
    WHERE t.is_active AND {rejects_claim("p", "p")}
    ORDER BY w.id DESC LIMIT 1) t
WHERE %(property_name)s::text IS NULL OR p.property_name = %(property_name)s
ORDER BY p.property_name, p.extracted_at DESC, p.id DESC
"""
_TIE: LiteralString = """p.id, p.relationship_id, p.properties, p.operation, p.schema_number, p.quote, p.start_offset, p.end_offset,
       p.is_grounded, p.extracted_at,"""
# The newest claim of each relationship, grounded ones first.
CURRENT_OF_RELATIONSHIP: LiteralString = f"""
SELECT {_TIE} {PLACE}
FROM (SELECT DISTINCT ON (p.relationship_id) p.* FROM kb.relationship_provenance p {JOIN_DOCUMENT}
      WHERE p.project_id = %(project_id)s AND p.relationship_id = ANY(%(ids)s) AND {_WITHIN}
      ORDER BY p.relationship_id, p.is_grounded DESC, {NEWEST_FIRST}) p {JOIN_DOCUMENT}
ORDER BY p.relationship_id
"""
_BY_SOURCE: LiteralString = """p.chunk_id IN (
            SELECT k.id FROM kb.chunks k WHERE k.project_id = %(project_id)s AND (k.id = %(id)s OR k.document_id = %(id)s))"""
# The claims of a chunk or of all chunks of a document.
_STATED: LiteralString = f"""
FROM (SELECT p.id, p.chunk_id, p.start_offset, {IS_CURRENT} AS current
      FROM {with_hidden_lists()} p
      JOIN kb.graph_objects t ON t.project_id = %(project_id)s AND t.id = p.object_id {JOIN_CLAIMED}
      WHERE p.project_id = %(project_id)s AND {_BY_SOURCE}
        AND (%(type)s::text IS NULL OR t.type = %(type)s)
        AND (%(property_name)s::text IS NULL OR p.property_name = %(property_name)s)
      UNION ALL
      SELECT p.id, p.chunk_id, p.start_offset, p.id = newest.id
      FROM kb.relationship_provenance p
      JOIN kb.relationships t ON t.project_id = %(project_id)s AND t.id = p.relationship_id
      CROSS JOIN LATERAL (
          SELECT p.id FROM kb.relationship_provenance p {JOIN_DOCUMENT}
          WHERE p.project_id = %(project_id)s AND p.relationship_id = t.id ORDER BY {NEWEST_FIRST} LIMIT 1) newest
      WHERE p.project_id = %(project_id)s AND {_BY_SOURCE}
        AND (%(type)s::text IS NULL OR t.type = %(type)s)
        AND (%(property_name)s::text IS NULL OR p.properties ? %(property_name)s)) e
JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = e.chunk_id
WHERE %(current)s::boolean IS NULL OR e.current = %(current)s"""
BY_ID: LiteralString = f"""
SELECT {CLAIM} {IS_CURRENT}, {PLACE}
FROM {with_hidden_lists()} p {JOIN_DOCUMENT} {JOIN_CLAIMED}
WHERE p.project_id = %(project_id)s AND p.id = ANY(%(ids)s)
"""
RELATIONSHIP_CLAIMS_BY_ID: LiteralString = f"""
SELECT {_TIE} {PLACE}
FROM kb.relationship_provenance p {JOIN_DOCUMENT}
WHERE p.project_id = %(project_id)s AND p.id = ANY(%(ids)s)
"""
_KEYS: LiteralString = corrected_keys_of("%(object_id)s")
_EVENTS: LiteralString = f"""
FROM (SELECT p.extracted_at AS happened_at, p.id, p.operation AS event, p.property_name, p.value,
             'v' || p.schema_number AS schema_version, p.quote,
             p.chunk_id, c.document_id, NULL::uuid AS dropped_id, NULL::text AS dropped_name,
             NULL::text AS author, NULL::text AS reason
      FROM {_ALL} p
      JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = p.chunk_id
      UNION ALL
      SELECT p.extracted_at, p.id, p.operation, p.property_name, p.value, 'v' || p.schema_number, p.quote, p.chunk_id,
             c.document_id, NULL, NULL, NULL, NULL
      FROM {_KEYS} k
      JOIN kb.rejected_claims p ON p.project_id = %(project_id)s AND p.type = k.type AND p.name_key = k.name_key
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
          SELECT FROM {_KEYS} k
          WHERE (k.type, k.name_key) IN ((w.type, w.name_key), (w.target_type, w.target_key)))) e"""
Event = dict[str, Any]
"""A step in the history of an object, with the API's field names."""

place_of, _claim_of, _tie_of = reader(Place), reader(Claim), reader(RelationshipClaim)
_rejected_of = reader(Claim, _REJECTED + ", current, origin")


def to_claim(row: Row) -> Claim:
    return _claim_of((*row[:13], place_of(row[13:])))


def _to_set_value(row: Row) -> Claim:
    said: dict[str, Any] = dict.fromkeys(("quote", "start_offset", "end_offset", "elements", "origin"))
    said |= dict(zip(_SET.split(", "), row, strict=False))
    word = Word(author=row[-2], reason=row[-1], curation_id=row[0])
    return Claim(**said, operation="set", is_grounded=True, current=True, word=word)


def _to_rejected(row: Row) -> Claim:
    word = Word(author=row[12], reason=row[13], curation_id=row[14])
    return replace(_rejected_of((*row[:12], False, place_of(row[15:]))), word=word)


def _to_relationship_claim(row: Row) -> RelationshipClaim:
    return _tie_of((*row[:10], place_of(row[10:])))


_OF_OBJECT = PagedQuery(
    to_claim,
    f"{CLAIM} {is_current('p.object_id = %(object_id)s')}, {PLACE}",
    f"FROM {_ALL} p {JOIN_DOCUMENT} WHERE %(property_name)s::text IS NULL OR p.property_name = %(property_name)s",
    NEWEST_FIRST,
    ident="p.id",
)
_EVENT: LiteralString = """
       happened_at, id, event, property_name, value, schema_version, quote, chunk_id, document_id, dropped_id, dropped_name,
       author, reason"""
_HISTORY = PagedQuery(reader(Event, _EVENT), _EVENT, _EVENTS, "happened_at, id", ident="e.id")
_OLDER = PagedQuery(
    to_claim,
    f"{CLAIM} {IS_CURRENT}, {PLACE}",
    f"""FROM kb.object_provenance p {JOIN_DOCUMENT} {LAST_READING} {JOIN_CLAIMED}
WHERE p.project_id = %(project_id)s AND p.schema_number < %(schema_number)s AND {IS_STALE}""",
    f"p.object_id, p.property_name, {NEWEST_FIRST}",
)
_OF_RELATIONSHIP = PagedQuery(
    _to_relationship_claim,
    _TIE + PLACE,
    f"""FROM kb.relationship_provenance p {JOIN_DOCUMENT}
WHERE p.project_id = %(project_id)s AND p.relationship_id = ANY(%(ids)s)""",
    NEWEST_FIRST,
)
_IN_READING_ORDER = PagedQuery(
    lambda row: row,
    "e.id, e.current",
    _STATED,
    "c.chunk_index, e.start_offset NULLS LAST, e.id",
    ident="e.id",
)


class Provenance(Statements):
    async def of_object(
        self,
        project_id: UUID,
        object_id: UUID,
        *,
        property_name: str | None = None,
        limit: int,
        offset: int,
        after: UUID | None = None,
    ) -> tuple[list[Claim], int]:
        """All claims about the object or one property, current or not, newest first.

        Values that a person set and claims that a person rejected come first.
        """
        params = {"project_id": project_id, "object_id": object_id, "property_name": property_name}
        values = await self._set_values(project_id, [object_id], property_name)
        by_people = [*values, *map(_to_rejected, await self._queries.all(REJECTED_OF_OBJECT, params))]
        shown = part_of(by_people, lambda one: one.id, limit=limit, offset=offset, after=after)
        if after in {one.id for one in by_people}:
            offset, after = 0, None
        elif after is None:
            offset = max(0, offset - len(by_people))
        found, total = await self._queries.page(
            _OF_OBJECT, params, limit=limit - len(shown), offset=offset, after=after
        )
        return [*shown, *found], len(by_people) + total

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
        after: UUID | None = None,
    ) -> tuple[list[tuple[Claim | RelationshipClaim, bool]], int]:
        """The claims of a chunk or a document in reading order, each marked as current or not."""
        params = {
            "project_id": project_id,
            "id": ident,
            "property_name": property_name,
            "type": of_type,
            "current": current,
        }
        rows, total = await self._queries.page(
            _IN_READING_ORDER, params, limit=limit, offset=offset, after=after
        )
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
        """The claims whose values the object has: one for the name and for each property, or several for a list, the newest first.

        With `document_ids`, the claims that would be current if there were only these documents, except those that a person corrected.
        """
        ids = list(object_ids)
        within = None if document_ids is None else uuids(document_ids)
        params = {"project_id": project_id, "ids": ids, "document_ids": within}
        claims = [to_claim(row) for row in await self._queries.all(CURRENT, params)]
        words = await self._set_values(project_id, ids)
        corrected = {(word.object_id, word.property_name): word.value for word in words}
        if document_ids is None:
            uncorrected = (one for one in claims if (one.object_id, one.property_name) not in corrected)
            return [*words, *uncorrected]
        return [
            one for one in claims if corrected.get((one.object_id, one.property_name), one.value) == one.value
        ]

    async def _set_values(
        self, project_id: UUID, ids: list[UUID], property_name: str | None = None
    ) -> list[Claim]:
        params = {"project_id": project_id, "ids": ids, "property_name": property_name}
        return [_to_set_value(row) for row in await self._queries.all(SET_VALUES, params)]

    async def history(
        self, project_id: UUID, object_id: UUID, *, limit: int, offset: int, after: UUID | None = None
    ) -> tuple[list[Event], int]:
        """The object's claims, also rejected ones, merges and corrections, oldest first. The object may be deleted."""
        params = {"project_id": project_id, "object_id": object_id}
        return await self._queries.page(_HISTORY, params, limit=limit, offset=offset, after=after)

    async def older(
        self, project_id: UUID, schema_number: int, *, limit: int, offset: int
    ) -> tuple[list[Claim], int]:
        """Claims of older schemas, from chunks that were not read since."""
        params = {"project_id": project_id, "schema_number": schema_number}
        return await self._queries.page(_OLDER, params, limit=limit, offset=offset)

    async def of_relationships(
        self, project_id: UUID, relationship_ids: Iterable[UUID], *, limit: int, offset: int
    ) -> tuple[list[RelationshipClaim], int]:
        """Claims of the relationships, newest first."""
        params = {"project_id": project_id, "ids": list(relationship_ids)}
        return await self._queries.page(_OF_RELATIONSHIP, params, limit=limit, offset=offset)

    async def current_of_relationships(
        self,
        project_id: UUID,
        relationship_ids: Iterable[UUID],
        *,
        document_ids: Sequence[UUID] | None = None,
    ) -> list[RelationshipClaim]:
        """The newest claim of each relationship, grounded ones first; with `document_ids`, from those documents."""
        within = None if document_ids is None else uuids(document_ids)
        params = {"project_id": project_id, "ids": list(relationship_ids), "document_ids": within}
        rows = await self._queries.all(CURRENT_OF_RELATIONSHIP, params)
        return [_to_relationship_claim(row) for row in rows]
