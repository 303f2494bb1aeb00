"""What a newer schema changes of the types of objects without anybody reading a chunk again.

An object has one type, so it is renamed as a whole; a type that is gone takes the claims of older versions with it.
"""

from functools import partial
from typing import LiteralString
from uuid import UUID

from whence.store.graph import tombstones
from whence.store.graph.locks import Wanted, lock_in_order, retry_races
from whence.store.graph.merges import DROP, give, members, settle, want_groups
from whence.store.graph.names import name_unnamed
from whence.store.pool import Params, Queries
from whence.types import now

# Of an object that somebody spoke of when there was a type of the old name again, the type is that one.
_OF_TYPE: LiteralString = """
FROM kb.graph_objects o
WHERE o.project_id = %(project_id)s AND o.type = %(type)s
  AND (%(again)s::integer IS NULL OR NOT EXISTS (
      SELECT FROM kb.object_provenance p
      WHERE p.project_id = %(project_id)s AND p.object_id = o.id AND p.schema_number >= %(again)s))"""
# Whether one of its names, those of objects merged into it included, is that of an object of the new type.
_IS_TAKEN: LiteralString = """EXISTS (
    SELECT FROM (
        SELECT o.name_key
        UNION ALL
        SELECT a.name_key FROM kb.object_merges a
        WHERE a.project_id = %(project_id)s AND a.object_id = o.id) k
    WHERE EXISTS (SELECT FROM kb.graph_objects n
                  WHERE n.project_id = %(project_id)s AND n.type = %(new_type)s AND n.name_key = k.name_key)
       OR EXISTS (SELECT FROM kb.object_merges n
                  WHERE n.project_id = %(project_id)s AND n.type = %(new_type)s AND n.name_key = k.name_key))"""
