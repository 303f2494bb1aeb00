"""Merges: a person says that two objects are one, and may undo that.

Every claim keeps the object that its chunk named. A merge changes which object has the claim; an undo restores it, also for claims added
after the merge. Merges can be undone in any order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString
from uuid import UUID

from whence.errors import BadInput, Conflict, MergeNotFound, ObjectNotFound
from whence.models import new_id, now
from whence.store.graph.claim_moves import hide, members, settle, show, want_groups
from whence.store.graph.locks import find_these, lock_in_order, retry_races
from whence.store.graph.names import name_unnamed
from whence.store.graph.objects import Objects, put_each_vector
from whence.store.pool import PagedQuery, Queries, Statements, reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """A user's merge of two objects."""

    project_id: UUID
    id: UUID
    kept_id: UUID
    """The object that now has the claims of both."""
    kept_name: str
    dropped_id: UUID
    dropped_type: str
    dropped_name: str
    merged_at: datetime


_COLUMNS: LiteralString = "m.project_id, m.id, m.object_id, o.name, m.dropped_id, m.type, m.name, m.merged_at"
_FROM: LiteralString = """
FROM kb.object_merges m JOIN kb.graph_objects o ON o.project_id = m.project_id AND o.id = m.object_id"""
SELECT_ONE: LiteralString = f"""
SELECT {_COLUMNS} {_FROM}
WHERE m.id = %(id)s::uuid AND (%(project_id)s::uuid IS NULL OR m.project_id = %(project_id)s)
"""
_merge_of = reader(Merge)
_MERGES = PagedQuery(
    _merge_of,
    _COLUMNS,
    f"""{_FROM}
WHERE m.project_id = %(project_id)s AND (%(object_id)s::uuid IS NULL OR m.object_id = %(object_id)s)""",
    "m.id DESC",
    is_after="m.id < %(after)s",
)
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
# A merge that was restored with its object has no vector, because the row that held it was deleted.
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


class Merges(Statements):
    async def get(self, merge_id: UUID, *, project_id: UUID | None = None) -> Merge:
        row = await self._queries.one(SELECT_ONE, {"id": merge_id, "project_id": project_id})
        if row is None:
            raise MergeNotFound(details={"merge_id": str(merge_id)})
        return _merge_of(row)

    async def page(
        self,
        project_id: UUID,
        *,
        object_id: UUID | None = None,
        limit: int,
        offset: int,
        after: UUID | None = None,
    ) -> tuple[list[Merge], int]:
        """Merges, newest first; with `object_id`, only merges into that object."""
        params = {"project_id": project_id, "object_id": object_id}
        return await self._queries.page(_MERGES, params, limit=limit, offset=offset, after=after)

    async def merge(self, project_id: UUID, *, keep_id: UUID, drop_id: UUID) -> Merge:
        """Gives the kept object all present and future claims about the dropped one."""
        if keep_id == drop_id:
            raise BadInput(
                "An object cannot be merged with itself",
                details={"field": "dropId", "provided": str(drop_id)},
            )
        return await retry_races(
            self._queries, lambda tx: _merge(tx, project_id, keep_id=keep_id, drop_id=drop_id)
        )

    async def undo(self, project_id: UUID, merge_id: UUID) -> Merge:
        """Gives both objects back the claims about them. Deletes an object without claims."""
        return await retry_races(self._queries, lambda tx: _undo(tx, project_id, merge_id))

    async def put_vectors(
        self, project_id: UUID, space_id: UUID, vectors: Mapping[UUID, Sequence[float]]
    ) -> None:
        """Stores vectors of merged objects that have none, for an undo. The objects that have their claims must be locked."""
        await put_each_vector(self._queries, PUT_VECTOR, project_id, space_id, vectors)


async def _merge(tx: Queries, project_id: UUID, *, keep_id: UUID, drop_id: UUID) -> Merge:
    await lock_in_order(tx, project_id, want_groups(project_id, find_these(keep_id, drop_id)))
    types = {found.id: found.type for found in await Objects(tx).many(project_id, (keep_id, drop_id))}
    for ident in (keep_id, drop_id):
        if ident not in types:
            raise ObjectNotFound(details={"object_id": str(ident)})
    # The schema decides by the type which properties and relationships are allowed.
    if types[keep_id] != types[drop_id]:
        raise Conflict(
            f"Only objects of the same type can be merged: these are {types[keep_id]} and {types[drop_id]}",
            details={"field": "dropId", "provided": types[drop_id], "expected": types[keep_id]},
        )
    params = {"project_id": project_id, "kept_id": keep_id, "dropped_id": drop_id}
    said = await members(tx, project_id, (keep_id, drop_id))
    merge_id = new_id()
    await hide(tx, project_id, said)
    await tx.run(RECORD, {**params, "id": merge_id, "now": now()})
    await tx.run(FOLLOW, params)
    await tx.run(DROP, params)
    await show(tx, project_id, said)
    await settle(tx, project_id, (keep_id,))
    return await Merges(tx).get(merge_id, project_id=project_id)


async def _undo(tx: Queries, project_id: UUID, merge_id: UUID) -> Merge:
    merges = Merges(tx)

    async def kept(_queries: Queries) -> set[UUID]:
        """The object that now has the claims; another merge may have moved them."""
        return {(await merges.get(merge_id, project_id=project_id)).kept_id}

    await lock_in_order(tx, project_id, want_groups(project_id, kept))
    merge = await merges.get(merge_id, project_id=project_id)
    params = {"project_id": project_id, "id": merge_id, "dropped_id": merge.dropped_id, "now": now()}
    said = await members(tx, project_id, (merge.kept_id,))
    await hide(tx, project_id, said)
    if not await tx.run(RESTORE, params):
        raise Conflict(
            f"Another {merge.dropped_type} is now called {merge.dropped_name}: the merge cannot be undone",
            details={"merge_id": str(merge_id), "name": merge.dropped_name},
        )
    await tx.run(RESTORE_VECTOR, params)
    await tx.run(LEAVE, params)
    await tx.run(FORGET, params)
    await show(tx, project_id, said)
    await name_unnamed(tx, project_id, (merge.kept_id, merge.dropped_id))
    await settle(tx, project_id, (merge.kept_id, merge.dropped_id))
    return merge
