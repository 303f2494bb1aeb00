"""Two objects that only a person can tell are one.

Every claim keeps whom it was said of. A merge changes who has it now, an undo gives it back: the same for claims that came
after the merge, and in whatever order merges are undone.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import LiteralString
from uuid import UUID

from whence.errors import BadInput, Conflict, MergeNotFound, ObjectNotFound
from whence.store.graph import claims
from whence.store.graph.locks import Find, Wanted, limit_waiting, lock_in_order, retry_races
from whence.store.graph.names import name_unnamed
from whence.store.halfvec import halfvec
from whence.store.pool import Asked, Queries, Row, records
from whence.types import Merge, new_id, now

_MERGE: LiteralString = """
SELECT m.project_id, m.id, m.object_id, o.name, m.dropped_id, m.type, m.name, m.merged_at
FROM kb.object_merges m JOIN kb.graph_objects o ON o.project_id = m.project_id AND o.id = m.object_id"""

SELECT_ONE: LiteralString = (
    _MERGE
    + """
WHERE m.id = %(id)s::uuid AND (%(project_id)s::uuid IS NULL OR m.project_id = %(project_id)s)"""
)
_FILTER: LiteralString = """
WHERE m.project_id = %(project_id)s AND (%(object_id)s::uuid IS NULL OR m.object_id = %(object_id)s)"""
SELECT_PAGE: LiteralString = _MERGE + _FILTER + "\nORDER BY m.id DESC LIMIT %(limit)s OFFSET %(offset)s"
COUNT: LiteralString = "SELECT count(*) FROM kb.object_merges m" + _FILTER
TYPES: LiteralString = """
SELECT o.id, o.type FROM kb.graph_objects o WHERE o.project_id = %(project_id)s AND o.id = ANY(%(ids)s)
"""
# The objects that are one with these.
MEMBERS: LiteralString = """
SELECT o.id FROM kb.graph_objects o WHERE o.project_id = %(project_id)s AND o.id = ANY(%(ids)s)
UNION
SELECT m.dropped_id FROM kb.object_merges m WHERE m.project_id = %(project_id)s AND m.object_id = ANY(%(ids)s)
"""
CHUNKS: LiteralString = """
SELECT p.chunk_id FROM kb.object_provenance p
WHERE p.project_id = %(project_id)s AND p.said_of = ANY(%(said)s)
UNION
SELECT p.chunk_id FROM kb.relationship_provenance p
WHERE p.project_id = %(project_id)s AND p.said_source = ANY(%(said)s)
UNION
SELECT p.chunk_id FROM kb.relationship_provenance p
WHERE p.project_id = %(project_id)s AND p.said_target = ANY(%(said)s)
UNION
SELECT h.chunk_id FROM kb.hidden_claims h
WHERE h.project_id = %(project_id)s AND h.said_of = ANY(%(said)s)
UNION
SELECT h.chunk_id FROM kb.hidden_relationship_claims h
WHERE h.project_id = %(project_id)s AND h.said_source = ANY(%(said)s)
UNION
SELECT h.chunk_id FROM kb.hidden_relationship_claims h
WHERE h.project_id = %(project_id)s AND h.said_target = ANY(%(said)s)
"""
_EVERY_TIE: LiteralString = """
    SELECT r.type, p.said_source, p.said_target FROM kb.relationship_provenance p
    JOIN kb.relationships r ON r.project_id = %(project_id)s AND r.id = p.relationship_id
    WHERE p.project_id = %(project_id)s AND p.said_source = ANY(%(said)s)
    UNION
    SELECT r.type, p.said_source, p.said_target FROM kb.relationship_provenance p
    JOIN kb.relationships r ON r.project_id = %(project_id)s AND r.id = p.relationship_id
    WHERE p.project_id = %(project_id)s AND p.said_target = ANY(%(said)s)
    UNION
    SELECT h.type, h.said_source, h.said_target FROM kb.hidden_relationship_claims h
    WHERE h.project_id = %(project_id)s AND h.said_source = ANY(%(said)s)
    UNION
    SELECT h.type, h.said_source, h.said_target FROM kb.hidden_relationship_claims h
    WHERE h.project_id = %(project_id)s AND h.said_target = ANY(%(said)s)"""
# Between whom the relationships of these objects are now.
TIES: LiteralString = f"""
SELECT DISTINCT e.type, s.id, t.id, e.said_source = e.said_target
FROM ({_EVERY_TIE}) e
LEFT JOIN kb.object_merges a ON a.project_id = %(project_id)s AND a.dropped_id = e.said_source
LEFT JOIN kb.object_merges b ON b.project_id = %(project_id)s AND b.dropped_id = e.said_target
JOIN kb.graph_objects s ON s.project_id = %(project_id)s AND s.id = coalesce(a.object_id, e.said_source)
JOIN kb.graph_objects t ON t.project_id = %(project_id)s AND t.id = coalesce(b.object_id, e.said_target)
"""
RECORD: LiteralString = """
INSERT INTO kb.object_merges (project_id, id, object_id, into_id, dropped_id, type, name, name_key, space_id,
                              embedding, created_at, merged_at)
