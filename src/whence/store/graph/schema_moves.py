"""Applies a newer schema to the graph without a model: renames and removes elements.

A schema change is a list of moves, one for each renamed or removed element. A move applies to claims of older schemas only;
claims that were extracted since use the new names already. It hides the claims it concerns, edits them while they are hidden,
and shows them again (`claim_moves`). Applying a move twice changes nothing the second time.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, LiteralString, TypeAlias
from uuid import UUID

from psycopg.types.json import Jsonb

from whence.chunk_findings import ChunkExtraction
from whence.errors import BadInput
from whence.store.graph import curation_moves, ledger, removal
from whence.store.graph.claim_moves import EVERYTHING, Scope, hide, members, settle, show, want_groups
from whence.store.graph.locks import (
    WantedLocks,
    find_nothing,
    find_these,
    lock_in_order,
    retry_races,
    select_ids,
)
from whence.store.graph.names import NAME, name_silent, name_unnamed
from whence.store.graph.type_renames import (
    OLDER_CLAIMS,
    WITH_NAMESAKE,
    retype_tombstones,
    retype_without_namesakes,
    unite_with_namesakes,
)
from whence.store.graph.write_chunk import require_chunk
from whence.store.pool import Params, Queries, Statements, uuids

OBJECTS_WITH_PROPERTY: LiteralString = """
SELECT o.id FROM kb.graph_objects o
WHERE o.project_id = %(project_id)s AND o.type = %(type)s AND EXISTS (
    SELECT FROM kb.object_provenance p
    WHERE p.project_id = %(project_id)s AND p.object_id = o.id AND p.property_name = %(name)s
      AND p.schema_number < %(schema_number)s)
UNION
SELECT o.id FROM kb.hidden_claims h
LEFT JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.dropped_id = h.said_of
JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = coalesce(m.object_id, h.said_of)
WHERE h.project_id = %(project_id)s AND h.property_name = %(name)s
  AND h.schema_number < %(schema_number)s AND o.type = %(type)s
UNION
SELECT o.id FROM kb.curations w
LEFT JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.type = w.type AND m.name_key = w.name_key
JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.type = w.type
                       AND (o.id = m.object_id OR o.name_key = w.name_key)
WHERE w.project_id = %(project_id)s AND w.type = %(type)s AND w.property_name = %(name)s
  AND w.schema_number < %(schema_number)s
"""
RENAME_PROPERTY: LiteralString = f"""
UPDATE kb.hidden_claims h SET property_name = %(new_name)s, schema_number = %(schema_number)s
{OLDER_CLAIMS} AND h.property_name = %(name)s
"""
FORGET_PROPERTY: LiteralString = f"""
DELETE FROM kb.hidden_claims h {OLDER_CLAIMS} AND h.property_name = %(name)s
"""

ENDS_OF_TYPE: LiteralString = """
SELECT unnest(ARRAY[r.source_id, r.target_id]) FROM kb.relationships r
WHERE r.project_id = %(project_id)s AND r.type = %(type)s AND EXISTS (
    SELECT FROM kb.relationship_provenance p
    WHERE p.project_id = %(project_id)s AND p.relationship_id = r.id AND p.schema_number < %(before)s)
