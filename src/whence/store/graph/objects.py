"""Objects: the nodes of the graph, and their vectors."""

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, LiteralString, TypeVar
from uuid import UUID

from psycopg.types.json import Jsonb

from whence.errors import ObjectNotFound
from whence.models import GraphObject
from whence.store.graph import aliases
from whence.store.graph.claims import storable
from whence.store.graph.locks import WantedLocks, find_these, lock_in_order
from whence.store.graph.set_values import is_set
from whence.store.halfvec import HalfVector, halfvec
from whence.store.pool import PagedQuery, Queries, Row, Statements, reader, uuids

# A property is ungrounded if it has neither a grounded claim nor a value set by a person.
UNGROUNDED: LiteralString = f"""ARRAY(
    SELECT DISTINCT u.property_name FROM kb.object_provenance u
    WHERE u.project_id = o.project_id AND u.object_id = o.id AND NOT u.is_grounded AND NOT EXISTS (
        SELECT FROM kb.object_provenance g
        WHERE g.project_id = o.project_id AND g.object_id = o.id AND g.property_name = u.property_name AND g.is_grounded)
      AND NOT {is_set("u.object_id", "u.property_name", "u.project_id")})"""
COLUMNS: LiteralString = f"""o.project_id, o.id, o.type, o.name, o.name_key, o.properties, o.created_at, o.updated_at,
    {aliases.OF_OBJECT}, {UNGROUNDED}"""

_SELECT: LiteralString = f"SELECT {COLUMNS} FROM kb.graph_objects o"

SELECT_ONE: LiteralString = f"""
{_SELECT}
WHERE o.id = %(id)s::uuid AND (%(project_id)s::uuid IS NULL OR o.project_id = %(project_id)s)
"""
# The id of a merged object resolves to the object it was merged into.
SELECT_MERGED: LiteralString = f"""
SELECT {COLUMNS} FROM kb.object_merges m
JOIN kb.graph_objects o ON o.project_id = m.project_id AND o.id = m.object_id
WHERE m.dropped_id = %(id)s::uuid AND (%(project_id)s::uuid IS NULL OR m.project_id = %(project_id)s)
"""
SELECT_MANY: LiteralString = f"""
{_SELECT}
WHERE o.project_id = %(project_id)s AND o.id = ANY(%(ids)s) ORDER BY o.id
"""
# The names come as one text, because the driver encodes arrays of a thousand elements slowly. No name contains a line break. If a text is
# given, an alias that is not an abbreviation must occur in it with the same capitals: "commission" is not the Commission.
SELECT_NAMED: LiteralString = f"""
{_SELECT}
WHERE o.project_id = %(project_id)s AND o.id IN (
    SELECT n.id FROM kb.graph_objects n
    WHERE n.project_id = %(project_id)s AND n.name_key = ANY(string_to_array(%(name_keys)s, E'\\n'))
    UNION
    SELECT n.object_id FROM {aliases.NAMES} n
    WHERE n.alias_key = ANY(string_to_array(%(name_keys)s, E'\\n'))
      AND (NOT n.is_alias OR %(text)s::text IS NULL OR strpos(%(text)s, n.alias) > 0 OR n.alias ~ '[[:upper:]].*[[:upper:]]'))
ORDER BY o.name_key = ANY(string_to_array(%(name_keys)s, E'\\n')) DESC, length(o.name_key) DESC, o.id LIMIT %(limit)s
"""
# If many objects differ only in the number of their name ("step 1", "step 2"), they are a numbered list, not versions of one thing.
SELECT_NUMBERED: LiteralString = f"""
SELECT {COLUMNS} FROM (
    SELECT n.id, count(*) OVER (PARTITION BY regexp_replace(n.name_key, ' v?[0-9][0-9.]*$', '')) AS alike
    FROM kb.graph_objects n
    WHERE n.project_id = %(project_id)s AND n.name_key ~ ' v?[0-9][0-9.]*$'
      AND regexp_replace(n.name_key, ' v?[0-9][0-9.]*$', '') = ANY(string_to_array(%(name_keys)s, E'\\n'))) named
JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = named.id
WHERE named.alike <= %(alike)s
ORDER BY length(o.name_key) DESC, o.id LIMIT %(limit)s
"""
GIVEN_BY: LiteralString = f"""
SELECT {COLUMNS} FROM (
    SELECT p.object_id, min(array_position(%(ids)s::uuid[], p.chunk_id)) AS turn
    FROM kb.object_provenance p
    WHERE p.project_id = %(project_id)s AND p.chunk_id = ANY(%(ids)s::uuid[]) GROUP BY p.object_id) given
JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = given.object_id
ORDER BY given.turn, o.id LIMIT %(limit)s
"""
_FILTERED: LiteralString = f"""
FROM kb.graph_objects o
WHERE o.project_id = %(project_id)s
  AND (%(type)s::text IS NULL OR o.type = %(type)s)
  AND (%(name)s::text IS NULL OR position(lower(%(name)s) IN lower(o.name)) > 0
       OR o.id IN (SELECT n.object_id FROM {aliases.NAMES} n WHERE position(lower(%(name)s) IN lower(n.alias)) > 0))
  AND (%(properties)s::jsonb IS NULL OR o.properties @> %(properties)s)"""
