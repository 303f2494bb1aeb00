"""Conflicts: properties of objects and relationships whose claims differ. Values are compared as `extract.values.same` does."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import LiteralString
from uuid import UUID

from whence.models import Claim, Relationship
from whence.store.graph.objects import Objects
from whence.store.graph.order import JOIN_DOCUMENT, NEWEST_FIRST
from whence.store.graph.provenance import CLAIM, IS_CURRENT, JOIN_CLAIMED, PLACE, to_claim
from whence.store.graph.relationships import Relationships
from whence.store.graph.set_values import is_set
from whence.store.pool import Row, Statements, uuids
from whence.text.names import TYPOGRAPHY

_TYPOGRAPHY: LiteralString = "".join(TYPOGRAPHY)
_PLAIN: LiteralString = "".join(TYPOGRAPHY.values()).replace("'", "''")
_INVISIBLE: LiteralString = "[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]"


def value_key(value: LiteralString) -> LiteralString:
    """SQL for a normalised text that is equal for equivalent values."""
    return f"""CASE jsonb_typeof({value}) WHEN 'number' THEN trim_scale(({value})::numeric)::text ELSE
        rtrim(btrim(regexp_replace(regexp_replace(replace(lower(normalize(
            translate({value} #>> '{{}}', '{_TYPOGRAPHY}', '{_PLAIN}'), NFKC)), 'ß', 'ss'),
            '{_INVISIBLE}', '', 'g'), '\\s+', ' ', 'g')), '.') END"""


# Lists accumulate, so their claims never conflict.
COMPARABLE: LiteralString = "p.property_name <> 'name' AND p.is_grounded AND jsonb_typeof(p.value) <> 'array'"
# The object has the value of one of its claims, so there is a conflict if any claim differs from that. A value that a person set resolves
# it.
DIFFERING: LiteralString = f"""
SELECT DISTINCT p.object_id, p.property_name
FROM kb.graph_objects o
JOIN kb.object_provenance p ON p.project_id = %(project_id)s AND p.object_id = o.id
WHERE o.project_id = %(project_id)s AND {COMPARABLE}
  AND (%(object_id)s::uuid IS NULL OR o.id = %(object_id)s)
  AND (%(type)s::text IS NULL OR o.type = %(type)s)
  AND (%(property_name)s::text IS NULL OR p.property_name = %(property_name)s)
  AND p.value IS DISTINCT FROM o.properties -> p.property_name AND NOT {is_set("o.id", "p.property_name")}
  AND {value_key("p.value")} <> {value_key("(o.properties -> p.property_name)")}
ORDER BY p.object_id, p.property_name
"""
# The newest claim of each value.
CLAIMS: LiteralString = f"""
SELECT {CLAIM} {IS_CURRENT}, {PLACE}
FROM (SELECT DISTINCT ON (p.object_id, p.property_name, {value_key("p.value")}) p.*
      FROM unnest(%(ids)s::uuid[], %(names)s::text[]) AS e (object_id, property_name)
      JOIN kb.object_provenance p ON p.project_id = %(project_id)s AND p.object_id = e.object_id
                                 AND p.property_name = e.property_name AND {COMPARABLE} {JOIN_DOCUMENT}
      ORDER BY p.object_id, p.property_name, {value_key("p.value")}, {NEWEST_FIRST}) p {JOIN_DOCUMENT} {JOIN_CLAIMED}
ORDER BY p.object_id, p.property_name, {NEWEST_FIRST}
"""


# The same for relationships. `object_id` is either end.
DIFFERING_TIES: LiteralString = f"""
SELECT DISTINCT r.id, e.key
FROM kb.relationships r
JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = r.source_id
JOIN kb.relationship_provenance p ON p.project_id = %(project_id)s AND p.relationship_id = r.id
CROSS JOIN LATERAL jsonb_each(p.properties) e
WHERE r.project_id = %(project_id)s AND r.properties <> '{{}}' AND jsonb_typeof(e.value) <> 'array'
  AND (%(object_id)s::uuid IS NULL OR %(object_id)s IN (r.source_id, r.target_id))
  AND (%(type)s::text IS NULL OR %(type)s IN (r.type, o.type))
  AND (%(property_name)s::text IS NULL OR e.key = %(property_name)s)
  AND {value_key("e.value")} <> {value_key("(r.properties -> e.key)")}
ORDER BY r.id, e.key
"""
TIE_CLAIMS: LiteralString = f"""
SELECT p.id, p.relationship_id, p.key, p.value, 'updated', p.schema_number, p.quote, p.start_offset, p.end_offset, NULL, true,
       p.extracted_at, {value_key("p.value")} = {value_key("(r.properties -> p.key)")}, {PLACE}
FROM (SELECT DISTINCT ON (p.relationship_id, e.key, {value_key("e.value")}) p.*, e.key, e.value
      FROM unnest(%(ids)s::uuid[], %(names)s::text[]) AS w (id, property_name)
      JOIN kb.relationship_provenance p ON p.project_id = %(project_id)s AND p.relationship_id = w.id
      JOIN LATERAL jsonb_each(p.properties) e ON e.key = w.property_name AND jsonb_typeof(e.value) <> 'array' {JOIN_DOCUMENT}
      ORDER BY p.relationship_id, e.key, {value_key("e.value")}, {NEWEST_FIRST}) p {JOIN_DOCUMENT}
JOIN kb.relationships r ON r.project_id = %(project_id)s AND r.id = p.relationship_id
ORDER BY p.relationship_id, p.key, {NEWEST_FIRST}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyConflict:
    object_id: UUID
    object_type: str
    object_name: str
    property_name: str
    relationship: Relationship | None = None
    """The relationship, if it is a relationship's property. The object is then its source."""
    claims: tuple[Claim, ...] = ()
    """The newest claim of each value, the current one first."""


class Conflicts(Statements):
    async def page(
        self,
        project_id: UUID,
        *,
        object_id: UUID | None = None,
        object_type: str | None = None,
        property_name: str | None = None,
        limit: int,
        offset: int,
    ) -> tuple[list[PropertyConflict], int]:
        """Conflicts of objects by object and property, then those of relationships. `object_type` may also be a type of relationships."""
        params = {
            "project_id": project_id,
            "object_id": object_id,
            "type": object_type,
            "property_name": property_name,
        }
        # Reads all at once, because counting them takes as long.
        of_objects = await self._queries.all(DIFFERING, params)
        of_ties = await self._queries.all(DIFFERING_TIES, params)
        first = max(0, offset - len(of_objects))
        found = await self._build_for_objects(project_id, of_objects[offset : offset + limit])
        found += await self._build_for_ties(project_id, of_ties[first : first + limit - len(found)])
        return found, len(of_objects) + len(of_ties)

    async def _build_for_objects(self, project_id: UUID, rows: Sequence[Row]) -> list[PropertyConflict]:
        objects = {
            one.id: one for one in await Objects(self._queries).many(project_id, {row[0] for row in rows})
        }
        claims = await self._read_claims(CLAIMS, project_id, rows)
        return [
            PropertyConflict(
                object_id=ident,
                object_type=objects[ident].type,
                object_name=objects[ident].name,
                property_name=name,
                claims=claims[ident, name],
            )
            for ident, name in rows
            if ident in objects
        ]

    async def _build_for_ties(self, project_id: UUID, rows: Sequence[Row]) -> list[PropertyConflict]:
        relationships = await Relationships(self._queries).many(project_id, {row[0] for row in rows})
        ties = {one.id: one for one in relationships}
        claims = await self._read_claims(TIE_CLAIMS, project_id, rows)
        return [
            PropertyConflict(
                object_id=ties[ident].source_id,
                object_type=ties[ident].source_type,
                object_name=ties[ident].source_name,
                property_name=name,
                relationship=ties[ident],
                claims=tuple(replace(one, object_id=ties[ident].source_id) for one in claims[ident, name]),
            )
            for ident, name in rows
            if ident in ties
        ]

    async def _read_claims(
        self, statement: LiteralString, project_id: UUID, rows: Sequence[Row]
    ) -> dict[tuple[UUID, str], tuple[Claim, ...]]:
        """The claims of each object or relationship and property, the current one first."""
        wanted = {"ids": uuids(row[0] for row in rows), "names": [row[1] for row in rows]}
        claims = defaultdict[tuple[UUID, str], list[Claim]](list)
        for row in await self._queries.all(statement, {"project_id": project_id, **wanted}):
            claim = to_claim(row)
            claims[claim.object_id, claim.property_name].append(claim)
        return {
            key: tuple(sorted(claims[key], key=lambda claim: not claim.current)) for key in map(tuple, rows)
        }
