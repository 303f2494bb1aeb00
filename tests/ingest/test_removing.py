"""What is deleted may be large: it takes the time it needs."""

import asyncio
from contextlib import suppress
from dataclasses import replace

import psycopg
import pytest
from tests.graphs import until_waiting
from tests.ingest.conftest import Desk, sentences
from tests.samples import AddSample

from whence.app import App
from whence.errors import ProjectNotFound
from whence.models import new_id
from whence.settings import Settings
from whence.store import connection


async def test_a_project_takes_longer_than_a_request_should(
    settings: Settings, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "STATEMENT_TIMEOUT", "5s")
    async with App.open(settings) as app, await psycopg.AsyncConnection.connect(dsn) as other:
        project = await app.store.projects.create(name="large")
        await other.execute("SELECT FROM kb.projects WHERE id = %s FOR UPDATE", [project.id])
        removing = asyncio.create_task(app.remover.project(project.id))
        await asyncio.sleep(6)
        assert not removing.done()
        await other.rollback()
        await removing
        with pytest.raises(ProjectNotFound):
            await app.store.projects.get(project.id)


async def test_a_project_that_others_write_to(settings: Settings, dsn: str, add_sample: AddSample) -> None:
    """The writer has a document and waits for its project; whichever of the two gives way, the project goes."""
    async with App.open(settings) as app, await psycopg.AsyncConnection.connect(dsn) as other:
        project = await app.store.projects.create(name="busy")
        sample = await add_sample(project_id=project.id)
        await other.execute("SELECT FROM kb.documents WHERE id = %s FOR UPDATE", [sample.document.id])
        removing = asyncio.create_task(app.remover.project(project.id))
        await until_waiting(dsn, 1, removing)
        with suppress(psycopg.errors.DeadlockDetected):
            await other.execute("SELECT FROM kb.projects WHERE id = %s FOR KEY SHARE", [project.id])
        await other.rollback()
        await removing
        with pytest.raises(ProjectNotFound):
            await app.store.projects.get(project.id)


async def test_an_original_that_another_begins_to_share(desk: Desk, dsn: str) -> None:
    """Who removes it waits, and leaves it to the other."""
    receipt = await desk.hand_in(sentences(3))
    await desk.run(receipt)
    document = await desk.app.store.documents.get(receipt.document_id)
    key = document.original_key
    assert key is not None
    async with desk.app.store.transaction() as tx:
        assert await tx.inventory.share(document.project_id, key)
        assert await tx.documents.insert(replace(document, id=new_id(), name="copy", current_job_id=None))
        removing = asyncio.create_task(desk.app.remover.document(document))
        await until_waiting(dsn, 1, removing)
    await removing
    assert await desk.app.originals.keys() == [key]


async def test_an_original_that_is_being_removed_is_not_shared(desk: Desk, dsn: str) -> None:
    receipt = await desk.hand_in(sentences(3))
    await desk.run(receipt)
    document = await desk.app.store.documents.get(receipt.document_id)
    async with await psycopg.AsyncConnection.connect(dsn) as other:
        await other.execute("UPDATE kb.stored_originals SET state = 'moving', trashed_at = now()")
        copying = asyncio.create_task(desk.hand_in(sentences(3), name="copy.txt"))
        await until_waiting(dsn, 1, copying)
    copy = await desk.app.store.documents.get((await copying).document_id)
    assert copy.original_key not in (None, document.original_key)
    assert await desk.app.originals.exists(copy.original_key or "")