_OF_DOCUMENT: LiteralString = """
  AND o.id IN (
      SELECT p.object_id FROM kb.chunks c
      JOIN kb.object_provenance p ON p.project_id = %(project_id)s AND p.chunk_id = c.id
      WHERE c.project_id = %(project_id)s AND c.document_id = %(document_id)s)"""
_AMONG: LiteralString = """
  AND o.id IN (
      SELECT unnest(%(ids)s::uuid[])
      UNION
      SELECT m.object_id FROM kb.object_merges m
      WHERE m.project_id = %(project_id)s AND m.dropped_id = ANY(%(ids)s::uuid[]))"""
_SINCE: LiteralString = """
  AND o.updated_at >= %(updated_since)s"""
ObjectOrder = Literal["created", "name", "type", "updated", "claims"]
_ORDERS: dict[ObjectOrder, LiteralString] = {
    "created": "o.id",
    "name": "o.name_key",
    "type": "o.type",
    "updated": "o.updated_at",
    "claims": """(
    SELECT count(*) FROM kb.object_provenance p WHERE p.project_id = %(project_id)s AND p.object_id = o.id)""",
}
TYPES: LiteralString = """
SELECT o.type, count(*) FROM kb.graph_objects o WHERE o.project_id = %(project_id)s
GROUP BY o.type ORDER BY o.type
"""
AFTER: LiteralString = f"""
{_SELECT}
WHERE o.project_id = %(project_id)s AND o.id > %(after)s ORDER BY o.id LIMIT %(limit)s
"""
PUT_VECTOR: LiteralString = """
INSERT INTO kb.object_vectors (project_id, id, space_id, embedding)
SELECT o.project_id, o.id, %(space_id)s, %(vector)s::halfvec
FROM kb.graph_objects o WHERE o.project_id = %(project_id)s AND o.id = %(id)s
ON CONFLICT (project_id, id, space_id) DO UPDATE SET embedding = excluded.embedding
"""
FORGET_VECTORS: LiteralString = """
DELETE FROM kb.object_vectors WHERE project_id = %(project_id)s AND id = ANY(%(ids)s::uuid[])
"""
# An exact scan over all vectors of the project. It takes milliseconds for the number of objects a project has.
SIMILAR: LiteralString = f"""
SELECT {COLUMNS}, 1 - near.distance FROM (
    SELECT v.id, (v.embedding <=> %(vector)s::halfvec) + 0 AS distance
    FROM kb.object_vectors v
    WHERE v.project_id = %(project_id)s AND v.space_id = %(space_id)s
    ORDER BY distance, v.id LIMIT %(limit)s) near
JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = near.id
WHERE near.distance <= 1 - %(threshold)s::float8
ORDER BY near.distance, o.id
"""
LACKING: LiteralString = f"""
{_SELECT}
WHERE o.project_id = %(project_id)s AND o.id > %(after)s AND NOT EXISTS (
    SELECT FROM kb.object_vectors v
    WHERE v.project_id = %(project_id)s AND v.id = o.id AND v.space_id = %(space_id)s)
ORDER BY o.id LIMIT %(limit)s
"""

