"""What a newer schema changes in the graph without a model: elements that it renames or removes.

A schema change is a list of moves, one for each renamed or removed element. A move applies to claims of older schemas only;
claims that were extracted since use the new names already. It hides the claims it concerns, edits them while they are hidden,
and shows them again (`claim_moves`). Applying a move twice changes nothing the second time.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, LiteralString, TypeAlias
from uuid import UUID

from psycopg.types.json import Jsonb

from whence.errors import BadInput
from whence.store.graph import ledger, tombstones
from whence.store.graph.claim_moves import Scope, hide, members, settle, show, want_groups
from whence.store.graph.locks import Wanted, lock_in_order, retry_races
from whence.store.graph.merges import DROP
from whence.store.graph.names import NAME, name_silent, name_unnamed, silent_chunks
from whence.store.graph.removal import MENTIONED
from whence.store.graph.write_chunk import keep_chunk
from whence.store.pool import Params, Queries, uuids
from whence.types import Extraction, now

OBJECTS_WITH_PROPERTY: LiteralString = """
SELECT o.id FROM kb.graph_objects o
WHERE o.project_id = %(project_id)s AND o.type = %(type)s AND EXISTS (
    SELECT FROM kb.object_provenance p
    WHERE p.project_id = %(project_id)s AND p.object_id = o.id AND p.property_name = %(property_name)s
      AND p.schema_number < %(schema_number)s)
UNION
SELECT o.id FROM kb.hidden_claims h
LEFT JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.dropped_id = h.said_of
JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = coalesce(m.object_id, h.said_of)
WHERE h.project_id = %(project_id)s AND h.property_name = %(property_name)s
  AND h.schema_number < %(schema_number)s AND o.type = %(type)s
"""
_OLDER_CLAIMS: LiteralString = """
WHERE h.project_id = %(project_id)s AND h.said_of = ANY(%(said)s::uuid[]) AND h.schema_number < %(schema_number)s"""
RENAME_PROPERTY: LiteralString = f"""
UPDATE kb.hidden_claims h SET property_name = %(new_name)s, schema_number = %(schema_number)s
{_OLDER_CLAIMS} AND h.property_name = %(property_name)s
"""
FORGET_PROPERTY: LiteralString = f"""
DELETE FROM kb.hidden_claims h {_OLDER_CLAIMS} AND h.property_name = %(property_name)s
"""

ENDS_OF_TYPE: LiteralString = """
SELECT r.source_id, r.target_id FROM kb.relationships r
WHERE r.project_id = %(project_id)s AND r.type = %(type)s AND EXISTS (
    SELECT FROM kb.relationship_provenance p
    WHERE p.project_id = %(project_id)s AND p.relationship_id = r.id AND p.schema_number < %(before)s)
