"""Rate limits of keys, when they were last used, and the audit log."""

from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import replace
from uuid import UUID

import httpx
import psycopg
import pytest
from fastapi import FastAPI
from tests.api.chatting import LEAVE, PROJECT, QUESTION, opened
from tests.api.ingesting import data_of, ingest
from tests.chat_endpoint import ChatEndpoint, says

from whence.errors import ProjectNotFound, RateLimited
from whence.models import DEFAULT_PROJECT_ID, now
from whence.settings import Settings
from whence.store import Store, keys
from whence.store.keys import Scope

AUDIT = "/api/v1/audit"
HOUR = "UPDATE kb.key_usage SET minute = minute - interval '1 hour'"


@pytest.fixture(autouse=True)
def _one_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Usage is counted by the minute of the clock, which must not change between two requests of a test."""
    moment = now()
    monkeypatch.setattr(keys, "now", lambda: moment)


async def key(store: Store, scope: Scope = "admin", **more: int | UUID | None) -> dict[str, str]:
    project_id = more.pop("project_id", None)
    _, secret = await store.keys.create(name=scope, scope=scope, project_id=project_id, **more)  # type: ignore[arg-type]  # of the two kinds
    return {"Authorization": f"Bearer {secret.reveal()}"}


async def test_without_limits_nothing_is_counted(client: httpx.AsyncClient, store: Store, dsn: str) -> None:
    mine = await key(store)
    for _ in range(5):
        assert (await client.get("/api/v1/projects", headers=mine)).status_code == 200
    with psycopg.connect(dsn) as conn:
        assert conn.execute("SELECT count(*) FROM kb.key_usage").fetchone() == (0,)


async def test_requests_a_minute(client: httpx.AsyncClient, store: Store, dsn: str) -> None:
    mine, other = await key(store, requests_per_minute=2), await key(store, requests_per_minute=2)
    for _ in range(2):
        assert (await client.get("/api/v1/projects", headers=mine)).status_code == 200
    refused = await client.get("/api/v1/projects", headers=mine)
    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (429, "RATE_LIMITED")
    assert error["details"]["limit"] == 2
    assert 1 <= int(refused.headers["retry-after"]) <= 61
    assert (await client.get("/api/v1/projects", headers=other)).status_code == 200, "another key"
    assert (await client.get("/healthz", headers=mine)).status_code == 200
    with psycopg.connect(dsn) as conn:
        conn.execute(HOUR)
    assert (await client.get("/api/v1/projects", headers=mine)).status_code == 200, "another minute"


@pytest.fixture
async def asking(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """A server whose keys may use 10 tokens a minute, unless they have limits of their own."""
    with ChatEndpoint(says("Five days.")) as model:
        limited = replace(settings, llm_base_url=model.url, llm_model="test", key_tokens_per_minute=10)
        async with opened(limited) as client:
            yield client


@pytest.mark.parametrize("stream", [False, True])
async def test_tokens_a_minute(asking: httpx.AsyncClient, store: Store, *, stream: bool) -> None:
    mine, free = await key(store, "read"), await key(store, tokens_per_minute=0)
    changed = {"config": {"extraction": "manual"}}
    data_of(await asking.patch(f"/api/v1/projects/{PROJECT}", json=changed, headers=free))
    await ingest(asking, LEAVE, name="leave.md")
    question = {"projectId": PROJECT, "message": QUESTION, "stream": stream}
    assert (await asking.post("/chat", json=question, headers=mine)).status_code == 200
    refused = await asking.post("/chat", json=question, headers=mine)
    assert (refused.status_code, refused.json()["error"]["details"]["of"]) == (429, "tokens")
    for _ in range(2):
        assert (await asking.post("/chat", json=question, headers=free)).status_code == 200


async def test_tokens_of_refreshed_answers_count(asking: httpx.AsyncClient, store: Store, dsn: str) -> None:
    mine, free = await key(store, "read"), await key(store, tokens_per_minute=0)
    changed = {"config": {"extraction": "manual"}}
    data_of(await asking.patch(f"/api/v1/projects/{PROJECT}", json=changed, headers=free))
    await ingest(asking, LEAVE, name="leave.md")
    question = {"projectId": PROJECT, "message": QUESTION, "store": True}
    asked = await asking.post("/chat", json=question, headers=mine)
    with psycopg.connect(dsn) as conn:
        conn.execute(HOUR)
    path = f"/api/v1/answers/{asked.json()['answerId']}/refresh"
    again = data_of(await asking.post(path, headers=mine))
    newest = f"/api/v1/answers/{again['answer']['id']}/refresh"
    assert (await asking.post(newest, headers=mine)).status_code == 429


async def test_a_stream_that_is_broken_off_counts(
    client: httpx.AsyncClient, store: Store, web: FastAPI
) -> None:
    assert (await client.get("/healthz")).status_code == 200

    async def events() -> AsyncGenerator[str, None]:
        yield "Five days, " * 100
        yield "and no more."

    secret = (await key(store, "read", tokens_per_minute=10))["Authorization"].removeprefix("Bearer ")
    caller, meter = await store.keys.authenticate(secret), web.state.meter
    counting = meter.counted(caller, events())
    await anext(counting)
    await counting.aclose()
    with pytest.raises(RateLimited):
        await meter.admit(caller)


async def test_writes_are_listed(client: httpx.AsyncClient, store: Store) -> None:
    admin, writer = await key(store), await key(store, "write")
    sent = await client.post(
        "/ingest/text", json={"text": "One."}, headers={**writer, "X-Request-ID": "trace-7"}
    )
    document = data_of(sent, 202)["documentId"]
    assert (await client.delete(f"/api/v1/documents/{document}", headers=writer)).status_code == 200
    for quiet in (
        await client.get("/api/v1/documents", headers=writer),
        await client.post("/api/v1/search", json={"query": "one"}, headers=writer),
        await client.delete(f"/api/v1/documents/{document}", headers=writer),
        await client.post("/api/v1/projects", json={"name": "no"}, headers=writer),
        await client.post("/ingest/text", json={"text": "One."}, headers={"X-API-Key": "wrong"}),
    ):
        assert quiet.status_code in (200, 401, 403, 404)
    items = data_of(await client.get(AUDIT, headers=admin))["items"]
    assert [(one["action"], one["key_name"], one["status"]) for one in items] == [
        ("deleteDocument", "write", 200),
        ("ingestText", "write", 202),
    ]
    assert items[1]["request_id"] == "trace-7"
    assert items[0]["path"] == f"/api/v1/documents/{document}"
    found = data_of(await client.get(AUDIT, params={"action": "ingestText"}, headers=admin))
    assert found["pagination"]["total"] == 1
    assert (await client.get(AUDIT, headers=writer)).status_code == 403


async def test_an_admin_of_one_project_sees_its_writes_only(client: httpx.AsyncClient, store: Store) -> None:
    other = (await store.projects.create(name="other")).id
    admin = await key(store, project_id=other)
    data_of(
        await client.patch(f"/api/v1/projects/{other}", json={"description": "x"}, headers=await key(store))
    )
    data_of(await client.patch(f"/api/v1/projects/{DEFAULT_PROJECT_ID}", json={"description": "x"}))
    (only,) = data_of(await client.get(AUDIT, headers=admin))["items"]
    assert only["project_id"] == str(other)


async def test_old_entries_go(client: httpx.AsyncClient, store: Store, dsn: str) -> None:
    data_of(await client.patch(f"/api/v1/projects/{DEFAULT_PROJECT_ID}", json={"description": "x"}))
    assert await store.audit.prune(days=1) == 0
    with psycopg.connect(dsn) as conn:
        conn.execute("UPDATE kb.audit SET at = at - interval '2 days'")
    assert await store.audit.prune(days=1) == 1


async def test_the_last_use_is_noted(client: httpx.AsyncClient, web: FastAPI, store: Store) -> None:
    mine = await key(store, "read")
    assert (await store.keys.all())[0].last_used_at is None
    assert (await client.get("/api/v1/projects", headers=mine)).status_code == 200
    await web.state.meter.flush()
    assert (await store.keys.all())[0].last_used_at is not None


async def test_a_taken_name_is_told_only_to_who_sees_it(client: httpx.AsyncClient, store: Store) -> None:
    mine = (await store.projects.create(name="mine")).id
    theirs = await store.projects.create(name="theirs")
    owner, everybody = await key(store, project_id=mine), await key(store)
    path = f"/api/v1/projects/{mine}"
    refused = await client.patch(path, json={"name": "theirs"}, headers=everybody)
    assert refused.json()["error"]["code"] == "CONFLICT"
    renamed = await client.patch(path, json={"name": "theirs"}, headers=owner)
    absent = await client.patch(path, json={"name": "nobody has this"}, headers=owner)
    assert (renamed.status_code, absent.status_code) == (200, 200)
    data_of(await client.patch(path, json={"name": "theirs"}, headers=owner))
    assert (await store.projects.named("theirs")).id == theirs.id, "the name that was given for all"
    assert (await client.get("/v1/models/theirs", headers=owner)).json()["id"] == "theirs"
    assert (await store.projects.named("theirs", own=mine)).id == mine
    data_of(await client.patch(f"/api/v1/projects/{theirs.id}", json={"name": "free"}, headers=everybody))
    with pytest.raises(ProjectNotFound):
        await store.projects.named("theirs")
    data_of(await client.patch(f"/api/v1/projects/{theirs.id}", json={"name": "theirs"}, headers=everybody))
    again = await client.post("/api/v1/projects", json={"name": "theirs"}, headers=everybody)
    assert again.status_code == 409


async def test_marks_of_direction_are_shown(client: httpx.AsyncClient) -> None:
    sent = await client.post("/ingest/text", json={"text": "One.", "name": "invoice\u202efdp.exe"})
    file = await client.get(f"/api/v1/documents/{data_of(sent, 202)['documentId']}/file")
    assert file.headers["content-disposition"].endswith("invoice%5Cu202efdp.exe")
