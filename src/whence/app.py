"""The composition root: `async with App.open(settings) as app`."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from whence.errors import WhenceError
from whence.jobs import working
from whence.settings import Settings
from whence.store import Store
from whence.store.migrations import status, upgrade
from whence.store.originals import Originals
from whence.store.postgres import KeptPostgres


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    settings: Settings
    dsn: str
    store: Store
    originals: Originals

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: Settings) -> AsyncIterator["App"]:
        """Start or find the database, bring its schema up to date, and open everything that stands on it."""
        async with AsyncExitStack() as stack:
            dsn = await stack.enter_async_context(database(settings))
            await upgrade(dsn)
            store = await stack.enter_async_context(Store.open(dsn, size=settings.pool_size))
            await store.projects.ensure_default()
            originals = Originals.open(settings.storage_url, settings.data_dir)
            yield cls(settings=settings, dsn=dsn, store=store, originals=originals)

    def working(self) -> AbstractAsyncContextManager[None]:
        """A worker in this process for as long as the block lasts."""
        return working(self.dsn)

    async def readiness(self) -> dict[str, str]:
        """What `/readyz` tells: `ok`, or what is wrong, in plain words."""
        report = {"database": "ok", "migrations": "unknown", "worker": "unknown"}
        try:
            report["migrations"] = (await status(self.dsn)).state
            report["worker"] = "ok" if await self.store.queue.worker_alive() else "none is running"
        except WhenceError:
            report["database"] = "does not answer"
        ready = report == {"database": "ok", "migrations": "current", "worker": "ok"}
        return {"status": "ready" if ready else "not ready", **report}


@asynccontextmanager
async def database(settings: Settings) -> AsyncIterator[str]:
    """The conninfo of the database: the configured server's, or that of the embedded one, started if need be."""
    if settings.database_url is not None:
        yield settings.database_url.reveal()
        return
    server = await asyncio.to_thread(KeptPostgres, settings.data_dir, bin_dir=settings.postgres_bin)
    try:
        yield server.dsn
    finally:
        await asyncio.to_thread(server.stop)
