"""Small parts of the graph, to be displayed or to be shown to a model."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from whence.models import GraphObject, Relationship
from whence.store.graph.objects import Objects
from whence.store.graph.relationships import Relationships
from whence.store.pool import Queries

MAX_DEPTH = 3
_EDGES_FOR_NODE = 4
"""Maximum number of relationships in a view, for each object in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgraph:
    centre: tuple[UUID, ...] = ()
    """The objects that the search started from."""
    objects: tuple[GraphObject, ...]
    relationships: tuple[Relationship, ...]
    """Only relationships with both ends among the objects."""
    truncated: bool
    """Objects or relationships were left out."""


class Views:
    def __init__(self, queries: Queries) -> None:
        self._objects = Objects(queries)
        self._relationships = Relationships(queries)

    async def neighbours(
        self, project_id: UUID, object_ids: Iterable[UUID], *, depth: int = 1, limit: int = 100
    ) -> Subgraph:
        """The objects and everything up to `depth` relationships away, the nearest first."""
        centre = tuple(object_ids)
        reached = dict.fromkeys(centre)
        frontier, edges, truncated = list(reached), dict[UUID, Relationship](), False
        for _ in range(min(depth, MAX_DEPTH)):
            found, more = await self._find_around(project_id, frontier, _EDGES_FOR_NODE * limit)
            frontier = []
            for edge in found:
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

    async def _find_around(
        self, project_id: UUID, frontier: list[UUID], room: int
    ) -> tuple[list[Relationship], bool]:
        found = await self._relationships.around(project_id, frontier, limit=room + 1)
        return found[:room], len(found) > room
