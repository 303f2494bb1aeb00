"""`whence ingest`: what lies in a folder becomes documents, with a server and without, and again when it changes."""

import fcntl
import json
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import psycopg
import pytest
from tests.acceptance.faults.world import count
from tests.acceptance.forkserver import PipedFork
from tests.client import Client
from tests.endpoint import Endpoint, Gate, ok, slow, status
from tests.files.every import FileSample, write_every_format

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation, PostgresOn, ReadUntil, WaitFor

PATIENCE = 240.0
WORKERS = "SELECT count(*) FROM queue.procrastinate_workers"


@pytest.fixture
def hosted(hosted: "Installation") -> "Installation":
    """Vectors by hash: what they are is tested elsewhere, and a model takes a second to load."""
    hosted.env["WHENCE_EMBEDDER"] = "hash"
    return hosted


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "my documents"
    made.mkdir()
    return made


def numbered(lines: int, *, word: str = "heron") -> str:
    return "\n\n".join(f"Line {n} is about a {word}, the {n}th of them." for n in range(lines))


def serving(installation: "Installation") -> Client:
    return Client(installation.serve().ready().url)


def outcomes(installation: "Installation", *arguments: str, code: int = 0) -> dict[str, dict[str, Any]]:
    """What `whence ingest --json` says, by source."""
    said = installation.run("ingest", *arguments, "--json", code=code).stdout
    return {item["source"]: item for item in json.loads(said)["items"]}


def tidy(installation: "Installation") -> bool:
    """Nothing is left of what was on its way in."""
    incoming = installation.data_dir / "incoming"
    return not incoming.exists() or not list(incoming.iterdir())


def require_pages(client: Client, document: dict[str, Any], sample: FileSample) -> None:
    chunks = client.whole(document["id"])
    if not sample.pages:
        assert {chunk["metadata"]["source_page"] for chunk in chunks} == {None}
        return
    text = client.text(document["id"])
    pages = client.get(f"/documents/{document['id']}/text")["pages"]
    for sentence, number in sample.pages.items():
        at = text.find(sentence.split()[0] if sentence not in text else sentence)
        assert [page["number"] for page in pages if page["start"] <= at < page["end"]] == [number]
    for chunk in chunks:
        start = chunk["metadata"]["startOffset"]
        expected = [page["number"] for page in pages if page["start"] <= start < page["end"]]
        assert [chunk["metadata"]["source_page"]] == expected


@pytest.mark.parametrize("with_server", [False, True], ids=["alone", "beside a server"])
def test_every_format(hosted: "Installation", folder: Path, *, with_server: bool) -> None:
    samples = {sample.name: sample for sample in write_every_format(folder)}
    if with_server:
        hosted.serve().ready()
    items = outcomes(hosted, str(folder), "--max", "120", "--min", "20", "--strategy", "sentence")
    assert items.keys() == samples.keys()
    assert {item["status"] for item in items.values()} == {"completed"}

    client = Client(hosted.serving[0].url) if with_server else serving(hosted)
    documents = client.documents()
    assert documents.keys() == samples.keys()
    for name, document in documents.items():
        assert document["id"] == items[name]["documentId"]
        assert document["chunk_count"] == items[name]["chunkCount"]
        assert document["file_type"] == samples[name].mime
        assert document["chunking"] == {
            "strategy": "sentence",
            "max_chunk_size": 120,
            "min_chunk_size": 20,
        }
        require_pages(client, document, samples[name])
    assert tidy(hosted)


