"""Corrections by a person: set a value, reject claims, undo either.

Every correction is an entry of `kb.curations`, with its author and reason; entries are never deleted. A value that was set takes precedence
over all claims (`set_values`). A rejection takes claims out of the graph (`rejected_claims`). An undo is an entry of its own and can itself
be undone.

An operation locks its entry first, then the rows of `locks` in their order.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Literal, LiteralString
from uuid import UUID

from whence.errors import ClaimNotFound, Conflict, CurationNotFound, ObjectNotFound, RelationshipNotFound
from whence.models import ObjectKey, Word, new_id, now
from whence.store import grounds
from whence.store.graph import aliases, claims, rejected_claims, removal
from whence.store.graph.claim_moves import hide, members, settle, show, want_groups
from whence.store.graph.locks import (
    Changed,
    Find,
    WantedLocks,
    find_these,
    lock_in_order,
    retry_races,
    select_ids,
)
from whence.store.graph.names import NAME, name_silent, name_unnamed
from whence.store.graph.objects import Objects
from whence.store.graph.set_values import corrected_keys_of, is_replaced, keys_of
from whence.store.pool import PagedQuery, Params, Queries, Statements, reader, records, uuids
from whence.text.names import name_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Curation:
    """One correction by a person: a value, a rejection, or the undo of either."""

    project_id: UUID
    id: UUID
    action: Literal["set", "reject", "undo"]
    subject: Literal["object", "property", "claim", "relationship"]
    type: str
    """Type of the object, or of the source of the relationship; likewise the name."""
    name: str
    name_key: str
    property_name: str | None
    value: Any
    relationship_type: str | None
    target_type: str | None
    target_name: str | None
    undoes: UUID | None
    author: str
    reason: str | None
    created_at: datetime
    undone_at: datetime | None
    object_id: UUID | None
    """The object that now has the type and the name."""
    state: Literal["active", "waiting", "replaced", "undone"]
    """`waiting`: the value's object does not exist. `replaced`: a later correction takes precedence."""


_OBJECT_ID: LiteralString = """coalesce(
    (SELECT o.id FROM kb.graph_objects o
     WHERE o.project_id = w.project_id AND o.type = w.type AND o.name_key = w.name_key),
    (SELECT m.object_id FROM kb.object_merges m
     WHERE m.project_id = w.project_id AND m.type = w.type AND m.name_key = w.name_key))"""
# The names of the entry's object; the name in the entry while there is no object.
_KEYS: LiteralString = f"""{keys_of(_OBJECT_ID, "w.project_id")}
    UNION ALL SELECT w.type, w.name_key, w.created_at WHERE {_OBJECT_ID} IS NULL"""
_COLUMNS: LiteralString = f"""
    w.project_id, w.id, w.action, w.subject, w.type, w.name, w.name_key, w.property_name, w.value, w.relationship_type,
    w.target_type, w.target_name, w.undoes, w.author, w.reason, w.created_at, w.undone_at, {_OBJECT_ID},
    CASE WHEN w.undone_at IS NOT NULL THEN 'undone'
         WHEN w.action <> 'set' THEN 'active'
         WHEN {is_replaced(_KEYS)} THEN 'replaced'
         WHEN {_OBJECT_ID} IS NULL THEN 'waiting'
         ELSE 'active' END"""
_curation_of = reader(Curation)
SELECT_ONE: LiteralString = f"""
SELECT {_COLUMNS} FROM kb.curations w
WHERE w.id = %(id)s::uuid AND (%(project_id)s::uuid IS NULL OR w.project_id = %(project_id)s)
"""
_IN_PROJECT: LiteralString = "FROM kb.curations w WHERE w.project_id = %(project_id)s"
# Aliases survive the rejection of their object.
_NAMED: LiteralString = f"""
FROM kb.curations w
WHERE w.project_id = %(project_id)s AND (w.name_key = %(name_key)s OR w.subject_id IN (
    SELECT n.object_id FROM {aliases.NAMES} n WHERE n.alias_key = %(name_key)s))"""
