"""Who may change an object: whoever holds its row.

A claim, a relationship and the current values of an object change only under the lock on the rows of all objects they are
about. Those that are remembered are taken first, in the order of their ids; new objects are inserted in the order of their
keys; then all rows are taken in the order of their ids: whoever does it in this order, once in a transaction, waits for nobody
who waits for him.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import LiteralString, TypeVar
from uuid import UUID

from whence.errors import WhenceError
from whence.store.graph.values import storable
from whence.store.pool import Asked, Deadlocked, Queries, Row, records, uuids
from whence.types import ObjectKey, new_id, now

# What was said of a merged object is said of the one it became part of.
RESOLVE_KEYS: LiteralString = """
SELECT o.type, o.name_key, o.id, o.id
FROM json_to_recordset(%(keys)s::json) AS k (type text, name_key text)
JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.type = k.type AND o.name_key = k.name_key
UNION ALL
SELECT m.type, m.name_key, m.object_id, m.dropped_id
FROM json_to_recordset(%(keys)s::json) AS k (type text, name_key text)
JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.type = k.type AND m.name_key = k.name_key
"""
RESOLVE_IDS: LiteralString = """
SELECT o.id, o.id FROM kb.graph_objects o WHERE o.project_id = %(project_id)s AND o.id = ANY(%(ids)s::uuid[])
UNION ALL
SELECT m.dropped_id, m.object_id FROM kb.object_merges m
WHERE m.project_id = %(project_id)s AND m.dropped_id = ANY(%(ids)s::uuid[])
"""
# Who is remembered under one of the names comes back, with all that was part of him; the others are new. Who is being brought back
# by somebody else at this moment is neither: then the names lead to whom he brings. What is remembered of a name that is in use,
# because its type was renamed since, stays where it is.
INSERT: LiteralString = """
WITH wanted AS (
    SELECT n.* FROM json_to_recordset(%(new)s::json) AS n (id uuid, type text, name text, name_key text)
    WHERE NOT EXISTS (
        SELECT FROM kb.graph_objects o
        WHERE o.project_id = %(project_id)s AND o.type = n.type AND o.name_key = n.name_key)
      AND NOT EXISTS (
        SELECT FROM kb.object_merges m
        WHERE m.project_id = %(project_id)s AND m.type = n.type AND m.name_key = n.name_key)
), known AS (
    SELECT n.id, k.id AS object_id
    FROM wanted n
    JOIN kb.remembered_objects g ON g.project_id = %(project_id)s AND g.type = n.type AND g.name_key = n.name_key
    JOIN kb.remembered_objects k ON k.project_id = %(project_id)s AND k.id = g.object_id
    WHERE NOT EXISTS (
        SELECT FROM kb.graph_objects o
        WHERE o.project_id = %(project_id)s AND o.type = k.type AND o.name_key = k.name_key)
      AND NOT EXISTS (
        SELECT FROM kb.object_merges m
        WHERE m.project_id = %(project_id)s AND m.type = k.type AND m.name_key = k.name_key)
), back AS (
    SELECT g.* FROM kb.remembered_objects g
    WHERE g.project_id = %(project_id)s AND g.object_id IN (SELECT object_id FROM known)
    ORDER BY g.id FOR UPDATE
), forgotten AS (
    DELETE FROM kb.remembered_objects g USING back b WHERE g.project_id = %(project_id)s AND g.id = b.id
), made AS (
    INSERT INTO kb.graph_objects (project_id, id, type, name, name_key, properties, created_at, updated_at)
    SELECT %(project_id)s, o.id, o.type, o.name, o.name_key, '{}', o.created_at, %(now)s
    FROM (
        SELECT b.id, b.type, b.name, b.name_key, b.created_at FROM back b WHERE b.id = b.object_id
        UNION ALL
        SELECT n.id, n.type, n.name, n.name_key, %(now)s FROM wanted n WHERE n.id NOT IN (SELECT id FROM known)) o
    ORDER BY o.type COLLATE "C", o.name_key COLLATE "C"
    ON CONFLICT (project_id, type, name_key) DO NOTHING
    RETURNING id
), merged AS (
    INSERT INTO kb.object_merges (project_id, id, object_id, into_id, dropped_id, type, name, name_key, created_at, merged_at)
    SELECT b.project_id, b.merge_id, b.object_id, b.into_id, b.id, b.type, b.name, b.name_key, b.created_at, b.merged_at
    FROM back b
    JOIN made o ON o.id = b.object_id
    WHERE b.id <> b.object_id
      AND NOT EXISTS (
        SELECT FROM kb.graph_objects o
        WHERE o.project_id = %(project_id)s AND o.type = b.type AND o.name_key = b.name_key)
      AND NOT EXISTS (
        SELECT FROM kb.object_merges m
        WHERE m.project_id = %(project_id)s AND m.type = b.type AND m.name_key = b.name_key)
)
SELECT id FROM made
"""
LOCK: LiteralString = """
SELECT o.id, o.name FROM kb.graph_objects o
WHERE o.project_id = %(project_id)s AND o.id = ANY(%(ids)s::uuid[])
ORDER BY o.id FOR UPDATE
"""
# They are not deleted meanwhile: whoever does that takes them first too.
LOCK_CHUNKS: LiteralString = """
SELECT c.id FROM kb.chunks c
WHERE c.project_id = %(project_id)s AND c.id = ANY(%(ids)s)
ORDER BY c.id FOR KEY SHARE
"""
LOCK_REMEMBERED: LiteralString = """
SELECT g.id FROM kb.remembered_objects g
WHERE g.project_id = %(project_id)s AND g.id = ANY(%(ids)s)
ORDER BY g.id FOR UPDATE
"""

T = TypeVar("T")
Find = Callable[[Queries], Awaitable[set[UUID]]]

_ATTEMPTS = 20
"""Each is lost only to a deletion or a merge that comes in between: many more of these than anybody makes."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.5
"""Seconds, at most, between two."""


