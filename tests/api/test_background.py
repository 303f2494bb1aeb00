"""Each loop fails for a real reason: it goes on, and `/readyz` reports it for as long as it fails."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, LiteralString
from uuid import uuid4

import httpx
import psycopg
import pytest
from fastapi import FastAPI
from tests.samples import AddSample

from whence import background
from whence.jobs import tasks, worker
from whence.models import DEFAULT_PROJECT_ID
from whence.search.memory_index import READING, Memory
from whence.settings import Settings
from whence.store import Store
from whence.web import metering

if TYPE_CHECKING:
    from whence.app import App

HIDE = "ALTER SCHEMA kb RENAME TO elsewhere"
SHOW = "ALTER SCHEMA elsewhere RENAME TO kb"


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops turn and try again at once, more or less."""
    monkeypatch.setattr(background, "FIRST_PAUSE", 0.02)
    monkeypatch.setattr(background, "LONGEST_PAUSE", 0.1)
    monkeypatch.setattr(metering, "_RECORDED", 0.05)
    monkeypatch.setattr(worker, "_SWEEP", 0.05)
    monkeypatch.setattr(worker, "_HEARTBEAT", 0.05)
    monkeypatch.setattr(tasks, "_PAUSES", (1,))


@contextmanager
def broken(dsn: str, spoil: LiteralString, mend: LiteralString) -> Iterator[None]:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(spoil)
        try:
            yield
        finally:
            conn.execute(mend)