SELECT o.project_id, %(id)s, %(kept_id)s, %(kept_id)s, o.id, o.type, o.name, o.name_key, v.space_id,
       v.embedding, o.created_at, %(now)s
FROM kb.graph_objects o
JOIN kb.projects j ON j.id = %(project_id)s
LEFT JOIN kb.object_vectors v ON v.project_id = %(project_id)s AND v.id = o.id AND v.space_id = j.space_id
WHERE o.project_id = %(project_id)s AND o.id = %(dropped_id)s
"""
FOLLOW: LiteralString = """
UPDATE kb.object_merges SET object_id = %(kept_id)s
WHERE project_id = %(project_id)s AND object_id = %(dropped_id)s
"""
DROP: LiteralString = "DELETE FROM kb.graph_objects WHERE project_id = %(project_id)s AND id = %(dropped_id)s"
RESTORE: LiteralString = """
INSERT INTO kb.graph_objects (project_id, id, type, name, name_key, created_at, updated_at)
SELECT m.project_id, m.dropped_id, m.type, m.name, m.name_key, m.created_at, %(now)s
FROM kb.object_merges m WHERE m.project_id = %(project_id)s AND m.id = %(id)s
ON CONFLICT DO NOTHING
"""
RESTORE_VECTOR: LiteralString = """
INSERT INTO kb.object_vectors (project_id, id, space_id, embedding)
SELECT m.project_id, m.dropped_id, m.space_id, m.embedding
FROM kb.object_merges m
WHERE m.project_id = %(project_id)s AND m.id = %(id)s AND m.space_id IS NOT NULL
"""
# One that came back has none: its row went with it.
PUT_VECTOR: LiteralString = """
UPDATE kb.object_merges SET space_id = %(space_id)s, embedding = %(vector)s::halfvec
WHERE project_id = %(project_id)s AND dropped_id = %(id)s AND embedding IS NULL
"""
LEAVE: LiteralString = """
WITH RECURSIVE members (id) AS (
    SELECT m.dropped_id FROM kb.object_merges m WHERE m.project_id = %(project_id)s AND m.id = %(id)s
    UNION
    SELECT m.dropped_id FROM members
    JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.into_id = members.id
)
UPDATE kb.object_merges m SET object_id = %(dropped_id)s
FROM members
WHERE m.project_id = %(project_id)s AND m.dropped_id = members.id AND m.id <> %(id)s
"""
FORGET: LiteralString = "DELETE FROM kb.object_merges WHERE project_id = %(project_id)s AND id = %(id)s"
# All that was said of these objects, given to whom it belongs now. Of two claims about one property in one chunk the newer
# stands; of two names the object's own.
GIVE: LiteralString = """
WITH shown AS (
    DELETE FROM kb.object_provenance p WHERE p.project_id = %(project_id)s AND p.said_of = ANY(%(said)s)
    RETURNING p.id, p.said_of, p.chunk_id, p.property_name, p.operation, p.schema_number, p.value, p.quote,
              p.start_offset, p.end_offset, p.extracted_at
), hidden AS (
    DELETE FROM kb.hidden_claims h WHERE h.project_id = %(project_id)s AND h.said_of = ANY(%(said)s)
    RETURNING h.id, h.said_of, h.chunk_id, h.property_name, h.operation, h.schema_number, h.value, h.quote,
              h.start_offset, h.end_offset, h.extracted_at
), given AS (
    SELECT e.*, coalesce(m.object_id, e.said_of) AS object_id, row_number() OVER (
               PARTITION BY coalesce(m.object_id, e.said_of), e.chunk_id, e.property_name
               ORDER BY (e.property_name = 'name' AND m.object_id IS NULL) DESC,
                        e.extracted_at DESC, e.id DESC) AS place
    FROM (SELECT * FROM shown UNION ALL SELECT * FROM hidden) e
    LEFT JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.dropped_id = e.said_of
), standing AS (
    INSERT INTO kb.object_provenance (project_id, id, object_id, said_of, chunk_id, property_name, operation,
                schema_number, value, quote, start_offset, end_offset, extracted_at)
    SELECT %(project_id)s, id, object_id, said_of, chunk_id, property_name, operation,
           schema_number, value, quote, start_offset, end_offset, extracted_at
    FROM given WHERE place = 1
)
INSERT INTO kb.hidden_claims (project_id, id, said_of, chunk_id, property_name, operation,
            schema_number, value, quote, start_offset, end_offset, extracted_at)
