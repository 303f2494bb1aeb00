"""What goes with chunks: their claims, and objects and relationships that nothing else speaks of."""

from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

from whence.store.graph import claims
from whence.store.graph.locks import Wanted, lock_in_order, retry_races
from whence.store.graph.names import name_unnamed
from whence.store.graph.tombstones import forget_longest_gone, in_the_way, of_document, remember
from whence.store.pool import Queries

HOLD_CHUNKS: LiteralString = """
SELECT id FROM kb.chunks WHERE project_id = %(project_id)s AND id = ANY(%(ids)s) ORDER BY id FOR UPDATE
"""
HOLD_DOCUMENT: LiteralString = """
SELECT id FROM kb.chunks WHERE project_id = %(project_id)s AND document_id = %(document_id)s ORDER BY id FOR UPDATE
"""
HOLD_JOB: LiteralString = """
SELECT id FROM kb.chunks WHERE project_id = %(project_id)s AND job_id = %(job_id)s ORDER BY id FOR UPDATE
"""
MENTIONED: LiteralString = """
SELECT p.object_id FROM kb.object_provenance p
WHERE p.project_id = %(project_id)s AND p.chunk_id = ANY(%(ids)s)
UNION
SELECT unnest(ARRAY[r.source_id, r.target_id])
FROM kb.relationship_provenance p
JOIN kb.relationships r ON r.project_id = %(project_id)s AND r.id = p.relationship_id
WHERE p.project_id = %(project_id)s AND p.chunk_id = ANY(%(ids)s)
"""
# With the newest schema by which each object was spoken of.
DELETE_CLAIMS: LiteralString = """
WITH gone AS (
    DELETE FROM kb.object_provenance WHERE project_id = %(project_id)s AND chunk_id = ANY(%(ids)s)
    RETURNING object_id, schema_number
)
SELECT object_id, max(schema_number) FROM gone GROUP BY object_id
"""
DELETE_TIES: LiteralString = """
DELETE FROM kb.relationship_provenance WHERE project_id = %(project_id)s AND chunk_id = ANY(%(ids)s)
RETURNING relationship_id
"""


class Removal:
    """Each in the transaction that removes the chunks, before it does: afterwards nobody knows what they had said."""

    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    async def chunks(self, project_id: UUID, ids: Sequence[UUID]) -> None:
        if not ids:
            return
        rows = await self._queries.all(HOLD_CHUNKS, {"project_id": project_id, "ids": list(ids)})
        await self._withdraw(project_id, [row[0] for row in rows])

    async def replaced(self, project_id: UUID, document_id: UUID, ids: Sequence[UUID]) -> None:
        """Chunks that the new version of their document has not: it may speak of the same objects in other words."""
        if not ids:
            return
        rows = await self._queries.all(HOLD_CHUNKS, {"project_id": project_id, "ids": list(ids)})
        await self._withdraw(project_id, [row[0] for row in rows], remembered_by=document_id)

    async def chunks_of_document(self, project_id: UUID, document_id: UUID) -> None:
        rows = await self._queries.all(HOLD_DOCUMENT, {"project_id": project_id, "document_id": document_id})
        await self._withdraw(project_id, [row[0] for row in rows], deleted=document_id)

    async def chunks_of_job(self, project_id: UUID, job_id: UUID) -> None:
        rows = await self._queries.all(HOLD_JOB, {"project_id": project_id, "job_id": job_id})
        await self._withdraw(project_id, [row[0] for row in rows])

    async def _withdraw(
        self,
        project_id: UUID,
        ids: list[UUID],
        *,
        remembered_by: UUID | None = None,
        deleted: UUID | None = None,
    ) -> None:
        if not ids:
            return
        params = {"project_id": project_id, "ids": ids}

        async def mentioned(tx: Queries) -> set[UUID]:
            return {row[0] for row in await tx.all(MENTIONED, params)}

        async def tombstones(tx: Queries) -> set[UUID]:
            if deleted is not None:
                return await of_document(tx, project_id, deleted)
            if remembered_by is not None:
                return await in_the_way(tx, project_id, remembered_by, await mentioned(tx))
            return set()

        async def attempt(tx: Queries) -> None:
            wanted = Wanted(tombstones=tombstones, objects=mentioned)
            held = await lock_in_order(tx, project_id, wanted)
            if not held.found:
                return
            claimed_under = {row[0]: row[1] for row in await tx.all(DELETE_CLAIMS, params)}
            ties = {row[0] for row in await tx.all(DELETE_TIES, params)}
            await name_unnamed(tx, project_id, held.found)
            await claims.settle_relationships(tx, project_id, ties)
            if remembered_by is not None:
                await remember(tx, project_id, remembered_by, claimed_under)
                await forget_longest_gone(tx, project_id, remembered_by)
            await claims.settle(tx, project_id, held.found)

        await retry_races(self._queries, attempt)