FREE: LiteralString = f"SELECT o.id {_OF_TYPE} AND NOT {_IS_TAKEN}"
TAKEN: LiteralString = f"SELECT o.id {_OF_TYPE} AND {_IS_TAKEN} ORDER BY o.id"
RETYPE: LiteralString = """
UPDATE kb.graph_objects o SET type = %(new_type)s, updated_at = %(now)s
WHERE o.project_id = %(project_id)s AND o.id = ANY(%(ids)s) AND o.type = %(type)s
"""
RETYPE_MERGES: LiteralString = """
UPDATE kb.object_merges m SET type = %(new_type)s
WHERE m.project_id = %(project_id)s AND m.object_id = ANY(%(ids)s)
"""
RENEW: LiteralString = """
WITH hidden AS (
    UPDATE kb.hidden_claims h SET schema_number = %(schema_number)s
    WHERE h.project_id = %(project_id)s AND h.said_of = ANY(%(said)s) AND h.schema_number < %(schema_number)s
)
UPDATE kb.object_provenance p SET schema_number = %(schema_number)s
WHERE p.project_id = %(project_id)s AND p.said_of = ANY(%(said)s) AND p.schema_number < %(schema_number)s
"""
# The names of an object, and of whom each is that of the new type: the object that is meant, and the one that has its claims.
NAMESAKES: LiteralString = """
SELECT k.id, coalesce(n.id, m.dropped_id), coalesce(n.id, m.object_id)
FROM (SELECT o.id, o.name_key FROM kb.graph_objects o
      WHERE o.project_id = %(project_id)s AND o.id = %(object_id)s AND o.type = %(type)s
      UNION ALL
      SELECT a.dropped_id, a.name_key FROM kb.object_merges a
      WHERE a.project_id = %(project_id)s AND a.object_id = %(object_id)s AND a.type = %(type)s) k
LEFT JOIN kb.graph_objects n ON n.project_id = %(project_id)s AND n.type = %(new_type)s AND n.name_key = k.name_key
LEFT JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.type = %(new_type)s AND m.name_key = k.name_key
WHERE coalesce(n.id, m.dropped_id) IS NOT NULL
"""
RETELL: LiteralString = """
WITH hidden AS (
    UPDATE kb.hidden_claims h SET said_of = %(new_id)s
    WHERE h.project_id = %(project_id)s AND h.said_of = %(old_id)s
)
UPDATE kb.object_provenance p SET said_of = %(new_id)s
WHERE p.project_id = %(project_id)s AND p.said_of = %(old_id)s
"""
RETELL_SOURCES: LiteralString = """
WITH hidden AS (
    UPDATE kb.hidden_relationship_claims h SET said_source = %(new_id)s
    WHERE h.project_id = %(project_id)s AND h.said_source = %(old_id)s
)
UPDATE kb.relationship_provenance p SET said_source = %(new_id)s
WHERE p.project_id = %(project_id)s AND p.said_source = %(old_id)s
"""
RETELL_TARGETS: LiteralString = """
WITH hidden AS (
    UPDATE kb.hidden_relationship_claims h SET said_target = %(new_id)s
    WHERE h.project_id = %(project_id)s AND h.said_target = %(old_id)s
)
UPDATE kb.relationship_provenance p SET said_target = %(new_id)s
WHERE p.project_id = %(project_id)s AND p.said_target = %(old_id)s
"""
# What relates an object to itself says nothing.
FORGET_BETWEEN: LiteralString = """
WITH hidden AS (
    DELETE FROM kb.hidden_relationship_claims h
    WHERE h.project_id = %(project_id)s AND h.said_source IN (%(old_id)s, %(new_id)s)
      AND h.said_target IN (%(old_id)s, %(new_id)s) AND h.said_source <> h.said_target
)
DELETE FROM kb.relationship_provenance p
WHERE p.project_id = %(project_id)s AND p.said_source IN (%(old_id)s, %(new_id)s)
  AND p.said_target IN (%(old_id)s, %(new_id)s) AND p.said_source <> p.said_target
"""
END_MERGE: LiteralString = """
DELETE FROM kb.object_merges m WHERE m.project_id = %(project_id)s AND m.dropped_id = %(old_id)s
"""
FOLLOW: LiteralString = """
UPDATE kb.object_merges m
SET object_id = %(object_id)s, into_id = CASE WHEN m.into_id = %(old_id)s THEN %(new_id)s ELSE m.into_id END
WHERE m.project_id = %(project_id)s AND m.object_id = %(old_id)s
"""
OLDER_OBJECTS: LiteralString = """
SELECT o.id FROM kb.graph_objects o
WHERE o.project_id = %(project_id)s AND o.type = %(type)s AND EXISTS (
    SELECT FROM kb.object_provenance p
    WHERE p.project_id = %(project_id)s AND p.object_id = o.id AND p.schema_number < %(schema_number)s)
UNION
SELECT o.id FROM kb.graph_objects o
JOIN kb.relationships r ON r.project_id = %(project_id)s AND r.source_id = o.id
JOIN kb.relationship_provenance p ON p.project_id = %(project_id)s AND p.relationship_id = r.id
WHERE o.project_id = %(project_id)s AND o.type = %(type)s AND p.schema_number < %(schema_number)s
UNION
SELECT o.id FROM kb.graph_objects o
JOIN kb.relationships r ON r.project_id = %(project_id)s AND r.target_id = o.id
JOIN kb.relationship_provenance p ON p.project_id = %(project_id)s AND p.relationship_id = r.id
WHERE o.project_id = %(project_id)s AND o.type = %(type)s AND p.schema_number < %(schema_number)s
"""
FORGET: LiteralString = """
WITH hidden AS (
    DELETE FROM kb.hidden_claims h
    WHERE h.project_id = %(project_id)s AND h.said_of = ANY(%(said)s) AND h.schema_number < %(schema_number)s
)
DELETE FROM kb.object_provenance p
WHERE p.project_id = %(project_id)s AND p.said_of = ANY(%(said)s) AND p.schema_number < %(schema_number)s
"""
# What was renamed since stands under a newer schema: it goes too where the chunk speaks of one of the ends no more.
_IS_FORGOTTEN: dict[str, LiteralString] = {
    "source": """(q.schema_number < %(schema_number)s OR (
        NOT EXISTS (SELECT FROM kb.object_provenance s
                    WHERE s.project_id = %(project_id)s AND s.chunk_id = q.chunk_id AND s.said_of = q.said_source)
        AND NOT EXISTS (SELECT FROM kb.hidden_claims s
                        WHERE s.project_id = %(project_id)s AND s.chunk_id = q.chunk_id AND s.said_of = q.said_source)))""",
    "target": """(q.schema_number < %(schema_number)s OR (
        NOT EXISTS (SELECT FROM kb.object_provenance s
                    WHERE s.project_id = %(project_id)s AND s.chunk_id = q.chunk_id AND s.said_of = q.said_target)
        AND NOT EXISTS (SELECT FROM kb.hidden_claims s
                        WHERE s.project_id = %(project_id)s AND s.chunk_id = q.chunk_id AND s.said_of = q.said_target)))""",
}
FORGET_TIES: LiteralString = f"""
WITH hidden AS (
    DELETE FROM kb.hidden_relationship_claims h
    WHERE h.project_id = %(project_id)s AND h.id IN (
        SELECT q.id FROM kb.hidden_relationship_claims q
        WHERE q.project_id = %(project_id)s AND q.said_source = ANY(%(said)s) AND {_IS_FORGOTTEN["source"]}
        UNION
        SELECT q.id FROM kb.hidden_relationship_claims q
        WHERE q.project_id = %(project_id)s AND q.said_target = ANY(%(said)s) AND {_IS_FORGOTTEN["target"]})
)
DELETE FROM kb.relationship_provenance p
WHERE p.project_id = %(project_id)s AND p.id IN (
    SELECT q.id FROM kb.relationship_provenance q
    WHERE q.project_id = %(project_id)s AND q.said_source = ANY(%(said)s) AND {_IS_FORGOTTEN["source"]}
    UNION
    SELECT q.id FROM kb.relationship_provenance q
    WHERE q.project_id = %(project_id)s AND q.said_target = ANY(%(said)s) AND {_IS_FORGOTTEN["target"]})
"""
FORGET_HIDDEN_TIES: LiteralString = """
DELETE FROM kb.hidden_relationship_claims h
WHERE h.project_id = %(project_id)s AND h.id IN (
    SELECT q.id FROM kb.hidden_relationship_claims q
    WHERE q.project_id = %(project_id)s AND q.said_source = ANY(%(said)s)
    UNION
    SELECT q.id FROM kb.hidden_relationship_claims q
    WHERE q.project_id = %(project_id)s AND q.said_target = ANY(%(said)s))
"""


