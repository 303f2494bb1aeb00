"""What goes with chunks: their claims, and objects and relationships that nothing else speaks of."""

from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

from whence.store.graph import claims
from whence.store.graph.holding import hold_found
from whence.store.graph.naming import name_unnamed
from whence.store.graph.remembering import forget_longest_gone, hold_remembered, in_the_way, remember
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
TOUCHED: LiteralString = """
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
        await hold_remembered(self._queries, project_id, document_id)
        await self._withdraw(project_id, [row[0] for row in rows])

    async def chunks_of_job(self, project_id: UUID, job_id: UUID) -> None:
        rows = await self._queries.all(HOLD_JOB, {"project_id": project_id, "job_id": job_id})
        await self._withdraw(project_id, [row[0] for row in rows])

    async def _withdraw(
        self, project_id: UUID, ids: list[UUID], *, remembered_by: UUID | None = None
    ) -> None:
        if not ids:
            return
        params = {"project_id": project_id, "ids": ids}

        async def touched(tx: Queries) -> set[UUID]:
            return {row[0] for row in await tx.all(TOUCHED, params)}

        async def remembered(tx: Queries) -> set[UUID]:
            if remembered_by is None:
                return set()
            return await in_the_way(tx, project_id, remembered_by, await touched(tx))

        held = await hold_found(self._queries, project_id, objects=touched, remembered=remembered)
        if not held:
            return
        spoken_under = {row[0]: row[1] for row in await self._queries.all(DELETE_CLAIMS, params)}
        ties = {row[0] for row in await self._queries.all(DELETE_TIES, params)}
        await name_unnamed(self._queries, project_id, held)
        await claims.settle_relationships(self._queries, project_id, ties)
        if remembered_by is not None:
            await remember(self._queries, project_id, remembered_by, spoken_under)
            await forget_longest_gone(self._queries, project_id, remembered_by)
        await claims.settle(self._queries, project_id, held)
