"""Previews what deleting a document or a chunk would do to the graph."""

from typing import Any, LiteralString
from uuid import UUID

from whence.store.graph.set_values import is_set
from whence.store.pool import Queries, reader

_GONE: LiteralString = """
WITH gone AS (
    SELECT c.id FROM kb.chunks c WHERE c.project_id = %(project_id)s AND (c.document_id = %(id)s OR c.id = %(id)s)
)"""


def _lose(table: LiteralString, owner: LiteralString) -> LiteralString:
    """All claims about the objects or relationships that the deleted chunks mention, and those without any left."""
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
# As `claims` computes them: the value of the newest claim with the property.
_FALLEN: LiteralString = """newest AS (
    SELECT DISTINCT ON (s.owner_id, s.property_name) s.* FROM claimed s
    ORDER BY s.owner_id, s.property_name, s.extracted_at DESC, s.id DESC
), staying AS (
    SELECT DISTINCT ON (s.owner_id, s.property_name) s.* FROM claimed s
    WHERE NOT s.goes
    ORDER BY s.owner_id, s.property_name, s.extracted_at DESC, s.id DESC
), fallen AS (
    SELECT n.owner_id, n.property_name, n.value, f.id IS NOT NULL AS stays, f.value AS falls_back_to
    FROM newest n
    LEFT JOIN staying f ON f.owner_id = n.owner_id AND f.property_name = n.property_name
    WHERE n.goes AND n.value IS DISTINCT FROM f.value
)"""
CLAIMS: LiteralString = f"""{_GONE}
SELECT count(*) FROM kb.object_provenance p
WHERE p.project_id = %(project_id)s AND p.chunk_id IN (SELECT id FROM gone)
"""
OBJECTS: LiteralString = f"""{_LOST}
SELECT o.id, o.type, o.name, count(*) OVER ()
FROM lost l JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = l.object_id
ORDER BY o.id LIMIT %(limit)s
"""
# An object keeps its name while it has claims of its own. After that it has the name of an object that was merged into it, chosen in
# the same order as `claims` and `names` choose it after a deletion.
PROPERTIES: LiteralString = f"""{_LOST}, claimed AS (
    SELECT s.object_id AS owner_id, s.property_name, s.value, s.extracted_at, s.id, s.goes FROM claims s
    WHERE s.object_id NOT IN (SELECT object_id FROM lost) AND s.property_name <> 'name'
      AND NOT {is_set("s.object_id", "s.property_name")}
), {_FALLEN}, named AS (
    SELECT DISTINCT ON (s.object_id) s.object_id, CASE WHEN s.property_name = 'name' THEN s.value #>> '{{}}' ELSE m.name END AS name
    FROM claims s
    JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = s.chunk_id
    LEFT JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.dropped_id = s.said_of
    WHERE NOT s.goes
    ORDER BY s.object_id, s.said_of <> s.object_id, s.property_name <> 'name',
             CASE WHEN s.property_name = 'name' THEN s.extracted_at END DESC,
             CASE WHEN s.property_name = 'name' THEN s.id END DESC,
             strpos(c.text, m.name) = 0, s.extracted_at, s.id
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
RELATIONSHIP_PROPERTIES: LiteralString = f"""{_TIES}, claimed AS (
    SELECT s.relationship_id AS owner_id, e.key AS property_name, e.value, s.extracted_at, s.id, s.goes
    FROM claims s, jsonb_each(s.properties) e
    WHERE s.relationship_id NOT IN (SELECT relationship_id FROM lost)
), {_FALLEN}
SELECT r.id, r.type, a.name, b.name, f.property_name, f.value, f.stays, f.falls_back_to, count(*) OVER ()
FROM fallen f JOIN kb.relationships r ON r.project_id = %(project_id)s AND r.id = f.owner_id {_ENDS}
ORDER BY r.id, f.property_name LIMIT %(limit)s
"""


GraphImpact = dict[str, Any]
"""How many of each kind are lost, and the first of them in `graph`, with the API's field names."""

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
    for name, (statement, columns) in _LISTS.items():
        rows = await queries.all(statement, params)
        impact[name] = rows[0][-1] if rows else 0
        impact["graph"][name] = list(map(reader(dict[str, Any], columns), rows))
    return impact