_OF_OBJECT: LiteralString = f"""
FROM kb.curations w
WHERE w.project_id = %(project_id)s AND EXISTS (
    SELECT FROM {corrected_keys_of("%(object_id)s")} k
    WHERE (k.type, k.name_key) IN ((w.type, w.name_key), (w.target_type, w.target_key)))"""
RECORD: LiteralString = """
INSERT INTO kb.curations (project_id, id, action, subject, type, name, name_key, property_name, value, relationship_type,
                          target_type, target_name, target_key, author, reason, schema_number, created_at, subject_id)
SELECT %(project_id)s, %(id)s, %(action)s, %(subject)s, o.type, o.name, o.name_key, %(property_name)s, %(value)s::jsonb,
       %(relationship_type)s, e.type, e.name, e.name_key, %(author)s, %(reason)s, coalesce((
           SELECT max(p.schema_number) FROM kb.object_provenance p
           WHERE p.project_id = %(project_id)s AND p.object_id = o.id), 1), %(now)s, o.id
FROM kb.graph_objects o
LEFT JOIN kb.graph_objects e ON e.project_id = %(project_id)s AND e.id = %(target_id)s
WHERE o.project_id = %(project_id)s AND o.id = %(object_id)s
"""
# Repeats the subject of the undone entry, so that the undo can be read alone.
RECORD_UNDO: LiteralString = """
INSERT INTO kb.curations (project_id, id, action, subject, type, name, name_key, property_name, value, relationship_type,
                          target_type, target_name, target_key, undoes, author, reason, schema_number, created_at, subject_id)
SELECT project_id, %(id)s, 'undo', subject, type, name, name_key, property_name, value, relationship_type,
       target_type, target_name, target_key, %(undoes)s, %(author)s, %(reason)s, schema_number, %(now)s, subject_id
FROM kb.curations WHERE project_id = %(project_id)s AND id = %(undoes)s
"""
MARK: LiteralString = """
UPDATE kb.curations SET undone_at = %(undone_at)s
WHERE project_id = %(project_id)s AND id = %(id)s AND (undone_at IS NULL) = (%(undone_at)s::timestamptz IS NOT NULL)
"""
MARK_TEXTS: LiteralString = """
UPDATE kb.rejected_texts SET is_active = %(is_active)s WHERE project_id = %(project_id)s AND curation_id = %(curation_id)s
"""
CLAIM: LiteralString = """
SELECT p.property_name, p.value FROM (
    SELECT id, said_of, property_name, value FROM kb.object_provenance WHERE project_id = %(project_id)s AND id = %(claim_id)s
    UNION ALL
    SELECT id, said_of, property_name, value FROM kb.hidden_claims WHERE project_id = %(project_id)s AND id = %(claim_id)s) p
WHERE p.said_of = ANY(%(said)s::uuid[])
"""
HAS_PROPERTY: LiteralString = """
SELECT o.properties ? %(property_name)s OR EXISTS (
    SELECT FROM kb.object_provenance p
    WHERE p.project_id = %(project_id)s AND p.object_id = o.id AND p.property_name = %(property_name)s)
FROM kb.graph_objects o WHERE o.project_id = %(project_id)s AND o.id = %(object_id)s
"""
RELATIONSHIP: LiteralString = """
SELECT r.source_id, r.target_id, r.type FROM kb.relationships r WHERE r.project_id = %(project_id)s AND r.id = %(id)s
"""
HOLDERS: LiteralString = """
SELECT o.id FROM json_to_recordset(%(keys)s::json) AS k (type text, name_key text)
JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.type = k.type AND o.name_key = k.name_key
UNION
SELECT m.object_id FROM json_to_recordset(%(keys)s::json) AS k (type text, name_key text)
JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.type = k.type AND m.name_key = k.name_key
"""
# Objects whose claims were just rejected, each with the document of the newest claim. That document keeps the tombstone.
LOST: LiteralString = """
SELECT coalesce(m.object_id, r.said_of), (array_agg(c.document_id ORDER BY r.extracted_at DESC, r.id DESC))[1], max(r.schema_number)
FROM kb.rejected_claims r
JOIN kb.chunks c ON c.project_id = %(project_id)s AND c.id = r.chunk_id
LEFT JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.dropped_id = r.said_of
WHERE r.project_id = %(project_id)s AND r.said_of = ANY(%(said)s::uuid[])
GROUP BY 1
"""
# Deletes vectors from before a merge: they may contain values that are now rejected.
FORGET_MERGED_VECTORS: LiteralString = """
UPDATE kb.object_merges SET space_id = NULL, embedding = NULL
WHERE project_id = %(project_id)s AND object_id = ANY(%(ids)s::uuid[])
"""


