"""Whatever is killed, full, slow or wrong while a document is ingested: in the end it is there, whole, once."""

import os
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, LiteralString

import httpx
import psycopg
import pytest
from tests.client import Client
from tests.endpoint import (
    Behaviour,
    Endpoint,
    Reply,
    Request,
    garbage,
    hang_up,
    of_size,
    ok,
    slow,
    status,
)
from tests.files.every import long_pdf

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation, PostgresOn, WaitFor

BATCH = 64
PATIENCE = 60.0
SMALL = {"chunkingOptions": '{"maxChunkSize": 100, "minChunkSize": 10}'}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as opened:
        yield opened


@pytest.fixture
def hosted(hosted: "Installation", endpoint: Endpoint) -> "Installation":
    hosted.embed_by(endpoint.url)
    return hosted


@pytest.fixture
def database(dsn: str) -> Iterator[psycopg.Connection]:
    """The database from behind, to look and to hold things up."""
    with psycopg.connect(dsn, autocommit=True) as opened:
        yield opened


def article(lines: int, *, word: str = "heron") -> bytes:
    return "\n\n".join(
        f"Line {n} tells of a {word} that waited for {n} hours in shallow water and then flew off to the north."
        for n in range(lines)
    ).encode()


def texts(endpoint: Endpoint) -> list[str]:
    return [text for request in endpoint.requests for text in request.inputs]


def repeated(endpoint: Endpoint) -> int:
    seen = texts(endpoint)
    return len(seen) - len(set(seen))


def asked(endpoint: Endpoint, times: int) -> bool:
    return len(endpoint.requests) == times


def count(database: psycopg.Connection, query: LiteralString) -> int:
    row = database.execute(query).fetchone()
    assert row is not None
    return int(row[0])


def let_time_pass(database: psycopg.Connection) -> None:
    """As if no worker had been heard of for a while: a test need not wait as long as a worker does."""
    database.execute("UPDATE queue.procrastinate_workers SET last_heartbeat = now() - interval '1 minute'")


@contextmanager
def held(database: psycopg.Connection, *statements: LiteralString) -> Iterator[None]:
    """What the statements lock stays locked for as long as the block lasts."""
    with psycopg.connect(database.info.dsn) as holding:
        for statement in statements:
            holding.execute(statement)
        yield
        holding.rollback()


def blocked(database: psycopg.Connection) -> int:
    return count(
        database,
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    )


def require_nothing_left(installation: "Installation", database: psycopg.Connection) -> None:
    """Neither of what jobs keep on their way nor of files that came in, and one original for each document."""
    assert count(database, "SELECT count(*) FROM kb.job_texts") == 0
    assert count(database, "SELECT count(*) FROM kb.job_vectors") == 0
    incoming = installation.data_dir / "incoming"
    assert not incoming.exists() or not list(incoming.iterdir())
    kept = {str(path.relative_to(installation.data_dir / "originals")) for path in originals(installation)}
    rows = database.execute("SELECT original_key FROM kb.documents").fetchall()
    assert kept == {row[0] for row in rows}


def originals(installation: "Installation") -> list[Path]:
    return [path for path in (installation.data_dir / "originals").rglob("*") if path.is_file()]


class Gate:
    """Holds the endpoint's answers until it is opened."""

    def __init__(self) -> None:
        self._opened = threading.Event()

    def __call__(self, request: Request) -> Reply:
        assert self._opened.wait(PATIENCE)
        return ok(request)

    def open(self) -> None:
        self._opened.set()


def parsers() -> set[int]:
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if b"whence.parse.child" in (process / "cmdline").read_bytes():
                found.add(int(process.name))
    return found


STAGES: dict[str, tuple[LiteralString, ...]] = {
    "parsing": (),
    "chunking": ("LOCK TABLE kb.job_vectors IN ACCESS EXCLUSIVE MODE",),
    "embedding": (),
    "storing": ("SELECT FROM kb.projects FOR NO KEY UPDATE",),
}
"""What holds a job up there; a large PDF and a slow endpoint do for the others."""


