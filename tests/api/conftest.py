"""The API is tested with the embedder that needs no model: what vectors mean is tested elsewhere."""

import threading
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import uvicorn
from tests.api.ingesting import data_of
from tests.endpoint import Endpoint
from tests.extracting import PROJECTS
from tests.fetch.site import Site, opened

from whence.settings import Secret, Settings
from whence.types import DEFAULT_PROJECT_ID
from whence.web.server import create_app


@pytest.fixture
def settings(dsn: str, tmp_path: Path) -> Settings:
    return Settings(
        database_url=Secret(dsn),
        data_dir=tmp_path / "data",
        pool_size=8,
        embedder="hash",
        fetch_allow=("127.0.0.1",),
    )


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as opened:
        yield opened


@pytest.fixture
async def by_hand(client: httpx.AsyncClient) -> httpx.AsyncClient:
    """Of a project that extracts only when it is told to."""
    changed = {"config": {"extraction": "manual"}}
    data_of(await client.patch(f"{PROJECTS}/{DEFAULT_PROJECT_ID}", json=changed))
    return client


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A web site on loopback, which the settings allow to be fetched from."""
    async with opened() as running:
        yield running


@pytest.fixture
def running(settings: Settings) -> Iterator[str]:
    """A server on loopback, in a thread: for what only shows on a real connection."""
    server = uvicorn.Server(
        uvicorn.Config(create_app(replace(settings, port=0)), port=0, log_config=None, access_log=False)
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()