SELECT %(project_id)s, id, said_of, chunk_id, property_name, operation,
       schema_number, value, quote, start_offset, end_offset, extracted_at
FROM given WHERE place > 1
"""
# The same for what was said between them and others. One that would lead from an object to itself is hidden.
GIVE_TIES: LiteralString = """
WITH shown AS (
    DELETE FROM kb.relationship_provenance p USING kb.relationships r
    WHERE p.project_id = %(project_id)s AND p.id IN (
              SELECT q.id FROM kb.relationship_provenance q
              WHERE q.project_id = %(project_id)s AND q.said_source = ANY(%(said)s)
              UNION
              SELECT q.id FROM kb.relationship_provenance q
              WHERE q.project_id = %(project_id)s AND q.said_target = ANY(%(said)s))
      AND r.project_id = %(project_id)s AND r.id = p.relationship_id
    RETURNING p.id, r.type, p.said_source, p.said_target, p.chunk_id, p.schema_number, p.properties, p.quote,
              p.start_offset, p.end_offset, p.extracted_at
), hidden AS (
    DELETE FROM kb.hidden_relationship_claims h
    WHERE h.project_id = %(project_id)s AND h.id IN (
              SELECT q.id FROM kb.hidden_relationship_claims q
              WHERE q.project_id = %(project_id)s AND q.said_source = ANY(%(said)s)
              UNION
              SELECT q.id FROM kb.hidden_relationship_claims q
              WHERE q.project_id = %(project_id)s AND q.said_target = ANY(%(said)s))
    RETURNING h.id, h.type, h.said_source, h.said_target, h.chunk_id, h.schema_number, h.properties, h.quote,
              h.start_offset, h.end_offset, h.extracted_at
), given AS (
    SELECT e.*, r.id AS relationship_id, row_number() OVER (
               PARTITION BY r.id, e.chunk_id ORDER BY e.extracted_at DESC, e.id DESC) AS place
    FROM (SELECT * FROM shown UNION ALL SELECT * FROM hidden) e
    LEFT JOIN kb.object_merges a ON a.project_id = %(project_id)s AND a.dropped_id = e.said_source
    LEFT JOIN kb.object_merges b ON b.project_id = %(project_id)s AND b.dropped_id = e.said_target
    LEFT JOIN kb.relationships r
           ON r.project_id = %(project_id)s AND r.type = e.type
          AND r.source_id = coalesce(a.object_id, e.said_source)
          AND r.target_id = coalesce(b.object_id, e.said_target)
          AND (r.source_id <> r.target_id OR e.said_source = e.said_target)
), standing AS (
    INSERT INTO kb.relationship_provenance (project_id, id, relationship_id, said_source, said_target, chunk_id,
                schema_number, properties, quote, start_offset, end_offset, extracted_at)
    SELECT %(project_id)s, id, relationship_id, said_source, said_target, chunk_id,
           schema_number, properties, quote, start_offset, end_offset, extracted_at
    FROM given WHERE relationship_id IS NOT NULL AND place = 1
)
INSERT INTO kb.hidden_relationship_claims (project_id, id, type, said_source, said_target, chunk_id,
            schema_number, properties, quote, start_offset, end_offset, extracted_at)
