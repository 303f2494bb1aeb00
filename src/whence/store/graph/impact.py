"""Previews what deleting a document or a chunk would do to the graph."""

from typing import Any, LiteralString
from uuid import UUID

from whence.store.graph.conflicts import COMPARABLE, value_key
from whence.store.graph.order import JOIN_DOCUMENT, OLDEST_FIRST, rank, rank_ties, settle, with_hidden_lists
from whence.store.graph.set_values import is_set
from whence.store.pool import Queries, reader

_GONE: LiteralString = """
WITH gone AS (
    SELECT c.id FROM kb.chunks c WHERE c.project_id = %(project_id)s AND (c.document_id = %(id)s OR c.id = %(id)s)
)"""


def _lose(table: LiteralString, owner: LiteralString) -> LiteralString:
    """CTEs: `claims` about the objects or relationships that the deleted chunks mention; `lost`, those without claims afterwards."""
    return f"""{_GONE}, claims AS (
    SELECT p.*, p.chunk_id IN (SELECT id FROM gone) AS goes
    FROM (SELECT DISTINCT q.{owner} FROM {table} q
          WHERE q.project_id = %(project_id)s AND q.chunk_id IN (SELECT id FROM gone)) touched
    JOIN {table} p ON p.project_id = %(project_id)s AND p.{owner} = touched.{owner}
), lost AS (
    SELECT s.{owner} FROM claims s GROUP BY s.{owner} HAVING bool_and(s.goes)
)"""


_LOST: LiteralString = _lose("kb.object_provenance", "object_id")
_TIES: LiteralString = _lose("kb.relationship_provenance", "relationship_id")
# The values before and after, as `claims` computes them.
_FALLEN: LiteralString = f"""before (owner_id, property_name, value) AS ({settle("all_ranked")}
), after (owner_id, property_name, value) AS ({settle("left_ranked")}
), fallen AS (
    SELECT n.owner_id, n.property_name, n.value, f.owner_id IS NOT NULL AS stays, f.value AS falls_back_to
    FROM before n
    LEFT JOIN after f ON f.owner_id = n.owner_id AND f.property_name = n.property_name
    WHERE n.value IS DISTINCT FROM f.value
)"""
_STAYING: LiteralString = f"""
FROM {with_hidden_lists("claims", ", goes")} p {JOIN_DOCUMENT}
WHERE p.object_id NOT IN (SELECT object_id FROM lost) AND p.property_name <> 'name'
  AND NOT {is_set("p.object_id", "p.property_name")}"""
CLAIMS: LiteralString = f"""{_GONE}
SELECT count(*) FROM kb.object_provenance p
WHERE p.project_id = %(project_id)s AND p.chunk_id IN (SELECT id FROM gone)
"""


def _count_conflicts(claims: LiteralString, owner: LiteralString) -> LiteralString:
    """Counts the properties for which a deleted claim and a remaining claim differ."""
    return f"""
SELECT count(*) FROM (
    SELECT array_agg(DISTINCT p.value) AS given FROM {claims} GROUP BY p.{owner}, p.property_name
    HAVING bool_or(p.goes) AND NOT bool_and(p.goes) AND count(DISTINCT p.value) > 1) e
WHERE (SELECT count(DISTINCT {value_key("v")}) FROM unnest(e.given) v) > 1"""


_COMPARED: LiteralString = f"claims p WHERE {COMPARABLE} AND NOT {is_set('p.object_id', 'p.property_name')}"
_COMPARED_TIES: LiteralString = """(
    SELECT c.relationship_id, c.goes, e.key AS property_name, e.value FROM claims c, jsonb_each(c.properties) e
    WHERE jsonb_typeof(e.value) <> 'array') p"""
