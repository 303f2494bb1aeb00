"""The inventory: the id of this database's storage, and the originals that this database wrote there.

A row is committed before its object is written, and deleted after the object. So an object without a row does not belong to this database
and is never touched.
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, LiteralString, NamedTuple
from uuid import UUID

from whence.models import new_id, now
from whence.store.pool import Statements

State = Literal["kept", "moving", "trashed"]

BACKUP_LOCK = 0x57_68_42_61_63_6B
"""The advisory lock ("WhBack") that a backup holds, shared, while it copies originals."""

_TRASH_LOCK = 0x57_68_54_72_61_73  # "WhTras": one process at a time works on the trash

# Originals of documents and of their current jobs, which may run again.
_REFERENCES: LiteralString = """
SELECT original_key FROM kb.documents WHERE original_key IS NOT NULL
UNION
SELECT j.config -> 'original' ->> 'key'
FROM kb.documents d JOIN kb.jobs j ON j.project_id = d.project_id AND j.id = d.current_job_id
WHERE j.config -> 'original' ->> 'key' IS NOT NULL
"""
_IS_REFERENCED: LiteralString = f"EXISTS (SELECT FROM ({_REFERENCES}) AS r (key) WHERE r.key = o.key)"
_IS_LEFTOVER: LiteralString = f"o.state = 'kept' AND o.noted_at < %(before)s AND NOT {_IS_REFERENCED}"

_BACKUP_RUNS: LiteralString = """EXISTS (
    SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND (classid::bigint << 32 | objid::bigint) = %(backup)s
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))"""

SELECT_STORAGE: LiteralString = "SELECT id, created_at FROM kb.storage"
INSERT_STORAGE: LiteralString = """
INSERT INTO kb.storage (only_row, id, created_at) VALUES (true, %(id)s, %(now)s) ON CONFLICT DO NOTHING
"""
NOTE: LiteralString = """
INSERT INTO kb.stored_originals (project_id, key, noted_at, state)
SELECT split_part(key, '/', 1)::uuid, key, %(now)s, 'kept' FROM unnest(%(keys)s::text[]) AS key
ON CONFLICT DO NOTHING
"""
FORGET: LiteralString = """
DELETE FROM kb.stored_originals WHERE project_id = %(project_id)s AND key = ANY(%(keys)s::text[])
"""
# Locks the row until the transaction, which also stores the reference, ends. Restarts the day after which an original can be a leftover.
SHARE: LiteralString = """
UPDATE kb.stored_originals SET noted_at = %(now)s
WHERE project_id = %(project_id)s AND key = %(key)s AND state = 'kept'
"""
# Waits for transactions that share the originals, so that the next statement sees their references.
LOCK: LiteralString = """
SELECT key FROM kb.stored_originals
WHERE project_id = %(project_id)s AND key = ANY(%(keys)s::text[]) ORDER BY key FOR UPDATE
"""
CLAIM: LiteralString = """
UPDATE kb.stored_originals o SET state = 'moving', trashed_at = %(now)s
WHERE o.project_id = %(project_id)s AND o.key = ANY(%(keys)s::text[]) AND o.state = 'kept'
  AND NOT EXISTS (SELECT FROM kb.documents d WHERE d.project_id = %(project_id)s AND d.original_key = o.key)
  AND NOT EXISTS (SELECT FROM kb.jobs j
                  JOIN kb.documents d ON d.project_id = %(project_id)s AND d.id = j.document_id
                                     AND d.current_job_id = j.id
                  WHERE j.project_id = %(project_id)s AND j.type = 'document_processing'
                    AND j.config -> 'original' ->> 'key' = o.key)
RETURNING o.key
"""
SELECT_OWNED: LiteralString = """
SELECT o.key FROM kb.stored_originals o
WHERE o.project_id = %(project_id)s AND o.key IN (
    SELECT d.original_key FROM kb.documents d
    WHERE d.project_id = %(project_id)s AND (%(document_id)s::uuid IS NULL OR d.id = %(document_id)s)
    UNION ALL
    SELECT j.config -> 'original' ->> 'key' FROM kb.jobs j
    WHERE j.project_id = %(project_id)s AND (%(document_id)s::uuid IS NULL OR j.document_id = %(document_id)s))