class Curations(Statements):
    """Writes corrections. Objects whose values change lose their vectors and must be embedded again."""

    async def get(self, curation_id: UUID, *, project_id: UUID | None = None) -> Curation:
        row = await self._queries.one(SELECT_ONE, {"id": curation_id, "project_id": project_id})
        if row is None:
            raise CurationNotFound(details={"curation_id": str(curation_id)})
        return _curation_of(row)

    async def page(
        self,
        project_id: UUID,
        *,
        object_id: UUID | None = None,
        name: str | None = None,
        limit: int,
        offset: int,
        after: UUID | None = None,
    ) -> tuple[list[Curation], int]:
        """Corrections, newest first: of the project, of an object and its relationships, or of objects with this name or alias."""
        params = {"project_id": project_id, "object_id": object_id, "name_key": name and name_key(name)}
        source = _OF_OBJECT if object_id else _NAMED if name else _IN_PROJECT
        query = PagedQuery(_curation_of, _COLUMNS, source, "w.id DESC", is_after="w.id < %(after)s")
        return await self._queries.page(query, params, limit=limit, offset=offset, after=after)

    async def set(
        self, project_id: UUID, object_id: UUID, values: Mapping[str, Any], by: Word
    ) -> list[Curation]:
        """Sets properties. Writes one entry per property."""

        async def attempt(tx: Queries) -> list[UUID]:
            held = await lock_in_order(tx, project_id, WantedLocks(known=[object_id]))
            holder = held.resolved.of_id.get(object_id)
            what = [{"subject": "property", "property_name": name, "value": values[name]} for name in values]
            made = [await _record(tx, project_id, holder, by, action="set", **each) for each in what]
            await _settle(tx, project_id, held.resolved.holders)
            return made

        return [await self.get(each) for each in await retry_races(self._queries, attempt)]

    async def reject_object(self, project_id: UUID, object_id: UUID, by: Word) -> Curation:
        """Rejects all claims about the object and its relationships. The object is deleted."""
        return await self._reject(
            project_id, (object_id,), by, rejected_claims.TEXTS_OF_OBJECT, subject="object"
        )

    async def reject_property(
        self, project_id: UUID, object_id: UUID, property_name: str, by: Word
    ) -> Curation:
        """Rejects all claims about the property, of any value, and the value that a person set."""
        what = {"subject": "property", "property_name": property_name}
        asked = {"project_id": project_id, "object_id": object_id, **what}
        if property_name == NAME or not await self._queries.value(HAS_PROPERTY, asked):
            message = f"The object has no property {property_name!r} that can be rejected"
            raise ClaimNotFound(message, details={"property": property_name})
        return await self._reject(project_id, (object_id,), by, rejected_claims.TEXTS_OF_PROPERTY, **what)

    async def reject_claim(self, project_id: UUID, object_id: UUID, claim_id: UUID, by: Word) -> Curation:
        """Rejects one claim. With a claim of the name, all claims of its chunk about the object are rejected.

        If the claim is a value that a person set, that is undone.
        """
        said = uuids(await members(self._queries, project_id, [object_id]))
        found = await self._queries.one(CLAIM, {"project_id": project_id, "claim_id": claim_id, "said": said})
        if found is None:
            return await self._undo_set(project_id, object_id, claim_id, by)
        texts = rejected_claims.TEXTS_OF_NAME if found[0] == NAME else rejected_claims.TEXTS_OF_CLAIM
        what = {"subject": "claim", "property_name": found[0], "value": found[1], "claim_id": claim_id}
        return await self._reject(project_id, (object_id,), by, texts, **what)

    async def reject_relationship(self, project_id: UUID, relationship_id: UUID, by: Word) -> Curation:
        """Rejects all claims of the relationship."""
        row = await self._queries.one(RELATIONSHIP, {"project_id": project_id, "id": relationship_id})
        if row is None:
            raise RelationshipNotFound(details={"relationship_id": str(relationship_id)})
        what = {"subject": "relationship", "relationship_type": row[2], "target_id": row[1]}
        return await self._reject(project_id, row[:2], by, rejected_claims.TEXTS_OF_RELATIONSHIP, **what)

    async def undo(self, project_id: UUID, curation_id: UUID, by: Word) -> Curation:
        """Makes an entry ineffective. Undoing an undo makes the first entry effective again."""
        made = await retry_races(self._queries, lambda tx: _undo(tx, project_id, curation_id, by))
        return await self.get(made, project_id=project_id)

    async def _undo_set(self, project_id: UUID, object_id: UUID, claim_id: UUID, by: Word) -> Curation:
        with suppress(CurationNotFound):
            entry = await self.get(claim_id, project_id=project_id)
            if (entry.action, entry.object_id) == ("set", object_id):
                return await self.undo(project_id, claim_id, by)
        raise ClaimNotFound(details={"claim_id": str(claim_id)})

    async def _reject(
        self, project_id: UUID, ids: Sequence[UUID], by: Word, texts: LiteralString, **what: Any
    ) -> Curation:
        """Records the entry for the first of the objects."""

        async def attempt(tx: Queries) -> UUID:
            said = await _lock_groups(tx, project_id, find_these(*ids))
            made = await _record(tx, project_id, ids[0], by, action="reject", **what)
            sides = {
                name: uuids(await members(tx, project_id, [end]))
                for name, end in zip(("sources", "targets"), (ids[0], ids[-1]), strict=True)
            }
            await hide(tx, project_id, said)
            params = {"project_id": project_id, "curation_id": made, "said": uuids(said), **sides, **what}
            if not await tx.run(texts, params) and texts is not rejected_claims.TEXTS_OF_PROPERTY:
                raise Changed
            await _withhold(tx, project_id, ids, said)
            return made

        return await self.get(await retry_races(self._queries, attempt), project_id=project_id)


