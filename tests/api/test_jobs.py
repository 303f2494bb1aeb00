"""Jobs: how far they are, why they failed, and what may be done about it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
from tests.api.ingesting import (
    DOCUMENTS,
    JOBS,
    PROSE,
    TEXT,
    UPLOAD,
    chunks_of,
    count,
    data_of,
    embedded_by,
    ended,
    error_of,
    events,
    ingest,
    no_embedding,
    originals,
    put,
    upload,
)
from tests.endpoint import Endpoint, ok, status
from tests.files.office import docx, encrypted_office
from tests.files.pdf import pdf, scanned_pdf
from tests.outage import away
from tests.samples import AddSample

from whence.settings import Settings
from whence.store import Store, connection_pool

pytestmark = pytest.mark.one_app

FIELDS = {
    "id",
    "project_id",
    "document_id",
    "job_type",
    "job_name",
    "status",
    "stage",
    "stages",
    "done",
    "total",
    "attempts",
    "error",
    "chunking",
    "extraction",
    "file_name",
    "file_type",
    "file_size",
    "created_at",
    "started_at",
    "completed_at",
}


async def begun(client: httpx.AsyncClient, text: str = PROSE) -> dict[str, Any]:
    """A job that is as far as it comes without embedding."""
    item: dict[str, Any] = data_of(await client.post(TEXT, json={"text": text}), 202)
    async with asyncio.timeout(60):
        while data_of(await client.get(f"{JOBS}/{item['jobId']}"))["stage"] != "chunking":  # noqa: ASYNC110
            await asyncio.sleep(0.02)  # what is under test is asking
    return item


async def test_one_job(client: httpx.AsyncClient) -> None:
    item = await upload(client, "a.md", PROSE.encode(), chunkingStrategy="sentence")
    job = data_of(await client.get(f"{JOBS}/{item['jobId']}"))
    assert set(job) == FIELDS
    assert (job["document_id"], job["job_type"]) == (item["documentId"], "document_processing")
    assert (job["status"], job["stage"], job["attempts"], job["error"]) == ("completed", "storing", 1, None)
    assert job["done"] == job["total"] == item["chunkCount"]
    assert (job["file_name"], job["file_type"], job["file_size"]) == (
        "a.md",
        "text/markdown",
        len(PROSE.encode()),
    )
    assert job["chunking"] == {"strategy": "sentence", "max_chunk_size": 1200, "min_chunk_size": 100}
    assert job["created_at"] <= job["started_at"] <= job["completed_at"]
    stages = job["stages"]
    assert [one["stage"] for one in stages] == ["parsing", "chunking", "embedding", "storing"]
    assert [one["started_at"] for one in stages[1:]] == [one["ended_at"] for one in stages[:-1]]
    assert (stages[0]["started_at"], stages[-1]["ended_at"]) == (job["started_at"], job["completed_at"])
    assert "original" not in str(job), "where the bytes are kept is nobody's business"


async def test_the_list_is_filtered_and_paged_newest_first(client: httpx.AsyncClient, store: Store) -> None:
    one, two = await ingest(client, "One."), await ingest(client, "Two.")
    three = await put(client, one["documentId"], text="Three.")
    bad = await upload(client, "bad.pdf", b"%PDF-1.4 broken")

    async def found(**params: Any) -> list[str]:
        data = data_of(await client.get(JOBS, params=params))
        assert {frozenset(job) for job in data["items"]} <= {frozenset(FIELDS)}
        assert data["pagination"]["total"] == len(data["items"])
        return [job["id"] for job in data["items"]]

    assert await found() == [item["jobId"] for item in (bad, three, two, one)]
    assert await found(status="failed") == [bad["jobId"]]
    assert await found(document_id=one["documentId"]) == [three["jobId"], one["jobId"]]
    assert await found(job_type="extraction") == []
    assert await found(job_type="document_processing", status="completed") == [
        item["jobId"] for item in (three, two, one)
    ]
    assert await found(document_id=str(uuid4())) == []
    other = await store.projects.create(name="other")
    assert await found(project_id=str(other.id)) == []
    assert await found(projectId=str(other.id)) == []
    data = data_of(await client.get(JOBS, params={"limit": 1, "offset": 1}))
    assert [job["id"] for job in data["items"]] == [three["jobId"]]
    assert data["pagination"] == {"total": 4, "limit": 1, "offset": 1, "has_more": True}


@pytest.mark.parametrize(
    ("params", "code", "parameter"),
    [
        ({"limit": "x"}, "INVALID_PARAMETER", "limit"),
        ({"offset": "-1"}, "INVALID_PARAMETER", "offset"),
        ({"status": "done"}, "INVALID_PARAMETER", "status"),
        ({"job_type": "parsing"}, "INVALID_PARAMETER", "job_type"),
        ({"project_id": "x"}, "INVALID_UUID", "project_id"),
        ({"document_id": ""}, "INVALID_UUID", "document_id"),
    ],
)
async def test_a_wrong_filter_is_refused_by_its_name(
    client: httpx.AsyncClient, params: dict[str, str], code: str, parameter: str
) -> None:
    error = error_of(await client.get(JOBS, params=params), 400, code)
    assert error["details"]["parameter"] == parameter


async def test_what_is_not_there_is_404(client: httpx.AsyncClient) -> None:
    absent = str(uuid4())
    error_of(await client.get(JOBS, params={"project_id": absent}), 404, "PROJECT_NOT_FOUND")
    for method, path in (
        ("GET", ""),
        ("GET", "/events"),
        ("POST", "/retry"),
        ("POST", "/cancel"),
        ("DELETE", ""),
    ):
        answer = await client.request(method, f"{JOBS}/{absent}{path}")
        assert error_of(answer, 404, "JOB_NOT_FOUND")["details"] == {"job_id": absent}
        error_of(await client.request(method, f"{JOBS}/5{path}"), 400, "INVALID_UUID")


@asynccontextmanager
async def watching(running: str, job_id: str) -> AsyncIterator["Watcher"]:
    """Somebody who watches a job on a connection of their own, and has heard of it once."""
    async with (
        httpx.AsyncClient(base_url=running, timeout=60) as client,
        client.stream("GET", f"{JOBS}/{job_id}/events") as answer,
    ):
        watcher = Watcher(answer=answer, lines=answer.aiter_lines())
        await watcher.hear("data:")
        yield watcher


@dataclass
class Watcher:
    answer: httpx.Response
    lines: AsyncIterator[str]
    heard: str = ""

    async def hear(self, beginning: str) -> None:
        """Until a line begins like that."""
        line = ""
        while not line.startswith(beginning):
            line = await anext(self.lines)
            self.heard += line + "\n"

    async def everything(self) -> str:
        return self.heard + "".join([line + "\n" async for line in self.lines])


async def test_progress_comes_as_events(running: str, dsn: str) -> None:
    async with httpx.AsyncClient(base_url=running, timeout=60) as client:
        async with AsyncExitStack() as stack:
            async with no_embedding(dsn):
                item = await begun(client)
                watcher = await stack.enter_async_context(watching(running, item["jobId"]))
            text = await watcher.everything()
        assert watcher.answer.headers["content-type"].startswith("text/event-stream")
        assert watcher.answer.headers["cache-control"] == "no-store"
        *before, (last, job) = events(text)
        assert {name for name, _ in before} == {"progress"}
        assert before[0][1]["stage"] == "chunking"
        assert {frozenset(data) for _, data in before} == {frozenset(FIELDS)}
        assert (last, job["status"]) == ("end", "completed")
        assert job == data_of(await client.get(f"{JOBS}/{item['jobId']}"))


async def test_a_database_that_goes_away_ends_the_events_with_an_error(
    running: str, dsn: str, add_sample: AddSample, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_pool, "_PATIENCE", 0.2)
    sample = await add_sample()
    with psycopg.connect(dsn) as conn:
        conn.execute("UPDATE kb.jobs SET status = 'pending', completed_at = NULL")
    async with watching(running, str(sample.job.id)) as watcher:
        with away(dsn):
            text = await watcher.everything()
    *_, (last, said) = events(text)
    assert (last, said["error"]["code"]) == ("error", "DATABASE_UNAVAILABLE")


async def test_a_job_that_has_ended_has_one_event(client: httpx.AsyncClient) -> None:
    item = await ingest(client, "One.")
    ((name, job),) = events((await client.get(f"{JOBS}/{item['jobId']}/events")).text)
    assert (name, job["status"]) == ("end", "completed")


async def test_events_of_a_job_that_is_deleted(running: str, dsn: str) -> None:
    async with httpx.AsyncClient(base_url=running, timeout=60) as client, no_embedding(dsn):
        item = await begun(client)
        async with watching(running, item["jobId"]) as watcher:
            data_of(await client.delete(f"{JOBS}/{item['jobId']}"))
            found = events(await watcher.everything())
    assert [name for name, _ in found] == ["progress", "deleted"]


async def test_a_watcher_of_a_long_job_hears_that_it_is_still_there(
    running: str, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands between would close a connection on which nothing comes; the comments are no events."""
    monkeypatch.setattr("whence.web.events.HEARTBEAT", 0.1)
    async with httpx.AsyncClient(base_url=running, timeout=60) as client, AsyncExitStack() as stack:
        async with no_embedding(dsn):
            item = await begun(client)
            watcher = await stack.enter_async_context(watching(running, item["jobId"]))
            await watcher.hear(":")
            await watcher.hear(":")
        text = await watcher.everything()
    breaths = [block for block in text.split("\n\n") if block.startswith(":")]
    assert set(breaths) == {": still there"}
    assert len(breaths) > 1
    assert [name for name, _ in events(text)][-1] == "end"