class Retyping:
    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    async def rename_objects(
        self, project_id: UUID, old: str, new: str, *, schema_number: int, again: int | None = None
    ) -> None:
        """The objects of a type that this schema has under another name.

        One whose name an object of the new type has already becomes that object: all that was said of it is said of that.
        `again` is a later schema that has a type of the old name: what was spoken of since then stays as it is.
        """
        params = {"project_id": project_id, "type": old, "new_type": new, "again": again}
        older = {**params, "schema_number": schema_number}
        await retry_races(self._queries, lambda tx: _retype_remembered(tx, older))
        await retry_races(self._queries, lambda tx: _rename_free(tx, params, schema_number))
        for row in await self._queries.all(TAKEN, params):
            await retry_races(self._queries, partial(_unite, row[0], params, schema_number))

    async def forget_objects(self, project_id: UUID, name: str, *, schema_number: int) -> None:
        """Every older claim of objects of a type that this schema does not know any more; who has no other goes."""
        params = {"project_id": project_id, "type": name, "schema_number": schema_number}

        async def older(queries: Queries) -> set[UUID]:
            return {row[0] for row in await queries.all(OLDER_OBJECTS, params)}

        async def attempt(tx: Queries) -> None:
            wanted = want_groups(
                project_id, older, tombstones=lambda queries: tombstones.older(queries, params)
            )
            await lock_in_order(tx, project_id, wanted)
            await tombstones.forget_older(tx, params)
            ids = await older(tx)
            said = await members(tx, project_id, ids)
            await tx.run(FORGET, {**params, "said": said})
            await tx.run(FORGET_TIES, {**params, "said": said})
            await give(tx, project_id, said)
            await name_unnamed(tx, project_id, ids)
            await settle(tx, project_id, tuple(ids))
            gone = set(said) - set(await members(tx, project_id, ids))
            await tx.run(FORGET_HIDDEN_TIES, {"project_id": project_id, "said": list(gone)})

        await retry_races(self._queries, attempt)