def test_again(hosted: "Installation", folder: Path) -> None:
    """Unchanged files cost nothing; of a changed one, what did not change keeps its id."""
    (folder / "same.txt").write_text(numbered(40, word="bittern"))
    edited = folder / "edited.md"
    edited.write_text(numbered(60))
    first = outcomes(hosted, str(folder), "--strategy", "paragraph", "--max", "100", "--min", "10")
    client = serving(hosted)
    before = {chunk["content"]: chunk["id"] for chunk in client.whole(first["edited.md"]["documentId"])}

    edited.write_text(edited.read_text().replace("Line 30 is", "Line 30 was"))
    second = outcomes(hosted, str(folder))
    assert second["same.txt"]["alreadyExists"]
    assert second["same.txt"]["documentId"] == first["same.txt"]["documentId"]
    assert not second["edited.md"]["alreadyExists"]
    assert second["edited.md"]["documentId"] == first["edited.md"]["documentId"]
    after = {chunk["content"]: chunk["id"] for chunk in client.whole(second["edited.md"]["documentId"])}
    assert "Line 30 was about a heron, the 30th of them." in " ".join(after)
    kept = before.keys() & after.keys()
    assert len(kept) == len(before) - 1
    assert {content: before[content] for content in kept} == {content: after[content] for content in kept}
    assert len(client.documents()) == 2

    said = hosted.run("ingest", str(folder)).stdout
    assert "2 unchanged" in said
    assert len(list((hosted.data_dir / "originals").rglob("*-*-*-*-*/*-*-*-*-*/*"))) == 2


def test_files_of_the_same_content(hosted: "Installation", folder: Path) -> None:
    """Each is a document of its own with its own metadata; what they share is embedded once."""
    for name in ("one.txt", "two.txt"):
        (folder / name).write_text(numbered(5))
    with Endpoint() as endpoint:
        hosted.embed_by(endpoint.url)
        client = serving(hosted)
        first = outcomes(hosted, str(folder / "one.txt"))["one.txt"]
        asked = len(endpoint.requests)
        both = outcomes(hosted, str(folder), "--meta", "team=a")
        assert {item["status"] for item in both.values()} == {"completed"}
        assert (both["one.txt"]["documentId"], both["one.txt"]["alreadyExists"]) == (
            first["documentId"],
            True,
        )
        outcomes(hosted, str(folder / "two.txt"), "--meta", "team=b")
        assert len(endpoint.requests) == asked
    documents = client.documents()
    assert {name: one["metadata"]["team"] for name, one in documents.items()} == {
        "one.txt": "a",
        "two.txt": "b",
    }
    require_as_on_disk(client, folder)


def test_prune(hosted: "Installation", folder: Path) -> None:
    """Documents of deleted files stay until they are asked to go; moved files and other folders keep theirs."""
    other = folder.with_name("other")
    for place in (folder, folder / "sub", other):
        place.mkdir(exist_ok=True)
        for name in ("keep.txt", "gone.txt", "moved.txt"):
            (place / name).write_text(f"The {name} of {place.name}.")
    hosted.run("ingest", str(folder), str(other))
    for place in (folder / "sub", other):
        (place / "gone.txt").unlink()
    (folder / "sub" / "moved.txt").rename(folder / "here.txt")
    client = serving(hosted)

    plan = hosted.run("ingest", str(folder), "--prune", "--dry-run").stdout
    assert "renamed   here.txt\n4 unchanged, 1 renamed; nothing was changed.\n" in plan
    assert "gone      sub/gone.txt\n1 document has no file any more. --prune would delete it." in plan
    assert "sub/moved.txt" in client.documents()
    absent = hosted.run("ingest", str(folder / "absent"), "--dry-run", code=1).stdout
    assert absent == f"failed    {folder / 'absent'}: not found\n1 failed; nothing was changed.\n"
    said = hosted.run("ingest", str(folder)).stdout
    assert said.endswith("1 document has no file any more. Delete with --prune.\n")
    refused = hosted.run("ingest", str(folder), "--prune", code=1)
    assert "Delete 1 document?" in refused.stderr
    assert "sub/gone.txt" in client.documents()

    deleted = hosted.json("ingest", str(folder), "--prune", "--yes")
    assert ([one["name"] for one in deleted["gone"]], deleted["deleted"]) == (["sub/gone.txt"], 1)
    assert sorted(document["name"] for document in client.get("/documents", limit=100)["items"]) == [
        *[
            "gone.txt",
            "gone.txt",
            "here.txt",
            "keep.txt",
            "keep.txt",
            "moved.txt",
            "moved.txt",
            "sub/keep.txt",
        ]
    ]
    assert "Deleted" not in hosted.run("ingest", str(folder), "--prune", "--yes").stdout


