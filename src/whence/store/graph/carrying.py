"""What a newer schema changes of claims without anybody reading a chunk again: their names, and the version they stand under.

Only claims of older versions are touched: what was said since goes by the newer schema already.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

from whence.errors import BadInput
from whence.store.graph import claims, ledger
from whence.store.graph.locks import Wanted, lock_in_order, retry_races
from whence.store.graph.merges import CHUNKS, GIVE, members
from whence.store.graph.names import NAME, name_silent, silent_chunks
from whence.store.graph.removal import MENTIONED
from whence.store.graph.write_chunk import keep_chunk
from whence.store.pool import Queries
from whence.types import Extraction

WITH_PROPERTY: LiteralString = """
SELECT o.id FROM kb.graph_objects o
WHERE o.project_id = %(project_id)s AND o.type = %(type)s AND EXISTS (
    SELECT FROM kb.object_provenance p
    WHERE p.project_id = %(project_id)s AND p.object_id = o.id AND p.property_name = %(property_name)s
      AND p.schema_number < %(schema_number)s)
UNION
SELECT o.id FROM kb.hidden_claims h
LEFT JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.dropped_id = h.said_of
JOIN kb.graph_objects o ON o.project_id = %(project_id)s AND o.id = coalesce(m.object_id, h.said_of)
WHERE h.project_id = %(project_id)s AND h.property_name = %(property_name)s
  AND h.schema_number < %(schema_number)s AND o.type = %(type)s
"""
# Those of which one chunk makes several such claims: which of them stands is to be settled anew.
CROWDED: LiteralString = """
SELECT coalesce(m.object_id, h.said_of) FROM kb.hidden_claims h
LEFT JOIN kb.object_merges m ON m.project_id = %(project_id)s AND m.dropped_id = h.said_of
WHERE h.project_id = %(project_id)s AND h.said_of = ANY(%(said)s) AND h.property_name = ANY(%(names)s)
UNION
SELECT p.object_id FROM kb.object_provenance p
WHERE p.project_id = %(project_id)s AND p.said_of = ANY(%(said)s) AND p.property_name = ANY(%(names)s)
GROUP BY p.object_id, p.chunk_id HAVING count(*) > 1
"""
_OLDER_HIDDEN: LiteralString = """
WHERE h.project_id = %(project_id)s AND h.said_of = ANY(%(said)s) AND h.property_name = %(property_name)s
  AND h.schema_number < %(schema_number)s"""
_OLDER: LiteralString = """
WHERE p.project_id = %(project_id)s AND p.object_id = ANY(%(ids)s) AND p.property_name = %(property_name)s
  AND p.schema_number < %(schema_number)s"""
FORGET_HIDDEN: LiteralString = f"DELETE FROM kb.hidden_claims h {_OLDER_HIDDEN}"
FORGET_PROPERTY: LiteralString = f"DELETE FROM kb.object_provenance p {_OLDER}"
RENAME_HIDDEN: LiteralString = f"""
UPDATE kb.hidden_claims h SET property_name = %(new_name)s, schema_number = %(schema_number)s {_OLDER_HIDDEN}
"""
# Where the chunk said something under the new name as well, one of the two waits behind the other.
SET_ASIDE: LiteralString = f"""
WITH met AS (
    DELETE FROM kb.object_provenance p {_OLDER} AND EXISTS (
        SELECT FROM kb.object_provenance q
        WHERE q.project_id = %(project_id)s AND q.object_id = p.object_id AND q.chunk_id = p.chunk_id
          AND q.property_name = %(new_name)s)
    RETURNING p.*
)
INSERT INTO kb.hidden_claims (project_id, id, said_of, chunk_id, property_name, operation, schema_number,
                              value, quote, start_offset, end_offset, extracted_at)
SELECT project_id, id, said_of, chunk_id, %(new_name)s, operation, %(schema_number)s,
       value, quote, start_offset, end_offset, extracted_at
FROM met
"""
RENAME_PROPERTY: LiteralString = f"""
UPDATE kb.object_provenance p SET property_name = %(new_name)s, schema_number = %(schema_number)s {_OLDER}
"""
_OF_CHUNK: LiteralString = """
SET schema_number = %(schema_number)s
WHERE project_id = %(project_id)s AND chunk_id = %(chunk_id)s
  AND schema_number BETWEEN %(since)s AND %(schema_number)s"""
RENEW: LiteralString = f"""
WITH hidden AS (UPDATE kb.hidden_claims {_OF_CHUNK}),
     ties AS (UPDATE kb.relationship_provenance {_OF_CHUNK}),
     hidden_ties AS (UPDATE kb.hidden_relationship_claims {_OF_CHUNK})