async def report(client: httpx.AsyncClient, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The first report of `/readyz` that is so."""
    while not condition(found := (await client.get("/readyz")).json()):  # noqa: ASYNC110 - nothing tells of it
        await asyncio.sleep(0.02)
    return dict(found)


async def failure(client: httpx.AsyncClient, name: str) -> dict[str, Any]:
    """As soon as the work of this name is reported."""
    found = await report(client, lambda report: name in names(report))
    return next(one for one in found["background"] if one["name"] == name)


async def recovered(client: httpx.AsyncClient, name: str) -> None:
    await report(client, lambda report: name not in names(report))


def names(report: dict[str, Any]) -> list[str]:
    return [one["name"] for one in report["background"]]


async def test_the_sweep(client: httpx.AsyncClient, dsn: str, add_sample: AddSample) -> None:
    sample = await add_sample()
    with broken(dsn, "ALTER TABLE kb.jobs RENAME TO gone", "ALTER TABLE kb.gone RENAME TO jobs"):
        failed = await failure(client, worker.SWEEP)
        assert failed["times"] >= 2
        assert datetime.fromisoformat(failed["since"]).tzinfo is not None
        assert failed["reason"] == "an unexpected error (UndefinedTable); the log has the details"
        found = await client.get("/readyz")
        assert (found.status_code, found.json()["status"]) == (200, "degraded")
    await recovered(client, worker.SWEEP)
    with psycopg.connect(dsn) as conn:
        conn.execute("UPDATE kb.jobs SET status = 'pending', created_at = now() - interval '1 hour'")
    job, attempts = f"/api/v1/jobs/{sample.job.id}", sample.job.attempts
    while (await client.get(job)).json()["data"]["attempts"] == attempts:  # noqa: ASYNC110 - likewise
        await asyncio.sleep(0.05)


async def test_the_worker(client: httpx.AsyncClient, dsn: str) -> None:
    function = "queue.procrastinate_fetch_job_v2"
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(f"ALTER FUNCTION {function} RENAME TO gone")
        failed = await failure(client, worker.WORKER)
        assert "ConnectorException" in failed["reason"]
        conn.execute("ALTER FUNCTION queue.gone RENAME TO procrastinate_fetch_job_v2")
    await recovered(client, worker.WORKER)
    await ingested(client)


async def test_its_heartbeat(
    client: httpx.AsyncClient,
    dsn: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Sweeps between the start of a worker and its first heartbeat are no sign that it works."""
    monkeypatch.setattr(worker, "_HEARTBEAT", 0.5)
    with broken(
        dsn,
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END';"
        "CREATE TRIGGER refuse BEFORE UPDATE ON queue.procrastinate_workers "
        "FOR EACH ROW EXECUTE FUNCTION refuse()",
        "DROP FUNCTION refuse CASCADE",
    ):
        while caplog.text.count("The worker failed") < 3:  # noqa: ASYNC110 - likewise
            await asyncio.sleep(0.02)
        assert worker.WORKER in names((await client.get("/readyz")).json())
    await recovered(client, worker.WORKER)
    await ingested(client)


async def ingested(client: httpx.AsyncClient) -> None:
    answer = await client.post("/api/v1/ingest/text", json={"text": "Somebody works.", "wait": True})
    assert answer.json()["data"]["status"] == "completed", answer.text


@pytest.fixture
def stubborn(settings: Settings) -> Path:
    """A folder where only files are removed: tidying cannot."""
    folder = settings.data_dir / "incoming" / "folder"
    folder.mkdir(parents=True)
    os.utime(folder, (0, 0))
    return folder


async def test_tidying_at_the_start(stubborn: Path, client: httpx.AsyncClient) -> None:
    await failure(client, worker.TIDYING)
    stubborn.rmdir()
    await recovered(client, worker.TIDYING)


async def test_the_record_of_key_use(client: httpx.AsyncClient, store: Store, dsn: str) -> None:
    key, secret = await store.keys.create(name="reader", scope="read", project_id=None)
    headers = {"Authorization": f"Bearer {secret.reveal()}"}
    spoil: LiteralString = "ALTER TABLE kb.api_keys RENAME COLUMN last_used_at TO gone"
    with broken(dsn, spoil, "ALTER TABLE kb.api_keys RENAME COLUMN gone TO last_used_at"):
        assert (await client.get("/api/v1/projects", headers=headers)).status_code == 200
        await failure(client, metering.KEY_USE)
    await recovered(client, metering.KEY_USE)
    assert [one.last_used_at is not None for one in await store.keys.all() if one.id == key.id] == [True]


TASKS: dict[str, dict[str, Any]] = {
    "whence:tidy": {"timestamp": 0},
    "whence:ingest": {"project_id": str(DEFAULT_PROJECT_ID), "job_id": str(uuid4())},
    "whence:extract": {"project_id": str(DEFAULT_PROJECT_ID), "job_id": str(uuid4())},
    "whence:reembed": {"project_id": str(DEFAULT_PROJECT_ID)},
    "whence:vector-index": {"project_id": str(DEFAULT_PROJECT_ID), "space_id": str(uuid4())},
    "whence:calibrate": {"project_id": str(DEFAULT_PROJECT_ID)},
    "whence:compact": {"project_id": str(DEFAULT_PROJECT_ID)},
    "whence:reindex": {"project_id": str(DEFAULT_PROJECT_ID)},
}


async def test_every_task_of_the_worker(client: httpx.AsyncClient, store: Store, dsn: str) -> None:
    assert TASKS.keys() == {task for task in tasks.tasks.tasks if ":" in task}
    with broken(dsn, HIDE, SHOW):
        for task, arguments in TASKS.items():
            await store.queue.defer(task, lock=task, **arguments)
        for task in TASKS:
            await failure(client, f"the task {task}")
    await report(client, lambda report: report["status"] == "ready")


async def test_reading_projects_into_memory(web: FastAPI, client: httpx.AsyncClient, dsn: str) -> None:
    app: App = web.state.whence
    setting = await app.store.hits.setting(DEFAULT_PROJECT_ID)
    space = await app.store.vectors.ensure_space(provider="test", model="none", dimensions=3)
    memory = Memory(app.store, most=10**9, background=app.background)

    async def read() -> None:
        memory._tried.clear()
        memory.learn(DEFAULT_PROJECT_ID, setting._replace(space=space, chunks=1))
        await asyncio.gather(*memory._reading)

    with broken(dsn, HIDE, SHOW):
        await read()
        await read()
        await failure(client, READING)
    await read()
    await recovered(client, READING)
