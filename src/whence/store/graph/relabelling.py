"""What a newer schema changes of relationships without anybody reading a chunk again: their types and their properties.

Only claims of older versions are touched, as in `carrying`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from whence.store.graph import claims
from whence.store.graph.locks import Wanted, lock_in_order, retry_races
from whence.store.pool import Queries, Row, records
from whence.types import now

OLDER: LiteralString = """
SELECT r.id, r.source_id, r.target_id FROM kb.relationships r
WHERE r.project_id = %(project_id)s AND r.type = %(type)s AND EXISTS (
    SELECT FROM kb.relationship_provenance p
    WHERE p.project_id = %(project_id)s AND p.relationship_id = r.id AND p.schema_number < %(before)s)
"""
# Of these the objects that have them, should they be shown.
OLDER_HIDDEN: LiteralString = """
SELECT coalesce(a.object_id, h.said_source), coalesce(b.object_id, h.said_target)
FROM kb.hidden_relationship_claims h
LEFT JOIN kb.object_merges a ON a.project_id = %(project_id)s AND a.dropped_id = h.said_source
LEFT JOIN kb.object_merges b ON b.project_id = %(project_id)s AND b.dropped_id = h.said_target
WHERE h.project_id = %(project_id)s AND h.type = %(type)s AND h.schema_number < %(before)s
"""
CHUNKS: LiteralString = """
SELECT p.chunk_id FROM kb.relationship_provenance p
WHERE p.project_id = %(project_id)s AND p.relationship_id = ANY(%(ids)s) AND p.schema_number < %(before)s
"""
# Where both names are in use, the old one is left as it is: nothing is lost.
_REWORDED: LiteralString = """
SET schema_number = %(schema_number)s, properties = (
        SELECT coalesce(jsonb_object_agg(
                   CASE WHEN t.properties ? (%(renamed)s::jsonb ->> e.key) THEN e.key
                        ELSE coalesce(%(renamed)s::jsonb ->> e.key, e.key) END, e.value), '{}')
        FROM jsonb_each(t.properties) e WHERE e.key <> ALL(%(removed)s))
WHERE t.project_id = %(project_id)s AND t.schema_number < %(before)s AND t.properties ?| %(concerned)s"""
REWORD: LiteralString = f"""
UPDATE kb.relationship_provenance t {_REWORDED} AND t.relationship_id = ANY(%(ids)s)
"""
REWORD_HIDDEN: LiteralString = f"UPDATE kb.hidden_relationship_claims t {_REWORDED} AND t.type = %(type)s"
# What the chunk said under the new name is newer: it stands, and the other waits behind it.
MOVE: LiteralString = """
WITH moved AS (
    DELETE FROM kb.relationship_provenance p
    USING json_to_recordset(%(given)s::json) AS g (old_id uuid, id uuid)
    WHERE p.project_id = %(project_id)s AND p.relationship_id = g.old_id AND p.schema_number < %(before)s
    RETURNING p.id, g.id AS relationship_id, p.said_source, p.said_target, p.chunk_id, p.properties, p.quote,
              p.start_offset, p.end_offset, p.extracted_at, EXISTS (
                  SELECT FROM kb.relationship_provenance q
                  WHERE q.project_id = %(project_id)s AND q.relationship_id = g.id AND q.chunk_id = p.chunk_id) AS is_said
), behind AS (
    INSERT INTO kb.hidden_relationship_claims (project_id, id, type, said_source, said_target, chunk_id,
                schema_number, properties, quote, start_offset, end_offset, extracted_at)
    SELECT %(project_id)s, id, %(new_type)s, said_source, said_target, chunk_id,
           %(schema_number)s, properties, quote, start_offset, end_offset, extracted_at
    FROM moved WHERE is_said
)
INSERT INTO kb.relationship_provenance (project_id, id, relationship_id, said_source, said_target, chunk_id,
            schema_number, properties, quote, start_offset, end_offset, extracted_at)
SELECT %(project_id)s, id, relationship_id, said_source, said_target, chunk_id,
       %(schema_number)s, properties, quote, start_offset, end_offset, extracted_at
