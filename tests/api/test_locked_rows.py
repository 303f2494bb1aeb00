"""A row that another operation keeps locked: the request gives up with its own error, and works once the row is free."""

import asyncio
from typing import Any, LiteralString

import httpx
import psycopg
import pytest
from tests.api.ingesting import DOCUMENTS
from tests.samples import AddSample

from whence.models import Document
from whence.store import Store, connection


@pytest.fixture(autouse=True)
def short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LOCK_TIMEOUT", "50ms")


@pytest.mark.parametrize(
    "asked",
    [
        ("PATCH", "", {"metadata": {"team": "legal"}}),
        ("PUT", "", {"text": "Another text."}),
        ("POST", "/reextract", {"scope": "all"}),
    ],
)
async def test_a_locked_document_is_busy(
    client: httpx.AsyncClient, add_sample: AddSample, dsn: str, asked: tuple[str, str, dict[str, Any]]
) -> None:
    method, path, body = asked
    url = f"{DOCUMENTS}/{(await add_sample()).document.id}{path}"
    async with await psycopg.AsyncConnection.connect(dsn) as other:
        await other.execute("SELECT FROM kb.documents FOR UPDATE")
        refused = await client.request(method, url, json=body, timeout=60)
    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (503, "DATABASE_BUSY")
    assert "try again" in error["message"]
    assert (await client.request(method, url, json=body, timeout=60)).is_success


# The statements of a running operation, one before and one after the deletion begins to wait for it.
_PUBLISHES = (
    "SELECT FROM kb.projects p JOIN kb.documents d ON d.project_id = p.id WHERE d.id = %s FOR SHARE OF p FOR UPDATE OF d",
    "SELECT FROM kb.jobs WHERE document_id = %s FOR UPDATE",
)
_EXTRACTS = (
    """WITH kept AS (SELECT p.id FROM kb.projects p JOIN kb.documents d ON d.project_id = p.id WHERE d.id = %s FOR KEY SHARE OF p)
    UPDATE kb.jobs j SET done = done FROM kept WHERE j.project_id = kept.id""",
    "SELECT FROM kb.chunks WHERE document_id = %s FOR KEY SHARE",
)


@pytest.fixture
async def held(store: Store, add_sample: AddSample) -> Document:
    """The only document of its project."""
    project = await store.projects.create(name="held")
    return (await add_sample(project_id=project.id)).document


@pytest.mark.parametrize("statements", [_PUBLISHES, _EXTRACTS], ids=["publishing", "extracting"])
@pytest.mark.parametrize("path", ["documents/{0.id}", "projects/{0.project_id}"])
async def test_a_deletion_waits_for_a_running_operation(
    client: httpx.AsyncClient,
    dsn: str,
    held: Document,
    statements: tuple[LiteralString, LiteralString],
    path: str,
) -> None:
    first, second = statements
    async with (
        await psycopg.AsyncConnection.connect(dsn) as running,
        await psycopg.AsyncConnection.connect(dsn, autocommit=True) as watching,
    ):
        await running.execute(first, [held.id])
        deleting = asyncio.create_task(client.delete(f"/api/v1/{path.format(held)}", timeout=60))
        waiting = "SELECT FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()"
        while await (await watching.execute(waiting)).fetchone() is None:
            assert not deleting.done()
            await asyncio.sleep(0.01)
        await running.execute(second, [held.id])
        await running.commit()
        assert (await deleting).status_code == 200


@pytest.mark.parametrize("other", ["documents/{0.id}", "projects/{0.project_id}"])
@pytest.mark.parametrize("one", ["documents/{0.id}", "projects/{0.project_id}"])
async def test_two_deletions_at_once_both_end(
    client: httpx.AsyncClient, dsn: str, held: Document, one: str, other: str
) -> None:
    async with (
        await psycopg.AsyncConnection.connect(dsn) as running,
        await psycopg.AsyncConnection.connect(dsn, autocommit=True) as watching,
    ):
        await running.execute(_EXTRACTS[0], [held.id])
        paths = [f"/api/v1/{path.format(held)}" for path in (one, other)]
        deleting = [asyncio.create_task(client.delete(path, timeout=60)) for path in paths]
        waiting = "SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()"
        while await (await watching.execute(waiting)).fetchone() != (2,):
            assert not any(task.done() for task in deleting)
            await asyncio.sleep(0.01)
        await running.execute(_EXTRACTS[1], [held.id])
        await running.commit()
        statuses = [(await task).status_code for task in deleting]
    assert statuses in ([200, 404], [404, 200]) or (one != other and statuses == [200, 200])
    assert (await client.get(f"{DOCUMENTS}/{held.id}")).status_code == 404
