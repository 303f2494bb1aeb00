"""Real Postgres for every test that stores: one server for each test process, one cloned database for each test."""

import asyncio
import fcntl
import gc
import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import hypothesis
import psycopg
import pytest
from fastapi import FastAPI
from psycopg import sql
from psycopg.conninfo import make_conninfo
from tests.samples import AddSample, Sample, make_sample

from whence.app import App
from whence.models import DEFAULT_PROJECT_ID
from whence.settings import Secret, Settings
from whence.store import Store
from whence.store.migrations import upgrade
from whence.store.postgres import EmbeddedPostgres
from whence.web.server import create_app

TEMPLATE = "whence_template"
"""A migrated database that tests get copies of."""

# Many tests start processes of their own, which would each compile every module anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell starts `make test &` with Ctrl-C ignored, and every process that a test starts would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

MEMORY = Path("/dev/shm")  # noqa: S108 - pytest makes a private directory in it
ENOUGH = 4 * 1024**3


def _holds_files_in_memory(place: Path) -> bool:
    """Whether temporary files fit there. Containers often have 64 MB, and some forbid to run programs from it."""
    if not place.is_dir() or not os.access(place, os.W_OK):
        return False
    found = os.statvfs(place)
    return found.f_bavail * found.f_frsize >= ENOUGH and not found.f_flag & os.ST_NOEXEC


# Tests make dozens of database clusters, and a disk takes seconds to write one safely.
if _holds_files_in_memory(MEMORY):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

# Two busy cores are no reason to fail: how long an example takes says nothing about what it shows.
# In CI the examples are the same each time, so that a red run is about the change; elsewhere they are new every time.
hypothesis.settings.register_profile(
    "whence",
    max_examples=20,
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("whence")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collecting makes a million objects, and all of them stay: the garbage collector need not look at them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def make_once(tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that all test processes copy and none changes. The first one makes it, the others wait."""
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
    place = shared / name
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            make(tmp := tmp_path_factory.mktemp(name))
            tmp.rename(place)
    return place


def make_cluster(folder: Path) -> None:
    """The files of a server with the template."""
    with EmbeddedPostgres.start(folder) as server:
        with psycopg.connect(server.bootstrap_dsn, autocommit=True) as conn:
            # These databases live for one test. Tests of crashes start servers of their own.
            for name in ("fsync", "full_page_writes", "synchronous_commit"):
                conn.execute(f"ALTER SYSTEM SET {name} = off")
            conn.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(TEMPLATE)))
        asyncio.run(upgrade(make_conninfo(server.bootstrap_dsn, dbname=TEMPLATE)))


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedPostgres]:
    made = make_once(tmp_path_factory, "cluster", make_cluster)
    copy = shutil.copytree(made, tmp_path_factory.mktemp("postgres") / "data")
    with EmbeddedPostgres.start(copy) as server:
        yield server


@pytest.fixture
def empty_dsn(postgres: EmbeddedPostgres) -> Iterator[str]:
    """A database with nothing in it."""
    yield from make_database(postgres, "template0")


@pytest.fixture
def dsn(postgres: EmbeddedPostgres) -> Iterator[str]:
    """A database with the current schema."""
    yield from make_database(postgres, TEMPLATE)


@pytest.fixture(scope="module")
def shared_dsn(postgres: EmbeddedPostgres) -> Iterator[str]:
    """A database for all tests of a module, each of which has projects of its own or empties it."""
    yield from make_database(postgres, TEMPLATE)


def make_database(postgres: EmbeddedPostgres, template: str) -> Iterator[str]:
    name = f"test_{uuid4().hex}"
    with psycopg.connect(postgres.bootstrap_dsn, autocommit=True) as conn:
        query = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY")
        conn.execute(query.format(sql.Identifier(name), sql.Identifier(template)))
        yield make_conninfo(postgres.bootstrap_dsn, dbname=name)
        conn.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
async def store(dsn: str) -> AsyncIterator[Store]:
    async with Store.open(dsn, size=4) as opened:
        await opened.projects.ensure_default()
        yield opened


@pytest.fixture
def settings(dsn: str, tmp_path: Path) -> Settings:
    return Settings(database_url=Secret(dsn), data_dir=tmp_path / "data", pool_size=4)


@pytest.fixture(scope="module")
async def minilm_app(shared_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[App]:
    """Loads the local model once for all tests of a module. Each test makes a project of its own."""
    folder = tmp_path_factory.mktemp("minilm")
    async with App.open(Settings(database_url=Secret(shared_dsn), data_dir=folder, pool_size=4)) as opened:
        assert opened.settings.embedder == "minilm"
        yield opened


@pytest.fixture
async def web(settings: Settings) -> AsyncIterator[FastAPI]:
    """The ASGI application, started."""
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        yield app


@pytest.fixture
async def client(web: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=web, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as opened:
        yield opened


@pytest.fixture
def add_sample(store: Store) -> AddSample:
    """Puts a document into the store, all in one transaction."""

    async def add(
        *, chunks: int = 3, project_id: UUID = DEFAULT_PROJECT_ID, name: str = "quarterly_report_2024.pdf"
    ) -> Sample:
        sample = make_sample(chunks=chunks, project_id=project_id, name=name)
        space = await store.vectors.ensure_space(provider="test", model="ramp", dimensions=4)
        async with store.transaction() as tx:
            await tx.vectors.first_space(project_id, space)
            await tx.documents.insert(sample.document)
            await tx.jobs.insert(sample.job)
            await tx.chunks.insert(sample.chunks)
            await tx.vectors.insert(project_id, space.id, sample.halves)
        return sample

    return add
