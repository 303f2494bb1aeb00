"""What goes with chunks: their claims, and objects and relationships that nothing else speaks of."""

from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

from whence.errors import BadInput
from whence.store.graph import claims
from whence.store.graph.holding import hold_found
from whence.store.graph.naming import NAME, name_unnamed
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
DELETE_CLAIMS: LiteralString = """
DELETE FROM kb.object_provenance WHERE project_id = %(project_id)s AND chunk_id = ANY(%(ids)s)
"""
DELETE_TIES: LiteralString = """
DELETE FROM kb.relationship_provenance WHERE project_id = %(project_id)s AND chunk_id = ANY(%(ids)s)
RETURNING relationship_id
"""
WITH_PROPERTY: LiteralString = """
SELECT o.id FROM kb.graph_objects o
WHERE o.project_id = %(project_id)s AND o.type = %(type)s AND EXISTS (
    SELECT FROM kb.object_provenance p
    WHERE p.project_id = %(project_id)s AND p.object_id = o.id AND p.property_name = %(property_name)s)
"""
_HIDDEN: LiteralString = """
WHERE h.project_id = %(project_id)s AND h.property_name = %(property_name)s AND h.said_of IN (
    SELECT unnest(%(ids)s::uuid[])
    UNION ALL
    SELECT m.dropped_id FROM kb.object_merges m
    WHERE m.project_id = %(project_id)s AND m.object_id = ANY(%(ids)s))"""
FORGET_HIDDEN: LiteralString = "DELETE FROM kb.hidden_claims h" + _HIDDEN
RENAME_HIDDEN: LiteralString = "UPDATE kb.hidden_claims h SET property_name = %(new_name)s" + _HIDDEN
FORGET_PROPERTY: LiteralString = """
DELETE FROM kb.object_provenance p
WHERE p.project_id = %(project_id)s AND p.object_id = ANY(%(ids)s) AND p.property_name = %(property_name)s
"""
# Where a chunk gave both, what it gave under the new name stands.
RENAME_PROPERTY: LiteralString = """
UPDATE kb.object_provenance p SET property_name = %(new_name)s
WHERE p.project_id = %(project_id)s AND p.object_id = ANY(%(ids)s) AND p.property_name = %(property_name)s
  AND NOT EXISTS (
      SELECT FROM kb.object_provenance q
      WHERE q.project_id = %(project_id)s AND q.object_id = p.object_id AND q.chunk_id = p.chunk_id
        AND q.property_name = %(new_name)s)
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

    async def chunks_of_document(self, project_id: UUID, document_id: UUID) -> None:
        rows = await self._queries.all(HOLD_DOCUMENT, {"project_id": project_id, "document_id": document_id})
        await self._withdraw(project_id, [row[0] for row in rows])

    async def chunks_of_job(self, project_id: UUID, job_id: UUID) -> None:
        rows = await self._queries.all(HOLD_JOB, {"project_id": project_id, "job_id": job_id})
        await self._withdraw(project_id, [row[0] for row in rows])

    async def forget_property(self, project_id: UUID, object_type: str, property_name: str) -> int:
        """Every claim of a property that the schema does not know any more; gives how many objects had it."""
        async with self._queries.transaction() as tx:
            held = await _hold_property(tx, project_id, object_type, property_name)
            params = {"project_id": project_id, "ids": list(held), "property_name": property_name}
            await tx.run(FORGET_HIDDEN, params)
            await tx.run(FORGET_PROPERTY, params)
            await claims.settle(tx, project_id, held)
            return len(held)

    async def rename_property(self, project_id: UUID, object_type: str, old: str, new: str) -> int:
        """Every claim of a property that has another name now; gives how many objects had it."""
        async with self._queries.transaction() as tx:
            held = await _hold_property(tx, project_id, object_type, old)
            params = {"project_id": project_id, "ids": list(held), "property_name": old}
            await tx.run(RENAME_HIDDEN, {**params, "new_name": new})
            await tx.run(RENAME_PROPERTY, {**params, "new_name": new})
            await tx.run(FORGET_PROPERTY, params)
            await claims.settle(tx, project_id, held)
            return len(held)

    async def _withdraw(self, project_id: UUID, ids: list[UUID]) -> None:
        if not ids:
            return
        params = {"project_id": project_id, "ids": ids}

        async def touched(tx: Queries) -> set[UUID]:
            return {row[0] for row in await tx.all(TOUCHED, params)}

        held = await hold_found(self._queries, project_id, objects=touched)
        if not held:
            return
        await self._queries.run(DELETE_CLAIMS, params)
        ties = {row[0] for row in await self._queries.all(DELETE_TIES, params)}
        await name_unnamed(self._queries, project_id, held)
        await claims.settle_relationships(self._queries, project_id, ties)
        await claims.settle(self._queries, project_id, held)


async def _hold_property(tx: Queries, project_id: UUID, object_type: str, property_name: str) -> set[UUID]:
    if property_name == NAME:
        raise BadInput("The name is what an object is known by", details={"field": "property"})
    params = {"project_id": project_id, "type": object_type, "property_name": property_name}

    async def found(queries: Queries) -> set[UUID]:
        return {row[0] for row in await queries.all(WITH_PROPERTY, params)}

    return await hold_found(tx, project_id, objects=found)
