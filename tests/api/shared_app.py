"""One application on one database for the tests of a module. After each test it is empty again.

To start an application costs ten times what most requests cost. A module takes part with `pytestmark =
pytest.mark.one_app`. Its tests that ask for `running`, or for no `web` at all, still get a database of their own, and so
does a test with `pytest.mark.own_app`, such as one that drops a table.

`pytest.mark.one_app(max_upload_mb=2)` gives it these settings, and with an `llm_model` a scripted model, `shared_model`.
"""

import asyncio
import shutil
from contextlib import AsyncExitStack

import psycopg
import pytest
from fastapi import FastAPI
from tests.emptying import DELETE_ROWS, open_cleaner

from whence.settings import Settings
from whence.web.server import create_app

PATIENCE = 240
KEPT = {"kb.alembic_version", "kb.embedding_spaces", "queue.procrastinate_workers"}
"""Embedding spaces have the vectors of the reference texts (search/background.py)."""
DOING = "SELECT count(*) FROM queue.procrastinate_jobs WHERE status = 'doing'"


def shares_app(request: pytest.FixtureRequest) -> bool:
    node, names = request.node, request.fixturenames
    if node.get_closest_marker("one_app") is None or node.get_closest_marker("own_app") is not None:
        return False
    return "web" in names and "running" not in names


class SharedApp:
    """Opened for the first test that wants it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._stack = AsyncExitStack()
        self._web: FastAPI | None = None
        self._cleaner: psycopg.AsyncConnection | None = None

    async def web(self) -> FastAPI:
        if self._web is None:
            web = create_app(self.settings)
            await self._stack.enter_async_context(web.router.lifespan_context(web))
            self._web = web
        return self._web

    async def clear(self) -> None:
        """Empty the database and the folder once the worker has nothing in hand."""
        async with asyncio.timeout(PATIENCE):
            try:
                await self._delete_rows()
            except psycopg.OperationalError:  # the test ended all connections
                self._cleaner = None
                await self._delete_rows()
        shutil.rmtree(self.settings.data_dir, ignore_errors=True)
        if self._web is not None:
            await self._web.state.whence.store.projects.ensure_default()

    async def _delete_rows(self) -> None:
        if self._cleaner is None:
            assert self.settings.database_url is not None
            conn = await open_cleaner(self.settings.database_url.reveal(), KEPT)
            self._cleaner = await self._stack.enter_async_context(conn)
        await _stop_jobs(self._cleaner)
        await self._cleaner.execute(DELETE_ROWS)

    async def aclose(self) -> None:
        self._web = None
        await self._stack.aclose()


async def _stop_jobs(conn: psycopg.AsyncConnection) -> None:
    await conn.execute("DELETE FROM queue.procrastinate_jobs WHERE status = 'todo'")
    while (row := await (await conn.execute(DOING)).fetchone()) and row[0]:  # noqa: ASYNC110 - the queue sets no events
        await asyncio.sleep(0.01)
