"""Previews what deleting a document or a chunk would do to the graph."""

from dataclasses import dataclass
from typing import Any, Literal, LiteralString
from uuid import UUID

from whence.store.pool import Queries, Row

Kind = Literal["document", "chunk"]

_OF: dict[Kind, LiteralString] = {
    "document": """
WITH gone AS (
    SELECT c.id FROM kb.chunks c WHERE c.project_id = %(project_id)s AND c.document_id = %(id)s
)""",
    "chunk": """
WITH gone AS (
    SELECT c.id FROM kb.chunks c WHERE c.project_id = %(project_id)s AND c.id = %(id)s
)""",
}
_LOST: LiteralString = """, touched AS (
    SELECT DISTINCT p.object_id FROM kb.object_provenance p
    WHERE p.project_id = %(project_id)s AND p.chunk_id IN (SELECT id FROM gone)
), claimed AS (
    SELECT t.object_id, p.said_of, p.chunk_id, p.property_name, p.value, p.extracted_at, p.id,
           p.chunk_id IN (SELECT id FROM gone) AS goes
    FROM touched t
    JOIN kb.object_provenance p ON p.project_id = %(project_id)s AND p.object_id = t.object_id
), lost AS (
    SELECT s.object_id FROM claimed s GROUP BY s.object_id HAVING bool_and(s.goes)
)"""
_OBJECTS: LiteralString = """
SELECT o.id, o.type, o.name, count(*) OVER ()
FROM lost l JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = l.object_id
ORDER BY o.id LIMIT %(limit)s"""
# An object keeps its name while it has claims of its own. After that it has the name of an object that was merged into it, chosen in
# the same order as `claims` and `names` choose it after a deletion.
_PROPERTIES: LiteralString = """
, newest AS (
    SELECT DISTINCT ON (s.object_id, s.property_name) s.* FROM claimed s
    WHERE s.object_id NOT IN (SELECT object_id FROM lost) AND s.property_name <> 'name'
    ORDER BY s.object_id, s.property_name, s.extracted_at DESC, s.id DESC
), staying AS (
    SELECT DISTINCT ON (s.object_id, s.property_name) s.* FROM claimed s
    WHERE NOT s.goes
    ORDER BY s.object_id, s.property_name, s.extracted_at DESC, s.id DESC
), named AS (
    SELECT DISTINCT ON (s.object_id) s.object_id, CASE WHEN s.property_name = 'name' THEN s.value #>> '{}' ELSE m.name END AS name
    FROM claimed s
    JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = s.chunk_id
    LEFT JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.dropped_id = s.said_of
    WHERE NOT s.goes
    ORDER BY s.object_id, s.said_of <> s.object_id, s.property_name <> 'name',
             CASE WHEN s.property_name = 'name' THEN s.extracted_at END DESC,
             CASE WHEN s.property_name = 'name' THEN s.id END DESC,
             strpos(c.content, m.name) = 0, s.extracted_at, s.id
), fallen AS (
    SELECT n.object_id, n.property_name, n.value, f.id IS NOT NULL AS stays, f.value AS falls_back_to
    FROM newest n
    LEFT JOIN staying f ON f.object_id = n.object_id AND f.property_name = n.property_name
    WHERE n.goes AND n.value IS DISTINCT FROM f.value
    UNION ALL
    SELECT n.object_id, 'name', to_jsonb(o.name), true, to_jsonb(n.name)
    FROM named n JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = n.object_id
    WHERE n.name <> o.name
)
SELECT o.id, o.type, o.name, f.property_name, f.value, f.stays, f.falls_back_to, count(*) OVER ()
FROM fallen f JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = f.object_id
ORDER BY o.id, f.property_name LIMIT %(limit)s"""
_RELATIONSHIPS: LiteralString = """, ties AS (
    SELECT DISTINCT p.relationship_id FROM kb.relationship_provenance p
    WHERE p.project_id = %(project_id)s AND p.chunk_id IN (SELECT id FROM gone)
)
SELECT r.id, r.type, s.name, t.name, count(*) OVER ()
FROM ties
JOIN kb.relationships r ON r.project_id = %(project_id)s AND r.id = ties.relationship_id
JOIN kb.graph_objects s ON s.project_id = %(project_id)s AND s.id = r.source_id
JOIN kb.graph_objects t ON t.project_id = %(project_id)s AND t.id = r.target_id
WHERE NOT EXISTS (
    SELECT FROM kb.relationship_provenance p
    WHERE p.project_id = %(project_id)s AND p.relationship_id = r.id AND p.chunk_id NOT IN (SELECT id FROM gone))
ORDER BY r.id LIMIT %(limit)s
"""
# As `claims` computes them: the value of the newest claim with the property.
_RELATIONSHIP_PROPERTIES: LiteralString = """, ties AS (
    SELECT DISTINCT p.relationship_id FROM kb.relationship_provenance p
    WHERE p.project_id = %(project_id)s AND p.chunk_id IN (SELECT id FROM gone)
), tie_claims AS (
    SELECT p.*, p.chunk_id IN (SELECT id FROM gone) AS goes
    FROM ties
    JOIN kb.relationship_provenance p ON p.project_id = %(project_id)s AND p.relationship_id = ties.relationship_id
), claimed AS (
    SELECT t.relationship_id, e.key AS property_name, e.value, t.extracted_at, t.id, t.goes
    FROM tie_claims t, jsonb_each(t.properties) e
    WHERE t.relationship_id IN (SELECT relationship_id FROM tie_claims WHERE NOT goes)
), newest AS (
    SELECT DISTINCT ON (s.relationship_id, s.property_name) s.* FROM claimed s
    ORDER BY s.relationship_id, s.property_name, s.extracted_at DESC, s.id DESC
), staying AS (
    SELECT DISTINCT ON (s.relationship_id, s.property_name) s.* FROM claimed s
    WHERE NOT s.goes
    ORDER BY s.relationship_id, s.property_name, s.extracted_at DESC, s.id DESC
)
SELECT r.id, r.type, a.name, b.name, n.property_name, n.value, f.id IS NOT NULL, f.value, count(*) OVER ()
FROM newest n
LEFT JOIN staying f ON f.relationship_id = n.relationship_id AND f.property_name = n.property_name
JOIN kb.relationships r ON r.project_id = %(project_id)s AND r.id = n.relationship_id
JOIN kb.graph_objects a ON a.project_id = %(project_id)s AND a.id = r.source_id
JOIN kb.graph_objects b ON b.project_id = %(project_id)s AND b.id = r.target_id
WHERE n.goes AND n.value IS DISTINCT FROM f.value
ORDER BY r.id, n.property_name LIMIT %(limit)s
"""
_CLAIMS: LiteralString = """
SELECT count(*) FROM kb.object_provenance p
WHERE p.project_id = %(project_id)s AND p.chunk_id IN (SELECT id FROM gone)"""
OBJECTS: dict[Kind, LiteralString] = {kind: gone + _LOST + _OBJECTS for kind, gone in _OF.items()}
PROPERTIES: dict[Kind, LiteralString] = {kind: gone + _LOST + _PROPERTIES for kind, gone in _OF.items()}
RELATIONSHIPS: dict[Kind, LiteralString] = {kind: gone + _RELATIONSHIPS for kind, gone in _OF.items()}
RELATIONSHIP_PROPERTIES: dict[Kind, LiteralString] = {
    kind: gone + _RELATIONSHIP_PROPERTIES for kind, gone in _OF.items()
}
CLAIMS: dict[Kind, LiteralString] = {kind: gone + _CLAIMS for kind, gone in _OF.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class LostObject:
    id: UUID
    type: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FallingBack:
    """A property or name whose value would change, or a property that would be lost."""

    object_id: UUID
    object_type: str
    object_name: str
    property_name: str
    value: Any
    stays: bool
    """Another claim gives it the value `falls_back_to`. Otherwise the property is lost."""
    falls_back_to: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class LostRelationship:
    id: UUID
    type: str
    source_name: str
    target_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipFallingBack:
    """The same for a property of a relationship."""

    relationship_id: UUID
    relationship_type: str
    source_name: str
    target_name: str
    property_name: str
    value: Any
    stays: bool
    falls_back_to: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphImpact:
    """The first of each kind, and the number of all."""

    claim_count: int
    """Number of claims about objects that the deleted chunks made."""
    objects: tuple[LostObject, ...]
    object_count: int
    properties: tuple[FallingBack, ...]
    property_count: int
    relationships: tuple[LostRelationship, ...]
    relationship_count: int
    relationship_properties: tuple[RelationshipFallingBack, ...]
    relationship_property_count: int


async def deletion_impact(
    queries: Queries, project_id: UUID, ident: UUID, *, kind: Kind, limit: int
) -> GraphImpact:
    """`ident` is the id of a document or a chunk, according to `kind`."""
    params = {"project_id": project_id, "id": ident, "limit": limit}
    claims = await queries.all(CLAIMS[kind], params)
    objects = await queries.all(OBJECTS[kind], params)
    properties = await queries.all(PROPERTIES[kind], params)
    relationships = await queries.all(RELATIONSHIPS[kind], params)
    between = await queries.all(RELATIONSHIP_PROPERTIES[kind], params)
    return GraphImpact(
        claim_count=claims[0][0],
        objects=tuple(LostObject(id=row[0], type=row[1], name=row[2]) for row in objects),
        object_count=objects[0][-1] if objects else 0,
        properties=tuple(_to_falling_back(row) for row in properties),
        property_count=properties[0][-1] if properties else 0,
        relationships=tuple(
            LostRelationship(id=row[0], type=row[1], source_name=row[2], target_name=row[3])
            for row in relationships
        ),
        relationship_count=relationships[0][-1] if relationships else 0,
        relationship_properties=tuple(_to_relationship_falling_back(row) for row in between),
        relationship_property_count=between[0][-1] if between else 0,
    )


def _to_falling_back(row: Row) -> FallingBack:
    return FallingBack(
        object_id=row[0],
        object_type=row[1],
        object_name=row[2],
        property_name=row[3],
        value=row[4],
        stays=row[5],
        falls_back_to=row[6],
    )


def _to_relationship_falling_back(row: Row) -> RelationshipFallingBack:
    return RelationshipFallingBack(
        relationship_id=row[0],
        relationship_type=row[1],
        source_name=row[2],
        target_name=row[3],
        property_name=row[4],
        value=row[5],
        stays=row[6],
        falls_back_to=row[7],
    )
