"""The command line on a server elsewhere, which wants a key: `--server` and `--key`, or their variables."""

import json
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.acceptance.conftest import Installation
from tests.acceptance.forkserver import ForkServer
from tests.loopback import Loopback, Reply, always, garbage, hang_up

from whence.cli.remote import explained
from whence_client.connection import explain

LENDING = "# Lending\n\nAudiobooks are lent for 14 days. A reader may extend the loan once.\n"
HOURS = "# Hours\n\nThe library opens at nine on weekdays and at ten on Saturdays.\n"


@dataclass
class Elsewhere:
    """A server with keys, and a machine that has nothing but its address and a key."""

    here: Installation
    url: str
    there: Installation

    def key(self, scope: str) -> str:
        return self.there.run("keys", "create", "--scope", scope).stdout.strip()


@pytest.fixture(scope="module")
def elsewhere(
    tmp_path_factory: pytest.TempPathFactory, made_once: Path, forks: ForkServer
) -> Iterator[Elsewhere]:
    env = {"WHENCE_AUTH": "required", "WHENCE_EMBEDDER": "hash"}
    there = Installation(folder=tmp_path_factory.mktemp("there"), env=env, forks=forks)
    shutil.copytree(made_once, there.data_dir)
    key = there.run("keys", "create", "--scope", "admin").stdout.strip()
    url = there.serve().ready().url
    env = {"WHENCE_URL": url, "WHENCE_API_KEY": key}
    here = Installation(folder=tmp_path_factory.mktemp("here"), env=env, forks=forks)
    yield Elsewhere(here=here, url=url, there=there)
    there.clear()
    assert not here.data_dir.exists(), "commands on a server make nothing here"


@pytest.fixture
def here(elsewhere: Elsewhere) -> Installation:
    return elsewhere.here


@pytest.fixture
def project(here: Installation, request: pytest.FixtureRequest) -> str:
    name: str = request.node.name
    here.run("projects", "create", name)
    return name


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "sub").mkdir(parents=True)
    (folder / "lending.md").write_text(LENDING)
    (folder / "sub" / "hours.md").write_text(HOURS)
    (folder / "sub" / "lending.md").write_text("Films are lent for 3 days.")
    return folder


def names(here: Installation, project: str) -> dict[str, Any]:
    return {one["name"]: one for one in here.json("documents", "list", "--project", project)}


def test_a_folder_is_uploaded_asked_updated_and_pruned(here: Installation, project: str, docs: Path) -> None:
    ingest = ("ingest", str(docs), "--project", project, "--meta", "team=desk")
    assert here.run("ingest", str(docs), "--project", project, "--dry-run").stdout.splitlines()[-1] == (
        "3 new; nothing was changed."
    )
    assert here.run(*ingest).stdout.splitlines()[-1] == "3 ingested; 3 chunks."
    before = names(here, project)
    assert set(before) == {"lending.md", "sub/hours.md", "sub/lending.md"}
    part = here.run("ingest", str(docs / "sub" / "hours.md"), "--project", project).stdout
    assert part.splitlines()[0] == "✓ sub/hours.md: unchanged"
    assert {one["metadata"]["team"] for one in before.values()} == {"desk"}
    assert {one["chunking"]["strategy"] for one in before.values()} == {"paragraph"}
    said = here.run("search", "audiobooks lent days", "--project", project).stdout
    assert said.startswith("lending.md")
    said = here.run("ask", "How long are audiobooks lent?", "--project", project).stdout
    assert "14 days" in said
    assert "[1] lending.md" in said
    answer = here.json("ask", "How long are audiobooks lent?", "--project", project)
    assert answer["citations"][0]["supported"]
    (docs / "lending.md").write_text(LENDING + "\nBooks are lent for 28 days.\n")
    (docs / "sub" / "hours.md").unlink()
    again = here.run("ingest", str(docs), "--project", project, "--prune", "--yes").stdout
    assert "1 ingested, 1 unchanged" in again
    assert again.splitlines()[-1] == "Deleted 1 document."
    after = names(here, project)
    assert set(after) == {"lending.md", "sub/lending.md"}
    assert after["lending.md"]["id"] == before["lending.md"]["id"]
    assert after["lending.md"]["version"] == 2


