"""Row locks of the graph: which rows an operation locks, and in which order.

A claim, a relationship and the current values of an object change only while the rows of all objects they concern are locked.
`lock_in_order` is the only function that takes these locks. It takes them in one order, so no two operations wait for each other:

1. chunks, by id: `FOR UPDATE` if they are about to be deleted, `FOR KEY SHARE` if they must stay because claims refer to them;
2. names, by type: an advisory lock for each type. An operation that creates an object shares it. An operation that names merged objects
   takes it exclusively, because no unique index covers the names of objects and merged objects together;
3. tombstones (`kb.remembered_objects`), by id;
4. new objects, inserted in the order of type and name: the unique index makes a second writer of a name wait;
5. objects, by id, `FOR UPDATE`.

Rows are looked up before they are locked, so each operation looks them up again afterwards. If there are more by then, it gives
back its locks and starts again (`retry_races`). It goes on with the second list: the first may hold rows that no longer qualify.
Claims move only in `claim_moves`, and only to an object that is locked or that the same transaction has inserted.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import LiteralString, TypeVar
from uuid import UUID

import psycopg

from whence.errors import Conflict
from whence.models import ObjectKey, new_id, now
from whence.store.graph.claims import storable
from whence.store.pool import BoundStatement, Deadlocked, Params, Queries, Row, records, uuids

_CHUNKS: LiteralString = """
SELECT c.id FROM kb.chunks c
WHERE c.project_id = %(project_id)s AND c.id = ANY(%(ids)s::uuid[])
ORDER BY c.id FOR"""
LOCK_REMOVED_CHUNKS: LiteralString = f"{_CHUNKS} UPDATE"
KEEP_CHUNKS: LiteralString = f"{_CHUNKS} KEY SHARE"
EXCLUDE_FROM_NAMES: LiteralString = """
SELECT pg_advisory_xact_lock(k.key)
FROM (SELECT DISTINCT hashtextextended(concat(%(project_id)s::uuid, ' ', type), 0) AS key
      FROM unnest(%(types)s::text[]) AS t (type)) k
ORDER BY k.key
"""
# A tombstone is restored together with the objects that were merged into it. No unique index covers their names and those of objects
# together, so this needs the exclusive lock. Returns whether it was taken, because new tombstones may appear until then.
SHARE_NAMES: LiteralString = """
WITH named AS (
    SELECT DISTINCT g.object_id
    FROM json_to_recordset(%(new)s::json) AS n (type text, name_key text)
    JOIN kb.remembered_objects g ON g.project_id = %(project_id)s AND g.type = n.type AND g.name_key = n.name_key
), merged AS (
    SELECT DISTINCT g.type FROM named
    JOIN kb.remembered_objects g ON g.project_id = %(project_id)s AND g.object_id = named.object_id
    WHERE g.id <> g.object_id
), wanted AS (
    SELECT t.type, hashtextextended(concat(%(project_id)s::uuid, ' ', t.type), 0) AS key, bool_or(t.is_exclusive) AS is_exclusive
    FROM (SELECT n.type, false AS is_exclusive FROM json_to_recordset(%(new)s::json) AS n (type text)
          UNION
          SELECT type, true FROM merged) t
    GROUP BY t.type
)
SELECT w.type, w.is_exclusive, CASE WHEN w.is_exclusive THEN pg_advisory_xact_lock(w.key)
                                    ELSE pg_advisory_xact_lock_shared(w.key) END
