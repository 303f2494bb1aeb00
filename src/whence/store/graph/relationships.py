"""Relationships, and small parts of the graph for display or for a prompt."""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import LiteralString
from uuid import UUID

from whence.errors import RelationshipNotFound
from whence.models import GraphObject, Relationship
from whence.store.graph.objects import Objects, read_batches
from whence.store.pool import PagedQuery, Queries, Row, Statements, reader, uuids

_COLUMNS: LiteralString = """r.project_id, r.id, r.type, r.source_id, s.type, s.name, r.target_id, t.type, t.name, r.properties,
       r.created_at, r.updated_at, EXISTS (
           SELECT FROM kb.relationship_provenance u
           WHERE u.project_id = r.project_id AND u.relationship_id = r.id AND NOT u.is_grounded) AND NOT EXISTS (
           SELECT FROM kb.relationship_provenance g
           WHERE g.project_id = r.project_id AND g.relationship_id = r.id AND g.is_grounded)"""
_FROM: LiteralString = """
FROM kb.relationships r
JOIN kb.graph_objects s ON s.project_id = r.project_id AND s.id = r.source_id
JOIN kb.graph_objects t ON t.project_id = r.project_id AND t.id = r.target_id"""
_SELECT: LiteralString = f"SELECT {_COLUMNS} {_FROM}"

SELECT_ONE: LiteralString = f"""
{_SELECT}
WHERE r.id = %(id)s::uuid AND (%(project_id)s::uuid IS NULL OR r.project_id = %(project_id)s)
"""
SELECT_MANY: LiteralString = f"""
{_SELECT}
WHERE r.project_id = %(project_id)s AND r.id = ANY(%(ids)s)
"""
_FILTERED: LiteralString = """
WHERE r.project_id = %(project_id)s
  AND (%(type)s::text IS NULL OR r.type = %(type)s)
  AND (%(source_id)s::uuid IS NULL OR r.source_id = %(source_id)s)
  AND (%(target_id)s::uuid IS NULL OR r.target_id = %(target_id)s)"""
_OF_OBJECT: LiteralString = """
  AND r.id IN (
      SELECT a.id FROM kb.relationships a WHERE a.project_id = %(project_id)s AND a.source_id = %(object_id)s
      UNION
      SELECT b.id FROM kb.relationships b WHERE b.project_id = %(project_id)s AND b.target_id = %(object_id)s)"""
_OF_DOCUMENT: LiteralString = """
  AND r.id IN (
      SELECT p.relationship_id FROM kb.chunks c
      JOIN kb.relationship_provenance p ON p.project_id = %(project_id)s AND p.chunk_id = c.id
      WHERE c.project_id = %(project_id)s AND c.document_id = %(document_id)s)"""
AROUND: LiteralString = f"""
{_SELECT}
WHERE r.project_id = %(project_id)s AND r.id IN (
    SELECT a.id FROM kb.relationships a WHERE a.project_id = %(project_id)s AND a.source_id = ANY(%(ids)s)
    UNION
    SELECT b.id FROM kb.relationships b WHERE b.project_id = %(project_id)s AND b.target_id = ANY(%(ids)s))
  AND (%(document_ids)s::uuid[] IS NULL OR EXISTS (
      SELECT FROM kb.relationship_provenance p
      JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = p.chunk_id
      WHERE p.project_id = %(project_id)s AND p.relationship_id = r.id
        AND c.document_id = ANY(%(document_ids)s::uuid[])))
ORDER BY r.created_at, r.id LIMIT %(limit)s
"""
BETWEEN: LiteralString = f"""
{_SELECT}
WHERE r.project_id = %(project_id)s AND r.source_id = ANY(%(ids)s) AND r.target_id = ANY(%(ids)s)
ORDER BY r.created_at, r.id LIMIT %(limit)s
"""
LINES: LiteralString = """
SELECT r.source_id::text, r.target_id::text FROM kb.relationships r
WHERE r.project_id = %(project_id)s AND r.source_id = ANY(%(ids)s::uuid[]) AND r.target_id = ANY(%(ids)s::uuid[])
LIMIT %(limit)s
"""
AFTER: LiteralString = f"""
{_SELECT}
WHERE r.project_id = %(project_id)s AND r.id > %(after)s ORDER BY r.id LIMIT %(limit)s
"""

MAX_DEPTH = 3
_EDGES_FOR_NODE = 4
"""Maximum number of relationships in a view, per object."""


_relationship_of = reader(Relationship)