UNION
SELECT unnest(ARRAY[coalesce(a.object_id, h.said_source), coalesce(b.object_id, h.said_target)])
FROM kb.hidden_relationship_claims h
LEFT JOIN kb.object_merges a ON a.project_id = %(project_id)s AND a.dropped_id = h.said_source
LEFT JOIN kb.object_merges b ON b.project_id = %(project_id)s AND b.dropped_id = h.said_target
WHERE h.project_id = %(project_id)s AND h.type = %(type)s AND h.schema_number < %(before)s
"""
_OLDER_TIES: LiteralString = """
WHERE h.project_id = %(project_id)s AND h.said_source = ANY(%(said)s::uuid[]) AND h.type = %(type)s
  AND h.schema_number < %(before)s"""
# If a relationship has the property under its old and its new name, it keeps both, so that nothing is lost.
CHANGE_TIES: LiteralString = f"""
UPDATE kb.hidden_relationship_claims h
SET type = %(new_type)s, schema_number = %(schema_number)s, properties = (
        SELECT coalesce(jsonb_object_agg(
                   CASE WHEN h.properties ? (%(renamed)s::jsonb ->> e.key) THEN e.key
                        ELSE coalesce(%(renamed)s::jsonb ->> e.key, e.key) END, e.value), '{{}}')
        FROM jsonb_each(h.properties) e WHERE e.key <> ALL(%(removed)s))
{_OLDER_TIES} AND (h.type <> %(new_type)s OR h.properties ?| %(concerned)s)
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
FORGET_CLAIMS: LiteralString = f"DELETE FROM kb.hidden_claims h {OLDER_CLAIMS}"
# Also deletes newer relationship claims if their chunk claims nothing else about the forgotten object.
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
    """A property that is renamed, or removed if there is no new name.

    If a chunk has claims under both names, the newer one is shown and the other hidden.
    """

    type: str
    """The object type that has the property, by its older name."""
    name: str
    new_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipMove:
    """A type of relationships that is renamed, or removed if there is no new type."""

    type: str
    new_type: str | None = None
    """Equal to `type` if only properties change."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Maps old names of properties to new ones."""
    removed: Sequence[str] = ()
    """Removed properties."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeMove:
    """A type of objects that is renamed, or removed if there is no new type.

    If an object of the new type has the name of a renamed one, the two become one. An object of a removed type without newer
    claims is deleted.
    """

    type: str
    new_type: str | None = None
    again: int | None = None
    """A later schema that has a type of the old name again. Objects with claims since that schema are not renamed."""


Move: TypeAlias = PropertyMove | RelationshipMove | TypeMove


class SchemaMoves(Statements):
    async def apply(self, project_id: UUID, move: Move, *, schema_number: int) -> int:
        """Applies a move of this schema to the claims of older schemas. Returns the number of objects concerned."""
        params = {"project_id": project_id, "schema_number": schema_number, **asdict(move)}
        if isinstance(move, TypeMove) and move.new_type:
            return await self._rename_type(params)
        return await self._retry(partial(_edit_claims, _edit_for(move, schema_number), params))

    async def count_as_read(self, read: ChunkExtraction, *, since: int) -> None:
        """Sets the schema number of `read` on the chunk's claims since the schema `since`, and records `read` in the ledger."""
        params = {"project_id": read.project_id, "chunk_id": read.chunk_id}
        mentioned = {"project_id": read.project_id, "ids": uuids([read.chunk_id])}
        wanted = WantedLocks(
            chunks=find_these(read.chunk_id), objects=partial(select_ids, removal.MENTIONED, mentioned)
        )

        async def attempt(tx: Queries) -> None:
            await lock_in_order(tx, read.project_id, wanted)
            await require_chunk(tx, read.project_id, read.chunk_id)
            await tx.run(RENEW_CHUNK, {**params, "schema_number": read.schema_number, "since": since})
            await tx.run(*ledger.put(read))

        await retry_races(self._queries, attempt)

    async def _rename_type(self, params: Params) -> int:
        await self._retry(partial(retype_tombstones, params))
        renamed = await self._retry(partial(retype_without_namesakes, params))
        taken = await self._queries.all(WITH_NAMESAKE, params)
        for row in taken:
            await self._retry(partial(unite_with_namesakes, row[0], params))
        return renamed + len(taken)

    async def _retry(self, attempt: Callable[[Queries], Awaitable[int]]) -> int:
        """Retry with longer timeouts, because a move may concern every claim of a project."""

        async def attempt_patiently(tx: Queries) -> int:
            await tx.be_patient()
            return await attempt(tx)

        return await retry_races(self._queries, attempt_patiently)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edit:
    find: LiteralString
    """Selects the objects whose claims are edited."""
    scope: Scope
    statements: tuple[LiteralString, ...]
    """Run while the claims are hidden."""
    params: Mapping[str, Any] = field(default_factory=dict)
    tombstones: LiteralString | None = None


def _edit_for(move: Move, schema_number: int) -> _Edit:
    if isinstance(move, PropertyMove):
        if move.name == NAME:
            raise BadInput(
                "The name of an object cannot be renamed or removed", details={"field": "property"}
            )
        names = [name for name in (move.name, move.new_name) if name]
        renames = (RENAME_PROPERTY, *curation_moves.RENAME_PROPERTY)
        statements = renames if move.new_name else (FORGET_PROPERTY, curation_moves.FORGET_PROPERTY)
        scope = Scope(properties=names, types=())
        return _Edit(find=OBJECTS_WITH_PROPERTY, scope=scope, statements=statements)
    if isinstance(move, RelationshipMove):
        scope = Scope(properties=(), types=[name for name in (move.type, move.new_type) if name])
        changes = {
            "renamed": Jsonb(dict(move.renamed)),
            "removed": list(move.removed),
            "concerned": [*move.renamed, *move.removed],
            # A claim whose properties this schema changed earlier may still have the old type.
            "before": schema_number + (move.new_type not in {None, move.type}),
        }
        statements = (
            (CHANGE_TIES, *curation_moves.RETYPE_TIES)
            if move.new_type
            else (FORGET_TIES, curation_moves.FORGET_TIES)
        )
        return _Edit(find=ENDS_OF_TYPE, scope=scope, statements=statements, params=changes)
    statements = (removal.FORGET_OLDER_TOMBSTONES, FORGET_CLAIMS, FORGET_TIES_OF, curation_moves.FORGET_TYPE)
    return _Edit(
        find=OBJECTS_OF_TYPE, scope=EVERYTHING, statements=statements, tombstones=removal.OLDER_TOMBSTONES
    )


async def _edit_claims(edit: _Edit, move: Params, tx: Queries) -> int:
    params = {**move, **edit.params}
    project_id = params["project_id"]
    find = partial(select_ids, edit.find, params)
    gone = partial(select_ids, edit.tombstones, params) if edit.tombstones else find_nothing
    await lock_in_order(tx, project_id, want_groups(project_id, find, scope=edit.scope, tombstones=gone))
    ids = await find(tx)
    said = await members(tx, project_id, ids)
    await hide(tx, project_id, said, edit.scope)
    for statement in edit.statements:
        await tx.run(statement, {**params, "said": uuids(said)})
    await show(tx, project_id, said, edit.scope)
    await name_silent(tx, project_id, said)
    await name_unnamed(tx, project_id, ids)
    await settle(tx, project_id, ids, edit.scope)
    return len(ids)