UNION
SELECT coalesce(a.object_id, h.said_source), coalesce(b.object_id, h.said_target)
FROM kb.hidden_relationship_claims h
LEFT JOIN kb.object_merges a ON a.project_id = %(project_id)s AND a.dropped_id = h.said_source
LEFT JOIN kb.object_merges b ON b.project_id = %(project_id)s AND b.dropped_id = h.said_target
WHERE h.project_id = %(project_id)s AND h.type = %(type)s AND h.schema_number < %(before)s
"""
_OLDER_TIES: LiteralString = """
WHERE h.project_id = %(project_id)s AND h.said_source = ANY(%(said)s::uuid[]) AND h.type = %(type)s
  AND h.schema_number < %(before)s"""
# A property that is there under its old and its new name keeps both: nothing is lost.
CHANGE_TIES: LiteralString = f"""
UPDATE kb.hidden_relationship_claims h
SET type = coalesce(%(new_type)s::text, h.type), schema_number = %(schema_number)s, properties = (
        SELECT coalesce(jsonb_object_agg(
                   CASE WHEN h.properties ? (%(renamed)s::jsonb ->> e.key) THEN e.key
                        ELSE coalesce(%(renamed)s::jsonb ->> e.key, e.key) END, e.value), '{{}}')
        FROM jsonb_each(h.properties) e WHERE e.key <> ALL(%(removed)s))
{_OLDER_TIES} AND (%(new_type)s::text IS NOT NULL OR h.properties ?| %(concerned)s)
"""
FORGET_TIES: LiteralString = f"DELETE FROM kb.hidden_relationship_claims h {_OLDER_TIES}"

OBJECTS_OF_TYPE: LiteralString = """
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
FORGET_CLAIMS: LiteralString = f"DELETE FROM kb.hidden_claims h {_OLDER_CLAIMS}"
# A newer relationship claim goes too if its chunk claims nothing else about the forgotten object any more.
FORGET_TIES_OF: LiteralString = """
DELETE FROM kb.hidden_relationship_claims h
WHERE h.project_id = %(project_id)s AND h.id IN (
    SELECT q.id FROM kb.hidden_relationship_claims q
    WHERE q.project_id = %(project_id)s AND q.said_source = ANY(%(said)s::uuid[])
      AND (q.schema_number < %(schema_number)s OR NOT EXISTS (
        SELECT FROM kb.hidden_claims s
        WHERE s.project_id = %(project_id)s AND s.chunk_id = q.chunk_id AND s.said_of = q.said_source))
    UNION
    SELECT q.id FROM kb.hidden_relationship_claims q
    WHERE q.project_id = %(project_id)s AND q.said_target = ANY(%(said)s::uuid[])
      AND (q.schema_number < %(schema_number)s OR NOT EXISTS (
        SELECT FROM kb.hidden_claims s
        WHERE s.project_id = %(project_id)s AND s.chunk_id = q.chunk_id AND s.said_of = q.said_target)))
"""

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
WITH hidden AS (UPDATE kb.hidden_claims h SET schema_number = %(schema_number)s {_OLDER_CLAIMS})
UPDATE kb.object_provenance h SET schema_number = %(schema_number)s {_OLDER_CLAIMS}
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
REASSIGN_SOURCES: LiteralString = """
UPDATE kb.hidden_relationship_claims h SET said_source = %(new_id)s
WHERE h.project_id = %(project_id)s AND h.said_source = %(old_id)s
"""
REASSIGN_TARGETS: LiteralString = """
UPDATE kb.hidden_relationship_claims h SET said_target = %(new_id)s
WHERE h.project_id = %(project_id)s AND h.said_target = %(old_id)s
"""
END_MERGE: LiteralString = """
DELETE FROM kb.object_merges m WHERE m.project_id = %(project_id)s AND m.dropped_id = %(old_id)s
"""
FOLLOW: LiteralString = """
UPDATE kb.object_merges m
SET object_id = %(object_id)s, into_id = CASE WHEN m.into_id = %(old_id)s THEN %(new_id)s ELSE m.into_id END
WHERE m.project_id = %(project_id)s AND m.object_id = %(old_id)s
"""

_OF_CHUNK: LiteralString = """
SET schema_number = %(schema_number)s
WHERE project_id = %(project_id)s AND chunk_id = %(chunk_id)s
  AND schema_number BETWEEN %(since)s AND %(schema_number)s"""