"""
SELECT_ALL: LiteralString = (
    "SELECT o.project_id, o.key, o.noted_at, o.state, o.trashed_at FROM kb.stored_originals o"
)
SELECT_TRASH: LiteralString = f"""
SELECT o.project_id, o.key, o.noted_at, o.state, o.trashed_at, {_IS_REFERENCED}
FROM kb.stored_originals o WHERE o.trashed_at IS NOT NULL ORDER BY o.trashed_at, o.key
"""
# Fails while a backup runs, because it copies the originals that were referenced when it began.
CLAIM_LEFTOVERS: LiteralString = f"""
UPDATE kb.stored_originals o SET state = 'moving', trashed_at = %(now)s
WHERE {_IS_LEFTOVER} AND NOT {_BACKUP_RUNS}
"""
MARK: LiteralString = """
UPDATE kb.stored_originals
SET state = %(state)s, trashed_at = CASE WHEN %(state)s::text <> 'kept' THEN trashed_at END,
    noted_at = CASE WHEN %(state)s::text = 'kept' THEN %(now)s ELSE noted_at END
WHERE project_id = %(project_id)s AND key = %(key)s AND state <> 'kept'
"""
COUNT_LEFTOVERS: LiteralString = f"SELECT count(*) FROM kb.stored_originals o WHERE {_IS_LEFTOVER}"
# The original of a failed or cancelled job is optional. The job may be retried, but losing its original loses no data.
REFERRED: LiteralString = """
SELECT key, size, sha256, bool_or(required) AS required
FROM (SELECT d.original_key, d.size, d.sha256, true FROM kb.documents d WHERE d.original_key IS NOT NULL
      UNION ALL
      SELECT j.config -> 'original' ->> 'key', (j.config -> 'original' ->> 'size')::bigint,
             decode(j.config -> 'original' ->> 'sha256', 'hex'), j.status IN ('pending', 'processing')
      FROM kb.documents d JOIN kb.jobs j ON j.project_id = d.project_id AND j.id = d.current_job_id
      WHERE j.status <> 'completed' AND j.config -> 'original' ->> 'key' IS NOT NULL
     ) AS referred (key, size, sha256, required)