_LOWEST = UUID(int=0)
_BATCH = 1000

T = TypeVar("T")
PROJECT_OF: LiteralString = """
SELECT w.project_id FROM kb.curations w
WHERE w.subject_id = %(object_id)s AND (%(project_id)s::uuid IS NULL OR w.project_id = %(project_id)s) LIMIT 1
"""


async def read_batches(
    queries: Queries, after: LiteralString, project_id: UUID, read: Callable[[Row], T]
) -> AsyncIterator[T]:
    """All items of a project, ordered by id, in batches of a thousand."""
    last = _LOWEST
    while found := await queries.all(after, {"project_id": project_id, "after": last, "limit": _BATCH}):
        for row in found:
            yield read(row)
        last = found[-1][1]


object_of = reader(GraphObject)


async def put_each_vector(
    queries: Queries,
    statement: LiteralString,
    project_id: UUID,
    space_id: UUID,
    vectors: Mapping[UUID, Sequence[float]],
) -> None:
    """One statement per vector, because the driver sends single vectors without conversion. Ordered by id, the order of all locks."""
    common = {"project_id": project_id, "space_id": space_id}
    async with queries.joined() as tx:
        await tx.together(
            [
                (statement, {**common, "id": ident, "vector": halfvec(vector)})
                for ident, vector in sorted(vectors.items())
            ]
        )