RENEW_CHUNK: LiteralString = f"""
WITH hidden AS (UPDATE kb.hidden_claims {_OF_CHUNK}),
     ties AS (UPDATE kb.relationship_provenance {_OF_CHUNK}),
     hidden_ties AS (UPDATE kb.hidden_relationship_claims {_OF_CHUNK})
UPDATE kb.object_provenance {_OF_CHUNK}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyMove:
    """A property that is renamed, or removed where there is no new name."""

    type: str
    """The type of objects that has it, by its older name."""
    name: str
    new_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipMove:
    """A type of relationships that is renamed, or whose properties are renamed or removed."""

    type: str
    new_type: str | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Old names of its properties to new ones."""
    removed: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipRemoval:
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeMove:
    """A type of objects that is renamed.

    An object whose name an object of the new type has already becomes that object.
    """

    type: str
    new_type: str
    again: int | None = None
    """A later schema that has a type of the old name: objects with claims since then stay as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeRemoval:
    """A type of objects that is removed. An object without newer claims is deleted."""

    type: str


Move: TypeAlias = PropertyMove | RelationshipMove | RelationshipRemoval | TypeMove | TypeRemoval


class SchemaMoves:
    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    async def apply(self, project_id: UUID, move: Move, *, schema_number: int) -> int:
        """Applies a move of this schema to the claims of older ones; returns the number of objects it concerned."""
        if isinstance(move, TypeMove):
            return await self._rename_type(project_id, move, schema_number)
        if isinstance(move, PropertyMove):
            attempt = partial(_move_property, project_id, move, schema_number)
        elif isinstance(move, TypeRemoval):
            attempt = partial(_remove_type, project_id, move, schema_number)
        else:
            attempt = partial(_move_relationships, project_id, move, schema_number)
        return await self._retry(attempt)

    async def count_as_read(self, read: Extraction, *, since: int) -> None:
        """What the chunk gave under the schema `since`, or was renamed since then, counts as given under that of `read`."""
        params = {"project_id": read.project_id, "chunk_id": read.chunk_id}

        async def mentioned(queries: Queries) -> set[UUID]:
            rows = await queries.all(MENTIONED, {"project_id": read.project_id, "ids": [read.chunk_id]})
            return {row[0] for row in rows}

        async def attempt(tx: Queries) -> None:
            await keep_chunk(tx, read.project_id, read.chunk_id)
            await lock_in_order(tx, read.project_id, Wanted(objects=mentioned))
            await tx.run(RENEW_CHUNK, {**params, "schema_number": read.schema_number, "since": since})
            await tx.run(*ledger.put(read))

        await retry_races(self._queries, attempt)

    async def _rename_type(self, project_id: UUID, move: TypeMove, schema_number: int) -> int:
        params = {
            "project_id": project_id,
            "type": move.type,
            "new_type": move.new_type,
            "again": move.again,
            "schema_number": schema_number,
        }
        await self._retry(partial(_retype_tombstones, params))
        renamed = await self._retry(partial(_retype_without_namesakes, params))
        taken = await self._queries.all(WITH_NAMESAKE, params)
        for row in taken:
            await self._retry(partial(unite_with_namesakes, params, row[0]))
        return renamed + len(taken)

    async def _retry(self, attempt: Callable[[Queries], Awaitable[int]]) -> int:
        """A move may concern every claim of a project: its statements may take longer than those of a request."""

        async def patiently(tx: Queries) -> int:
            await tx.run("SET LOCAL statement_timeout = '10min'")
            return await attempt(tx)

        return await retry_races(self._queries, patiently)


async def _move_property(project_id: UUID, move: PropertyMove, schema_number: int, tx: Queries) -> int:
    """If a chunk has claims under both names, the newer one is shown and the other hidden."""
    if move.name == NAME:
        raise BadInput("The name of an object cannot be renamed or removed", details={"field": "property"})
    older = {
        "project_id": project_id,
        "type": move.type,
        "property_name": move.name,
        "new_name": move.new_name,
        "schema_number": schema_number,
    }
    scope = Scope(properties=[name for name in (move.name, move.new_name) if name], types=())

    async def find(queries: Queries) -> set[UUID]:
        return {row[0] for row in await queries.all(OBJECTS_WITH_PROPERTY, older)}

    async def chunks(queries: Queries) -> set[UUID]:
        said = uuids(await members(queries, project_id, await find(queries)))
        return await wanted.chunks(queries) | await silent_chunks(queries, {**older, "said": said})

    wanted = want_groups(project_id, find, scope=scope)
    await lock_in_order(tx, project_id, wanted if move.new_name else replace(wanted, chunks=chunks))
    ids = await find(tx)
    said = await members(tx, project_id, ids)
    params = {**older, "said": uuids(said)}
    await hide(tx, project_id, said, scope)
    await tx.run(RENAME_PROPERTY if move.new_name else FORGET_PROPERTY, params)
    await show(tx, project_id, said, scope)
    if move.new_name is None:
        await name_silent(tx, params)
    await settle(tx, project_id, ids, scope)
    return len(ids)


async def _move_relationships(
    project_id: UUID, move: RelationshipMove | RelationshipRemoval, schema_number: int, tx: Queries
) -> int:
    new_type = move.new_type if isinstance(move, RelationshipMove) else None
    params: dict[str, Any] = {
        "project_id": project_id,
        "type": move.type,
        "new_type": new_type,
        "schema_number": schema_number,
        # A claim whose properties this schema has changed already still has the old type.
        "before": schema_number + 1 if new_type else schema_number,
    }
    scope = Scope(properties=(), types=[name for name in (move.type, new_type) if name])

    async def find(queries: Queries) -> set[UUID]:
        return {end for row in await queries.all(ENDS_OF_TYPE, params) for end in row}

    await lock_in_order(tx, project_id, want_groups(project_id, find, scope=scope))
    ids = await find(tx)
    said = await members(tx, project_id, ids)
    params["said"] = uuids(said)
    await hide(tx, project_id, said, scope)
    if isinstance(move, RelationshipMove):
        await tx.run(CHANGE_TIES, {**params, **_property_changes(move)})
    else:
        await tx.run(FORGET_TIES, params)
    await show(tx, project_id, said, scope)
    await settle(tx, project_id, ids, scope)
    return len(ids)


def _property_changes(move: RelationshipMove) -> dict[str, Any]:
    return {
        "renamed": Jsonb(dict(move.renamed)),
        "removed": list(move.removed),
        "concerned": [*move.renamed, *move.removed],
    }


async def _remove_type(project_id: UUID, move: TypeRemoval, schema_number: int, tx: Queries) -> int:
    params = {"project_id": project_id, "type": move.type, "schema_number": schema_number}

    async def find(queries: Queries) -> set[UUID]:
        return {row[0] for row in await queries.all(OBJECTS_OF_TYPE, params)}

    wanted = want_groups(project_id, find, tombstones=lambda queries: tombstones.older(queries, params))
    await lock_in_order(tx, project_id, wanted)
    await tombstones.forget_older(tx, params)
    ids = await find(tx)
    said = await members(tx, project_id, ids)
    older = {**params, "said": uuids(said)}
    await hide(tx, project_id, said)
    await tx.run(FORGET_CLAIMS, older)
    await tx.run(FORGET_TIES_OF, older)
    await show(tx, project_id, said)
    await name_unnamed(tx, project_id, ids)
    await settle(tx, project_id, ids)
    return len(ids)


async def _retype_tombstones(params: Params, tx: Queries) -> int:
    async def find(queries: Queries) -> set[UUID]:
        return await tombstones.to_be_retyped(queries, params)

    wanted = Wanted(types=(params["type"], params["new_type"]), tombstones=find)
    await lock_in_order(tx, params["project_id"], wanted)
    await tombstones.retype(tx, params)
    return 0


async def _retype_without_namesakes(params: Params, tx: Queries) -> int:
    """No claim changes its object here, so only the schema number is updated."""
    project_id = params["project_id"]

    async def find(queries: Queries) -> set[UUID]:
        return {row[0] for row in await queries.all(WITHOUT_NAMESAKE, params)}

    wanted = Wanted(types=(params["type"], params["new_type"]), objects=find)
    ids = (await lock_in_order(tx, project_id, wanted)).found
    said = await members(tx, project_id, ids)
    await tx.run(RETYPE, {**params, "ids": uuids(ids), "now": now()})
    await tx.run(RETYPE_MERGES, {**params, "ids": uuids(ids)})
    await tx.run(RENEW, {**params, "said": uuids(said)})
    return len(ids)


async def unite_with_namesakes(params: Params, object_id: UUID, tx: Queries) -> int:
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
        for statement in (
            FORGET_TIES_BETWEEN,
            REASSIGN_CLAIMS,
            REASSIGN_SOURCES,
            REASSIGN_TARGETS,
            END_MERGE,
        ):
            await tx.run(statement, {"project_id": project_id, "old_id": old_id, "new_id": new_id})
    left = await _retype_or_drop(tx, params, object_id, namesakes)
    await show(tx, project_id, await members(tx, project_id, left))
    await name_unnamed(tx, project_id, left)
    await settle(tx, project_id, left)
    return 1


async def _retype_or_drop(
    tx: Queries, params: Params, object_id: UUID, namesakes: Mapping[UUID, tuple[UUID, UUID]]
) -> set[UUID]:
    """Returns the objects that are left. Objects merged into a dropped one are merged into its namesake."""
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
