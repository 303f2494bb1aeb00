"""Removes the claims of deleted chunks, and the objects and relationships that have no others.

An object that is deleted by the update of a document leaves a tombstone, in case the new version mentions it again. The tombstone
belongs to the document and is deleted with it. When any document names the object again, it is restored with its id and with everything a
person had merged into it. `locks.INSERT` does this when it creates objects.
"""

from collections.abc import Sequence
from functools import partial
from typing import LiteralString
from uuid import UUID

from whence.models import now
from whence.store.graph import claims
from whence.store.graph.locks import (
    Find,
    WantedLocks,
    find_nothing,
    find_these,
    lock_in_order,
    retry_races,
    select_ids,
)
from whence.store.graph.names import name_unnamed
from whence.store.pool import Queries, Statements, records, uuids

CHUNKS_OF_DOCUMENT: LiteralString = """
SELECT id FROM kb.chunks WHERE project_id = %(project_id)s AND document_id = %(document_id)s
"""
CHUNKS_OF_JOB: LiteralString = """
SELECT id FROM kb.chunks WHERE project_id = %(project_id)s AND job_id = %(job_id)s
"""
MENTIONED: LiteralString = """
SELECT p.object_id FROM kb.object_provenance p
WHERE p.project_id = %(project_id)s AND p.chunk_id = ANY(%(ids)s::uuid[])
UNION
SELECT unnest(ARRAY[r.source_id, r.target_id])
FROM kb.relationship_provenance p
JOIN kb.relationships r ON r.project_id = %(project_id)s AND r.id = p.relationship_id
WHERE p.project_id = %(project_id)s AND p.chunk_id = ANY(%(ids)s::uuid[])
"""
# Returns the newest schema of the deleted claims about each object.
DELETE_CLAIMS: LiteralString = """
WITH gone AS (
    DELETE FROM kb.object_provenance WHERE project_id = %(project_id)s AND chunk_id = ANY(%(ids)s::uuid[])
    RETURNING object_id, schema_number
)
SELECT object_id, max(schema_number) FROM gone GROUP BY object_id
"""
DELETE_TIES: LiteralString = """
DELETE FROM kb.relationship_provenance WHERE project_id = %(project_id)s AND chunk_id = ANY(%(ids)s::uuid[])
RETURNING relationship_id
"""

TIES: LiteralString = """
SELECT DISTINCT relationship_id FROM kb.relationship_provenance
WHERE project_id = %(project_id)s AND chunk_id = ANY(%(ids)s::uuid[])
"""

MOST_REMEMBERED = 10_000
"""Maximum number of tombstones per document, because a document may be updated every hour. The oldest are dropped first."""