@pytest.mark.parametrize("stage", STAGES)
def test_killed_in(
    stage: str, hosted: "Installation", endpoint: Endpoint, database: psycopg.Connection, wait_for: "WaitFor"
) -> None:
    content, name = (long_pdf(500), "long.pdf") if stage == "parsing" else (article(300), "long.txt")
    if stage == "embedding":
        endpoint.default = slow(0.3)
    before = parsers()
    first = hosted.serve().ready()
    client = Client(first.url)
    client.upload(
        b"Before all others.", "first.txt", wait="true"
    )  # by now the project has its embedding space
    with held(database, *STAGES[stage]):
        item = client.upload(content, name, **SMALL)
        enough = BATCH if stage == "embedding" else 0
        client.job_when(item["jobId"], lambda job: job["stage"] == stage and job["done"] >= enough)
        if stage in ("chunking", "storing"):
            wait_for(lambda: blocked(database) > 0, "the job to be held up")
        first.end(signal.SIGKILL)
    wait_for(lambda: parsers() <= before, "the parser to end with its worker")
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
    """Another finds out by itself, in less than half a minute."""
    endpoint.script(ok, slow(60))
    first = hosted.serve().ready()
    item = Client(first.url).upload(article(200), "long.txt", **SMALL)
    wait_for(lambda: len(endpoint.requests) == 2, "the second batch")
    second = hosted.serve().ready()
    first.end(signal.SIGKILL)
    begun = time.monotonic()
    client = Client(second.url)
    assert client.ended(item["jobId"])["status"] == "completed"
    assert time.monotonic() - begun < 30
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