FROM moved WHERE NOT is_said
"""
MOVE_HIDDEN: LiteralString = """
UPDATE kb.hidden_relationship_claims h SET type = %(new_type)s, schema_number = %(schema_number)s
WHERE h.project_id = %(project_id)s AND h.type = %(type)s AND h.schema_number < %(before)s
"""
FORGET: LiteralString = """
DELETE FROM kb.relationship_provenance p
WHERE p.project_id = %(project_id)s AND p.relationship_id = ANY(%(ids)s) AND p.schema_number < %(before)s
"""
FORGET_HIDDEN: LiteralString = """
DELETE FROM kb.hidden_relationship_claims h
WHERE h.project_id = %(project_id)s AND h.type = %(type)s AND h.schema_number < %(before)s
"""


class Relabelling:
    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    async def reword(
        self,
        project_id: UUID,
        name: str,
        *,
        renamed: Mapping[str, str],
        removed: Sequence[str],
        schema_number: int,
    ) -> None:
        """The properties of a type of relationships; `renamed` has the new names of old ones."""
        older = _Older(project_id, name, schema_number)
        words = {
            "renamed": Jsonb(dict(renamed)),
            "removed": list(removed),
            "concerned": [*renamed, *removed],
            "schema_number": schema_number,
        }

        async def attempt(tx: Queries) -> None:
            ids = [row[0] for row in await older.hold(tx)]
            await tx.run(REWORD, {**older.params, **words, "ids": ids})
            await tx.run(REWORD_HIDDEN, {**older.params, **words})
            await claims.settle_relationships(tx, project_id, ids)

        await retry_races(self._queries, attempt)

    async def rename(self, project_id: UUID, old: str, new: str, *, schema_number: int) -> None:
        """The relationships of a type that this schema has under another name, also those that it reworded."""
        older = _Older(project_id, old, schema_number + 1)

        async def attempt(tx: Queries) -> None:
            found = await older.hold(tx)
            made = [claims.made_of(source, new, target) for _, source, target in found]
            given = [{**one, "old_id": row[0]} for one, row in zip(made, found, strict=True)]
            params = {**older.params, "new_type": new, "schema_number": schema_number, "now": now()}
            await tx.run(claims.PUT_RELATIONSHIPS, {**params, "given": records(made)})
            await tx.run(MOVE, {**params, "given": records(given)})
            await tx.run(MOVE_HIDDEN, params)
            ids = [ident for one in given for ident in (one["old_id"], one["id"])]
            await claims.settle_relationships(tx, project_id, ids)

        await retry_races(self._queries, attempt)

    async def forget(self, project_id: UUID, name: str, *, schema_number: int) -> None:
        """Every older claim of a type that this schema does not know any more."""
        older = _Older(project_id, name, schema_number)

        async def attempt(tx: Queries) -> None:
            ids = [row[0] for row in await older.hold(tx)]
            await tx.run(FORGET, {**older.params, "ids": ids})
            await tx.run(FORGET_HIDDEN, older.params)
            await claims.settle_relationships(tx, project_id, ids)

        await retry_races(self._queries, attempt)


@dataclass(frozen=True, slots=True)
class _Older:
    """The relationships of a type that were told under older schemas than one."""

    project_id: UUID
    type: str
    before: int

    @property
    def params(self) -> dict[str, Any]:
        return {"project_id": self.project_id, "type": self.type, "before": self.before}

    async def hold(self, tx: Queries) -> list[Row]:
        """Their ids and their ends, which are held from now on."""
        await lock_in_order(tx, self.project_id, Wanted(objects=self._ends, chunks=self._chunks))
        return await tx.all(OLDER, self.params)

    async def _ends(self, queries: Queries) -> set[UUID]:
        shown = await queries.all(OLDER, self.params)
        hidden = await queries.all(OLDER_HIDDEN, self.params)
        return {end for row in shown for end in row[1:]} | {end for row in hidden for end in row}

    async def _chunks(self, queries: Queries) -> set[UUID]:
        ids = [row[0] for row in await queries.all(OLDER, self.params)]
        return {row[0] for row in await queries.all(CHUNKS, {**self.params, "ids": ids})}