async def _record(
    tx: Queries, project_id: UUID, object_id: UUID | None, by: Word, *, action: str, **what: Any
) -> UUID:
    made, value = new_id(), what.get("value")
    params = {
        "property_name": None,
        "relationship_type": None,
        "target_id": None,
        **what,
        "value": None if value is None else claims.json_text(value),
        "project_id": project_id,
        "id": made,
        "object_id": object_id,
        "action": action,
        "author": by.author,
        "reason": by.reason,
        "now": now(),
    }
    if not await tx.run(RECORD, params):
        raise ObjectNotFound(details={"object_id": str(object_id)})
    return made


async def _undo(tx: Queries, project_id: UUID, curation_id: UUID, by: Word) -> UUID:
    curations, made = Curations(tx), new_id()
    undone = {"project_id": project_id, "id": curation_id, "undone_at": now()}
    if not await tx.run(MARK, undone):
        raise _already_undone(await curations.get(curation_id, project_id=project_id))
    first = await curations.get(curation_id, project_id=project_id)
    counts = False
    while first.undoes is not None:
        first = await curations.get(first.undoes, project_id=project_id)
        counts = not counts
    if first.id != curation_id and not await tx.run(
        MARK, {**undone, "id": first.id, "undone_at": None if counts else now()}
    ):
        raise _already_undone(first)
    entry = {"project_id": project_id, "curation_id": first.id, "is_active": counts}
    await tx.run(MARK_TEXTS, entry)
    by_whom = {"id": made, "undoes": curation_id, "author": by.author, "reason": by.reason}
    await tx.run(RECORD_UNDO, {"project_id": project_id, "now": now(), **by_whom})
    if first.action == "set":
        # Locks the name, so that no object with it is created while the value is applied.
        wanted = WantedLocks(types=(first.type,), known=[(first.type, first.name_key)])
        held = await lock_in_order(tx, project_id, wanted)
        await _settle(tx, project_id, held.resolved.holders)
    elif counts:
        find = partial(select_ids, rejected_claims.OBJECTS_OF_TEXTS, entry)
        said = await _lock_groups(tx, project_id, find)
        await hide(tx, project_id, said)
        await _withhold(tx, project_id, await find(tx), said)
    else:
        await _give_back(tx, project_id, entry, (first.type, first.name_key))
    return made