def test_documents_and_jobs(here: Installation, project: str, docs: Path) -> None:
    on = ("--project", project)
    here.run("ingest", str(docs), *on)
    assert "sub/hours.md" in here.run("documents", "list", *on, "--name", "hours").stdout
    shown = here.run("documents", "show", "lending.md", *on).stdout
    assert "cut by paragraph" in shown
    described = here.run("documents", "describe", "lending.md", "--meta", "team=desk", *on).stdout
    assert described == 'lending.md: {"team": "desk"}\n'
    jobs = here.json("jobs", "list", *on)
    assert {job["status"] for job in jobs} == {"completed"}
    assert "type      document_processing" in here.run("jobs", "show", jobs[0]["id"]).stdout
    refused = here.refused("jobs", "cancel", jobs[0]["id"], code=1)
    assert "completed" in refused
    assert here.run("jobs", "cancel", "--all", *on).stdout == "Cancelled 0 jobs.\n"
    deleted = here.run("documents", "delete", "--meta", "team=desk", "--yes", *on).stdout
    assert deleted.startswith("Deleted lending.md")
    assert here.refused("documents", "show", "lending.md", *on, code=1) == (
        "There is no document named 'lending.md'"
    )


def test_an_unreadable_file_and_standard_input(here: Installation, project: str, tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    done = here.run("ingest", str(tmp_path), "-", "--name", "n.md", "--project", project, code=1, stdin=HOURS)
    assert "✗ broken.pdf: " in done.stderr
    assert "✓ n.md: 1 chunk" in done.stdout
    assert done.stdout.splitlines()[-1] == "1 ingested, 1 failed; 1 chunk."


def test_one_line_says_what_is_wrong(elsewhere: Elsewhere, here: Installation) -> None:
    assert "cannot be reached" in here.refused("search", "x", "--server", "http://127.0.0.1:9")
    assert "WHENCE_URL must be a URL" in here.refused("search", "x", "--server", "kb.team")
    assert "does not accept the key" in here.refused("search", "x", "--key", "wh_x", code=1)
    assert "does not accept the key" in here.refused("search", "x", env={"WHENCE_API_KEY": ""}, code=1)
    reader = elsewhere.key("read")
    refused = here.refused("projects", "create", "p", env={"WHENCE_API_KEY": reader}, code=1)
    assert "does not have the scope" in refused
    assert reader not in refused


def test_local_commands_say_so(here: Installation, elsewhere: Elsewhere) -> None:
    for command in (("serve",), ("backup", "x.tar"), ("storage", "status"), ("doctor",)):
        done = here.run(*command, "--server", elsewhere.url, code=2)
        assert "works on the local installation only" in done.stderr
    for command in (("storage", "status"), ("db", "status"), ("db", "upgrade")):
        assert "WHENCE_URL names a server" in here.refused(*command, code=1)
    assert "`whence ingest --watch` works on the" in here.refused("ingest", ".", "--watch", code=1)
    assert "--server" not in here.run("serve", "--help").stdout
    assert "--server URL" in here.run("search", "--help").stdout


def test_answers_and_their_evidence(here: Installation, project: str, docs: Path) -> None:
    on = ("--project", project)
    question = "How long are audiobooks lent?"
    here.run("ingest", str(docs / "lending.md"), *on)
    page = docs / "evidence.html"
    said = here.run("ask", question, "--evidence", str(page), *on)
    assert f"Evidence in {page}" in said.stderr
    assert "Audiobooks are lent for 14 days" in page.read_text()
    (stored,) = here.json("answers", "list", *on)
    assert f"Stored as {stored['id']}" in said.stdout
    conversation = ("--conversation", stored["conversationId"])
    here.run("ask", "How long?", "--no-stream", "--evidence", str(docs / "e.json"), *conversation, *on)
    assert json.loads((docs / "e.json").read_text())["prov"]
    assert "lending.md: “Audiobooks are lent" in here.run("answers", "show", stored["id"]).stdout
    (docs / "lending.md").write_text("# Lending\n\nAudiobooks are lent for 21 days.\n")
    here.run("ingest", str(docs / "lending.md"), *on)
    assert question in here.run("answers", "stale", *on).stdout
    assert "+ Audiobooks are lent for 21 days." in here.run("answers", "refresh", stored["id"]).stdout


def test_keys_projects_and_the_audit_log(here: Installation, project: str) -> None:
    key = here.run("keys", "create", "--name=ci", "--scope=write", "--project", project).stdout.strip()
    own = {"WHENCE_API_KEY": key}
    assert [one["name"] for one in here.json("projects", "list", env=own)] == [project]
    assert here.json("documents", "list", env=own) == []  # of its own project
    assert " ci " in here.run("keys", "list").stdout
    changed = here.run("projects", "set", project, "--language=german", "--strategy=sentence").stdout
    assert changed.startswith(f"Changed project {project} (")
    shown = here.run("projects", "show", project).stdout
    assert "language    german\n" in shown
    assert '"strategy": "sentence"' in shown
    assert here.run("projects", "rename", project, f"{project}-2").stdout.startswith("Renamed")
    revoked = here.run("keys", "revoke", key)
    assert (revoked.stdout, revoked.stderr) == (f"Revoked {key.split('_')[1]}.\n", "")
    assert "does not accept the key" in here.refused("search", "x", env=own, code=1)
    here.run("projects", "delete", f"{project}-2", "--yes")
    assert [one["action"] for one in here.json("audit", "--limit=2")] == ["deleteProject", "revokeKey"]
    head, line = here.run("audit", "--action=createKey", "--limit=1").stdout.splitlines()
    assert head.split() == ["TIME", "(UTC)", "KEY", "ACTION", "PATH", "STATUS"]
    assert "createKey  /api/v1/keys " in line


def test_what_is_no_server_of_this_version(here: Installation) -> None:
    error = {"code": "NOT_FOUND", "message": "There is nothing at /api/v1/search", "details": {}}
    older = json.dumps({"success": False, "error": error}).encode()
    newer = json.dumps({"success": True, "data": {"results": "many"}}).encode()
    with Loopback("/api/v1/search", garbage()) as other:
        asked = ("search", "x", "--server", other.url.removesuffix("/v1"))
        assert "does not answer with JSON as a Whence server does; check the address" in here.refused(*asked)
        other.default = lambda _: Reply(status=404, body=older)
        assert "may be older than this command: There is nothing" in here.refused(*asked, code=1)
        other.default = garbage(newer)
        assert here.refused(*asked).endswith("It may be older or newer than this command.")
        other.default = hang_up
        assert f"The connection to {asked[-1]} broke" in here.refused(*asked)


def test_a_server_of_something_else(here: Installation) -> None:
    with always(b'{"hello": 1}') as url:
        for command in (("documents", "list"), ("schema", "show"), ("ingest", __file__)):
            assert "or none of Whence" in here.refused(*command, "--server", url)
        assert "ended before the answer was whole" in here.refused("ask", "x", "--server", url)


class _Breaking(BaseHTTPRequestHandler):
    """Goes away in the middle of an answer."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b'{"kind": ')


def test_an_export_that_breaks_leaves_the_file_as_it_was(here: Installation, tmp_path: Path) -> None:
    (tmp_path / "graph.jsonl").write_text("before")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Breaking)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}"
        export = ("objects", "export", f"--output={tmp_path / 'graph.jsonl'}", "--server", url)
        assert f"The connection to {url} broke" in here.refused(*export)
    finally:
        server.shutdown()
        server.server_close()
    assert (tmp_path / "graph.jsonl").read_text() == "before"


def test_a_server_that_does_not_answer_in_time() -> None:
    url = "https://kb.team"
    away = explained(explain(httpx.ReadTimeout("read"), url), url)
    assert (away.exit_code, away.message) == (3, f"{url} did not answer in time")