def test_no_room_for_what_comes_in(hosted: "Installation", database: psycopg.Connection) -> None:
    serving = hosted.serve().ready()
    client = Client(serving.url)
    _, most = resource.prlimit(serving.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(serving.process.pid, resource.RLIMIT_FSIZE, (2_000_000, most))
    refused = client.try_upload(article(60_000), "large.txt")
    assert refused.status_code == 503
    error = refused.json()["error"]
    assert error["code"] == "STORAGE_UNAVAILABLE"
    assert error["message"] == "The file cannot be kept: File too large"
    assert client.documents() == {}
    require_nothing_left(hosted, database)
    assert client.upload(article(3), "small.txt", wait="true")["status"] == "completed"

    resource.prlimit(serving.process.pid, resource.RLIMIT_FSIZE, (most, most))
    item = client.upload(article(60_000), "large.txt")
    client.post(f"/jobs/{item['jobId']}/cancel")
    assert "Traceback" not in serving.said


def small_disk(folder: Path) -> Sequence[str]:
    """A command that gives what it runs a disk of 3 MB in that folder; skips where that is not allowed."""
    inside = ("unshare", "--mount") if os.geteuid() == 0 else ("unshare", "--mount", "--map-root-user")
    mount = 'mount -t tmpfs -o size=3m tmpfs "$0" && exec "$@"'
    command = (*inside, "sh", "-c", mount, str(folder))
    tried = subprocess.run([*command, "true"], capture_output=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"no disk of our own here: {tried.stderr.decode().strip()}")
    return command


def test_no_room_for_originals(hosted: "Installation", database: psycopg.Connection) -> None:
    folder = hosted.data_dir / "originals"
    folder.mkdir(parents=True)
    serving = hosted.serve(within=small_disk(folder)).ready()
    client = Client(serving.url)
    first = client.upload(article(18_000), "first.txt")
    refused = client.try_upload(article(18_000, word="bittern"), "second.txt")
    assert refused.status_code == 503
    assert refused.json()["error"]["code"] == "STORAGE_UNAVAILABLE"
    assert client.documents().keys() == {"first.txt"}
    seen = Path(f"/proc/{serving.process.pid}/root") / folder.relative_to("/")
    assert len([path for path in seen.rglob("*") if path.is_file()]) == 1
    assert not list((hosted.data_dir / "incoming").iterdir())

    gone = httpx.delete(f"{serving.url}/api/v1/documents/{first['documentId']}", timeout=PATIENCE)
    assert gone.status_code == 200
    again = client.upload(article(18_000, word="bittern"), "second.txt")
    assert client.ended(again["jobId"])["status"] == "completed"
    assert count(database, "SELECT count(*) FROM kb.documents") == 1
    assert "Traceback" not in serving.said
    assert "No space left on device" in serving.said


TROUBLES: list[tuple[str, Behaviour, str, str, str]] = [
    ("down", status(503), "pending", "EMBEDDING_UNAVAILABLE", "The embedding endpoint answered 503"),
    ("gone", hang_up, "pending", "EMBEDDING_UNAVAILABLE", "The embedding endpoint cannot be reached"),
    ("slow", slow(3), "pending", "EMBEDDING_UNAVAILABLE", "The embedding endpoint did not answer within 2 s"),
    ("size", of_size(65), "failed", "EMBEDDING_INVALID", "65"),
    ("garbage", garbage(), "failed", "EMBEDDING_INVALID", "The embedding endpoint"),
    ("key", status(401), "failed", "EMBEDDING_REFUSED", "WHENCE_EMBEDDING_API_KEY"),
]


def test_an_endpoint_in_trouble(hosted: "Installation", endpoint: Endpoint) -> None:
    """The job says what is wrong; what may pass is tried again by itself, the rest when somebody says so."""
    hosted.env |= {"WHENCE_EMBEDDING_ATTEMPTS": "1", "WHENCE_EMBEDDING_TIMEOUT": "2"}
    serving = hosted.serve().ready()
    client = Client(serving.url)
    for name, behaviour, expected, code, words in TROUBLES:
        endpoint.default = behaviour
        item = client.upload(article(5, word=name), f"{name}.txt")
        job = client.job_when(item["jobId"], lambda job: job["error"] is not None)
        assert (job["status"], job["error"]["code"]) == (expected, code)
        assert words in job["error"]["message"]
        assert client.get(f"/documents/{item['documentId']}")["chunk_count"] == 0
        endpoint.default = ok
        if expected == "failed":
            assert client.post(f"/jobs/{item['jobId']}/retry").status_code == 202
        job = client.ended(item["jobId"])
        assert (job["status"], job["error"]) == ("completed", None)
        client.whole(item["documentId"])
    assert serving.end() == 0
    assert "Traceback" not in serving.said
    assert "goes on in 2 s: The embedding endpoint answered 503" in serving.said


def test_an_endpoint_that_asks_to_wait(hosted: "Installation", endpoint: Endpoint) -> None:
    client = Client(hosted.serve().ready().url)
    endpoint.script(status(429, retry_after="1"), ok)
    item = client.upload(article(5), "waits.txt", wait="true")
    assert item["status"] == "completed"
    first, second = endpoint.requests
    assert second.at - first.at >= 1
    assert client.job(item["jobId"])["attempts"] == 1


def test_again_at_once(hosted: "Installation", endpoint: Endpoint) -> None:
    """Whoever mends the endpoint need not wait until the next try would have come."""
    hosted.env["WHENCE_EMBEDDING_ATTEMPTS"] = "1"
    client = Client(hosted.serve().ready().url)
    endpoint.default = status(503)
    items = [client.upload(article(5, word=word), f"{word}.txt") for word in ("heron", "bittern")]
    for item in items:
        client.job_when(item["jobId"], lambda job: job["attempts"] == 2 and job["status"] == "pending")
    endpoint.default = ok
    begun = time.monotonic()
    retried, updated = items
    assert client.post(f"/jobs/{retried['jobId']}/cancel").status_code == 200
    assert client.post(f"/jobs/{retried['jobId']}/retry").status_code == 202
    answer = httpx.put(
        f"{client.url}/api/v1/documents/{updated['documentId']}",
        json={"chunkingStrategy": "sentence"},
        timeout=PATIENCE,
    )
    assert client.ended(retried["jobId"])["status"] == "completed"
    assert client.ended(answer.json()["data"]["jobId"])["status"] == "completed"
    assert time.monotonic() - begun < 5


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
        items = list(pool.map(lambda n: clients[n % 2].upload(content, f"{n}.txt", wait="true"), range(8)))
    assert len({item["documentId"] for item in items}) == 1
    assert sum(not item["alreadyExists"] for item in items) == 1
    assert {item["status"] for item in items} == {"completed"}
    clients[0].whole(items[0]["documentId"])
    assert count(database, "SELECT count(*) FROM kb.jobs") == 1
    require_nothing_left(hosted, database)


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