def _already_undone(entry: Curation) -> Conflict:
    return Conflict("This was undone already", details={"curation_id": str(entry.id), "state": entry.state})


async def _lock_groups(tx: Queries, project_id: UUID, find: Find) -> list[UUID]:
    """Locks the objects, and the tombstones that theirs may replace. Returns everything merged into them, too."""

    async def find_tombstones(queries: Queries) -> set[UUID]:
        ids = {"project_id": project_id, "ids": uuids(await find(queries))}
        return await select_ids(removal.NAMESAKE_TOMBSTONES, ids, queries)

    await lock_in_order(tx, project_id, want_groups(project_id, find, tombstones=find_tombstones))
    return await members(tx, project_id, await find(tx))


async def _withhold(tx: Queries, project_id: UUID, ids: Collection[UUID], said: Collection[UUID]) -> None:
    """Removes rejected claims from the hidden claims and shows the others.

    An object without claims is deleted and leaves a tombstone, so that an undo gives back its id and its merges.
    """
    params = {"project_id": project_id, "said": uuids(said), "now": now()}
    await tx.run(rejected_claims.TAKE_CLAIMS, params)
    await tx.run(rejected_claims.TAKE_TIES, params)
    await _show(tx, project_id, ids, said)
    for ident, document_id, schema_number in await tx.all(LOST, params):
        given = records([{"id": ident, "schema_number": schema_number}])
        lost = {"project_id": project_id, "document_id": document_id, "given": given, "now": now()}
        await tx.run(removal.REMEMBER, lost)
    await _settle(tx, project_id, ids)


async def _give_back(tx: Queries, project_id: UUID, entry: Params, about: ObjectKey) -> None:
    """Claims whose chunk is gone do not come back, nor those that another rejection rejects.

    The object that the entry is about may also get back a value that a person set.
    """
    freed = await tx.all(rejected_claims.FREED, entry)
    keys = [{"type": kind, "name_key": key} for kind, key in {about, *((row[0], row[1]) for row in freed)}]
    find = partial(select_ids, HOLDERS, {"project_id": project_id, "keys": records(keys)})
    wanted = want_groups(project_id, find)

    async def chunks(queries: Queries) -> set[UUID]:
        return await wanted.chunks(queries) | {row[3] for row in freed}

    new: dict[ObjectKey, str] = {(row[0], row[1]): row[2] for row in freed}
    await lock_in_order(tx, project_id, replace(wanted, chunks=chunks, new=new))
    ids = await find(tx)
    said = await members(tx, project_id, ids)
    await hide(tx, project_id, said)
    await tx.run(rejected_claims.GIVE_CLAIMS_BACK, entry)
    await tx.run(rejected_claims.GIVE_TIES_BACK, entry)
    await tx.run(grounds.RESTORE, {"project_id": project_id, "ids": uuids({row[3] for row in freed})})
    await _show(tx, project_id, ids, said)
    await _settle(tx, project_id, ids)


async def _show(tx: Queries, project_id: UUID, ids: Collection[UUID], said: Collection[UUID]) -> None:
    await show(tx, project_id, said)
    await name_silent(tx, project_id, said)
    await name_unnamed(tx, project_id, ids)


async def _settle(tx: Queries, project_id: UUID, ids: Collection[UUID]) -> None:
    await settle(tx, project_id, ids)
    await Objects(tx).forget_vectors(project_id, ids)
    await tx.run(FORGET_MERGED_VECTORS, {"project_id": project_id, "ids": uuids(ids)})
