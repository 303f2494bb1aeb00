"""One database for the tests of a module, emptied after each: its connections keep the plans of their queries."""

from collections.abc import AsyncIterator

import psycopg
import pytest
from tests.emptying import DELETE_ROWS, open_cleaner

from whence.store import Store
from whence.store.pool import Database


@pytest.fixture(scope="module")
async def cleaner(shared_dsn: str) -> AsyncIterator[psycopg.AsyncConnection]:
    async with await open_cleaner(shared_dsn, {"kb.alembic_version"}) as conn:
        yield conn


@pytest.fixture(scope="module")
async def shared_database(shared_dsn: str) -> AsyncIterator[Database]:
    async with Database.open(shared_dsn, size=4) as opened:
        yield opened


@pytest.fixture
async def dsn(shared_dsn: str, cleaner: psycopg.AsyncConnection) -> AsyncIterator[str]:
    yield shared_dsn
    await cleaner.execute(DELETE_ROWS)


@pytest.fixture
async def store(dsn: str, shared_database: Database) -> Store:
    """On the empty database, with nothing in memory."""
    assert dsn
    store = Store(shared_database)
    await store.projects.ensure_default()
    return store
