"""A worker or the database is killed: in the end every document is there, whole, once."""

import os
import signal
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, LiteralString

import httpx
import psycopg
import pytest
from tests.client import Client
from tests.endpoint import (
    Endpoint,
    Gate,
    ok,
    slow,
)
from tests.files.every import long_pdf

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation, PostgresOn, WaitFor

from tests.acceptance.faults.world import (
    BATCH,
    PATIENCE,
    SMALL,
    asked,
    blocked,
    count,
    held,
    let_time_pass,
    repeated,
    require_nothing_left,
    texts,
)
from tests.texts import article


def parses(process: int) -> bool:
    with suppress(OSError):
        return b"whence.parse.child" in Path(f"/proc/{process}/cmdline").read_bytes()
    return False


def parsers(server: int) -> list[int]:
    """The processes that parse for it."""
    children = [
        int(child)
        for path in Path(f"/proc/{server}/task").glob("*/children")
        for child in path.read_text().split()
    ]
    return [child for child in children if parses(child)]


def send(sign: signal.Signals, processes: list[int]) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, sign)


STAGES: dict[str, tuple[LiteralString, ...]] = {
    "parsing": (),
    "chunking": ("LOCK TABLE kb.job_vectors IN ACCESS EXCLUSIVE MODE",),
    "embedding": (),
    "storing": ("SELECT FROM kb.projects FOR NO KEY UPDATE",),
}
"""What holds a job up there; a parser that is stopped and a slow endpoint do for the others."""


@pytest.mark.parametrize("stage", STAGES)
def test_killed_in(
    stage: str, hosted: "Installation", endpoint: Endpoint, database: psycopg.Connection, wait_for: "WaitFor"
) -> None:
    content, name = (long_pdf(300), "long.pdf") if stage == "parsing" else (article(300), "long.txt")
    if stage == "embedding":
        endpoint.default = slow(1)
    parsing: list[int] = []
    first = hosted.serve().ready()
    client = Client(first.url)
    client.upload(
        b"Before all others.", "first.txt", wait="true"
    )  # by now the project has its embedding space
    with held(database, *STAGES[stage]):
        item = client.upload(content, name, **SMALL)
        if stage == "parsing":
            wait_for(lambda: bool(parsers(first.process.pid)), "a parser")
            parsing = parsers(first.process.pid)
            send(signal.SIGSTOP, parsing)
        enough = BATCH if stage == "embedding" else 0
        client.job_when(item["jobId"], lambda job: job["stage"] == stage and job["done"] >= enough)
        if stage in ("chunking", "storing"):
            wait_for(lambda: blocked(database) > 0, "the job to be held up")
        first.end(signal.SIGKILL)
    send(signal.SIGCONT, parsing)
    wait_for(lambda: not any(map(parses, parsing)), "the parser to end with its worker")
    seen = len(texts(endpoint))
    assert (stage == "parsing") == (count(database, "SELECT count(*) FROM kb.job_texts") == 0)

    let_time_pass(database)
    endpoint.default = ok
    second = hosted.serve().ready()
    client = Client(second.url)
    job = client.ended(item["jobId"])
    assert (job["status"], job["attempts"], job["error"]) == ("completed", 2, None)
    chunks = client.whole(item["documentId"])
    assert client.documents().keys() == {"first.txt", name}
    assert len(texts(endpoint)) >= len({chunk["content"] for chunk in chunks})
    assert repeated(endpoint) <= (BATCH if stage == "embedding" else 0)
    if stage == "storing":
        assert len(texts(endpoint)) == seen, "everything had been embedded"
    require_nothing_left(hosted, database)
    wait_for(lambda: count(database, "SELECT count(*) FROM queue.procrastinate_jobs") == 0, "an empty queue")
    assert second.end() == 0
    assert "Traceback" not in first.said + second.said