class Relationships(Statements):
    async def get(self, relationship_id: UUID, *, project_id: UUID | None = None) -> Relationship:
        row = await self._queries.one(SELECT_ONE, {"id": relationship_id, "project_id": project_id})
        if row is None:
            raise RelationshipNotFound(details={"relationship_id": str(relationship_id)})
        return _relationship_of(row)

    async def page(
        self,
        project_id: UUID,
        *,
        limit: int,
        offset: int,
        after: UUID | None = None,
        relationship_type: str | None = None,
        source_id: UUID | None = None,
        target_id: UUID | None = None,
        object_id: UUID | None = None,
        document_id: UUID | None = None,
    ) -> tuple[list[Relationship], int]:
        """`object_id` is either end."""
        params = {
            "project_id": project_id,
            "type": relationship_type,
            "source_id": source_id,
            "target_id": target_id,
            "object_id": object_id,
            "document_id": document_id,
        }
        where = _FILTERED + (_OF_OBJECT if object_id else "") + (_OF_DOCUMENT if document_id else "")
        counted = f"FROM kb.relationships r {where}"  # foreign keys guarantee that both ends exist
        listing = PagedQuery(_relationship_of, _COLUMNS, _FROM + where, "r.id", counted, "r.id > %(after)s")
        return await self._queries.page(listing, params, limit=limit, offset=offset, after=after)

    async def many(self, project_id: UUID, ids: Iterable[UUID]) -> list[Relationship]:
        """The existing relationships among the ids, in any order."""
        params = {"project_id": project_id, "ids": list(ids)}
        return [_relationship_of(row) for row in await self._queries.all(SELECT_MANY, params)]

    async def around(
        self,
        project_id: UUID,
        object_ids: Iterable[UUID],
        *,
        document_ids: Sequence[UUID] | None = None,
        limit: int,
    ) -> list[Relationship]:
        """Relationships with at least one end among the objects; with `document_ids`, only those claimed in these documents."""
        within = None if document_ids is None else uuids(document_ids)
        params = {"project_id": project_id, "ids": list(object_ids), "document_ids": within, "limit": limit}
        return [_relationship_of(row) for row in await self._queries.all(AROUND, params)]

    async def between(
        self, project_id: UUID, object_ids: Iterable[UUID], *, limit: int
    ) -> list[Relationship]:
        """Relationships with both ends among the objects."""
        params = {"project_id": project_id, "ids": list(object_ids), "limit": limit}
        return [_relationship_of(row) for row in await self._queries.all(BETWEEN, params)]

    async def lines(self, project_id: UUID, object_ids: Iterable[UUID], *, limit: int) -> list[Row]:
        """The ids of both ends of relationships between the objects."""
        params = {"project_id": project_id, "ids": uuids(object_ids), "limit": limit}
        return await self._queries.all(LINES, params)

    def every(self, project_id: UUID) -> AsyncIterator[Relationship]:
        """All relationships of the project."""
        return read_batches(self._queries, AFTER, project_id, _relationship_of)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgraph:
    centre: tuple[UUID, ...] = ()
    """The objects that the search started from."""
    objects: tuple[GraphObject, ...]
    relationships: tuple[Relationship, ...]
    """Relationships with both ends among the objects."""
    truncated: bool
    """True if objects or relationships were left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A large part of the graph, reduced to the fields needed to draw it."""

    objects: list[Row]
    """Id, type and name."""
    lines: list[Row]
    """The ids of both ends."""
    total: int
    """Number of objects that match."""


class Views:
    def __init__(self, queries: Queries) -> None:
        self._objects = Objects(queries)
        self._relationships = Relationships(queries)

    async def neighbours(
        self, project_id: UUID, object_ids: Iterable[UUID], *, depth: int = 1, limit: int = 100
    ) -> Subgraph:
        """The objects and everything up to `depth` relationships away, the nearest first."""
        centre, room = tuple(object_ids), _EDGES_FOR_NODE * limit
        reached = dict.fromkeys(centre)
        frontier, edges, truncated = list(reached), dict[UUID, Relationship](), False
        for _ in range(min(depth, MAX_DEPTH)):
            found = await self._relationships.around(project_id, frontier, limit=room + 1)
            more, frontier = len(found) > room, []
            for edge in found[:room]:
                fresh = [end for end in (edge.source_id, edge.target_id) if end not in reached]
                if len(reached) + len(fresh) > limit:
                    more = True
                    continue
                edges[edge.id] = edge
                reached |= dict.fromkeys(fresh)
                frontier += fresh
            truncated = truncated or more
            if not frontier:
                break
        objects = await self._objects.many(project_id, reached)
        return Subgraph(
            centre=centre,
            objects=tuple(objects),
            relationships=tuple(edges.values()),
            truncated=truncated,
        )

    async def part(
        self,
        project_id: UUID,
        *,
        object_type: str | None = None,
        name: str | None = None,
        document_id: UUID | None = None,
        limit: int = 200,
    ) -> Subgraph:
        """The first objects that match, and the relationships between them."""
        objects, total = await self._objects.page(
            project_id, limit=limit, offset=0, object_type=object_type, name=name, document_id=document_id
        )
        room = _EDGES_FOR_NODE * limit
        ids = [found.id for found in objects]
        edges = await self._relationships.between(project_id, ids, limit=room + 1)
        truncated = total > len(objects) or len(edges) > room
        return Subgraph(objects=tuple(objects), relationships=tuple(edges[:room]), truncated=truncated)

    async def outline(
        self, project_id: UUID, *, object_type: str | None = None, name: str | None = None, limit: int
    ) -> Outline:
        """The first objects that match, and which of them are connected."""
        objects, total = await self._objects.outline(
            project_id, object_type=object_type, name=name, limit=limit
        )
        room = _EDGES_FOR_NODE * limit
        lines = await self._relationships.lines(project_id, [UUID(row[0]) for row in objects], limit=room)
        return Outline(objects=objects, lines=lines, total=total)
