"""Moves leftovers of this database to a trash in the storage, and deletes them after a week. Nothing else is moved.

A leftover is an original that this database wrote at least a day ago and that nothing refers to: from a killed upload, a
version replaced before it was parsed, or an interrupted deletion. The row records each step before it is done, so every
step can be repeated after a kill.
"""

import logging
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from whence.errors import Conflict, NotFound
from whence.models import now
from whence.store.inventory import StoredOriginal
from whence.store.storage import Storage

log = logging.getLogger("whence.storage")

ABANDONED = timedelta(days=1)
"""Minimum age of a leftover. A younger original without a reference may be an upload in progress."""

KEPT_IN_TRASH = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tidied:
    trashed: int
    removed: int
    restored: int


@dataclass(frozen=True, slots=True)
class Trash:
    storage: Storage

    async def tidy(self) -> Tidied:
        """Move leftovers to the trash, delete those there for a week, and restore those referenced again.

        Does nothing while another process works on the trash.
        """
        await self.storage.ensure_bound(again=True)
        async with self.storage.inventory.alone() as alone:
            return await self._tidy() if alone else Tidied(trashed=0, removed=0, restored=0)

    async def _tidy(self) -> Tidied:
        inventory = self.storage.inventory
        restored = await self._put_back(await inventory.needed_trash())
        await inventory.claim_leftovers(before=now() - ABANDONED)
        moving = [one for one in await inventory.trash() if one.state == "moving"]
        trashed = [one for one in moving if await self._move(one)]
        removed = await self._remove(await inventory.old_trash(before=now() - KEPT_IN_TRASH))
        return Tidied(trashed=len(trashed), removed=len(removed), restored=len(restored))

    async def contents(self) -> list[StoredOriginal]:
        return await self.storage.inventory.trash()

    async def restore(self, keys: Collection[str] = ()) -> list[StoredOriginal]:
        """Restore these originals, or all. One without a reference becomes a leftover again after a day."""
        async with self._alone():
            return await self._put_back(_choose(await self.contents(), keys))

    async def empty(self, keys: Collection[str] = ()) -> list[StoredOriginal]:
        """Delete these trashed originals, or all, except those that are referenced again."""
        async with self._alone():
            needed = {one.key for one in await self.storage.inventory.needed_trash()}
            chosen = _choose(await self.contents(), keys)
            return await self._remove([one for one in chosen if one.key not in needed])

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
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
        await self.storage.inventory.settle(one)
        log.info("Moved the original %s to %s: nothing refers to it", one.key, one.trash_key)
        return True

    async def _put_back(self, chosen: Collection[StoredOriginal]) -> list[StoredOriginal]:
        restored = []
        for one in chosen:
            await self.storage.inventory.unsettle(one)
            try:
                await self.storage.originals.move(one.trash_key, one.key)
            except NotFound:
                if not await self.storage.originals.exists(one.key):
                    log.warning("The original %s is neither in the trash nor at its place", one.key)
                    continue
            await self.storage.inventory.keep(one)
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
    """Select by key or trash key; without keys, all."""
    unknown = set(keys) - {one.key for one in trash} - {one.trash_key for one in trash}
    if unknown:
        raise NotFound(f"Not in the trash: {', '.join(sorted(unknown))}")
    return [one for one in trash if not keys or one.key in keys or one.trash_key in keys]