def test_a_worker_that_is_not_heard_of_any_more(
    hosted: "Installation", endpoint: Endpoint, database: psycopg.Connection, wait_for: "WaitFor"
) -> None:
    """Another finds out by itself."""
    endpoint.script(ok, slow(60))
    first = hosted.serve().ready()
    item = Client(first.url).upload(article(200), "long.txt", **SMALL)
    wait_for(lambda: len(endpoint.requests) == 2, "the second batch")
    second = hosted.serve().ready()
    first.end(signal.SIGKILL)
    client = Client(second.url)
    assert client.ended(item["jobId"])["status"] == "completed"
    client.whole(item["documentId"])
    assert repeated(endpoint) <= BATCH
    require_nothing_left(hosted, database)


def test_the_database_killed(
    embedded: "Installation", endpoint: Endpoint, postgres_on: "PostgresOn", wait_for: "WaitFor"
) -> None:
    embedded.embed_by(endpoint.url)
    endpoint.default = slow(0.2)
    serving = embedded.serve().ready()
    client = Client(serving.url)
    items = [client.upload(article(300, word=f"bird {n}"), f"{n}.txt", **SMALL) for n in range(3)]
    client.job_when(items[0]["jobId"], lambda job: job["done"] >= BATCH)
    before = set(postgres_on(embedded.data_dir))
    for pid in before:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    wait_for(lambda: bool(set(postgres_on(embedded.data_dir)) - before), "another database")
    serving.ready()
    for item in items:
        assert client.ended(item["jobId"])["status"] == "completed"
        client.whole(item["documentId"])
    assert len(client.documents()) == 3
    assert repeated(endpoint) <= 2 * BATCH * len(items), (
        "a batch in hand, and one of a run that was taken for dead"
    )
    assert serving.end() == 0
    assert "Traceback" not in serving.said


def test_the_end_of_a_task_that_the_queue_did_not_hear_of(
    hosted: "Installation", endpoint: Endpoint, database: psycopg.Connection, wait_for: "WaitFor"
) -> None:
    """The connection is lost just then; the worker lives on, and so must what waits for the same document."""
    serving = hosted.serve().ready()
    client = Client(serving.url)
    endpoint.default = gate = Gate()
    item = client.upload(article(3), "short.txt")
    wait_for(lambda: len(endpoint.requests) == 1, "the task to be begun")
    with held(database, "SELECT FROM queue.procrastinate_jobs FOR UPDATE"):
        gate.open()
        assert client.ended(item["jobId"])["status"] == "completed"
        wait_for(lambda: blocked(database) == 1, "the queue to be told")
        database.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
    assert count(database, "SELECT count(*) FROM queue.procrastinate_jobs WHERE status = 'doing'") == 1
    again = client.upload(article(4), "other.txt", wait="true")
    assert again["status"] == "completed"
    changed = httpx.put(
        f"{serving.url}/api/v1/documents/{item['documentId']}",
        json={"text": "Something else.", "wait": True},
        timeout=PATIENCE,
    )
    assert changed.json()["data"]["status"] == "completed", changed.text
    wait_for(lambda: count(database, "SELECT count(*) FROM queue.procrastinate_jobs") == 0, "an empty queue")
    require_nothing_left(hosted, database)
    assert serving.end() == 0
    assert "Traceback" not in serving.said


def test_a_document_that_ends_the_worker_each_time(
    hosted: "Installation", endpoint: Endpoint, database: psycopg.Connection, wait_for: "WaitFor"
) -> None:
    endpoint.default = slow(60)
    item: dict[str, Any] = {}
    for number in range(1, 6):
        serving = hosted.serve().ready()
        if number == 1:
            item = Client(serving.url).upload(article(5), "deadly.txt")
        wait_for(partial(asked, endpoint, number), "the next try")
        serving.end(signal.SIGKILL)
        let_time_pass(database)
    client = Client(hosted.serve().ready().url)
    job = client.ended(item["jobId"])
    assert job["status"] == "failed"
    assert job["error"]["message"] == "The worker stopped 5 times while it worked on this document"
    endpoint.default = ok
    client.post(f"/jobs/{item['jobId']}/retry")
    assert client.ended(item["jobId"])["status"] == "completed"
