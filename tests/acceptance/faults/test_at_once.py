"""Many documents, the same one many times, and changes of one that is under way."""

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import httpx
import psycopg
import pytest
from tests.client import Client
from tests.endpoint import (
    Endpoint,
    Gate,
)

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation, WaitFor

from tests.acceptance.faults.world import PATIENCE, blocked, count, held, require_nothing_left
from tests.texts import article


def test_many_documents_and_some_bad(hosted: "Installation") -> None:
    hosted.env["WHENCE_EMBEDDER"] = "hash"
    hosted.env.pop("WHENCE_EMBEDDING_DIMENSIONS")
    client = Client(hosted.serve().ready().url)
    bad = {
        "empty.txt": b"",
        "blank.txt": b" \n\n\t ",
        "broken.pdf": b"%PDF-1.7\nnothing more",
        "broken.docx": b"PK\x03\x04 and no archive",
        "program.bin": bytes(range(256)) * 20,
    }
    good = {f"{n}.txt": article(4, word=f"bird {n}") for n in range(195)}
    files = [("file", (name, content)) for name, content in {**good, **bad}.items()]
    answer = httpx.post(f"{client.url}/api/v1/ingest/upload", files=files, timeout=PATIENCE)
    items = answer.json()["data"]["items"]
    assert len(items) == 200
    jobs = {item["fileName"]: client.ended(item["jobId"]) for item in items}
    failed = {name: job["error"] for name, job in jobs.items() if job["status"] == "failed"}
    assert failed.keys() == bad.keys()
    assert all(error["code"] == "UNREADABLE_DOCUMENT" and error["message"] for error in failed.values())
    assert sum(job["status"] == "completed" for job in jobs.values()) == 195
    assert client.get("/documents", status="completed", limit=1)["pagination"]["total"] == 195
    for item in items[:5]:
        client.whole(item["documentId"])


def test_the_same_file_at_once(hosted: "Installation", database: psycopg.Connection) -> None:
    """By two servers, several times each."""
    clients = [Client(serving.ready().url) for serving in [hosted.serve(), hosted.serve()]]
    content = article(50)
    with ThreadPoolExecutor(8) as pool:
        items = list(pool.map(lambda n: clients[n % 2].upload(content, "a.txt", wait="true"), range(8)))
    assert len({item["documentId"] for item in items}) == 1
    assert sum(not item["alreadyExists"] for item in items) == 1
    assert {item["status"] for item in items} == {"completed"}
    clients[0].whole(items[0]["documentId"])
    assert count(database, "SELECT count(*) FROM kb.jobs") == 1
    require_nothing_left(hosted, database)


def put(client: Client, document_id: str, **body: Any) -> dict[str, Any]:
    answer = httpx.put(f"{client.url}/api/v1/documents/{document_id}", json=body, timeout=PATIENCE)
    assert answer.status_code in (200, 202), answer.text
    item: dict[str, Any] = answer.json()["data"]
    return item


def test_updates_on_top_of_each_other(
    hosted: "Installation", endpoint: Endpoint, database: psycopg.Connection
) -> None:
    """Another way to cut a text that is still on its way in does not bring the old text back."""
    client = Client(hosted.serve().ready().url)
    item = client.upload(article(5), "birds.txt", wait="true")
    endpoint.default = gate = Gate()
    superseded = put(client, item["documentId"], text="The bittern booms. Nobody sees it.")
    last = put(client, item["documentId"], chunkingStrategy="sentence")
    gate.open()
    assert client.ended(last["jobId"])["status"] == "completed"
    assert client.job(superseded["jobId"])["status"] == "cancelled"
    assert client.text(item["documentId"]) == "The bittern booms. Nobody sees it."
    assert client.get(f"/documents/{item['documentId']}")["chunking"]["strategy"] == "sentence"
    client.whole(item["documentId"])
    require_nothing_left(hosted, database)


@pytest.mark.parametrize("what", ["delete", "update", "project"])
def test_changed_while_it_is_stored(
    what: str, hosted: "Installation", endpoint: Endpoint, database: psycopg.Connection, wait_for: "WaitFor"
) -> None:
    """Whoever comes first to the document waits for the other, and neither for ever."""
    serving = hosted.serve().ready()
    client = Client(serving.url)
    project = client.post("/projects", name="birds").json()["data"]["id"]
    endpoint.default = gate = Gate()
    item = client.upload(article(5), "birds.txt", projectId=project)
    wait_for(lambda: len(endpoint.requests) == 1, "embedding")
    path = f"{serving.url}/api/v1/documents/{item['documentId']}"

    def change() -> httpx.Response:
        if what == "update":
            return httpx.put(path, json={"text": "Only this."}, timeout=PATIENCE)
        target = path if what == "delete" else f"{serving.url}/api/v1/projects/{project}"
        return httpx.delete(target, timeout=PATIENCE)

    with ThreadPoolExecutor(1) as pool:
        with held(database, "SELECT FROM kb.documents FOR UPDATE"):
            changing = pool.submit(change)
            wait_for(lambda: blocked(database) == 1, "the change to wait for the document")
            gate.open()
            wait_for(lambda: blocked(database) == 2, "the job to wait, too")
        answer = changing.result()
    assert answer.status_code in (200, 202), answer.text
    if what == "update":
        assert client.ended(answer.json()["data"]["jobId"])["status"] == "completed"
        assert client.text(item["documentId"]) == "Only this."
    else:
        assert httpx.get(path, timeout=PATIENCE).status_code == 404
        assert count(database, "SELECT count(*) FROM kb.chunks") == 0
    wait_for(lambda: count(database, "SELECT count(*) FROM queue.procrastinate_jobs") == 0, "an empty queue")
    require_nothing_left(hosted, database)
    assert serving.end() == 0
    assert "Traceback" not in serving.said
    assert "ERROR" not in serving.said
