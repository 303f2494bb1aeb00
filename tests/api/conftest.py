"""The API is tested with the embedder that needs no model: what vectors mean is tested elsewhere."""

import asyncio
import shutil
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from tests.api.ingesting import data_of
from tests.api.shared_app import SharedApp, shares_app
from tests.chat_endpoint import ChatEndpoint, says
from tests.conftest import TEMPLATE, make_database
from tests.endpoint import Endpoint
from tests.extracting import PROJECTS
from tests.fetch.site import Site, opened

from whence.models import DEFAULT_PROJECT_ID
from whence.settings import Secret, Settings
from whence.store.postgres import EmbeddedPostgres
from whence.web.serve import server_config
from whence.web.server import create_app, entrance


def usual_settings(dsn: str, data_dir: Path) -> Settings:
    return Settings(
        database_url=Secret(dsn), data_dir=data_dir, pool_size=8, embedder="hash", fetch_allow=("127.0.0.1",)
    )


@pytest.fixture(scope="module")
def shared_model() -> Iterator[ChatEndpoint]:
    with ChatEndpoint(says("")) as running:
        yield running


@pytest.fixture(scope="module")
async def shared_app(
    request: pytest.FixtureRequest, shared_dsn: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[SharedApp]:
    folder = tmp_path_factory.mktemp("shared")
    settings = usual_settings(shared_dsn, folder / "data")
    mark = request.node.get_closest_marker("one_app")
    if mark is not None:
        settings = replace(settings, **mark.kwargs)
    if settings.llm_model is not None:
        settings = replace(settings, llm_base_url=request.getfixturevalue("shared_model").url)
    shared = SharedApp(settings)
    yield shared
    await shared.aclose()
    shutil.rmtree(folder)


@pytest.fixture
def dsn(request: pytest.FixtureRequest, postgres: EmbeddedPostgres) -> Iterator[str]:
    if shares_app(request):
        yield request.getfixturevalue("shared_dsn")
    else:
        yield from make_database(postgres, TEMPLATE)


@pytest.fixture
def settings(request: pytest.FixtureRequest, dsn: str, tmp_path: Path) -> Settings:
    if shares_app(request):
        shared: SharedApp = request.getfixturevalue("shared_app")
        return shared.settings
    return usual_settings(dsn, tmp_path / "data")


@pytest.fixture
async def web(
    request: pytest.FixtureRequest, settings: Settings, shared_app: SharedApp
) -> AsyncIterator[FastAPI]:
    if shares_app(request):
        yield await shared_app.web()
        await shared_app.clear()
        return
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        yield app


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
async def address(web: FastAPI, settings: Settings) -> AsyncIterator[str]:
    """`web` on loopback, served in the event loop of the test: for asynchronous clients."""
    server = _loopback_server(web, settings, lifespan="off")
    serving = asyncio.create_task(server.serve())
    while not server.started:
        assert not serving.done(), "the server did not start"
        await asyncio.sleep(0.01)
    yield _address_of(server)
    server.should_exit = True
    await serving


@pytest.fixture
def running(settings: Settings) -> Iterator[str]:
    """A server on loopback, in a thread: for what only shows on a real connection."""
    with serve_in_thread(settings) as url:
        yield url


@contextmanager
def serve_in_thread(settings: Settings) -> Iterator[str]:
    settings = replace(settings, port=0)  # links name the port that the system chose
    server = _loopback_server(create_app(settings), settings, lifespan="on")
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        yield _address_of(server)
    finally:  # a server that a failed test leaves behind would disturb the next ones
        server.should_exit = True
        thread.join()


def _loopback_server(web: FastAPI, settings: Settings, *, lifespan: Literal["on", "off"]) -> uvicorn.Server:
    config = server_config(entrance(web), settings)
    config.port, config.lifespan = 0, lifespan
    return uvicorn.Server(config)


def _address_of(server: uvicorn.Server) -> str:
    return f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
