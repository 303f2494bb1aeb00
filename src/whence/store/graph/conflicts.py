"""Conflicts: properties whose claims differ. Values are compared as `extract.values.same` does."""

from collections import defaultdict
from dataclasses import dataclass
from typing import LiteralString
from uuid import UUID

from whence.models import Claim
from whence.store.graph.objects import Objects
from whence.store.graph.order import JOIN_DOCUMENT, NEWEST_FIRST
from whence.store.graph.provenance import CLAIM, IS_CURRENT, JOIN_CLAIMED, PLACE, to_claim
from whence.store.graph.set_values import is_set
from whence.store.pool import Statements, uuids
from whence.text.names import TYPOGRAPHY

_TYPOGRAPHY: LiteralString = "".join(TYPOGRAPHY)
_PLAIN: LiteralString = "".join(TYPOGRAPHY.values()).replace("'", "''")
_INVISIBLE: LiteralString = "[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]"


def value_key(value: LiteralString) -> LiteralString:
    """SQL for a text that is equal for two values that say the same."""
    return f"""CASE jsonb_typeof({value}) WHEN 'number' THEN trim_scale(({value})::numeric)::text ELSE
        rtrim(btrim(regexp_replace(regexp_replace(replace(lower(normalize(
            translate({value} #>> '{{}}', '{_TYPOGRAPHY}', '{_PLAIN}'), NFKC)), 'ß', 'ss'),
            '{_INVISIBLE}', '', 'g'), '\\s+', ' ', 'g')), '.') END"""


# A list accumulates: its claims do not differ.
COMPARABLE: LiteralString = "p.property_name <> 'name' AND p.is_grounded AND jsonb_typeof(p.value) <> 'array'"
# The value of an object is that of one of the claims, so claims differ if any of them differs from it. A person's word settles it.
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
SELECT {CLAIM} {IS_CURRENT} {PLACE}
FROM (SELECT DISTINCT ON (p.object_id, p.property_name, {value_key("p.value")}) p.*
      FROM unnest(%(ids)s::uuid[], %(names)s::text[]) AS e (object_id, property_name)
      JOIN kb.object_provenance p ON p.project_id = %(project_id)s AND p.object_id = e.object_id
                                 AND p.property_name = e.property_name AND {COMPARABLE} {JOIN_DOCUMENT}
      ORDER BY p.object_id, p.property_name, {value_key("p.value")}, {NEWEST_FIRST}) p {JOIN_DOCUMENT} {JOIN_CLAIMED}
ORDER BY p.object_id, p.property_name, {NEWEST_FIRST}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyConflict:
    object_id: UUID
    object_type: str
    object_name: str
    property_name: str
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
        """Ordered by object and property."""
        params = {
            "project_id": project_id,
            "object_id": object_id,
            "type": object_type,
            "property_name": property_name,
        }
        every = await self._queries.all(DIFFERING, params)  # at once: to count them takes as long
        rows = every[offset : offset + limit]
        objects = {
            one.id: one for one in await Objects(self._queries).many(project_id, {row[0] for row in rows})
        }
        wanted = {"ids": uuids(row[0] for row in rows), "names": [row[1] for row in rows]}
        claims = defaultdict[tuple[UUID, str], list[Claim]](list)
        for row in await self._queries.all(CLAIMS, {"project_id": project_id, **wanted}):
            claim = to_claim(row)
            claims[claim.object_id, claim.property_name].append(claim)
        found = [
            PropertyConflict(
                object_id=ident,
                object_type=objects[ident].type,
                object_name=objects[ident].name,
                property_name=name,
                claims=tuple(sorted(claims[ident, name], key=lambda claim: not claim.current)),
            )
            for ident, name in rows
            if ident in objects
        ]
        return found, len(every)
