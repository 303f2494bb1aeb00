"""How claims move between objects: hide them, edit them, show them again.

Every claim keeps the object that its chunk named (`said_of`, `said_source`, `said_target`). The object that has the claim is that
one, or the one it was merged into. A chunk may make several claims about one property of an object: about two objects that were
merged, or under two names of a property. The newest is shown (`kb.object_provenance`), the others are hidden (`kb.hidden_claims`).
Relationships work the same way.

A merge, its undo and every schema change do the same four things, under the locks of `want_groups`:

1. `hide` moves the claims about some objects to the hidden tables;
2. the operation edits them there, where no constraint is in its way, or edits the merges;
3. `show` gives each claim to the object that has it now, and shows the newest of each chunk;
4. `settle` updates the current values and deletes objects and relationships without claims.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

from whence.models import now
from whence.store.graph import claims
from whence.store.graph.claims import COLUMNS, TIE_COLUMNS
from whence.store.graph.locks import Find, WantedLocks, find_nothing, select_ids
from whence.store.pool import Queries, records, uuids

_ABOUT: LiteralString = """said_of = ANY(%(said)s::uuid[])
      AND (%(properties)s::text[] IS NULL OR property_name = ANY(%(properties)s))"""
MEMBERS: LiteralString = """
SELECT o.id FROM kb.graph_objects o WHERE o.project_id = %(project_id)s AND o.id = ANY(%(ids)s::uuid[])
UNION
SELECT m.dropped_id FROM kb.object_merges m WHERE m.project_id = %(project_id)s AND m.object_id = ANY(%(ids)s::uuid[])
"""


def _find_ties(table: LiteralString) -> LiteralString:
    """Claims of relationships with one of the objects as an end. A union, because OR would not use the indexes."""
    return f"""
        SELECT q.id FROM {table} q WHERE q.project_id = %(project_id)s AND q.said_source = ANY(%(said)s::uuid[])
        UNION
        SELECT q.id FROM {table} q WHERE q.project_id = %(project_id)s AND q.said_target = ANY(%(said)s::uuid[])"""


_TIE_IDS: LiteralString = _find_ties("kb.relationship_provenance")
_HIDDEN_TIE_IDS: LiteralString = _find_ties("kb.hidden_relationship_claims")
_HIDDEN_TIES: LiteralString = f"""
    SELECT h.type, h.said_source, h.said_target, h.chunk_id FROM kb.hidden_relationship_claims h
    WHERE h.project_id = %(project_id)s AND h.id IN ({_HIDDEN_TIE_IDS})"""
_TIES: LiteralString = f"""
    SELECT r.type, p.said_source, p.said_target, p.chunk_id FROM kb.relationship_provenance p
    JOIN kb.relationships r ON r.project_id = %(project_id)s AND r.id = p.relationship_id
    WHERE p.project_id = %(project_id)s AND p.id IN ({_TIE_IDS})
    UNION {_HIDDEN_TIES}"""
_OF_TYPES: LiteralString = "(%(types)s::text[] IS NULL OR e.type = ANY(%(types)s))"
CHUNKS: LiteralString = f"""
SELECT chunk_id FROM kb.object_provenance WHERE project_id = %(project_id)s AND {_ABOUT}
UNION
SELECT chunk_id FROM kb.hidden_claims WHERE project_id = %(project_id)s AND {_ABOUT}
UNION
SELECT e.chunk_id FROM ({_TIES}) e WHERE {_OF_TYPES}
"""
# The objects that have the relationships now, and whether one is of an object to itself.
_ENDS: LiteralString = f"""
LEFT JOIN kb.object_merges a ON a.project_id = %(project_id)s AND a.dropped_id = e.said_source
LEFT JOIN kb.object_merges b ON b.project_id = %(project_id)s AND b.dropped_id = e.said_target
JOIN kb.graph_objects s ON s.project_id = %(project_id)s AND s.id = coalesce(a.object_id, e.said_source)
JOIN kb.graph_objects t ON t.project_id = %(project_id)s AND t.id = coalesce(b.object_id, e.said_target)
WHERE {_OF_TYPES}"""
ENDS: LiteralString = f"SELECT DISTINCT s.id, t.id FROM ({_TIES}) e {_ENDS}"
HIDDEN_ENDS: LiteralString = f"""
SELECT DISTINCT e.type, s.id, t.id FROM ({_HIDDEN_TIES}) e {_ENDS} AND (s.id <> t.id OR e.said_source = e.said_target)
"""
HIDE_CLAIMS: LiteralString = f"""
WITH taken AS (
    DELETE FROM kb.object_provenance WHERE project_id = %(project_id)s AND {_ABOUT} RETURNING *
)
INSERT INTO kb.hidden_claims ({COLUMNS}) SELECT {COLUMNS} FROM taken
"""
# Shows the newest claim of a chunk about a property. Of two names, shows the object's own.
SHOW_CLAIMS: LiteralString = f"""
WITH placed AS (
    SELECT h.*, coalesce(m.object_id, h.said_of) AS object_id, row_number() OVER (
               PARTITION BY coalesce(m.object_id, h.said_of), h.chunk_id, h.property_name
               ORDER BY (h.property_name = 'name' AND m.object_id IS NULL) DESC,
                        h.extracted_at DESC, h.id DESC) AS place
    FROM (SELECT * FROM kb.hidden_claims WHERE project_id = %(project_id)s AND {_ABOUT}) h
    LEFT JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.dropped_id = h.said_of
), taken AS (
    DELETE FROM kb.hidden_claims h USING placed p
    WHERE h.project_id = %(project_id)s AND h.id = p.id AND p.place = 1
)
INSERT INTO kb.object_provenance ({COLUMNS}, object_id) SELECT {COLUMNS}, object_id FROM placed WHERE place = 1
"""
HIDE_TIES: LiteralString = f"""
WITH taken AS (
    DELETE FROM kb.relationship_provenance p USING kb.relationships e
    WHERE p.project_id = %(project_id)s AND p.id IN ({_TIE_IDS})
      AND e.project_id = %(project_id)s AND e.id = p.relationship_id AND {_OF_TYPES}
    RETURNING p.*, e.type
)
INSERT INTO kb.hidden_relationship_claims ({TIE_COLUMNS}, type) SELECT {TIE_COLUMNS}, type FROM taken
"""
# A relationship between two objects that were merged into one would connect it with itself. It stays hidden.
SHOW_TIES: LiteralString = f"""
WITH placed AS (
    SELECT e.*, r.id AS relationship_id, row_number() OVER (
               PARTITION BY r.id, e.chunk_id ORDER BY e.extracted_at DESC, e.id DESC) AS place
    FROM kb.hidden_relationship_claims e
    LEFT JOIN kb.object_merges a ON a.project_id = %(project_id)s AND a.dropped_id = e.said_source
    LEFT JOIN kb.object_merges b ON b.project_id = %(project_id)s AND b.dropped_id = e.said_target
    JOIN kb.relationships r
      ON r.project_id = %(project_id)s AND r.type = e.type
     AND r.source_id = coalesce(a.object_id, e.said_source)
     AND r.target_id = coalesce(b.object_id, e.said_target)
     AND (r.source_id <> r.target_id OR e.said_source = e.said_target)
    WHERE e.project_id = %(project_id)s AND e.id IN ({_HIDDEN_TIE_IDS}) AND {_OF_TYPES}
), taken AS (
    DELETE FROM kb.hidden_relationship_claims h USING placed p
    WHERE h.project_id = %(project_id)s AND h.id = p.id AND p.place = 1
)
INSERT INTO kb.relationship_provenance ({TIE_COLUMNS}, relationship_id)
SELECT {TIE_COLUMNS}, relationship_id FROM placed WHERE place = 1
"""
RELATIONSHIPS_OF: LiteralString = f"""
SELECT e.id FROM kb.relationships e
WHERE e.project_id = %(project_id)s AND e.source_id = ANY(%(ids)s::uuid[]) AND {_OF_TYPES}
UNION
SELECT e.id FROM kb.relationships e
WHERE e.project_id = %(project_id)s AND e.target_id = ANY(%(ids)s::uuid[]) AND {_OF_TYPES}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Restricts which claims about the objects move. None means all of them."""

    properties: Sequence[str] | None = None
    types: Sequence[str] | None = None
    """Types of relationships."""

    def params(self, project_id: UUID, said: Iterable[UUID]) -> dict[str, Any]:
        return {
            "project_id": project_id,
            "said": uuids(said),
            "properties": None if self.properties is None else list(self.properties),
            "types": None if self.types is None else list(self.types),
        }


EVERYTHING = Scope()


async def hide(tx: Queries, project_id: UUID, said: Collection[UUID], scope: Scope = EVERYTHING) -> None:
    params = scope.params(project_id, said)
    await tx.run(HIDE_CLAIMS, params)
    await tx.run(HIDE_TIES, params)


async def show(tx: Queries, project_id: UUID, said: Collection[UUID], scope: Scope = EVERYTHING) -> None:
    """Shows hidden claims again. Creates missing relationships between the objects that now have the claims."""
    params = scope.params(project_id, said)
    await tx.run(SHOW_CLAIMS, params)
    made = [
        claims.made_of(source, kind, target) for kind, source, target in await tx.all(HIDDEN_ENDS, params)
    ]
    await tx.run(claims.PUT_RELATIONSHIPS, {"project_id": project_id, "now": now(), "given": records(made)})
    await tx.run(SHOW_TIES, params)


async def settle(tx: Queries, project_id: UUID, ids: Collection[UUID], scope: Scope = EVERYTHING) -> None:
    """Updates the current values of objects and of their relationships; deletes those without claims."""
    ties = await tx.column(RELATIONSHIPS_OF, {**scope.params(project_id, ()), "ids": uuids(ids)})
    await tx.together(claims.settle(project_id, ids, ties))


async def members(queries: Queries, project_id: UUID, ids: Iterable[UUID]) -> list[UUID]:
    """The objects themselves and everything merged into them."""
    return await queries.column(MEMBERS, {"project_id": project_id, "ids": uuids(ids)})


def want_groups(
    project_id: UUID,
    find: Find,
    *,
    scope: Scope = EVERYTHING,
    types: Collection[str] = (),
    tombstones: Find = find_nothing,
) -> WantedLocks:
    """The locks for moving claims: the objects, the other ends of their relationships, and the chunks of the moved claims."""

    async def params(queries: Queries) -> dict[str, Any]:
        return scope.params(project_id, await members(queries, project_id, await find(queries)))

    async def chunks(queries: Queries) -> set[UUID]:
        return await select_ids(CHUNKS, await params(queries), queries)

    async def objects(queries: Queries) -> set[UUID]:
        rows = await queries.all(ENDS, await params(queries))
        return await find(queries) | {end for row in rows for end in row}

    return WantedLocks(chunks=chunks, types=types, tombstones=tombstones, objects=objects)