GROUP BY key, size, sha256
ORDER BY key
"""
BACKUP_RUNS: LiteralString = f"SELECT {_BACKUP_RUNS}"
TRY_ALONE: LiteralString = "SELECT pg_try_advisory_xact_lock(%(lock)s)"


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageId:
    id: UUID
    created_at: datetime


class StoredOriginal(NamedTuple):
    project_id: UUID
    key: str
    noted_at: datetime
    state: State
    trashed_at: datetime | None
    is_referenced: bool | None = None
    """Whether a document or its current job refers to the original; None if that was not read."""

    @property
    def trash_key(self) -> str:
        assert self.trashed_at is not None, "only originals in the trash have one"
        return f"trash/{self.trashed_at:%Y-%m-%d}/{self.key}"


class Referred(NamedTuple):
    key: str
    size: int
    sha256: bytes
    required: bool


def differences(referred: list[Referred], found: Mapping[str, tuple[int, bytes]]) -> dict[str, str]:
    """The fault of each damaged original, by key. Only a required one is reported as missing."""
    wrong = {}
    for key, size, sha256, required in referred:
        if key not in found:
            if required:
                wrong[key] = "missing"
        elif found[key] != (size, sha256):
            is_size = found[key][0] != size
            wrong[key] = f"{found[key][0]} bytes instead of {size}" if is_size else "other content (sha256)"
    return wrong


class Inventory(Statements):
    async def storage_id(self) -> StorageId | None:
        """The id of this database's storage; None before the first start."""
        row = await self._queries.one(SELECT_STORAGE)
        return None if row is None else StorageId(id=row[0], created_at=row[1])

    async def ensure_storage_id(self) -> StorageId:
        """Create the id if it is missing. Processes that start at the same time get the same id."""
        found = await self.storage_id()
        if found is None:
            await self._queries.run(INSERT_STORAGE, {"id": new_id(), "now": now()})
            found = await self.storage_id()
        assert found is not None, "the row is never deleted"
        return found

    async def note(self, keys: Sequence[str]) -> None:
        """Insert the keys. Call this before writing the objects."""
        await self._queries.run(NOTE, {"keys": list(keys), "now": now()})

    async def share(self, project_id: UUID, key: str) -> bool:
        """Keep the original for one more document. Call this in the transaction that refers to it. Returns False if it is being removed."""
        params = {"project_id": project_id, "key": key, "now": now()}
        return await self._queries.run(SHARE, params) == 1

    async def claim(self, project_id: UUID, keys: Iterable[str]) -> list[str]:
        """Mark the originals that nothing refers to as on their way to the trash, and return their keys."""
        params = {"project_id": project_id, "keys": list(keys), "now": now()}
        async with self._queries.transaction() as tx:
            await tx.all(LOCK, params)
            return await tx.column(CLAIM, params)

    async def forget(self, project_id: UUID, keys: Iterable[str]) -> None:
        """Delete the keys. Call this after deleting the objects."""
        await self._queries.run(FORGET, {"project_id": project_id, "keys": list(keys)})

    async def owned(self, project_id: UUID, document_id: UUID | None = None) -> list[str]:
        """Keys referenced by the document and its jobs, or by all documents and jobs of the project.

        Uploads in progress are not included: the upload itself removes its object, or tidying does.
        """
        params = {"project_id": project_id, "document_id": document_id}
        return await self._queries.column(SELECT_OWNED, params)

    async def all(self) -> list[StoredOriginal]:
        return [StoredOriginal(*row) for row in await self._queries.all(SELECT_ALL)]

    async def referred(self) -> list[Referred]:
        return [Referred(*row) for row in await self._queries.all(REFERRED)]

    async def trash(self) -> list[StoredOriginal]:
        """Trashed originals, oldest first, including those being moved."""
        return [StoredOriginal(*row) for row in await self._queries.all(SELECT_TRASH)]

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[bool]:
        """Try to lock the trash while the block runs. Yields False if another process holds the lock."""
        async with self._queries.transaction() as queries:
            # The transaction idles while objects are moved; a timeout would end it and release the lock.
            await queries.run("SET LOCAL idle_in_transaction_session_timeout = 0")
            yield bool(await queries.value(TRY_ALONE, {"lock": _TRASH_LOCK}))

    async def claim_leftovers(self, *, before: datetime) -> None:
        await self._queries.run(CLAIM_LEFTOVERS, {"before": before, "now": now(), "backup": BACKUP_LOCK})

    async def count_leftovers(self, *, before: datetime) -> int:
        return int(await self._queries.value(COUNT_LEFTOVERS, {"before": before}))

    async def mark(self, one: StoredOriginal, state: State) -> None:
        """Record that the original is in the trash, leaves it, or is back. After a kill, tidying looks in both places."""
        params = {"project_id": one.project_id, "key": one.key, "state": state, "now": now()}
        await self._queries.run(MARK, params)

    @asynccontextmanager
    async def keep_all(self) -> AsyncIterator[None]:
        """Keep all processes from removing originals while the block runs."""
        async with self._queries.connection() as conn:
            await conn.execute("SELECT pg_advisory_lock_shared(%s)", [BACKUP_LOCK])
            try:
                yield
            finally:
                await conn.execute("SELECT pg_advisory_unlock_shared(%s)", [BACKUP_LOCK])

    async def backup_runs(self) -> bool:
        """Whether a backup is copying originals or a check is reading them."""
        return bool(await self._queries.value(BACKUP_RUNS, {"backup": BACKUP_LOCK}))