async def _unite(object_id: UUID, params: Params, schema_number: int, tx: Queries) -> None:
    """An object with its namesakes of the new type; whatever of its names is free goes along."""
    project_id = params["project_id"]
    wanted = {**params, "object_id": object_id}

    async def namesakes(queries: Queries) -> dict[UUID, tuple[UUID, UUID]]:
        return {row[0]: (row[1], row[2]) for row in await queries.all(NAMESAKES, wanted)}

    async def with_namesakes(queries: Queries) -> set[UUID]:
        return {object_id, *(holder for _, holder in (await namesakes(queries)).values())}

    types = (params["type"], params["new_type"])
    await lock_in_order(tx, project_id, want_groups(project_id, with_namesakes, types=types))
    same = await namesakes(tx)
    said = await members(tx, project_id, [object_id])
    await tx.run(RENEW, {**params, "said": said, "schema_number": schema_number})
    for old_id, (new_id, _) in same.items():
        for statement in (FORGET_BETWEEN, RETELL, RETELL_SOURCES, RETELL_TARGETS, END_MERGE):
            await tx.run(statement, {"project_id": project_id, "old_id": old_id, "new_id": new_id})
    left = {holder for _, holder in same.values()}
    if object_id in same:
        new_id, holder = same[object_id]
        follow = {
            "project_id": project_id,
            "old_id": object_id,
            "new_id": new_id,
            "object_id": holder,
        }
        await tx.run(FOLLOW, follow)
        await tx.run(RETYPE_MERGES, {**params, "ids": [holder]})
    else:
        left.add(object_id)
        await tx.run(RETYPE, {**params, "ids": [object_id], "now": now()})
        await tx.run(RETYPE_MERGES, {**params, "ids": [object_id]})
    await give(tx, project_id, await members(tx, project_id, left))
    if object_id in same:
        await tx.run(DROP, {"project_id": project_id, "dropped_id": object_id})
    await name_unnamed(tx, project_id, left)
    await settle(tx, project_id, tuple(left))


async def _rename_free(tx: Queries, params: Params, schema_number: int) -> None:
    async def objects(queries: Queries) -> set[UUID]:
        return {row[0] for row in await queries.all(FREE, params)}

    wanted = Wanted(types=(params["type"], params["new_type"]), objects=objects)
    ids = list((await lock_in_order(tx, params["project_id"], wanted)).found)
    said = await members(tx, params["project_id"], ids)
    await tx.run(RETYPE, {**params, "ids": ids, "now": now()})
    await tx.run(RETYPE_MERGES, {**params, "ids": ids})
    await tx.run(RENEW, {**params, "said": said, "schema_number": schema_number})


async def _retype_remembered(tx: Queries, params: Params) -> None:
    wanted = Wanted(
        types=(params["type"], params["new_type"]),
        tombstones=lambda queries: tombstones.to_be_retyped(queries, params),
    )
    await lock_in_order(tx, params["project_id"], wanted)
    await tombstones.retype(tx, params)
