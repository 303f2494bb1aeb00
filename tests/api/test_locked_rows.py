"""A row that another operation keeps locked: the request gives up with its own error, and works once the row is free."""

import asyncio
from typing import Any

import httpx
import psycopg
import pytest
from tests.api.ingesting import DOCUMENTS
from tests.samples import AddSample

from whence.store import connection


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


async def test_a_deletion_waits_for_a_running_extraction(
    client: httpx.AsyncClient, add_sample: AddSample, dsn: str
) -> None:
    """The extraction notes its progress in its job and then locks the chunk."""
    document_id = (await add_sample()).document.id
    async with (
        await psycopg.AsyncConnection.connect(dsn) as running,
        await psycopg.AsyncConnection.connect(dsn, autocommit=True) as watching,
    ):
        await running.execute("UPDATE kb.jobs SET done = done WHERE document_id = %s", [document_id])
        deleting = asyncio.create_task(client.delete(f"{DOCUMENTS}/{document_id}", timeout=60))
        waiting = "SELECT FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()"
        while await (await watching.execute(waiting)).fetchone() is None:
            assert not deleting.done()
            await asyncio.sleep(0.01)
        await running.execute("SELECT FROM kb.chunks WHERE document_id = %s FOR KEY SHARE", [document_id])
        await running.commit()
        assert (await deleting).status_code == 200
