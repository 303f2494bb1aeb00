"""What is deleted may be large: it takes the time it needs."""

import asyncio
from contextlib import suppress

import psycopg
import pytest
from tests.graphs import until_waiting
from tests.samples import AddSample

from whence.app import App
from whence.errors import ProjectNotFound
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