CONFLICTS: LiteralString = f"{_LOST} {_count_conflicts(_COMPARED, 'object_id')}"
TIE_CONFLICTS: LiteralString = f"{_TIES} {_count_conflicts(_COMPARED_TIES, 'relationship_id')}"
OBJECTS: LiteralString = f"""{_LOST}
SELECT o.id, o.type, o.name, count(*) OVER ()
FROM lost l JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = l.object_id
ORDER BY o.id LIMIT %(limit)s
"""
# An object keeps its name while it has claims of its own. After that it has the name of an object that was merged into it, chosen in
# the same order as `claims` and `names` choose it after a deletion.
PROPERTIES: LiteralString = f"""{_LOST}, all_ranked AS ({rank(_STAYING)}
), left_ranked AS ({rank(f"{_STAYING} AND NOT p.goes")}
), {_FALLEN}, named AS (
    SELECT DISTINCT ON (n.object_id) n.object_id, CASE WHEN n.property_name = 'name' THEN n.value #>> '{{}}' ELSE n.name END AS name
    FROM (SELECT p.object_id, p.said_of, p.property_name, p.value, m.name, strpos(c.text, m.name) = 0 AS is_silent,
                 row_number() OVER (ORDER BY {OLDEST_FIRST}) AS age
          FROM claims p {JOIN_DOCUMENT}
          LEFT JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.dropped_id = p.said_of
          WHERE NOT p.goes) n
    ORDER BY n.object_id, n.said_of <> n.object_id, n.property_name <> 'name',
             CASE WHEN n.property_name = 'name' THEN -n.age END, n.is_silent, n.age
), changed AS (
    SELECT * FROM fallen
    UNION ALL
    SELECT n.object_id, 'name', to_jsonb(o.name), true, to_jsonb(n.name)
    FROM named n JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = n.object_id
    WHERE n.name <> o.name
)
SELECT o.id, o.type, o.name, f.property_name, f.value, f.stays, f.falls_back_to, count(*) OVER ()
FROM changed f JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = f.owner_id
ORDER BY o.id, f.property_name LIMIT %(limit)s
"""
_ENDS: LiteralString = """
JOIN kb.graph_objects a ON a.project_id = %(project_id)s AND a.id = r.source_id
JOIN kb.graph_objects b ON b.project_id = %(project_id)s AND b.id = r.target_id"""
RELATIONSHIPS: LiteralString = f"""{_TIES}
SELECT r.id, r.type, a.name, b.name, count(*) OVER ()
FROM lost l JOIN kb.relationships r ON r.project_id = %(project_id)s AND r.id = l.relationship_id {_ENDS}
ORDER BY r.id LIMIT %(limit)s
"""
_STAYING_TIES: LiteralString = "q.relationship_id NOT IN (SELECT relationship_id FROM lost)"
RELATIONSHIP_PROPERTIES: LiteralString = f"""{_TIES}, all_ranked AS ({rank_ties("claims", _STAYING_TIES)}
), left_ranked AS ({rank_ties("claims", f"NOT q.goes AND {_STAYING_TIES}")}
), {_FALLEN}
SELECT r.id, r.type, a.name, b.name, f.property_name, f.value, f.stays, f.falls_back_to, count(*) OVER ()
FROM fallen f JOIN kb.relationships r ON r.project_id = %(project_id)s AND r.id = f.owner_id {_ENDS}
ORDER BY r.id, f.property_name LIMIT %(limit)s
"""


GraphImpact = dict[str, Any]
"""Numbers of lost items by kind, and the first of them in `graph`, with the API's field names."""

_CHANGED: LiteralString = "property_name, value, stays, falls_back_to"
_LISTS: dict[str, tuple[LiteralString, LiteralString]] = {
    "objects": (OBJECTS, "id, type, name"),
    "properties": (PROPERTIES, f"object_id, object_type, object_name, {_CHANGED}"),
    "relationships": (RELATIONSHIPS, "id, type, source_name, target_name"),
    "relationship_properties": (
        RELATIONSHIP_PROPERTIES,
        f"relationship_id, relationship_type, source_name, target_name, {_CHANGED}",
    ),
}


async def deletion_impact(queries: Queries, project_id: UUID, ident: UUID, *, limit: int) -> GraphImpact:
    """`ident` is the id of a document or a chunk."""
    params = {"project_id": project_id, "id": ident, "limit": limit}
    impact: GraphImpact = {"property_claims": await queries.value(CLAIMS, params), "graph": {}}
    impact["conflicts"] = await queries.value(CONFLICTS, params) + await queries.value(TIE_CONFLICTS, params)
    for name, (statement, columns) in _LISTS.items():
        rows = await queries.all(statement, params)
        impact[name] = rows[0][-1] if rows else 0
        impact["graph"][name] = list(map(reader(dict[str, Any], columns), rows))
    return impact
