"""Renames a type of objects in the graph. If the new type already has an object of the same name, the two are united."""

from collections.abc import Mapping
from functools import partial
from typing import LiteralString
from uuid import UUID

from whence.models import now
from whence.store.graph import aliases, curation_moves, removal
from whence.store.graph.claim_moves import hide, members, settle, show, want_groups
from whence.store.graph.claims import settle as settle_objects
from whence.store.graph.locks import WantedLocks, lock_in_order, select_ids
from whence.store.graph.merges import DROP
from whence.store.graph.names import name_unnamed
from whence.store.pool import Params, Queries, uuids

OLDER_CLAIMS: LiteralString = """
WHERE h.project_id = %(project_id)s AND h.said_of = ANY(%(said)s::uuid[]) AND h.schema_number < %(schema_number)s"""
# An object with claims of a schema that has the old type again keeps that type.
_OF_OLD_TYPE: LiteralString = """
FROM kb.graph_objects o
WHERE o.project_id = %(project_id)s AND o.type = %(type)s
  AND (%(again)s::integer IS NULL OR NOT EXISTS (
      SELECT FROM kb.object_provenance p
      WHERE p.project_id = %(project_id)s AND p.object_id = o.id AND p.schema_number >= %(again)s))"""
# Whether the object or one merged into it has the name of an object of the new type.
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
WITHOUT_NAMESAKE: LiteralString = f"SELECT o.id {_OF_OLD_TYPE} AND NOT {_IS_TAKEN}"
WITH_NAMESAKE: LiteralString = f"SELECT o.id {_OF_OLD_TYPE} AND {_IS_TAKEN} ORDER BY o.id"
# For each name of an object: the object of the new type that has the name, and the object that has its claims.
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
RETYPE: LiteralString = """
UPDATE kb.graph_objects o SET type = %(new_type)s, updated_at = %(now)s
WHERE o.project_id = %(project_id)s AND o.id = ANY(%(ids)s::uuid[]) AND o.type = %(type)s
"""
RETYPE_MERGES: LiteralString = """
UPDATE kb.object_merges m SET type = %(new_type)s
WHERE m.project_id = %(project_id)s AND m.object_id = ANY(%(ids)s::uuid[])
"""
RENEW: LiteralString = f"""
WITH hidden AS (UPDATE kb.hidden_claims h SET schema_number = %(schema_number)s {OLDER_CLAIMS})
UPDATE kb.object_provenance h SET schema_number = %(schema_number)s {OLDER_CLAIMS}
"""
# The claims about an object become claims about its namesake. A relationship between the two is dropped.
REASSIGN_CLAIMS: LiteralString = """
UPDATE kb.hidden_claims h SET said_of = %(new_id)s WHERE h.project_id = %(project_id)s AND h.said_of = %(old_id)s
"""
FORGET_TIES_BETWEEN: LiteralString = """
DELETE FROM kb.hidden_relationship_claims h
WHERE h.project_id = %(project_id)s AND h.said_source IN (%(old_id)s, %(new_id)s)
  AND h.said_target IN (%(old_id)s, %(new_id)s) AND h.said_source <> h.said_target
"""
REASSIGN_TIES: LiteralString = """
UPDATE kb.hidden_relationship_claims h
SET said_source = CASE h.said_source WHEN %(old_id)s THEN %(new_id)s ELSE h.said_source END,
    said_target = CASE h.said_target WHEN %(old_id)s THEN %(new_id)s ELSE h.said_target END
WHERE h.project_id = %(project_id)s AND (h.said_source = %(old_id)s OR h.said_target = %(old_id)s)
"""
END_MERGE: LiteralString = """
DELETE FROM kb.object_merges m WHERE m.project_id = %(project_id)s AND m.dropped_id = %(old_id)s
"""
FOLLOW: LiteralString = """
UPDATE kb.object_merges m
SET object_id = %(object_id)s, into_id = CASE WHEN m.into_id = %(old_id)s THEN %(new_id)s ELSE m.into_id END
WHERE m.project_id = %(project_id)s AND m.object_id = %(old_id)s
"""
REASSIGN = (FORGET_TIES_BETWEEN, REASSIGN_CLAIMS, REASSIGN_TIES, aliases.REASSIGN, END_MERGE)


