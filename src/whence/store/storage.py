"""Binds a storage to one database, by an id in the database and a marker object in the storage. Tidies it.

    marker and id agree                       the storage is ours
    no marker, and every object is known      the storage becomes ours
    anything else                             `StorageMismatch`, and nothing is written or removed

See docs/decisions/0010-storage-belongs-to-one-database.md.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, NamedTuple
from uuid import UUID

import orjson

from whence.errors import Conflict, NotFound, StorageMismatch, StorageUnavailable
from whence.models import now
from whence.store.inventory import Inventory, StorageId, StoredOriginal
from whence.store.originals import MARKER, Originals

log = logging.getLogger("whence.storage")

ABANDONED = timedelta(days=1)
"""Minimum age of a leftover. A younger original without a reference may be an upload in progress."""

KEPT_IN_TRASH = timedelta(days=7)
EXAMPLES = 20
"""Maximum number of names in a message; the rest is counted."""

_UNREADABLE = UUID(int=0)
_WAYS_ON = (
    "To go on, give this database a storage of its own (WHENCE_STORAGE_URL or WHENCE_DATA_DIR), restore the backup "
    "of the database that the storage belongs to, or bind the storage to this database with `whence storage adopt`."
)

Bond = Literal["bound", "unbound", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageStatus:
    location: str
    bond: Bond
    """`unbound` means that the storage has no marker."""
    database: StorageId | None
    marker: StorageId | None
    unknown: list[str] = field(default_factory=list)
    """Objects unknown to this database; listed only if there is no marker."""

    @property
    def says(self) -> str:
        """The state and the remedy, as a sentence."""
        if self.bond == "bound":
            return "The storage belongs to this database."
        adopt = "`whence storage adopt` binds it to this one"
        if self.bond == "other" and self.marker is not None:
            return f"The storage belongs to another database ({self.marker.id}). {adopt}."
        if not self.unknown:
            return "The storage belongs to no database yet; the next start of a server binds it."
        known = f"{len(self.unknown)} objects that this database does not know: {name_some(self.unknown, 3)}"
        return f"The storage belongs to no database and contains {known}. {adopt}."


class Storage:
    """The originals of this database. Checks that the storage belongs to this database before it writes or removes anything."""

    def __init__(self, originals: Originals, inventory: Inventory) -> None:
        self.originals = originals
        self.inventory = inventory
        self._bound = False
        self._binding = asyncio.Lock()

    async def check(self) -> None:
        """Check at server start. Raises `StorageMismatch`. An unreachable storage is only logged, and checked on first use."""
        try:
            await self.ensure_bound()
        except StorageUnavailable as exc:
            log.warning("The storage %s does not answer: %s", self.originals.location, exc.__cause__ or exc)

    async def ensure_bound(self, *, again: bool = False) -> None:
        """Raises `StorageMismatch` if the storage belongs to another database. Checks once per process, unless `again`."""
        if self._bound and not again:
            return
        async with self._binding:
            own = await self.inventory.ensure_storage_id()
            marker = await read_marker(self.originals)
            if marker is None:
                marker = await self._adopt_known(own)
            if marker.id != own.id:
                raise belongs_to_another(self.originals, own, marker)
            self._bound = True

    async def _adopt_known(self, own: StorageId) -> StorageId:
        unknown = await self.unknown()
        if unknown:
            raise StorageMismatch(
                f"The storage {self.originals.location} has no marker, and this database ({own.id}) does not know "
                f"{len(unknown)} of its objects: {name_some(unknown, 3)}. {_WAYS_ON}",
                details={"storage": self.originals.location, "marker": None, "database": str(own.id)},
            )
        if await self.originals.put_new(MARKER, _encode_marker(own)):
            log.info("The storage %s belongs to this database now: %s", self.originals.location, own.id)
        marker = await read_marker(self.originals)
        if marker is None:
            raise StorageUnavailable("The storage does not return the marker that was written to it")
        return marker

    async def status(self) -> StorageStatus:
        own = await self.inventory.storage_id()
        marker = await read_marker(self.originals)
        bond: Bond = "unbound" if marker is None else "bound" if own and own.id == marker.id else "other"
        return StorageStatus(
            location=self.originals.location,
            bond=bond,
            database=own,
            marker=marker,
            unknown=await self.unknown() if marker is None else [],
        )

    async def adopt(self) -> StorageStatus:
        """Bind the storage to this database, even if it belongs to another."""
        own = await self.inventory.ensure_storage_id()
        await write_marker(self.originals, own)
        return await self.status()

    async def unknown(self) -> list[str]:
        """Keys of objects that this database does not know. Lists the whole storage."""
        rows = await self.inventory.all()
        ours = {one.key if one.trashed_at is None else one.trash_key for one in rows}
        ours |= {one.key for one in rows if one.state == "moving"}
        return [key for key in await self.originals.keys() if key not in ours]

    async def put(self, key: str, content: bytes | Path) -> None:
        """Write an original. Its key must be in the inventory already."""
        await self.ensure_bound()
        await self.originals.put(key, content)

    async def discard(self, project_id: UUID, keys: Collection[str]) -> None:
        """Remove originals that nothing refers to any more: the objects first, then their rows.

        They stay while a backup runs, which may copy them, and while the storage does not answer; tidying removes them later.
        """
        if not keys or await self.inventory.backup_runs():
            return
        await self.ensure_bound()
        unused = await self.inventory.claim(project_id, keys)
        try:
            for key in unused:
                await self.originals.delete(key)
        except StorageUnavailable as exc:
            log.warning("Left %d originals for tidying: %s", len(unused), exc.__cause__ or exc)
        else:
            await self.inventory.forget(project_id, unused)


async def read_marker(originals: Originals) -> StorageId | None:
    """The marker, or None. An unreadable marker gets an id that matches no database."""
    try:
        content = b"".join([part async for part in originals.get(MARKER)])
    except NotFound:
        return None
    try:
        found = orjson.loads(content)
        return StorageId(id=UUID(str(found["id"])), created_at=datetime.fromisoformat(found["createdAt"]))
    except (ValueError, KeyError, TypeError):
        return StorageId(id=_UNREADABLE, created_at=datetime.min.replace(tzinfo=UTC))


async def write_marker(originals: Originals, own: StorageId) -> None:
    await originals.put(MARKER, _encode_marker(own))


def _encode_marker(own: StorageId) -> bytes:
    note = "This storage belongs to one Whence database. Do not remove this file."
    content = {"id": str(own.id), "createdAt": own.created_at, "note": note}
    return orjson.dumps(content, option=orjson.OPT_UTC_Z | orjson.OPT_INDENT_2)


def belongs_to_another(originals: Originals, own: StorageId | None, marker: StorageId) -> StorageMismatch:
    ours = None if own is None else own.id
    theirs = "cannot be read" if marker.id == _UNREADABLE else f"names {marker.id}"
    return StorageMismatch(
        f"The storage {originals.location} belongs to another database: its marker {theirs}, and this database has "
        f"{ours or 'no storage yet'}. {_WAYS_ON}",
        details={"storage": originals.location, "marker": str(marker.id), "database": str(ours)},
    )


def name_some(names: Collection[str], most: int = EXAMPLES) -> str:
    shown = ", ".join(sorted(names)[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


class Tidied(NamedTuple):
    """Numbers of originals."""

    trashed: int = 0
    removed: int = 0
    restored: int = 0


@dataclass(frozen=True, slots=True)
class Trash:
    """Leftovers of this database, moved aside and deleted after a week. Nothing else is moved.

    A leftover is an original that this database wrote at least a day ago and that nothing refers to: from a killed
    upload, a version replaced before it was parsed, or an interrupted deletion. The row records each step before it
    is done, so every step can be repeated after a kill.
    """

    storage: Storage

    async def tidy(self) -> Tidied:
        """Move leftovers to the trash, delete those that are a week old, and restore those referenced again.

        Does nothing while another process works on the trash.
        """
        await self.storage.ensure_bound(again=True)
        async with self.storage.inventory.alone() as alone:
            return await self._tidy() if alone else Tidied()

    async def _tidy(self) -> Tidied:
        inventory = self.storage.inventory
        restored = await self._put_back([one for one in await inventory.trash() if one.is_referenced])
        await inventory.claim_leftovers(before=now() - ABANDONED)
        moving = [one for one in await inventory.trash() if one.state == "moving"]
        trashed = [one for one in moving if await self._move(one)]
        old = now() - KEPT_IN_TRASH
        due = [one for one in await inventory.trash() if one.trashed_at and one.trashed_at < old]
        removed = await self._remove([one for one in due if one.state == "trashed" and not one.is_referenced])
        return Tidied(len(trashed), len(removed), len(restored))

    async def restore(self, keys: Collection[str] = ()) -> list[StoredOriginal]:
        """Restore these originals, or all. One without a reference becomes a leftover again after a day."""
        async with self._lock_trash():
            return await self._put_back(_choose(await self.storage.inventory.trash(), keys))

    async def empty(self, keys: Collection[str] = ()) -> list[StoredOriginal]:
        """Delete these trashed originals, or all, except those that are referenced again."""
        async with self._lock_trash():
            chosen = _choose(await self.storage.inventory.trash(), keys)
            return await self._remove([one for one in chosen if not one.is_referenced])

    @asynccontextmanager
    async def _lock_trash(self) -> AsyncIterator[None]:
        await self.storage.ensure_bound()
        async with self.storage.inventory.alone() as alone:
            if not alone:
                raise Conflict("Another process is tidying the storage. Try again in a moment.")
            yield

    async def _move(self, one: StoredOriginal) -> bool:
        """Move an original to the trash. If its object is missing, delete the row and return False."""
        originals = self.storage.originals
        try:
            await originals.move(one.key, one.trash_key)
        except NotFound:
            if not await originals.exists(one.trash_key):
                await self.storage.inventory.forget(one.project_id, [one.key])
                return False
        await self.storage.inventory.mark(one, "trashed")
        log.info("Moved the original %s to %s: nothing refers to it", one.key, one.trash_key)
        return True

    async def _put_back(self, chosen: Collection[StoredOriginal]) -> list[StoredOriginal]:
        restored = []
        for one in chosen:
            await self.storage.inventory.mark(one, "moving")
            try:
                await self.storage.originals.move(one.trash_key, one.key)
            except NotFound:
                if not await self.storage.originals.exists(one.key):
                    log.warning("The original %s is neither in the trash nor at its place", one.key)
                    continue
            await self.storage.inventory.mark(one, "kept")
            log.info("Moved the original %s back from the trash", one.key)
            restored.append(one)
        return restored

    async def _remove(self, chosen: Collection[StoredOriginal]) -> list[StoredOriginal]:
        for one in chosen:
            await self.storage.originals.delete(one.trash_key)
            if one.state == "moving":  # a kill may have prevented the move
                await self.storage.originals.delete(one.key)
            await self.storage.inventory.forget(one.project_id, [one.key])
            log.info("Removed the original %s from the trash", one.key)
        return list(chosen)


def _choose(trash: list[StoredOriginal], keys: Collection[str]) -> list[StoredOriginal]:
    unknown = set(keys) - {one.key for one in trash} - {one.trash_key for one in trash}
    if unknown:
        raise NotFound(f"Not in the trash: {', '.join(sorted(unknown))}")
    return [one for one in trash if not keys or one.key in keys or one.trash_key in keys]
