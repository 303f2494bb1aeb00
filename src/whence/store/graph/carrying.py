"""What a newer schema changes of claims without anybody reading a chunk again: their names, and the version they stand under."""

from typing import LiteralString
from uuid import UUID

from whence.errors import BadInput, ChunkNotFound
from whence.store.graph import claims, ledger
from whence.store.graph.holding import hold_found
from whence.store.graph.naming import NAME
from whence.store.graph.removal import TOUCHED
from whence.store.graph.writing import HOLD_CHUNK
from whence.store.pool import Queries
from whence.types import Extraction

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
RENAME_HIDDEN: LiteralString = (
    """
UPDATE kb.hidden_claims h
SET property_name = %(new_name)s, schema_number = greatest(h.schema_number, %(schema_number)s)"""
    + _HIDDEN
)
FORGET_PROPERTY: LiteralString = """
DELETE FROM kb.object_provenance p
WHERE p.project_id = %(project_id)s AND p.object_id = ANY(%(ids)s) AND p.property_name = %(property_name)s
"""
# Where a chunk gave both, what it gave under the new name stands.
RENAME_PROPERTY: LiteralString = """
UPDATE kb.object_provenance p
SET property_name = %(new_name)s, schema_number = greatest(p.schema_number, %(schema_number)s)
WHERE p.project_id = %(project_id)s AND p.object_id = ANY(%(ids)s) AND p.property_name = %(property_name)s
  AND NOT EXISTS (
      SELECT FROM kb.object_provenance q
      WHERE q.project_id = %(project_id)s AND q.object_id = p.object_id AND q.chunk_id = p.chunk_id
        AND q.property_name = %(new_name)s)
"""
_OF_CHUNK: LiteralString = """
SET schema_number = %(schema_number)s
WHERE project_id = %(project_id)s AND chunk_id = %(chunk_id)s AND schema_number = %(since)s"""
RENEW: LiteralString = f"""
WITH hidden AS (UPDATE kb.hidden_claims {_OF_CHUNK}),
     ties AS (UPDATE kb.relationship_provenance {_OF_CHUNK}),
     hidden_ties AS (UPDATE kb.hidden_relationship_claims {_OF_CHUNK})
UPDATE kb.object_provenance {_OF_CHUNK}
"""


class Carrying:
    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    async def forget_property(self, project_id: UUID, object_type: str, property_name: str) -> int:
        """Every claim of a property that the schema does not know any more; gives how many objects had it."""
        async with self._queries.transaction() as tx:
            held = await _hold_property(tx, project_id, object_type, property_name)
            params = {"project_id": project_id, "ids": list(held), "property_name": property_name}
            await tx.run(FORGET_HIDDEN, params)
            await tx.run(FORGET_PROPERTY, params)
            await claims.settle(tx, project_id, held)
            return len(held)

    async def rename_property(
        self, project_id: UUID, object_type: str, old: str, new: str, *, schema_number: int
    ) -> int:
        """Every claim of a property that this schema has under another name; gives how many objects had it."""
        async with self._queries.transaction() as tx:
            held = await _hold_property(tx, project_id, object_type, old)
            params = {"project_id": project_id, "ids": list(held), "property_name": old}
            renamed = {**params, "new_name": new, "schema_number": schema_number}
            await tx.run(RENAME_HIDDEN, renamed)
            await tx.run(RENAME_PROPERTY, renamed)
            await tx.run(FORGET_PROPERTY, params)
            await claims.settle(tx, project_id, held)
            return len(held)

    async def chunk(self, read: Extraction, *, since: int) -> None:
        """A chunk that counts as read: what it gave under the schema `since` stands under that of `read`."""
        ids = {"project_id": read.project_id, "ids": [read.chunk_id]}

        async def spoken_of(queries: Queries) -> set[UUID]:
            return {row[0] for row in await queries.all(TOUCHED, ids)}

        params = {"project_id": read.project_id, "chunk_id": read.chunk_id}
        async with self._queries.transaction() as tx:
            if await tx.one(HOLD_CHUNK, params) is None:
                raise ChunkNotFound(details={"chunk_id": str(read.chunk_id)})
            await hold_found(tx, read.project_id, objects=spoken_of)
            await tx.run(RENEW, {**params, "schema_number": read.schema_number, "since": since})
            await tx.run(*ledger.put(read))


async def _hold_property(tx: Queries, project_id: UUID, object_type: str, property_name: str) -> set[UUID]:
    if property_name == NAME:
        raise BadInput("The name is what an object is known by", details={"field": "property"})
    params = {"project_id": project_id, "type": object_type, "property_name": property_name}

    async def found(queries: Queries) -> set[UUID]:
        return {row[0] for row in await queries.all(WITH_PROPERTY, params)}

    return await hold_found(tx, project_id, objects=found)
