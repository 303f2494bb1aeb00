"""Removes the claims of deleted chunks, and the objects and relationships that have no others."""

from collections.abc import Sequence
from functools import partial
from typing import LiteralString
from uuid import UUID

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
from whence.store.graph.tombstones import OF_DOCUMENT, forget_longest_gone, in_the_way, remember
from whence.store.pool import Queries, uuids

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


class ClaimRemoval:
    """Every method runs in the transaction that deletes the chunks, before it deletes them."""

    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    async def chunks(self, project_id: UUID, ids: Sequence[UUID]) -> None:
        await self._withdraw(project_id, find_these(*ids))

    async def replaced(self, project_id: UUID, document_id: UUID, ids: Sequence[UUID]) -> None:
        """Chunks that the new version of their document no longer has. It may mention the same objects in other words."""
        await self._withdraw(project_id, find_these(*ids), remembered_by=document_id)

    async def chunks_of_document(self, project_id: UUID, document_id: UUID) -> None:
        params = {"project_id": project_id, "document_id": document_id}
        await self._withdraw(
            project_id,
            partial(select_ids, CHUNKS_OF_DOCUMENT, params),
            tombstones=partial(select_ids, OF_DOCUMENT, params),
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
    ) -> None:
        """With `remembered_by`, objects that lose their last claim leave a tombstone with that document."""

        async def find_mentioned(tx: Queries) -> set[UUID]:
            chunks = await removed(tx)
            params = {"project_id": project_id, "ids": uuids(chunks)}
            return await select_ids(MENTIONED, params, tx) if chunks else set()

        async def find_tombstones(tx: Queries) -> set[UUID]:
            if remembered_by is None:
                return await tombstones(tx)
            return await in_the_way(tx, project_id, remembered_by, await find_mentioned(tx))

        async def attempt(tx: Queries) -> None:
            wanted = WantedLocks(removed=removed, tombstones=find_tombstones, objects=find_mentioned)
            held = await lock_in_order(tx, project_id, wanted)
            if held.found:
                await _delete_claims(tx, project_id, await removed(tx), held.found, remembered_by)

        await retry_races(self._queries, attempt)


async def _delete_claims(
    tx: Queries, project_id: UUID, chunks: set[UUID], objects: set[UUID], remembered_by: UUID | None
) -> None:
    params = {"project_id": project_id, "ids": uuids(chunks)}
    claimed_under = {row[0]: row[1] for row in await tx.all(DELETE_CLAIMS, params)}
    ties = {row[0] for row in await tx.all(DELETE_TIES, params)}
    await name_unnamed(tx, project_id, objects)
    if remembered_by is not None:
        await remember(tx, project_id, remembered_by, claimed_under)
        await forget_longest_gone(tx, project_id, remembered_by)
    await tx.together(claims.settle(project_id, objects, ties))