def require_as_on_disk(client: Client, folder: Path) -> None:
    """Every document has the name, the origin and the content of a file, and every file has a document."""
    documents = client.documents()
    files = {path.name: path for path in folder.iterdir()}
    assert files.keys() == documents.keys()
    for name, document in documents.items():
        assert document["origin"] == files[name].as_uri()
        assert client.text(document["id"]) == files[name].read_text()
        client.whole(document["id"])


def as_on_disk(client: Client, folder: Path, name: str, document_id: str) -> bool:
    """Whether every file is a document of its own by now, and that one the document of this name."""
    documents = client.documents(status="completed")
    texts = {found: client.text(document["id"]) for found, document in documents.items()}
    return (
        texts == {path.name: path.read_text() for path in folder.iterdir()}
        and documents[name]["id"] == document_id
    )


def test_renamed(hosted: "Installation", folder: Path) -> None:
    """The document goes with its file: nothing is read or embedded again."""
    (folder / "a.txt").write_text(numbered(20))
    with Endpoint() as endpoint:
        hosted.embed_by(endpoint.url)
        client = serving(hosted)
        first = outcomes(hosted, str(folder))
        before = client.whole(first["a.txt"]["documentId"])
        asked = len(endpoint.requests)
        (folder / "notes").mkdir()
        (folder / "a.txt").rename(folder / "notes" / "b.txt")
        said = hosted.run("ingest", str(folder)).stdout
        assert "✓ notes/b.txt: renamed" in said
        assert "1 renamed; " in said
        assert len(endpoint.requests) == asked
        assert client.whole(first["a.txt"]["documentId"]) == before
        (document,) = client.documents().values()
        assert (document["name"], document["job_id"]) == ("notes/b.txt", first["a.txt"]["jobId"])
        assert document["origin"] == (folder / "notes" / "b.txt").as_uri()

        folder.rename(folder.with_name("ours"))
        assert "1 renamed" in hosted.run("ingest", str(folder.with_name("ours"))).stdout
        assert "1 unchanged" in hosted.run("ingest", str(folder.with_name("ours"))).stdout
        assert len(client.documents()) == 1


def test_standard_input(hosted: "Installation") -> None:
    assert "✓ stdin.txt: " in hosted.run("ingest", "-", stdin=numbered(3)).stdout
    said = hosted.run("ingest", "-", "--name", "notes.md", stdin="# Herons\n\nThey wait.\n").stdout
    assert "✓ notes.md: 1 chunk\n1 ingested" in said
    documents = serving(hosted).documents()
    assert documents["stdin.txt"]["file_type"] == "text/plain"
    assert documents["notes.md"]["file_type"] == "text/markdown"


