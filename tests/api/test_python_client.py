"""The Python client (clients/python) against a real server."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest
from tests.api.chatting import ABSENT
from tests.loopback import always
from tools import client_types

import whence_client
from whence_client import AsyncClient, Client, Done, SourcesFound, Token

pytestmark = pytest.mark.one_app

LEAVE = "Audiobooks are lent for 14 days. A reader may extend the loan once."


@pytest.fixture
def library(running: str) -> Iterator[Client]:
    with Client(running, "") as client:
        yield client


def test_the_generated_modules_are_up_to_date() -> None:
    for file, text in client_types.rendered().items():
        assert file.read_text(encoding="utf-8") == text, f"{file.name}: run `make client`"


def test_it_searches_what_it_ingested(library: Client) -> None:
    made = library.ingest_text(LEAVE, name="lending.md")
    assert (made["status"], made["error"], made["chunkCount"]) == ("completed", None, 1)
    found = library.search("How long are audiobooks lent?", limit=3)
    assert [hit["document"]["name"] for hit in found["items"]] == ["lending.md"]
    assert found["items"][0]["chunk"]["content"] == LEAVE


def test_a_file_is_ingested_listed_and_deleted(library: Client, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(LEAVE)
    made = library.ingest(tmp_path / "a.md", folder="rules/new", metadata={"team": "desk"})
    assert made["fileName"] == "rules/new/a.md"
    assert library.ingest(b"Other words.", name="b.txt")["status"] == "completed"
    assert {one["name"] for one in library.documents()} == {"rules/new/a.md", "b.txt"}
    assert [one["name"] for one in library.documents(name="rules")] == ["rules/new/a.md"]
    assert {job["status"] for job in library.jobs()} == {"completed"}
    changed = library.update_document(made["documentId"] or "", b"New words.", name="a.md")
    assert (changed["documentId"], changed["status"]) == (made["documentId"], "completed")
    library.delete_document(made["documentId"] or "")
    with pytest.raises(whence_client.NotFound) as caught:
        library.document(made["documentId"] or "")
    assert (caught.value.code, caught.value.status) == ("DOCUMENT_NOT_FOUND", 404)


@pytest.mark.parametrize("ident", ["", "x", "../projects", "x?y=1", "a/b", "#", "\n", "\ud800"])
def test_an_id_stays_one_part_of_the_path(library: Client, ident: str) -> None:
    for call in (library.document, library.delete_document, library.job, library.retry_job):
        with pytest.raises(whence_client.APIError):
            call(ident)


def test_lists_are_fetched_page_by_page(library: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whence_client.requests._PAGE", 2)
    for number in range(5):
        library.ingest_text(f"Text {number}.", name=f"{number}.txt", wait=False)
    assert [one["name"] for one in library.documents()] == [f"{number}.txt" for number in (4, 3, 2, 1, 0)]
    assert [one["name"] for one in library.projects()] == ["default"]


def test_an_answer_comes_as_typed_events(library: Client) -> None:
    library.ingest_text(LEAVE, name="lending.md")
    first, *pieces, last = library.stream("How long are audiobooks lent?")
    assert isinstance(first, SourcesFound)
    assert isinstance(last, Done)
    text = "".join(piece.text for piece in pieces if isinstance(piece, Token))
    assert text == last.answer["response"]
    assert library.ask("How long are audiobooks lent?")["response"] == text


async def test_the_asynchronous_client_does_the_same(running: str) -> None:
    async with AsyncClient(running, "") as client:
        await client.ingest_text(LEAVE, name="lending.md")
        assert [one["name"] async for one in client.documents()] == ["lending.md"]
        events = [event async for event in client.stream("How long are audiobooks lent?")]
        assert isinstance(events[-1], Done)
        with pytest.raises(whence_client.BadRequest) as caught:
            await client.search("")
        assert caught.value.details["field" if "field" in caught.value.details else "parameter"] == "query"
        with pytest.raises(whence_client.NotFound, match="PROJECT_NOT_FOUND"):
            await client.search("x", project="nowhere")


class _Flaky(BaseHTTPRequestHandler):
    """Answers with the next status of its list, then with an empty search."""

    statuses: ClassVar[list[int]] = []
    seen: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        type(self).seen.append(self.path)
        status = type(self).statuses.pop(0) if type(self).statuses else 200
        body = b'{"success": true, "data": {"items": [], "jobId": null, "documentId": null}}'
        self.send_response(status)
        if status in (429, 503):
            body = b'{"success": false, "error": {"code": "BUSY", "message": "busy", "details": {}}}'
            self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def flaky() -> Iterator[Client]:
    _Flaky.seen.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Flaky)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    with Client(f"http://127.0.0.1:{server.server_port}", "", retries=2) as client:
        yield client
    server.shutdown()
    server.server_close()


def test_a_refused_request_is_sent_again_but_not_for_ever(flaky: Client) -> None:
    _Flaky.statuses[:] = [429, 503]
    assert flaky.ingest_text("x")["documentId"] is None
    assert len(_Flaky.seen) == 3
    _Flaky.statuses[:] = [503, 503, 503, 503]
    with pytest.raises(whence_client.ServerFailed, match="busy"):
        flaky.ingest_text("x")
    assert len(_Flaky.seen) == 6
    _Flaky.statuses[:] = [500]
    with pytest.raises(whence_client.UnexpectedAnswer, match="HTTP 500"):
        flaky.ingest_text("x")
    assert len(_Flaky.seen) == 7


FOREIGN = (
    b"",
    b"null",
    b"{}",
    b'{"success": true, "data": null}',
    b'{"success": true, "data": {"items": null, "pagination": null}}',
    b'{"success": true, "data": {"items": [1], "pagination": {}}}',
    b"event: done\ndata: {}\n\n",
    b"event: sources\ndata: []\n\n",
    b"event: token\ndata: 5\n\n",
    b"event: error\ndata: 5\n\n",
    b'event: done\ndata: {"resp',
)
"""Answers of other servers, and of versions that nobody knows."""


@pytest.mark.parametrize("body", FOREIGN)
def test_answers_of_other_servers(body: bytes) -> None:
    calls: list[Callable[[Client], Any]] = [
        lambda client: client.search("x"),
        lambda client: client.ask("x"),
        lambda client: list(client.stream("x")),
        lambda client: client.trace("x"),
        lambda client: client.trace(ABSENT),
        lambda client: client.ingest(b"x", name="x.md"),
        lambda client: client.ingest_text("x"),
        lambda client: client.update_document(ABSENT, b"x", name="x.md"),
        lambda client: list(client.documents(project="p")),
        lambda client: client.wait_for_job(ABSENT),
    ]
    with always(body) as url, Client(url, "", retries=0) as client:
        for call in calls:
            with pytest.raises(whence_client.UnexpectedAnswer):
                call(client)


def test_a_server_that_is_not_there_and_a_wrong_address() -> None:
    with (
        Client("http://127.0.0.1:9", "", retries=0) as client,
        pytest.raises(whence_client.NoAnswer, match="cannot be reached"),
    ):
        client.search("x")
    with pytest.raises(ValueError, match="not the address of a server"):
        Client("kb.team")
    assert "wh_secret" not in repr(whence_client.connection.Place.of("http://kb.team", "wh_secret"))


def test_it_is_small_and_imports_httpx_only() -> None:
    package = Path(whence_client.__file__).parent
    files = [path for path in package.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 2_000_000
    assert (package / "py.typed").exists()
    imported = {
        found
        for path in package.glob("*.py")
        for found in re.findall(r"^(?:from|import) (\w+)", path.read_text(), re.MULTILINE)
    }
    assert imported - set(sys.stdlib_module_names) == {"httpx", "whence_client"}


def test_the_example_of_the_readme_runs(running: str) -> None:
    readme = client_types.PACKAGE.parents[1] / "README.md"
    (example,) = re.findall(r"```python\n(.*?)```", readme.read_text(encoding="utf-8"), re.DOTALL)
    script = example.replace("http://127.0.0.1:8420", running)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("lending.md Audiobooks are lent for 14 days.\n")
    assert done.stdout.endswith("1 sources\nlending.md completed\n")