async def test_who_waits_too_long_is_told_how_far_it_is(
    client: httpx.AsyncClient, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All files of an upload together have the time that one has."""
    monkeypatch.setattr("whence.web.events.PATIENCE", 0.5)
    files = [("file", (f"{number}.txt", f"{number} {PROSE}".encode())) for number in range(2)]
    async with no_embedding(dsn), asyncio.timeout(60):
        answer = await client.post(UPLOAD, files=files, data={"wait": "true"})
        items = data_of(answer, 200)["items"]
        assert {item["status"] for item in items} <= {"pending", "processing"}
        assert {(item["error"], item["chunkCount"]) for item in items} == {(None, 0)}
        item = data_of(await client.post(TEXT, json={"text": "One more.", "wait": True}))
        assert item["status"] in ("pending", "processing")
    for job_id in [one["jobId"] for one in (*items, item)]:
        assert (await ended(client, job_id))["status"] == "completed"


async def test_a_watcher_may_go_away(running: str, dsn: str) -> None:
    async with httpx.AsyncClient(base_url=running, timeout=60) as client, no_embedding(dsn):
        item = await begun(client)
        async with client.stream("GET", f"{JOBS}/{item['jobId']}/events") as answer:
            line = await anext(answer.aiter_lines())
            assert line == "event: progress"
        assert (await client.get("/healthz")).status_code == 200


async def test_a_cancelled_job_stops_and_can_be_tried_again(client: httpx.AsyncClient, dsn: str) -> None:
    async with no_embedding(dsn):
        item = await begun(client)
        job = data_of(await client.post(f"{JOBS}/{item['jobId']}/cancel"))
        assert (job["status"], job["completed_at"] is not None) == ("cancelled", True)
        assert job["error"] == {"code": "CANCELLED", "message": "The job was cancelled", "details": {}}
        error = error_of(await client.post(f"{JOBS}/{item['jobId']}/cancel"), 409, "CONFLICT")
        assert error["details"] == {"status": "cancelled"}
    await ingest(client, "Something else, so that the worker was there.")
    document = data_of(await client.get(f"{DOCUMENTS}/{item['documentId']}"))
    assert (document["status"], document["chunk_count"]) == ("cancelled", 0)
    retried = data_of(await client.post(f"{JOBS}/{item['jobId']}/retry"), 202)
    assert (retried["status"], retried["error"], retried["completed_at"]) == ("pending", None, None)
    job = await ended(client, item["jobId"])
    assert (job["status"], job["error"]) == ("completed", None)
    assert await chunks_of(client, item["documentId"])
    for action in ("retry", "cancel"):
        error = error_of(await client.post(f"{JOBS}/{item['jobId']}/{action}"), 409, "CONFLICT")
        assert error["details"] == {"status": "completed"}


async def test_only_the_newest_job_of_a_document_is_tried_again(client: httpx.AsyncClient) -> None:
    bad = await upload(client, "bad.pdf", b"%PDF-1.4 broken")
    newer = await put(client, bad["documentId"], text="Now it can be read.")
    error = error_of(await client.post(f"{JOBS}/{bad['jobId']}/retry"), 409, "CONFLICT")
    assert error["details"] == {"current_job_id": newer["jobId"]}


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("secret.pdf", pdf([["Only for some."]], user_password="secret"), "encrypted"),  # noqa: S106
        ("secret.docx", encrypted_office(), "encrypted"),
        ("empty.txt", b"", "empty"),
        ("blank.txt", b" \n ", "empty"),
        ("invisible.txt", "\u200b\n\ufeff\u2060".encode(), "empty"),
        ("cut.docx", docx(["One."])[:200], "corrupt"),
        ("cut.pdf", b"%PDF-1.7\nbroken", "corrupt"),
        ("scan.pdf", scanned_pdf(2), "no_text"),
        ("picture.txt", b"\x89PNG\r\n\x1a\n" + bytes(64), "unsupported"),
    ],
)
async def test_what_cannot_be_read_says_why_and_is_kept(
    client: httpx.AsyncClient, name: str, content: bytes, reason: str
) -> None:
    item = await upload(client, name, content)
    assert (item["status"], item["chunkCount"]) == ("failed", 0)
    job = data_of(await client.get(f"{JOBS}/{item['jobId']}"))
    assert job["error"] == item["error"]
    assert job["error"]["code"] == "UNREADABLE_DOCUMENT"
    assert job["error"]["details"] == {"reason": reason, "file_name": name}
    assert len(job["error"]["message"].split()) > 3
    assert (job["attempts"], job["completed_at"] is not None) == (1, True)
    assert (await client.get(f"{DOCUMENTS}/{item['documentId']}/file")).content == content
    data_of(await client.post(f"{JOBS}/{item['jobId']}/retry"), 202)
    assert (await ended(client, item["jobId"]))["error"] == job["error"]


async def test_deleting_a_job_takes_its_chunks_along_and_leaves_the_document(
    client: httpx.AsyncClient, store: Store, settings: Settings
) -> None:
    item = await ingest(client, PROSE, chunkingStrategy="sentence")
    deleted = data_of(await client.delete(f"{JOBS}/{item['jobId']}"))
    assert (deleted["id"], deleted["status"]) == (item["jobId"], "completed")
    error_of(await client.get(f"{JOBS}/{item['jobId']}"), 404, "JOB_NOT_FOUND")
    document = data_of(await client.get(f"{DOCUMENTS}/{item['documentId']}"))
    assert (document["status"], document["job_id"], document["chunk_count"]) == (None, None, 0)
    assert await count(store, "kb.chunk_vectors") == 0
    assert len(originals(settings)) == 1
    again = await put(client, item["documentId"], chunkingStrategy="sentence")
    assert (again["status"], again["alreadyExists"], again["chunkCount"]) == (
        "completed",
        False,
        item["chunkCount"],
    )


async def test_what_has_lost_its_chunks_can_be_ingested_again(client: httpx.AsyncClient) -> None:
    """An older job that completed once is no sign that there is something."""
    first = await ingest(client, PROSE)
    second = await put(client, first["documentId"], chunkingStrategy="sentence")
    data_of(await client.delete(f"{JOBS}/{second['jobId']}"))
    document = data_of(await client.get(f"{DOCUMENTS}/{first['documentId']}"))
    assert (document["status"], document["chunk_count"]) == (None, 0)
    again = await ingest(client, PROSE)
    assert (again["documentId"], again["alreadyExists"]) == (first["documentId"], False)
    assert again["chunkCount"] == first["chunkCount"]


async def test_what_was_lost_after_a_failed_update_can_be_ingested_again(client: httpx.AsyncClient) -> None:
    first = await ingest(client, PROSE)
    path = f"{DOCUMENTS}/{first['documentId']}"
    second = await put(client, first["documentId"], chunkingStrategy="sentence")
    data_of(await client.put(path, files={"file": ("b.pdf", b"%PDF-1.4 broken")}, params={"wait": "1"}))
    data_of(await client.delete(f"{JOBS}/{second['jobId']}"))
    again = await ingest(client, PROSE)
    assert (again["documentId"], again["alreadyExists"]) == (first["documentId"], False)
    assert again["chunkCount"] == first["chunkCount"]


async def test_a_job_that_gave_way_is_not_what_a_document_goes_back_to(
    client: httpx.AsyncClient, dsn: str
) -> None:
    first = await ingest(client, "Version one.")
    path = f"{DOCUMENTS}/{first['documentId']}"
    second, third = [
        data_of(await client.put(path, files={"file": ("b.pdf", broken)}, params={"wait": "1"}))
        for broken in (b"%PDF-1.4 broken", b"%PDF-1.4 broken too")
    ]
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as conn:
        await conn.execute("UPDATE kb.jobs SET status = 'cancelled' WHERE id = %s", [second["jobId"]])
    data_of(await client.delete(f"{JOBS}/{third['jobId']}"))
    document = data_of(await client.get(path))
    assert (document["status"], document["job_id"]) == ("completed", first["jobId"])


async def test_deleting_an_older_job_changes_nothing(client: httpx.AsyncClient) -> None:
    first = await ingest(client, "Version one.")
    second = await put(client, first["documentId"], text="Version two.")
    before = data_of(await client.get(f"{DOCUMENTS}/{first['documentId']}"))
    data_of(await client.delete(f"{JOBS}/{first['jobId']}"))
    assert data_of(await client.get(f"{DOCUMENTS}/{first['documentId']}")) == before
    assert before["job_id"] == second["jobId"]
    assert len(await chunks_of(client, first["documentId"])) == 1


async def test_deleting_a_failed_update_leaves_what_was(client: httpx.AsyncClient) -> None:
    first = await ingest(client, "Version one.")
    path = f"{DOCUMENTS}/{first['documentId']}"
    failed = data_of(
        await client.put(path, files={"file": ("b.pdf", b"%PDF-1.4 broken")}, params={"wait": "1"})
    )
    assert data_of(await client.get(path))["status"] == "failed"
    data_of(await client.delete(f"{JOBS}/{failed['jobId']}"))
    document = data_of(await client.get(path))
    assert (document["status"], document["job_id"], document["chunk_count"]) == (
        "completed",
        first["jobId"],
        1,
    )


async def test_a_worker_that_lost_its_database_goes_on(client: httpx.AsyncClient, dsn: str) -> None:
    await ingest(client, "Before.")
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    answer = await client.post(UPLOAD, files={"file": ("a.txt", b"After.")})
    (item,) = data_of(answer, 202)["items"]
    assert (await ended(client, item["jobId"], seconds=40))["status"] == "completed"


@pytest.mark.own_app
class TestAnEndpoint:
    @pytest.fixture
    def settings(self, settings: Settings, endpoint: Endpoint) -> Settings:
        return embedded_by(endpoint, settings)

    async def test_a_refusal_fails_the_job_which_goes_on_when_tried_again(
        self, client: httpx.AsyncClient, endpoint: Endpoint
    ) -> None:
        endpoint.default = status(401, message="hunter2 is no key")
        item = await ingest(client, PROSE)
        assert (item["status"], item["error"]["code"]) == ("failed", "EMBEDDING_REFUSED")
        assert "hunter2" not in json.dumps(item)
        endpoint.default = ok
        data_of(await client.post(f"{JOBS}/{item['jobId']}/retry"), 202)
        job = await ended(client, item["jobId"])
        assert (job["status"], job["error"]) == ("completed", None)
        assert await chunks_of(client, item["documentId"])

    async def test_the_same_file_again_is_another_try(
        self, client: httpx.AsyncClient, endpoint: Endpoint
    ) -> None:
        """It goes on where the first one stopped; once it is there, there is nothing to do any more."""
        endpoint.default = status(401)
        failed = await upload(client, "a.txt", PROSE.encode())
        assert failed["status"] == "failed"
        endpoint.default = ok
        again = await upload(client, "a.txt", PROSE.encode(), chunkingStrategy="sentence")
        assert (again["documentId"], again["status"]) == (failed["documentId"], "completed")
        assert (again["alreadyExists"], again["error"]) == (False, None)
        chunks = await chunks_of(client, failed["documentId"])
        assert {chunk["metadata"]["strategy"] for chunk in chunks} == {"sentence"}
        assert await upload(client, "a.txt", PROSE.encode()) == {**again, "alreadyExists": True}

    async def test_the_same_file_again_while_an_update_has_failed(
        self, client: httpx.AsyncClient, endpoint: Endpoint
    ) -> None:
        """What there is of it is whole; the update is not what was sent."""
        first = await upload(client, "a.txt", PROSE.encode())
        endpoint.default = status(401)
        await put(client, first["documentId"], chunkingStrategy="sentence")
        assert await upload(client, "a.txt", PROSE.encode()) == {**first, "alreadyExists": True}

    async def test_while_it_is_down_the_job_waits_and_says_why(
        self, client: httpx.AsyncClient, endpoint: Endpoint
    ) -> None:
        endpoint.script(status(503))
        item = data_of(await client.post(TEXT, json={"text": PROSE}), 202)
        seen: set[tuple[str, str]] = set()
        async with asyncio.timeout(60):
            while True:
                job = data_of(await client.get(f"{JOBS}/{item['jobId']}"))
                seen.add((job["status"], job["error"]["code"] if job["error"] else ""))
                if job["status"] == "completed":
                    break
                await asyncio.sleep(0.05)
        assert ("pending", "EMBEDDING_UNAVAILABLE") in seen
        assert job["attempts"] == 2
