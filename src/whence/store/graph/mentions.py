"""Reads mentions: the chunks that make claims about an object, and the objects of a chunk."""

from dataclasses import dataclass
from typing import LiteralString
from uuid import UUID

from whence.models import GraphObject, Place
from whence.store.graph.objects import COLUMNS as OBJECT_COLUMNS
from whence.store.graph.objects import object_of
from whence.store.graph.order import JOIN_DOCUMENT
from whence.store.graph.provenance import PLACE, place_of
from whence.store.pool import PagedQuery, Row, Statements

_CHUNKS_OF_OBJECT: LiteralString = f"""
FROM (SELECT q.chunk_id, array_agg(q.property_name ORDER BY q.property_name) AS property_names,
             max(q.schema_number) AS schema_number, min(q.start_offset) AS start_offset
      FROM kb.object_provenance q
      WHERE q.project_id = %(project_id)s AND q.object_id = %(object_id)s GROUP BY q.chunk_id) p {JOIN_DOCUMENT}"""
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
    """Properties that the chunk makes claims about."""
    schema_number: int
    """The newest schema version of its claims."""


def _to_mention(row: Row) -> Mention:
    return Mention(property_names=tuple(row[0]), schema_number=row[1], place=place_of(row[2:]))


_OF_OBJECT = PagedQuery(
    _to_mention,
    f"p.property_names, p.schema_number, {PLACE}",
    _CHUNKS_OF_OBJECT,
    "d.id, c.chunk_index",
    ident="p.chunk_id",
)
_OF_CHUNK = PagedQuery(
    lambda row: (object_of(row), tuple[str, ...](row[-1])),
    f"{OBJECT_COLUMNS}, p.property_names",
    _OBJECTS_OF_CHUNK,
    "o.id",
    ident="o.id",
)


class ChunkMentions(Statements):
    async def of_object(
        self, project_id: UUID, object_id: UUID, *, limit: int, offset: int, after: UUID | None = None
    ) -> tuple[list[Mention], int]:
        """Chunks that mention the object, by document and in reading order."""
        params = {"project_id": project_id, "object_id": object_id}
        return await self._queries.page(_OF_OBJECT, params, limit=limit, offset=offset, after=after)

    async def of_chunk(
        self, project_id: UUID, chunk_id: UUID, *, limit: int, offset: int, after: UUID | None = None
    ) -> tuple[list[tuple[GraphObject, tuple[str, ...]]], int]:
        """Each object with the properties that the chunk makes claims about."""
        params = {"project_id": project_id, "chunk_id": chunk_id}
        return await self._queries.page(_OF_CHUNK, params, limit=limit, offset=offset, after=after)