@contextmanager
def site(pages: dict[str, bytes]) -> Iterator[str]:
    """A web site on loopback, which can be asked whether a page changed."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages[self.path]
            etag = f'"{hash(body)}"'
            known = self.headers.get("If-None-Match") == etag
            self.send_response(304 if known else 200)
            self.send_header("ETag", etag)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", "0" if known else str(len(body)))
            self.end_headers()
            self.wfile.write(b"" if known else body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def test_url(hosted: "Installation") -> None:
    pages = {"/herons.html": b"<h1>Herons</h1><p>They wait in shallow water.</p>"}
    with site(pages) as root:
        url = f"{root}/herons.html"
        refused = hosted.run("ingest", url, code=1)
        assert url in refused.stderr
        assert "WHENCE_FETCH_ALLOW" in refused.stderr

        hosted.env["WHENCE_FETCH_ALLOW"] = "127.0.0.0/8"
        first = outcomes(hosted, url)[url]
        assert first["status"] == "completed"
        assert outcomes(hosted, url)[url]["alreadyExists"]
        pages["/herons.html"] = b"<h1>Herons</h1><p>They have flown.</p>"
        again = outcomes(hosted, url)[url]
        assert (again["documentId"], again["alreadyExists"]) == (first["documentId"], False)
    client = serving(hosted)
    assert "They have flown" in client.text(first["documentId"])
    assert client.get(f"/documents/{first['documentId']}")["origin"] == url


def test_which_files(hosted: "Installation", folder: Path) -> None:
    (folder / "drafts").mkdir()
    (folder / ".hidden").mkdir()
    names = ("a.md", "b.txt", "c.log", "d.tmp", "drafts/e.md", ".hidden/f.md")
    for name in names:
        (folder / name).write_text(f"This is {name}, and no other.\n")
    (folder / ".gitignore").write_text("*.log\n")

    assert outcomes(hosted, str(folder)).keys() == {"a.md", "b.txt", "d.tmp", "drafts/e.md"}
    assert outcomes(hosted, str(folder), "--include", "*.md").keys() == {"a.md", "drafts/e.md"}
    some = outcomes(hosted, str(folder), "--exclude", "drafts/", "--exclude", "*.tmp")
    assert some.keys() == {"a.md", "b.txt"}
    assert outcomes(hosted, str(folder / "c.log")).keys() == {"c.log"}
    assert "Nothing to ingest" in hosted.run("ingest", str(folder), "--include", "*.pdf").stdout


def test_project(hosted: "Installation", folder: Path) -> None:
    (folder / "a.txt").write_text(numbered(3))
    project = hosted.json("projects", "create", "birds")
    assert outcomes(hosted, str(folder), "--project", "birds")["a.txt"]["status"] == "completed"
    assert not outcomes(hosted, str(folder))["a.txt"]["alreadyExists"], "another project"
    client = serving(hosted)
    assert client.documents(project_id=project["id"]).keys() == {"a.txt"}
    assert "fish" in hosted.refused("ingest", str(folder), "--project", "fish", code=1)


def test_failures(hosted: "Installation", folder: Path) -> None:
    """Each is named with its reason, and harms no other."""
    write_every_format(folder)
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nand then nothing that a PDF has")
    (folder / "empty.txt").write_bytes(b"")
    (folder / "program.bin").write_bytes(bytes(range(256)) * 40)
    missing = str(folder / "no-such-file.txt")

    done = hosted.run("ingest", str(folder), missing, code=1)
    failed = {line.split(":")[0].removeprefix("✗ ") for line in done.stderr.splitlines() if line[:1] == "✗"}
    assert failed == {"broken.pdf", "empty.txt", "program.bin", missing}
    assert "The file is empty" in done.stderr
    assert "not found" in done.stderr
    assert "15 ingested, 4 failed" in done.stdout
    assert len(done.stderr.splitlines()) == 4, "and nothing else, such as a log"

    items = outcomes(hosted, str(folder), missing, code=1)
    assert items[missing]["documentId"] is None
    assert items["empty.txt"]["status"] == "failed"
    assert items["empty.txt"]["error"] == "The file is empty"
    (folder / "empty.txt").write_text("Not any more.")
    assert outcomes(hosted, str(folder / "empty.txt"))["empty.txt"]["status"] == "completed"


def test_what_failed_when_it_was_uploaded(hosted: "Installation", folder: Path) -> None:
    """The file is tried again, not only told of."""
    (folder / "a.txt").write_text(numbered(3))
    with Endpoint(default=status(401)) as endpoint:
        hosted.embed_by(endpoint.url)
        client = serving(hosted)
        failed = client.upload((folder / "a.txt").read_bytes(), "a.txt", wait="true")
        assert failed["status"] == "failed"
        endpoint.default = ok
        item = outcomes(hosted, str(folder))["a.txt"]
    assert (item["documentId"], item["status"], item["error"]) == (failed["documentId"], "completed", None)
    client.whole(item["documentId"])


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--strategy", "haiku"), "--strategy must be one of character"),
        (("--max", "50"), "--max must be an integer from 100 to 10000"),
        (("--max", "200", "--min", "300"), "--min must be less than --max (200)"),
    ],
)
def test_wrong_usage(hosted: "Installation", folder: Path, options: tuple[str, ...], word: str) -> None:
    said = hosted.run("ingest", str(folder), *options, code=2).stderr
    assert "Usage: whence ingest" in said
    assert word in said


def test_too_large(hosted: "Installation", folder: Path) -> None:
    hosted.env["WHENCE_MAX_UPLOAD_MB"] = "1"
    (folder / "large.txt").write_text("heron " * 200_000)
    (folder / "small.txt").write_text("heron")
    done = hosted.run("ingest", str(folder), code=1)
    assert "✗ large.txt: The file is larger than 1 MB (WHENCE_MAX_UPLOAD_MB)" in done.stderr
    assert "1 ingested, 1 failed" in done.stdout
    assert tidy(hosted)


def started(installation: "Installation", *arguments: str) -> PipedFork:
    return installation.start("ingest", *arguments)


def test_watch(hosted: "Installation", folder: Path, wait_for: "WaitFor", read_until: "ReadUntil") -> None:
    edited = folder / "edited.txt"
    edited.write_text(numbered(5))
    client = serving(hosted)
    watching = started(hosted, str(folder), "--watch")
    try:
        wait_for(lambda: client.documents(status="completed").keys() == {"edited.txt"}, "the first document")
        ident = client.documents()["edited.txt"]["id"]
        edited.write_text(numbered(6))
        wait_for(lambda: "Line 5" in client.text(ident), "the change")
        (folder / "new.txt").write_text("Something new.")
        wait_for(lambda: client.documents(status="completed").keys() == {"edited.txt", "new.txt"}, "the new")
        edited.unlink()
        said = read_until(watching.stderr, "deleted")
        watching.send_signal(signal.SIGINT)
        out, err = watching.communicate(timeout=PATIENCE)
    finally:
        watching.kill()
    assert watching.returncode == 0, err
    assert (said + err).splitlines() == [
        "Watching for changes; Ctrl-C ends it.",
        "edited.txt was deleted; its document stays.",
    ]
    assert [line for line in out.splitlines() if line[:1] == "✓"] == [
        "✓ edited.txt: 1 chunk",
        "✓ edited.txt: 1 chunk",
        "✓ new.txt: 1 chunk",
    ]
    assert "Nothing to ingest" not in out
    assert client.documents().keys() == {"edited.txt", "new.txt"}


def test_watch_files_that_move(hosted: "Installation", folder: Path, wait_for: "WaitFor") -> None:
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text(numbered(5, word=name))
    client = serving(hosted)
    watching = started(hosted, str(folder), "--watch")
    try:
        wait_for(
            lambda: client.documents(status="completed").keys() == {"a.txt", "b.txt"}, "the first documents"
        )
        before = {name: document["id"] for name, document in client.documents().items()}
        (folder / "a.txt").rename(folder / "c.txt")
        wait_for(lambda: client.documents().keys() == {"b.txt", "c.txt"}, "the new name")
        (folder / "b.txt").write_text(numbered(5, word="a.txt"))
        (folder / "c.txt").write_text(numbered(5, word="b.txt"))
        wait_for(lambda: as_on_disk(client, folder, "b.txt", before["a.txt"]), "the exchange")
        watching.send_signal(signal.SIGINT)
        out, err = watching.communicate(timeout=PATIENCE)
    finally:
        watching.kill()
    assert watching.returncode == 0, err
    assert err.splitlines() == ["Watching for changes; Ctrl-C ends it."]
    assert "✓ c.txt: renamed" in out
    require_as_on_disk(client, folder)
    assert {document["id"] for document in client.documents().values()} == set(before.values())


def test_watch_for_scripts(
    hosted: "Installation", folder: Path, wait_for: "WaitFor", read_until: "ReadUntil"
) -> None:
    """A line of JSON for each time that something came."""
    (folder / "one.txt").write_text("One.")
    client = serving(hosted)
    watching = started(hosted, str(folder), "--watch", "--json")
    try:
        wait_for(lambda: client.documents(status="completed").keys() == {"one.txt"}, "the first document")
        (folder / "two.txt").write_text("Two.")
        said = read_until(watching.stdout, "two.txt")
        assert client.documents(status="completed").keys() == {"one.txt", "two.txt"}
        watching.send_signal(signal.SIGINT)
        out, _ = watching.communicate(timeout=PATIENCE)
    finally:
        watching.kill()
    assert watching.returncode == 0
    rounds = [json.loads(line)["items"] for line in (said + out).splitlines()]
    assert [[item["source"] for item in items] for items in rounds] == [["one.txt"], ["two.txt"]]


ENDS = {signal.SIGINT: (130, "Aborted."), signal.SIGTERM: (143, "Terminated.")}
"""What ends it, with which code, and what it says then."""


@pytest.mark.parametrize("sign", ENDS, ids=lambda sign: sign.name)
def test_interrupted(hosted: "Installation", folder: Path, wait_for: "WaitFor", sign: signal.Signals) -> None:
    """In the middle: nothing is half done, and the next run goes on."""
    for number in range(8):
        (folder / f"{number}.txt").write_text(numbered(200, word=f"bird {number}"))
    with Endpoint(default=slow(0.4)) as endpoint:
        hosted.embed_by(endpoint.url)
        ingesting = started(hosted, str(folder), "--max", "100", "--min", "10")
        try:
            wait_for(lambda: len(endpoint.requests) > 3, "embedding to begin")
            ingesting.send_signal(sign)
            _, err = ingesting.communicate(timeout=PATIENCE)
        finally:
            ingesting.kill()
        code, last = ENDS[sign]
        assert ingesting.returncode == code, err
        assert "Traceback" not in err
        assert err.splitlines()[-1] == last
        assert tidy(hosted)
        seen = len([text for request in endpoint.requests for text in request.inputs])

        client = serving(hosted)
        for document in client.documents().values():
            if document["status"] == "completed":
                client.whole(document["id"])
            else:
                assert document["chunk_count"] == 0
                assert document["status"] in ("pending", "processing")
        endpoint.default = slow(0)
        items = outcomes(hosted, str(folder), "--max", "100", "--min", "10")
        assert {item["status"] for item in items.values()} == {"completed"}
        texts = [text for request in endpoint.requests for text in request.inputs]
        assert len(texts) == len(set(texts)), "what was embedded before the interruption was kept"
        assert 0 < seen < len(texts)
    documents = client.documents()
    assert len(documents) == 8
    for document in documents.values():
        client.whole(document["id"])


@pytest.mark.parametrize("sign", ENDS, ids=lambda sign: sign.name)
def test_ended_with_its_own_database(
    embedded: "Installation",
    folder: Path,
    wait_for: "WaitFor",
    postgres_on: "PostgresOn",
    sign: signal.Signals,
) -> None:
    """While that starts, while it works and while it watches: nothing is left running, and nothing is lost."""
    (folder / "a.txt").write_text(numbered(100))
    with Endpoint(default=slow(1)) as endpoint:
        embedded.embed_by(endpoint.url)
        arguments = (str(folder), "--max", "100", "--min", "10")
        for what, begun in (
            ("its database", lambda: bool(postgres_on(embedded.data_dir))),
            ("embedding", lambda: bool(endpoint.requests)),
        ):
            ingesting = started(embedded, *arguments)
            try:
                wait_for(begun, what)
                ingesting.send_signal(sign)
                _, err = ingesting.communicate(timeout=PATIENCE)
            finally:
                ingesting.kill()
            assert (ingesting.returncode, err.splitlines()[-1]) == ENDS[sign]
            assert "Traceback" not in err
            assert postgres_on(embedded.data_dir) == []
        endpoint.default = ok
        watching = started(embedded, *arguments, "--watch")
        try:
            assert "Watching for changes" in watching.stderr.readline()
            watching.send_signal(sign)
            out, err = watching.communicate(timeout=PATIENCE)
        finally:
            watching.kill()
    assert watching.returncode == 0, err
    # The task may still be ending although its document is completed.
    assert all("Stopping: waiting until every job" in line for line in err.splitlines()), err
    assert "✓ a.txt" in out
    assert postgres_on(embedded.data_dir) == []


def unread(pipe: IO[bytes]) -> int:
    """How much of what was written nobody has read yet."""
    (count,) = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))
    return int(count)


def test_interrupted_while_it_waits_for_input(hosted: "Installation", wait_for: "WaitFor") -> None:
    """Nobody has to press Enter for Ctrl-C to be noticed."""
    ingesting = subprocess.Popen(
        [Path(sys.executable).with_name("whence"), "ingest", "-"],
        env=hosted.environment({}),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    stdin = ingesting.stdin
    assert stdin is not None
    try:
        stdin.write(b"The heron")
        stdin.flush()
        wait_for(lambda: unread(stdin) == 0, "the beginning to be read")
        ingesting.send_signal(signal.SIGINT)
        assert ingesting.wait(PATIENCE) == 130
    finally:
        ingesting.kill()
        ingesting.communicate()


def test_a_worker_that_is_told_to_end(
    hosted: "Installation",
    folder: Path,
    database: psycopg.Connection,
    wait_for: "WaitFor",
    read_until: "ReadUntil",
) -> None:
    """It stores what it has just made, gives the document back, and another goes on from there."""
    (folder / "long.txt").write_text(numbered(600))
    gate = Gate()
    with Endpoint() as endpoint:
        endpoint.script(ok, gate)
        hosted.embed_by(endpoint.url)
        worker = hosted.start("worker", "--concurrency", "2")
        try:
            wait_for(lambda: count(database, WORKERS) == 1, "its first sign of life")
            ingesting = started(hosted, str(folder), "--json", "--max", "100", "--min", "10")
            try:
                wait_for(lambda: len(endpoint.requests) == 2, "the second batch")
                worker.send_signal(signal.SIGTERM)
                log = read_until(worker.stderr, "Stopping")
                gate.open()
                log += worker.communicate(timeout=PATIENCE)[1]
                assert worker.returncode == 0, log
                assert "Traceback" not in log
                assert "Working, 2 documents at a time" in log
                assert len(endpoint.requests) == 2
                out, err = ingesting.communicate(timeout=PATIENCE)
            finally:
                ingesting.kill()
        finally:
            worker.kill()
        assert ingesting.returncode == 0, err
        texts = [text for request in endpoint.requests for text in request.inputs]
    assert len(texts) == len(set(texts)) > 64, "embedded once, all of it"
    client = serving(hosted)
    client.whole(json.loads(out)["items"][0]["documentId"])


def test_a_worker_beside_a_server(hosted: "Installation", folder: Path) -> None:
    for number in range(30):
        (folder / f"{number}.txt").write_text(numbered(30, word=f"bird {number}"))
    client = serving(hosted)
    worker = hosted.start("worker")
    try:
        assert "Working" in worker.stderr.readline()
        items = outcomes(hosted, str(folder))
        assert {item["status"] for item in items.values()} == {"completed"}
    finally:
        worker.send_signal(signal.SIGTERM)
        _, log = worker.communicate(timeout=PATIENCE)
    assert worker.returncode == 0
    assert "Traceback" not in log
    assert len(client.documents()) == 30