FROM wanted w ORDER BY w.key
"""
LOCK_TOMBSTONES: LiteralString = """
SELECT g.id FROM kb.remembered_objects g
WHERE g.project_id = %(project_id)s AND g.id = ANY(%(ids)s::uuid[])
ORDER BY g.id FOR UPDATE
"""


def _is_free(named: LiteralString) -> LiteralString:
    """Whether neither an object nor a merged object has the type and the name of this row."""
    return f"""NOT EXISTS (
        SELECT FROM kb.graph_objects o
        WHERE o.project_id = %(project_id)s AND o.type = {named}.type AND o.name_key = {named}.name_key)
      AND NOT EXISTS (
        SELECT FROM kb.object_merges m
        WHERE m.project_id = %(project_id)s AND m.type = {named}.type AND m.name_key = {named}.name_key)"""


# Restores tombstones with one of the names, together with everything that was merged into them, and creates objects for the other names. If
# another transaction is restoring the tombstone, this does nothing, and the names resolve to the rows which that transaction inserts. A
# tombstone whose name is in use stays: its type was renamed since.
INSERT: LiteralString = f"""
WITH wanted AS (
    SELECT n.* FROM json_to_recordset(%(new)s::json) AS n (id uuid, type text, name text, name_key text)
    WHERE {_is_free("n")}
), known AS (
    SELECT n.id, k.id AS object_id
    FROM wanted n
    JOIN kb.remembered_objects g ON g.project_id = %(project_id)s AND g.type = n.type AND g.name_key = n.name_key
    JOIN kb.remembered_objects k ON k.project_id = %(project_id)s AND k.id = g.object_id
    WHERE {_is_free("k")}
), back AS (
    SELECT g.* FROM kb.remembered_objects g
    WHERE g.project_id = %(project_id)s AND g.object_id IN (SELECT object_id FROM known)
    ORDER BY g.id FOR UPDATE
), forgotten AS (
    DELETE FROM kb.remembered_objects g USING back b WHERE g.project_id = %(project_id)s AND g.id = b.id
), made AS (
    INSERT INTO kb.graph_objects (project_id, id, type, name, name_key, properties, created_at, updated_at)
    SELECT %(project_id)s, o.id, o.type, o.name, o.name_key, '{{}}', o.created_at, %(now)s
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
    WHERE b.id <> b.object_id AND {_is_free("b")}
    RETURNING dropped_id, type
)
SELECT id, NULL FROM made
UNION ALL
SELECT dropped_id, type FROM merged
"""
# The object that has the claims about a name, and the object with that name. They differ after a merge.
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
LOCK_OBJECTS: LiteralString = """
SELECT o.id, o.name FROM kb.graph_objects o
WHERE o.project_id = %(project_id)s AND o.id = ANY(%(ids)s::uuid[])
ORDER BY o.id FOR UPDATE
"""

T = TypeVar("T")
Find = Callable[[Queries], Awaitable[set[UUID]]]

_ATTEMPTS = 20
"""An attempt fails only when another operation on the same objects commits in between."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.5
"""Upper bounds of the random pause between two attempts, in seconds."""


class Contended(Conflict):
    """Others keep changing the same objects; try again later"""

    permanent = False


class Changed(Contended):
    """An object was deleted, merged or renamed before its row was locked; try again"""


async def find_nothing(_queries: Queries) -> set[UUID]:
    return set()


def find_these(*ids: UUID) -> Find:
    async def find(_queries: Queries) -> set[UUID]:
        return set(ids)

    return find


async def select_ids(statement: LiteralString, params: Params, queries: Queries) -> set[UUID]:
    """A `Find` once its first two arguments are bound."""
    return {row[0] for row in await queries.all(statement, params)}


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedLocks:
    """The rows an operation locks. Each `Find` looks up ids and is called once before its rows are locked and once after."""

    removed: Find = find_nothing
    """Chunks that are about to be deleted."""
    chunks: Find = find_nothing
    """Chunks that must not be deleted meanwhile."""
    types: Collection[str] = ()
    """Types whose names no other operation may use meanwhile."""
    tombstones: Find = find_nothing
    new: Mapping[ObjectKey, str] = field(default_factory=dict)
    """Objects that are created where there are none, with their names."""
    known: Collection[UUID | ObjectKey] = ()
    """Objects by id or key; those that do not exist are skipped."""
    objects: Find = find_nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedObjects:
    """Objects whose rows are locked until the transaction ends."""

    found: set[UUID]
    """The ids that `WantedLocks.objects` finds now that the rows are locked. Objects that no longer qualify are not among them."""
    names: Mapping[UUID, str]
    """The name of each locked object."""
    resolved: "Resolved"
    created: frozenset[UUID]
    """Objects that this transaction inserted: new ones and tombstones that came back."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The objects behind keys and ids, as one statement sees them."""

    of_key: dict[ObjectKey, tuple[UUID, UUID]] = field(default_factory=dict)
    """By key: the object that has its claims, and the object it names. They differ after a merge."""
    of_id: dict[UUID, UUID] = field(default_factory=dict)
    """The object that has the claims about an id. Ids of deleted objects are left out."""

    @classmethod
    def from_rows(cls, by_key: Sequence[Row], by_id: Sequence[Row]) -> "Resolved":
        """If a key belongs to both an object and a merged object, it resolves to the merged one."""
        return cls({(row[0], row[1]): (row[2], row[3]) for row in by_key}, {row[0]: row[1] for row in by_id})

    @property
    def holders(self) -> set[UUID]:
        return {holder for holder, _ in self.of_key.values()} | set(self.of_id.values())

    @property
    def goes_through_merges(self) -> bool:
        return any(holder != meant for holder, meant in (*self.of_key.values(), *self.of_id.items()))