async def retype_tombstones(params: Params, tx: Queries) -> int:
    """Gives the new type to the names that are kept of deleted objects."""
    find = partial(select_ids, removal.TOMBSTONES_TO_RETYPE, params)
    wanted = WantedLocks(types=(params["type"], params["new_type"]), tombstones=find)
    await lock_in_order(tx, params["project_id"], wanted)
    await tx.run(removal.UNITE_TOMBSTONES, params)
    await curation_moves.retype(tx, params)
    return await tx.run(removal.RETYPE_TOMBSTONES, params)


async def retype_without_namesakes(params: Params, tx: Queries) -> int:
    """Retypes objects whose claims stay with them. Recomputes their lists, which the new type may merge differently."""
    project_id = params["project_id"]
    find = partial(select_ids, WITHOUT_NAMESAKE, params)
    wanted = WantedLocks(types=(params["type"], params["new_type"]), objects=find)
    ids = (await lock_in_order(tx, project_id, wanted)).found
    said = await members(tx, project_id, ids)
    await tx.run(RETYPE, {**params, "ids": uuids(ids), "now": now()})
    await tx.run(RETYPE_MERGES, {**params, "ids": uuids(ids)})
    await tx.run(RENEW, {**params, "said": uuids(said)})
    await curation_moves.retype(tx, params)
    await tx.together(settle_objects(project_id, ids))
    return len(ids)


async def unite_with_namesakes(object_id: UUID, params: Params, tx: Queries) -> int:
    """Gives the claims about each name of an object to its namesake of the new type. Names without namesake are retyped."""
    project_id = params["project_id"]

    async def find_namesakes(queries: Queries) -> dict[UUID, tuple[UUID, UUID]]:
        rows = await queries.all(NAMESAKES, {**params, "object_id": object_id})
        return {row[0]: (row[1], row[2]) for row in rows}

    async def find(queries: Queries) -> set[UUID]:
        return {object_id, *(holder for _, holder in (await find_namesakes(queries)).values())}

    types = (params["type"], params["new_type"])
    await lock_in_order(tx, project_id, want_groups(project_id, find, types=types))
    namesakes = await find_namesakes(tx)
    own = await members(tx, project_id, [object_id])
    await tx.run(RENEW, {**params, "said": uuids(own)})
    await hide(tx, project_id, await members(tx, project_id, await find(tx)))
    for old_id, (new_id, _) in namesakes.items():
        for statement in REASSIGN:
            await tx.run(statement, {"project_id": project_id, "old_id": old_id, "new_id": new_id})
    left = await _retype_or_drop(tx, params, object_id, namesakes)
    await curation_moves.retype(tx, params)
    await show(tx, project_id, await members(tx, project_id, left))
    await name_unnamed(tx, project_id, left)
    await settle(tx, project_id, left)
    return 1


async def _retype_or_drop(
    tx: Queries, params: Params, object_id: UUID, namesakes: Mapping[UUID, tuple[UUID, UUID]]
) -> set[UUID]:
    """Returns the remaining objects. Objects that were merged into a dropped object are merged into its namesake."""
    project_id = params["project_id"]
    left = {holder for _, holder in namesakes.values()}
    if object_id not in namesakes:
        await tx.run(RETYPE, {**params, "ids": uuids([object_id]), "now": now()})
        await tx.run(RETYPE_MERGES, {**params, "ids": uuids([object_id])})
        return left | {object_id}
    new_id, holder = namesakes[object_id]
    follow = {"project_id": project_id, "old_id": object_id, "new_id": new_id, "object_id": holder}
    await tx.run(FOLLOW, follow)
    await tx.run(RETYPE_MERGES, {**params, "ids": uuids([holder])})
    await tx.run(DROP, {"project_id": project_id, "dropped_id": object_id})
    return left
