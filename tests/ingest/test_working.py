"""The worker: what is in the queue gets done, also by the second worker of a process."""

import asyncio
import os
import resource
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from tests.endpoint import Endpoint, Gate
from tests.ingest.conftest import Desk, sentences

from whence.app import App
from whence.ingest import Receipt
from whence.jobs import worker
from whence.models import new_id
from whence.settings import Settings


async def done(desk: Desk, receipt: Receipt) -> None:
    while (await desk.job(receipt)).status != "completed":  # noqa: ASYNC110 - nothing tells of it but asking
        await asyncio.sleep(0.05)


async def test_a_worker_that_starts_again_knows_its_tasks(desk: Desk) -> None:
    """As it does in one process when the database was away for a while."""
    for number in range(2):
        receipt = await desk.hand_in(sentences(3, start=10 * number))
        async with desk.app.working():
            await asyncio.wait_for(done(desk, receipt), 120)


async def test_what_waits_is_begun_as_soon_as_something_ends(
    desk: Desk, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though no slot was free when it was last looked for, and nothing new comes."""
    monkeypatch.setattr(worker, "_POLLING", 3600)
    receipts = [
        await desk.hand_in(sentences(3, start=10 * number))
        for number in range(2 * settings.worker_concurrency + 1)
    ]
    async with desk.app.working(), asyncio.timeout(60):
        for receipt in receipts:
            await done(desk, receipt)


async def test_one_project_does_not_take_every_slot(settings: Settings, endpoint: Endpoint) -> None:
    endpoint.default = gate = Gate()
    async with App.open(replace(settings, worker_concurrency=3)) as app:
        desk, other = Desk(app), await app.store.projects.create(name="Another")
        many = [await desk.hand_in(sentences(3, start=10 * number)) for number in range(4)]
        one = await desk.hand_in(sentences(3), project_id=other.id)
        async with app.working(), asyncio.timeout(120):
            while (await desk.job(one)).status != "processing":  # noqa: ASYNC110 - nothing tells of it but asking
                await asyncio.sleep(0.05)
            assert [(await desk.job(each)).status for each in many].count("pending") >= 2
            gate.open()
            for receipt in (*many, one):
                await done(desk, receipt)


async def test_projects_take_turns(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the documents of one came first, and there is one slot."""
    monkeypatch.setattr(worker, "_LOOK", 0)
    async with App.open(replace(settings, worker_concurrency=1)) as app:
        desk = Desk(app)
        others = [await app.store.projects.create(name=name) for name in ("Another", "A third")]
        first = [await desk.hand_in(sentences(3, start=10 * number)) for number in range(4)]
        second = [
            await desk.hand_in(sentences(3, start=10 * number), project_id=others[0].id)
            for number in range(2)
        ]
        third = await desk.hand_in(sentences(3), project_id=others[1].id)
        async with app.working(), asyncio.timeout(120):
            for receipt in (*first, *second, third):
                await done(desk, receipt)
        jobs = [await desk.job(receipt) for receipt in (*first, *second, third)]
    in_order = sorted(jobs, key=lambda job: job.completed_at or job.created_at)
    one, two, three = jobs[0].project_id, others[0].id, others[1].id
    assert [job.project_id for job in in_order] == [one, two, three, one, two, one, one]


def abandoned(folder: Path, name: str, *, days: float) -> Path:
    """A file that was left there so many days ago."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("Nobody refers to this.")
    then = time.time() - days * 24 * 3600
    os.utime(path, (then, then))
    return path


async def test_a_worker_that_starts_tidies_up(desk: Desk, settings: Settings, dsn: str) -> None:
    """Leftovers of a kill go, what may still be on its way in stays, and what is not ours is not touched."""
    receipt = await desk.hand_in(sentences(3))
    await desk.run(receipt)
    document = await desk.app.store.documents.get(receipt.document_id)
    left, new = (f"{document.project_id}/{new_id()}/{new_id()}" for _ in range(2))
    await desk.app.store.inventory.note([left, new])
    with psycopg.connect(dsn) as conn:
        conn.execute(
            "UPDATE kb.stored_originals SET noted_at = noted_at - interval '2 days' WHERE key <> %s", [new]
        )
    folder = settings.data_dir / "originals"
    old = [
        abandoned(folder, left, days=2),
        abandoned(settings.data_dir / "incoming", "incoming-old", days=2),
    ]
    kept = [
        folder / str(document.original_key),
        abandoned(folder, new, days=2),
        abandoned(folder, f"{document.project_id}/unknown/object", days=2),
        abandoned(settings.data_dir / "incoming", "incoming-new", days=0.5),
    ]
    async with desk.app.working(), asyncio.timeout(60):
        while any(path.exists() for path in old):  # noqa: ASYNC110 - nothing tells of it but asking
            await asyncio.sleep(0.02)
    assert all(path.exists() for path in kept)
    (trashed,) = await desk.app.store.inventory.trash()
    assert (folder / trashed.trash_key).read_text() == "Nobody refers to this."


async def test_a_form_may_have_more_files_than_a_process_may_have_open(desk: Desk) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 30, before[1]))  # noqa: PTH208 - the same
    try:
        with ExitStack() as stack:
            files = [stack.enter_context(desk.app.inbox.file()) for _ in range(100)]
            for number, file in enumerate(files):
                await file.write(b"%d" % number)
                await file.finish()
            assert [file.head(10) for file in files] == [b"%d" % number for number in range(100)]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert not list(files[0].path.parent.iterdir())