async def retry_races(queries: Queries, attempt: Callable[[Queries], Awaitable[T]]) -> T:
    """Run an attempt in a transaction until it loses no race. Raises `Contended` (409) after twenty lost races.

    A failed attempt gives back its locks: to lock a further row while holding those behind it would break the order. The random
    pause grows with every attempt, so that fewer and fewer operations compete for the same objects.
    """
    for lost in range(_ATTEMPTS):
        try:
            async with queries.transaction() as tx:
                return await attempt(tx)
        except (Changed, Deadlocked, psycopg.errors.UniqueViolation) as exc:
            last: Exception = exc
        await asyncio.sleep(random.uniform(0, min(_FIRST_PAUSE * 2**lost, _LONGEST_PAUSE)))
    raise Contended from last


async def lock_in_order(tx: Queries, project_id: UUID, wanted: WantedLocks) -> LockedObjects:
    """One attempt to lock all wanted rows. Raises `Changed` if there are others to lock once these are locked."""
    removed, chunks = await wanted.removed(tx), await wanted.chunks(tx)
    await _lock(tx, LOCK_REMOVED_CHUNKS, project_id, removed)
    await _lock(tx, KEEP_CHUNKS, project_id, chunks)
    if wanted.types:
        await tx.all(EXCLUDE_FROM_NAMES, {"project_id": project_id, "types": list(wanted.types)})
    tombstones = await wanted.tombstones(tx)
    await _lock(tx, LOCK_TOMBSTONES, project_id, tombstones)
    created, resolved = await _insert_and_resolve(tx, project_id, wanted)
    objects = await wanted.objects(tx)
    rows = await _lock(tx, LOCK_OBJECTS, project_id, objects | resolved.holders)
    names: dict[UUID, str] = {row[0]: row[1] for row in rows}
    found = await wanted.objects(tx)
    is_complete = (
        found <= objects
        and await wanted.removed(tx) <= removed
        and await wanted.chunks(tx) <= chunks
        and await wanted.tombstones(tx) <= tombstones
        and resolved.holders <= names.keys()
        and await _is_still(tx, project_id, wanted, resolved)
    )
    if not is_complete:
        raise Changed
    return LockedObjects(found=found, names=names, resolved=resolved, created=frozenset(created))


async def _lock(tx: Queries, statement: LiteralString, project_id: UUID, ids: Collection[UUID]) -> list[Row]:
    return await tx.all(statement, {"project_id": project_id, "ids": uuids(ids)}) if ids else []


async def _insert_and_resolve(
    tx: Queries, project_id: UUID, wanted: WantedLocks
) -> tuple[set[UUID], Resolved]:
    """Creates the new objects and looks up all keys and ids, in one round trip."""
    if not wanted.new and not wanted.known:
        return set(), Resolved()
    given = [
        {"id": new_id(), "type": kind, "name": storable(name), "name_key": key}
        for (kind, key), name in sorted(wanted.new.items())
    ]
    params = {"project_id": project_id, "new": records(given), "now": now()}
    modes, inserted, *found = await tx.together(
        [(SHARE_NAMES, params), (INSERT, params), *_ask_for(project_id, wanted)]
    )
    created = {ident for ident, merged_type in inserted if merged_type is None}
    resolved = Resolved.from_rows(*found)
    merged_types = {merged_type for _, merged_type in inserted if merged_type is not None}
    exclusive_types = {kind for kind, is_exclusive, _ in modes if is_exclusive}
    # If a key does not resolve to the object just created for it, an object of that name was merged since the statement began.
    if not merged_types <= exclusive_types or not created <= resolved.holders:
        raise Changed
    if any(key not in resolved.of_key for key in wanted.new):
        raise Changed
    return created, resolved


async def _is_still(tx: Queries, project_id: UUID, wanted: WantedLocks, resolved: Resolved) -> bool:
    """False if a merge was undone before its object was locked."""
    if not resolved.goes_through_merges:
        return True
    return Resolved.from_rows(*await tx.together(_ask_for(project_id, wanted))) == resolved


def _ask_for(project_id: UUID, wanted: WantedLocks) -> list[BoundStatement]:
    keys = sorted({(key[0], key[1]) for key in (*wanted.new, *wanted.known) if not isinstance(key, UUID)})
    ids = [ident for ident in wanted.known if isinstance(ident, UUID)]
    named = records([{"type": kind, "name_key": name} for kind, name in keys])
    return [
        (RESOLVE_KEYS, {"project_id": project_id, "keys": named}),
        (RESOLVE_IDS, {"project_id": project_id, "ids": uuids(ids)}),
    ]
