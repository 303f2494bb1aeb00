"""What is deleted may be large: it takes the time it needs."""

import asyncio

import psycopg
import pytest

from whence.app import App
from whence.errors import ProjectNotFound
from whence.settings import Settings
from whence.store import connection


async def test_a_project_takes_longer_than_a_request_should(
    settings: Settings, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "STATEMENT_TIMEOUT", "1s")
    async with App.open(settings) as app, await psycopg.AsyncConnection.connect(dsn) as other:
        project = await app.store.projects.create(name="large")
        await other.execute("SELECT FROM kb.projects WHERE id = %s FOR UPDATE", [project.id])
        removing = asyncio.create_task(app.remover.project(project.id))
        await asyncio.sleep(2)
        assert not removing.done()
        await other.rollback()
        await removing
        with pytest.raises(ProjectNotFound):
            await app.store.projects.get(project.id)