# Creates tombstones for locked objects without claims. Two may have the same name if a type was renamed in between; keeps the later one.
REMEMBER: LiteralString = """
WITH unclaimed AS (
    SELECT o.id, o.type, o.name, o.name_key, o.created_at, s.schema_number
    FROM json_to_recordset(%(given)s::json) AS s (id uuid, schema_number integer)
    JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = s.id
    WHERE NOT EXISTS (
        SELECT FROM kb.object_provenance p WHERE p.project_id = %(project_id)s AND p.object_id = o.id)
)
INSERT INTO kb.remembered_objects (project_id, id, document_id, object_id, type, name, name_key, created_at,
                                   merge_id, into_id, merged_at, gone_at, schema_number)
SELECT %(project_id)s, u.id, %(document_id)s::uuid, u.id, u.type, u.name, u.name_key, u.created_at,
       NULL::uuid, NULL::uuid, NULL::timestamptz, %(now)s::timestamptz, u.schema_number
FROM unclaimed u
UNION ALL
SELECT %(project_id)s, m.dropped_id, %(document_id)s::uuid, u.id, m.type, m.name, m.name_key, m.created_at,
       m.id, m.into_id, m.merged_at, %(now)s::timestamptz, u.schema_number
FROM unclaimed u
JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.object_id = u.id
ON CONFLICT (project_id, type, name_key) DO UPDATE
SET id = excluded.id, document_id = excluded.document_id, object_id = excluded.object_id, name = excluded.name,
    created_at = excluded.created_at, merge_id = excluded.merge_id, into_id = excluded.into_id,
    merged_at = excluded.merged_at, gone_at = excluded.gone_at, schema_number = excluded.schema_number
"""
TOMBSTONES_OF_DOCUMENT: LiteralString = """
SELECT id FROM kb.remembered_objects
WHERE project_id = %(project_id)s AND document_id = %(document_id)s
"""
# Tombstones of any document with the name of one of the objects: the new tombstone replaces them.
NAMESAKE_TOMBSTONES: LiteralString = """
SELECT g.id
FROM (SELECT o.type, o.name_key FROM kb.graph_objects o
      WHERE o.project_id = %(project_id)s AND o.id = ANY(%(ids)s::uuid[])
      UNION ALL
      SELECT m.type, m.name_key FROM kb.object_merges m
      WHERE m.project_id = %(project_id)s AND m.object_id = ANY(%(ids)s::uuid[])) k
JOIN kb.remembered_objects g ON g.project_id = %(project_id)s AND g.type = k.type AND g.name_key = k.name_key
"""
FORGET_LONGEST_GONE: LiteralString = """
DELETE FROM kb.remembered_objects
WHERE project_id = %(project_id)s AND id IN (
    SELECT r.id FROM kb.remembered_objects r
    WHERE r.project_id = %(project_id)s AND r.document_id = %(document_id)s
    ORDER BY r.gone_at DESC, r.id OFFSET %(most)s)
"""
_OLDER: LiteralString = """
WHERE g.project_id = %(project_id)s AND g.type = %(type)s AND g.schema_number < %(schema_number)s"""
OLDER_TOMBSTONES: LiteralString = f"SELECT g.id FROM kb.remembered_objects g {_OLDER}"
FORGET_OLDER_TOMBSTONES: LiteralString = f"DELETE FROM kb.remembered_objects g {_OLDER}"
# Together with the tombstones merged into them, and with their namesakes of the new type.
TOMBSTONES_TO_RETYPE: LiteralString = f"""
WITH older AS (
    SELECT g.id, g.name_key FROM kb.remembered_objects g {_OLDER}
)
SELECT id FROM older
UNION
SELECT a.id FROM older JOIN kb.remembered_objects a ON a.project_id = %(project_id)s AND a.object_id = older.id
UNION
SELECT n.id FROM older
JOIN kb.remembered_objects n ON n.project_id = %(project_id)s AND n.type = %(new_type)s AND n.name_key = older.name_key
"""
# A tombstone with a namesake of the new type is united with it, as objects are, together with the tombstones merged into it.
UNITE_TOMBSTONES: LiteralString = f"""
WITH met AS (
    DELETE FROM kb.remembered_objects g USING kb.remembered_objects n {_OLDER}
      AND n.project_id = %(project_id)s AND n.type = %(new_type)s AND n.name_key = g.name_key
    RETURNING g.id, n.id AS new_id, n.object_id
)
UPDATE kb.remembered_objects a
SET object_id = met.object_id, into_id = CASE WHEN a.into_id = met.id THEN met.new_id ELSE a.into_id END
FROM met
WHERE a.project_id = %(project_id)s AND a.object_id = met.id AND a.id NOT IN (SELECT id FROM met)
"""
RETYPE_TOMBSTONES: LiteralString = f"""
UPDATE kb.remembered_objects g SET type = %(new_type)s, schema_number = %(schema_number)s {_OLDER}
"""