UPDATE kb.object_provenance {_OF_CHUNK}
"""


class Carrying:
    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    async def forget_property(
        self, project_id: UUID, object_type: str, name: str, *, schema_number: int
    ) -> int:
        """Every older claim of a property that this schema does not know any more; gives how many objects had one."""
        older = _Older(project_id, object_type, name, schema_number)

        async def attempt(tx: Queries) -> int:
            held = await older.hold(tx, [name])
            params = await older.params(tx, held)
            crowded = await older.crowded(tx, held, [name])
            await tx.run(FORGET_HIDDEN, params)
            await tx.run(FORGET_PROPERTY, params)
            await _give(tx, project_id, crowded)
            await name_silent(tx, params)
            await claims.settle(tx, project_id, held)
            return len(held)

        return await retry_races(self._queries, attempt)

    async def rename_property(
        self, project_id: UUID, object_type: str, old: str, new: str, *, schema_number: int
    ) -> int:
        """Every older claim of a property that this schema has under another name; gives how many objects had one.

        Where a chunk said something under both, the newer claim stands and the other is kept behind it.
        """
        older = _Older(project_id, object_type, old, schema_number)

        async def attempt(tx: Queries) -> int:
            held = await older.hold(tx, [old, new])
            params = {**await older.params(tx, held), "new_name": new}
            crowded = await older.crowded(tx, held, [old, new])
            await tx.run(RENAME_HIDDEN, params)
            await tx.run(SET_ASIDE, params)
            await tx.run(RENAME_PROPERTY, params)
            await _give(tx, project_id, crowded)
            await claims.settle(tx, project_id, held)
            return len(held)

        return await retry_races(self._queries, attempt)

    async def chunk(self, read: Extraction, *, since: int) -> None:
        """A chunk that counts as read: what it gave under the schema `since`, or was renamed to since, stands under that of `read`."""
        ids = {"project_id": read.project_id, "ids": [read.chunk_id]}

        async def spoken_of(queries: Queries) -> set[UUID]:
            return {row[0] for row in await queries.all(MENTIONED, ids)}

        params = {"project_id": read.project_id, "chunk_id": read.chunk_id}

        async def attempt(tx: Queries) -> None:
            await keep_chunk(tx, read.project_id, read.chunk_id)
            await lock_in_order(tx, read.project_id, Wanted(objects=spoken_of))
            await tx.run(RENEW, {**params, "schema_number": read.schema_number, "since": since})
            await tx.run(*ledger.put(read))

        await retry_races(self._queries, attempt)


@dataclass(frozen=True, slots=True)
class _Older:
    """The claims of a property that were made under older schemas than one."""

    project_id: UUID
    type: str
    name: str
    schema_number: int

    def __post_init__(self) -> None:
        if self.name == NAME:
            raise BadInput("The name is what an object is known by", details={"field": "property"})

    async def hold(self, tx: Queries, names: list[str]) -> set[UUID]:
        """The objects that have such claims; with the chunks whose claims are to be given anew."""

        async def chunks(queries: Queries) -> set[UUID]:
            found = await self.objects(queries)
            said = await members(queries, self.project_id, await self.crowded(queries, found, names))
            spoken = await queries.all(CHUNKS, {"project_id": self.project_id, "said": said})
            silent = await silent_chunks(queries, await self.params(queries, found))
            return silent | {row[0] for row in spoken}

        wanted = Wanted(objects=self.objects, chunks=chunks)
        return (await lock_in_order(tx, self.project_id, wanted)).found

    async def objects(self, queries: Queries) -> set[UUID]:
        return {row[0] for row in await queries.all(WITH_PROPERTY, self._params())}

    async def crowded(self, queries: Queries, ids: Iterable[UUID], names: list[str]) -> set[UUID]:
        said = await members(queries, self.project_id, ids)
        params = {"project_id": self.project_id, "said": said, "names": names}
        return {row[0] for row in await queries.all(CROWDED, params)}

    async def params(self, tx: Queries, held: Iterable[UUID]) -> dict[str, Any]:
        ids = list(held)
        return {**self._params(), "ids": ids, "said": await members(tx, self.project_id, ids)}

    def _params(self) -> dict[str, Any]:
        return {
            "project_id": self.project_id,
            "type": self.type,
            "property_name": self.name,
            "schema_number": self.schema_number,
        }


async def _give(tx: Queries, project_id: UUID, crowded: Iterable[UUID]) -> None:
    """Of several claims that one chunk makes of the same, the newest stands."""
    said = await members(tx, project_id, crowded)
    if said:
        await tx.run(GIVE, {"project_id": project_id, "said": said})