class _Changed(WhenceError):
    """An object went away, or became part of another, before its row was held."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Objects whose rows are held until the transaction ends."""

    names: Mapping[UUID, str]
    """Of each held object."""
    of_key: Mapping[ObjectKey, tuple[UUID, UUID]]
    """The object that has the claims about a key, and the one that is meant: they differ after a merge."""
    of_id: Mapping[UUID, UUID]
    """The object that an id stands for now. One that there is not any more is not in it."""
    created: frozenset[UUID]
    """Those that came back among them."""


async def hold(
    queries: Queries, project_id: UUID, *, new: Mapping[ObjectKey, str], known: Iterable[UUID | ObjectKey]
) -> Held:
    """Inside a transaction: the objects of these keys, made with these names or remembered where there are none, and known ones."""
    wanted = set(known)
    if not new and not wanted:
        return Held(names={}, of_key={}, of_id={}, created=frozenset())
    return await _until_held(queries, lambda tx: _hold(tx, project_id, new, wanted))


async def hold_found(
    queries: Queries,
    project_id: UUID,
    *,
    objects: Find,
    chunks: Find | None = None,
    remembered: Find | None = None,
) -> set[UUID]:
    """Inside a transaction: the objects, and before them the chunks and those remembered, that are found, the same once they are held."""

    async def attempt(tx: Queries) -> set[UUID]:
        spoken = await chunks(tx) if chunks else set()
        if spoken:
            await tx.all(LOCK_CHUNKS, {"project_id": project_id, "ids": list(spoken)})
        gone = await remembered(tx) if remembered else set()
        if gone:
            await tx.all(LOCK_REMEMBERED, {"project_id": project_id, "ids": list(gone)})
        found = await objects(tx)
        await lock(tx, project_id, found)
        if not await objects(tx) <= found or (chunks and not await chunks(tx) <= spoken):
            raise _Changed
        if remembered and not await remembered(tx) <= gone:
            raise _Changed
        return found

    return await _until_held(queries, attempt)


async def _until_held(queries: Queries, attempt: Callable[[Queries], Awaitable[T]]) -> T:
    """Each attempt lets go of what it held when it fails: to take a row behind those held already would be out of order.

    Who lost waits a moment, longer each time: so of many that are after the same objects, ever fewer are. A type that is renamed
    takes names while its objects are held, which is the other way round: of two who wait for each other the database picks one.
    """
    for lost in range(_ATTEMPTS - 1):
        try:
            async with queries.transaction() as tx:
                return await attempt(tx)
        except (_Changed, Deadlocked):
            await asyncio.sleep(random.uniform(0, min(_FIRST_PAUSE * 2**lost, _LONGEST_PAUSE)))  # noqa: S311 - no secret
    return await attempt(queries)


async def lock(queries: Queries, project_id: UUID, ids: Iterable[UUID]) -> dict[UUID, str]:
    """Inside a transaction: the names of those that there are, whose rows are held from now on."""
    rows = await queries.all(LOCK, {"project_id": project_id, "ids": uuids(ids)})
    return {row[0]: row[1] for row in rows}


async def _hold(
    tx: Queries, project_id: UUID, new: Mapping[ObjectKey, str], known: set[UUID | ObjectKey]
) -> Held:
    keys = sorted({(key[0], key[1]) for key in (*new, *known) if not isinstance(key, UUID)})
    ids = [ident for ident in known if isinstance(ident, UUID)]
    inserted, *resolved = await tx.together(
        [_insert(project_id, {key: new[key] for key in keys if key in new}), *_resolve(project_id, keys, ids)]
    )
    created = frozenset(row[0] for row in inserted)
    of_key, of_id = _resolved(*resolved)
    wanted = {ident for ident, _ in of_key.values()} | set(of_id.values())
    names = await lock(tx, project_id, wanted)
    if len(names) < len(wanted) or not created <= wanted or any(key not in of_key for key in new):
        raise _Changed
    through_merges = any(one != said for one, said in (*of_key.values(), *of_id.items()))
    if through_merges and (of_key, of_id) != _resolved(*await tx.together(_resolve(project_id, keys, ids))):
        raise _Changed  # a merge was undone before its object was held
    return Held(names=names, of_key=of_key, of_id=of_id, created=created)


def _resolve(project_id: UUID, keys: Sequence[ObjectKey], ids: Sequence[UUID]) -> list[Asked]:
    named = records([{"type": kind, "name_key": name} for kind, name in keys])
    return [
        (RESOLVE_KEYS, {"project_id": project_id, "keys": named}),
        (RESOLVE_IDS, {"project_id": project_id, "ids": uuids(ids)}),
    ]


def _resolved(
    by_key: Sequence[Row], by_id: Sequence[Row]
) -> tuple[dict[ObjectKey, tuple[UUID, UUID]], dict[UUID, UUID]]:
    return {(row[0], row[1]): (row[2], row[3]) for row in by_key}, {row[0]: row[1] for row in by_id}


def _insert(project_id: UUID, new: Mapping[ObjectKey, str]) -> Asked:
    given = [
        {"id": new_id(), "type": kind, "name": storable(name), "name_key": key}
        for (kind, key), name in new.items()
    ]
    return INSERT, {"project_id": project_id, "new": records(given), "now": now()}