class ClaimRemoval(Statements):
    """Every method runs in the transaction that deletes the chunks, before it deletes them."""

    async def chunks(self, project_id: UUID, ids: Sequence[UUID]) -> None:
        await self._withdraw(project_id, find_these(*ids))

    async def replaced(
        self, project_id: UUID, document_id: UUID, ids: Sequence[UUID], *, kept: Sequence[UUID] = ()
    ) -> None:
        """Removes the claims of chunks that are not in the document's new version. Their objects leave tombstones, because the new version
        may mention them in other words.

        Also locks the objects of the `kept` chunks, for `reorder`.
        """
        await self._withdraw(project_id, find_these(*ids), remembered_by=document_id, kept=kept)

    async def reorder(self, project_id: UUID, chunks: Find) -> None:
        """Recomputes the objects that the chunks mention, after their document's date or their place in it has changed."""

        async def attempt(tx: Queries) -> None:
            find = partial(_find_mentioned, project_id, chunks)
            held = await lock_in_order(tx, project_id, WantedLocks(objects=find))
            if held.found:
                ties = await tx.column(TIES, {"project_id": project_id, "ids": uuids(await chunks(tx))})
                await tx.together(claims.settle(project_id, held.found, ties))

        await retry_races(self._queries, attempt)

    async def chunks_of_document(self, project_id: UUID, document_id: UUID) -> None:
        params = {"project_id": project_id, "document_id": document_id}
        await self._withdraw(
            project_id,
            partial(select_ids, CHUNKS_OF_DOCUMENT, params),
            tombstones=partial(select_ids, TOMBSTONES_OF_DOCUMENT, params),
        )

    async def chunks_of_job(self, project_id: UUID, job_id: UUID) -> None:
        params = {"project_id": project_id, "job_id": job_id}
        await self._withdraw(project_id, partial(select_ids, CHUNKS_OF_JOB, params))

    async def _withdraw(
        self,
        project_id: UUID,
        removed: Find,
        *,
        tombstones: Find = find_nothing,
        remembered_by: UUID | None = None,
        kept: Sequence[UUID] = (),
    ) -> None:
        """With `remembered_by`, objects that lose their last claim leave a tombstone that belongs to that document."""
        find_mentioned = partial(_find_mentioned, project_id, removed)

        async def find_all(tx: Queries) -> set[UUID]:
            return await find_mentioned(tx) | await _find_mentioned(project_id, find_these(*kept), tx)

        async def find_tombstones(tx: Queries) -> set[UUID]:
            if remembered_by is None:
                return await tombstones(tx)
            # The new tombstones replace or drop those of the document, and those with the names of the objects.
            params = {"project_id": project_id, "document_id": remembered_by}
            namesakes = {"project_id": project_id, "ids": uuids(await find_mentioned(tx))}
            return await select_ids(TOMBSTONES_OF_DOCUMENT, params, tx) | await select_ids(
                NAMESAKE_TOMBSTONES, namesakes, tx
            )

        async def attempt(tx: Queries) -> None:
            wanted = WantedLocks(removed=removed, tombstones=find_tombstones, objects=find_all)
            await lock_in_order(tx, project_id, wanted)
            if found := await find_mentioned(tx):
                await _delete_claims(tx, project_id, await removed(tx), found, remembered_by)

        await retry_races(self._queries, attempt)


async def _find_mentioned(project_id: UUID, find_chunks: Find, tx: Queries) -> set[UUID]:
    """The objects that the chunks mention."""
    chunks = await find_chunks(tx)
    return (
        await select_ids(MENTIONED, {"project_id": project_id, "ids": uuids(chunks)}, tx) if chunks else set()
    )


async def _delete_claims(
    tx: Queries, project_id: UUID, chunks: set[UUID], objects: set[UUID], remembered_by: UUID | None
) -> None:
    params = {"project_id": project_id, "ids": uuids(chunks)}
    claimed = await tx.all(DELETE_CLAIMS, params)
    ties = {row[0] for row in await tx.all(DELETE_TIES, params)}
    await name_unnamed(tx, project_id, objects)
    if remembered_by is not None:
        given = records([{"id": ident, "schema_number": number} for ident, number in claimed])
        document = {"project_id": project_id, "document_id": remembered_by}
        await tx.run(REMEMBER, {**document, "given": given, "now": now()})
        await forget_longest_gone(tx, project_id, remembered_by)
    await tx.together(claims.settle(project_id, objects, ties))


async def forget_longest_gone(
    tx: Queries, project_id: UUID, document_id: UUID, *, most: int = MOST_REMEMBERED
) -> None:
    """Keeps the newest `most` tombstones of the document, which are locked."""
    params = {"project_id": project_id, "document_id": document_id, "most": most}
    await tx.run(FORGET_LONGEST_GONE, params)