class Objects(Statements):
    async def get(self, object_id: UUID, *, project_id: UUID | None = None) -> GraphObject:
        """The object, also by the id of an object that was merged into it."""
        params = {"id": object_id, "project_id": project_id}
        row = await self._queries.one(SELECT_ONE, params) or await self._queries.one(SELECT_MERGED, params)
        if row is None:
            raise ObjectNotFound(details={"object_id": str(object_id)})
        return object_of(row)

    async def project_of(self, object_id: UUID, *, project_id: UUID | None = None) -> UUID:
        """The project of an object, also of a deleted one with corrections."""
        found: UUID | None = await self._queries.value(
            PROJECT_OF, {"object_id": object_id, "project_id": project_id}
        )
        if found is None:
            raise ObjectNotFound(details={"object_id": str(object_id)})
        return found

    async def many(self, project_id: UUID, ids: Iterable[UUID]) -> list[GraphObject]:
        """The existing objects among `ids`, ordered by id."""
        rows = await self._queries.all(SELECT_MANY, {"project_id": project_id, "ids": list(ids)})
        return [object_of(row) for row in rows]

    async def lock(self, project_id: UUID, ids: Collection[UUID]) -> list[GraphObject]:
        """Locks the existing objects until the transaction ends and returns them as they are then."""
        await lock_in_order(self._queries, project_id, WantedLocks(objects=find_these(*ids)))
        return await self.many(project_id, ids)

    async def named(
        self, project_id: UUID, name_keys: Iterable[str], *, text: str | None = None, limit: int = 100
    ) -> list[GraphObject]:
        """Objects with one of these normalised names or aliases, or with a merged object of that name; own names first, then long first.

        `text` contains the names.
        """
        keys = storable("\n".join(name_keys))
        params = {"project_id": project_id, "name_keys": keys, "text": storable(text), "limit": limit}
        return [object_of(row) for row in await self._queries.all(SELECT_NAMED, params)]

    async def numbered(
        self, project_id: UUID, name_keys: Iterable[str], *, alike: int = 3, limit: int = 100
    ) -> list[GraphObject]:
        """Objects named like one of these with a number added, as "oauth 2.0" is for "oauth"; long names first.

        A name with more than `alike` numbers is skipped.
        """
        keys = storable("\n".join(name_keys))
        params = {"project_id": project_id, "name_keys": keys, "alike": alike, "limit": limit}
        return [object_of(row) for row in await self._queries.all(SELECT_NUMBERED, params)]

    async def given_by(self, project_id: UUID, chunk_ids: Sequence[UUID], *, limit: int) -> list[GraphObject]:
        """Objects that these chunks mention, in the order of the chunks."""
        if not chunk_ids:
            return []
        params = {"project_id": project_id, "ids": list(chunk_ids), "limit": limit}
        return [object_of(row) for row in await self._queries.all(GIVEN_BY, params)]

    async def page(
        self,
        project_id: UUID,
        *,
        limit: int,
        offset: int = 0,
        after: UUID | None = None,
        object_type: str | None = None,
        name: str | None = None,
        properties: Mapping[str, Any] | None = None,
        document_id: UUID | None = None,
        ids: Sequence[UUID] | None = None,
        updated_since: datetime | None = None,
        sort: ObjectOrder = "created",
        descending: bool = False,
    ) -> tuple[list[GraphObject], int]:
        """`name` matches any part of a name or alias. `after` needs the sort `created`, the order of ids. Ids of merged objects in `ids`
        resolve to the objects they were merged into.
        """
        params = {
            "project_id": project_id,
            "type": object_type,
            "name": name,
            "properties": None if not properties else Jsonb(storable(properties)),
            "document_id": document_id,
            "ids": uuids(ids or ()),
            "updated_since": updated_since,
        }
        clauses = ((document_id, _OF_DOCUMENT), (ids is not None, _AMONG), (updated_since, _SINCE))
        source = _FILTERED + "".join(clause for given, clause in clauses if given)
        order = f"{_ORDERS[sort]} {'DESC' if descending else 'ASC'}, o.id"
        is_after: LiteralString = f"o.id {'<' if descending else '>'} %(after)s"
        if after is not None:
            order = f"o.id {'DESC' if descending else 'ASC'}"
        listing = PagedQuery(object_of, COLUMNS, source, order, is_after=is_after)
        return await self._queries.page(listing, params, limit=limit, offset=offset, after=after)

    async def outline(
        self, project_id: UUID, *, object_type: str | None, name: str | None, limit: int
    ) -> tuple[list[Row], int]:
        """Id, type and name of the first objects that match; and how many match."""
        params = {"project_id": project_id, "type": object_type, "name": name, "properties": None}
        listing = PagedQuery(tuple, "o.id::text, o.type, o.name", _FILTERED, "o.id")
        return await self._queries.page(listing, params, limit=limit, offset=0)

    async def types(self, project_id: UUID) -> dict[str, int]:
        """Number of objects by type."""
        return {row[0]: row[1] for row in await self._queries.all(TYPES, {"project_id": project_id})}

    def every(self, project_id: UUID) -> AsyncIterator[GraphObject]:
        """All objects of the project."""
        return read_batches(self._queries, AFTER, project_id, object_of)

    async def similar(
        self,
        project_id: UUID,
        space_id: UUID,
        vector: HalfVector,
        *,
        limit: int,
        threshold: float = 0.0,
    ) -> list[tuple[GraphObject, float]]:
        """Objects with a cosine similarity of at least `threshold`, the most similar first."""
        params = {
            "project_id": project_id,
            "space_id": space_id,
            "vector": vector,
            "threshold": threshold,
            "limit": limit,
        }
        return [(object_of(row), row[-1]) for row in await self._queries.all(SIMILAR, params)]

    async def put_vectors(
        self, project_id: UUID, space_id: UUID, vectors: Mapping[UUID, Sequence[float]]
    ) -> None:
        """Stores vectors of locked objects: a new vector's foreign key locks its object. Skips objects that no longer exist."""
        await put_each_vector(self._queries, PUT_VECTOR, project_id, space_id, vectors)

    async def forget_vectors(self, project_id: UUID, ids: Collection[UUID]) -> None:
        """Deletes the objects' vectors, so that they are embedded again."""
        if ids:
            await self._queries.run(FORGET_VECTORS, {"project_id": project_id, "ids": uuids(sorted(ids))})

    async def lacking(
        self, project_id: UUID, space_id: UUID, *, after: UUID | None = None, limit: int
    ) -> list[GraphObject]:
        """Objects without a vector in the space, ordered by id."""
        params = {"project_id": project_id, "space_id": space_id, "after": after or _LOWEST, "limit": limit}
        return [object_of(row) for row in await self._queries.all(LACKING, params)]