SELECT %(project_id)s, id, type, said_source, said_target, chunk_id,
       schema_number, properties, quote, start_offset, end_offset, extracted_at
FROM given WHERE relationship_id IS NULL OR place > 1
"""
RELATIONSHIPS_OF: LiteralString = """
SELECT r.id FROM kb.relationships r WHERE r.project_id = %(project_id)s AND r.source_id = ANY(%(ids)s)
UNION
SELECT r.id FROM kb.relationships r WHERE r.project_id = %(project_id)s AND r.target_id = ANY(%(ids)s)
"""


class Merges:
    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    async def get(self, merge_id: UUID, *, project_id: UUID | None = None) -> Merge:
        row = await self._queries.one(SELECT_ONE, {"id": merge_id, "project_id": project_id})
        if row is None:
            raise MergeNotFound(details={"merge_id": str(merge_id)})
        return _to_merge(row)

    async def page(
        self, project_id: UUID, *, object_id: UUID | None = None, limit: int, offset: int
    ) -> tuple[list[Merge], int]:
        """Those that stand, the newest first; with `object_id`, those that it holds."""
        params = {"project_id": project_id, "object_id": object_id}
        rows = await self._queries.all(SELECT_PAGE, {**params, "limit": limit, "offset": offset})
        total = await self._queries.one(COUNT, params)
        return [_to_merge(row) for row in rows], int(total[0]) if total else 0

    async def merge(self, project_id: UUID, *, keep_id: UUID, drop_id: UUID) -> Merge:
        """All that was said of the dropped object is said of the kept one, also what is yet to come."""
        if keep_id == drop_id:
            raise BadInput(
                "An object cannot be merged with itself",
                details={"field": "dropId", "provided": str(drop_id)},
            )
        return await retry_races(
            self._queries, lambda tx: _merge(tx, project_id, keep_id=keep_id, drop_id=drop_id)
        )

    async def undo(self, project_id: UUID, merge_id: UUID) -> Merge:
        """Both objects get back the claims that were made about them. An object without any claim left is deleted."""
        return await retry_races(self._queries, lambda tx: _undo(tx, project_id, merge_id))

    async def put_vectors(
        self, project_id: UUID, space_id: UUID, vectors: Mapping[UUID, Sequence[float]]
    ) -> None:
        """Of merged objects that have none, for when their merges are undone; what they are part of is held."""
        common = {"project_id": project_id, "space_id": space_id}
        asked: list[Asked] = [
            (PUT_VECTOR, {**common, "id": ident, "vector": halfvec(vector)})
            for ident, vector in vectors.items()
        ]
        async with self._queries.joined() as tx:
            await tx.together(asked)


async def _merge(tx: Queries, project_id: UUID, *, keep_id: UUID, drop_id: UUID) -> Merge:
    await limit_waiting(tx)
    ids = {keep_id, drop_id}
    held = await lock_in_order(tx, project_id, want_groups(project_id, find_these(ids)))
    for ident in (keep_id, drop_id):
        if ident not in held.names:
            raise ObjectNotFound(details={"object_id": str(ident)})
    await _require_one_type(tx, project_id, keep_id=keep_id, drop_id=drop_id)
    params = {"project_id": project_id, "kept_id": keep_id, "dropped_id": drop_id}
    said = await members(tx, project_id, ids)
    merge_id = new_id()
    await tx.run(RECORD, {**params, "id": merge_id, "now": now()})
    await tx.run(FOLLOW, params)
    await give(tx, project_id, said)
    await tx.run(DROP, params)
    await settle(tx, project_id, (keep_id,))
    return await Merges(tx).get(merge_id, project_id=project_id)


async def _undo(tx: Queries, project_id: UUID, merge_id: UUID) -> Merge:
    await limit_waiting(tx)
    merges = Merges(tx)

    async def kept(_queries: Queries) -> set[UUID]:
        """The object that has the claims now: another merge may have moved them."""
        return {(await merges.get(merge_id, project_id=project_id)).kept_id}

    await lock_in_order(tx, project_id, want_groups(project_id, kept))
    merge = await merges.get(merge_id, project_id=project_id)
    params = {"project_id": project_id, "id": merge_id, "dropped_id": merge.dropped_id, "now": now()}
    said = await members(tx, project_id, (merge.kept_id,))
    if not await tx.run(RESTORE, params):
        raise Conflict(
            f"Another {merge.dropped_type} is called {merge.dropped_name} by now: the merge cannot be undone",
            details={"merge_id": str(merge_id), "name": merge.dropped_name},
        )
    await tx.run(RESTORE_VECTOR, params)
    await tx.run(LEAVE, params)
    await tx.run(FORGET, params)
    await give(tx, project_id, said)
    await name_unnamed(tx, project_id, (merge.kept_id, merge.dropped_id))
    await settle(tx, project_id, (merge.kept_id, merge.dropped_id))
    return merge


def find_these(ids: set[UUID]) -> Find:
    async def find(_queries: Queries) -> set[UUID]:
        return ids

    return find


def want_groups(
    project_id: UUID, find: Find, *, types: Collection[str] = (), tombstones: Find | None = None
) -> Wanted:
    """Objects with everything merged into them, the other ends of their relationships, and the chunks that mention any of them."""

    async def chunks(queries: Queries) -> set[UUID]:
        said = await members(queries, project_id, await find(queries))
        return {row[0] for row in await queries.all(CHUNKS, {"project_id": project_id, "said": said})}

    async def objects(queries: Queries) -> set[UUID]:
        ids = await find(queries)
        said = await members(queries, project_id, ids)
        ends = await queries.all(TIES, {"project_id": project_id, "said": said})
        return {*ids, *(row[1] for row in ends), *(row[2] for row in ends)}

    return Wanted(chunks=chunks, types=types, tombstones=tombstones or find_these(set()), objects=objects)


async def _require_one_type(tx: Queries, project_id: UUID, *, keep_id: UUID, drop_id: UUID) -> None:
    """The schema says by its type which properties and relationships an object may have: an object has one."""
    rows = await tx.all(TYPES, {"project_id": project_id, "ids": [keep_id, drop_id]})
    types = {row[0]: row[1] for row in rows}
    if types[keep_id] != types[drop_id]:
        raise Conflict(
            f"Only objects of one type can be one: these are {types[keep_id]} and {types[drop_id]}",
            details={"field": "dropId", "provided": types[drop_id], "expected": types[keep_id]},
        )


async def members(queries: Queries, project_id: UUID, ids: Iterable[UUID]) -> list[UUID]:
    """The objects that are one with these, they themselves among them."""
    rows = await queries.all(MEMBERS, {"project_id": project_id, "ids": list(ids)})
    return [row[0] for row in rows]


async def give(tx: Queries, project_id: UUID, said: list[UUID]) -> None:
    """All that was said of these, to whom it belongs now; their objects and all that they are related to are held."""
    params = {"project_id": project_id, "said": said}
    await tx.run(GIVE, params)
    ties = {(row[0], row[1], row[2]) for row in await tx.all(TIES, params) if row[1] != row[2] or row[3]}
    made = [claims.made_of(source, name, target) for name, source, target in ties]
    await tx.run(claims.PUT_RELATIONSHIPS, {"project_id": project_id, "now": now(), "given": records(made)})
    await tx.run(GIVE_TIES, params)


async def settle(tx: Queries, project_id: UUID, ids: tuple[UUID, ...]) -> None:
    rows = await tx.all(RELATIONSHIPS_OF, {"project_id": project_id, "ids": list(ids)})
    await claims.settle_relationships(tx, project_id, [row[0] for row in rows])
    await claims.settle(tx, project_id, ids)


def _to_merge(row: Row) -> Merge:
    return Merge(
        project_id=row[0],
        id=row[1],
        kept_id=row[2],
        kept_name=row[3],
        dropped_id=row[4],
        dropped_type=row[5],
        dropped_name=row[6],
        merged_at=row[7],
    )
