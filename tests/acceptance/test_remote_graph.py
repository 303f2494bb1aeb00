"""The graph, its schema and extraction on a server elsewhere; and what ends an ingest there on the way."""

import json
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.acceptance.conftest import PATIENCE, Installation, WaitFor, as_url
from tests.acceptance.forkserver import ForkServer
from tests.endpoint import Endpoint, Gate, ok, status
from tests.graphs import say, thing, tie
from tests.oauth import Told, tell

from whence.chunk_findings import RejectedProposal
from whence.store import Store

SCHEMA = {"object_types": {"Requirement": {"properties": {"owner": {"type": "string"}}}, "Component": {}}}
TEXT = "REQ-7: The Gateway must answer within 2 seconds.\n\nOwner: Jane Doe\n"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as opened:
        yield opened


@pytest.fixture(scope="module")
def there(
    tmp_path_factory: pytest.TempPathFactory, shared_dsn: str, forks: ForkServer, endpoint: Endpoint
) -> Iterator[Installation]:
    env = {"WHENCE_DATABASE_URL": as_url(shared_dsn), "WHENCE_FETCH_ALLOW": "127.0.0.1"}
    installation = Installation(folder=tmp_path_factory.mktemp("there"), env=env, forks=forks)
    installation.embed_by(endpoint.url, WHENCE_EMBEDDING_ATTEMPTS="1")
    installation.serve().ready()
    yield installation
    installation.clear()


@pytest.fixture(scope="module")
def machine(
    tmp_path_factory: pytest.TempPathFactory, there: Installation, forks: ForkServer
) -> Iterator[Installation]:
    env = {"WHENCE_URL": there.serving[0].url}
    installation = Installation(folder=tmp_path_factory.mktemp("here"), env=env, forks=forks)
    yield installation
    assert not installation.data_dir.exists(), "commands on a server make nothing here"


@pytest.fixture
async def store(shared_dsn: str) -> AsyncIterator[Store]:
    async with Store.open(shared_dsn, size=2) as opened:
        yield opened


class Here:
    """Runs commands on one project of the server."""

    def __init__(self, machine: Installation, project: str) -> None:
        self.machine, self.of, self.project = machine, ("--project", project), project

    def run(self, *arguments: str, **more: Any) -> str:
        return self.machine.run(*arguments, *self.of, **more).stdout

    def json(self, *arguments: str) -> Any:
        return self.machine.json(*arguments, *self.of)

    def refused(self, *arguments: str) -> str:
        return self.machine.refused(*arguments, *self.of, code=1)


@pytest.fixture
def here(machine: Installation, request: pytest.FixtureRequest) -> Here:
    name: str = request.node.name
    machine.run("projects", "create", name)
    return Here(machine, name)


@pytest.fixture
async def told(store: Store, here: Here) -> Told:
    project = await store.projects.named(here.project)
    return await tell(store, project_id=project.id)


def test_objects_are_shown_traced_and_exported(here: Here, told: Told) -> None:
    assert [one["name"] for one in here.json("objects", "list")] == ["OAuth 2.0", "Gateway"]
    shown = here.run("objects", "show", "oauth 2.0")
    assert "spec.pdf, page 2, chunk 1" in shown
    assert f"Gateway checks OAuth 2.0  {told.checks}" in shown
    assert "“1 hour” at 27-33" in here.run("trace", "OAuth 2.0", "--property=expiration")
    assert here.run("trace", told.sample.ids[1]).startswith("spec.pdf")
    assert here.refused("trace", "nothing") == "No object is named 'nothing'"
    head, current, older = here.run("objects", "conflicts", "--object=OAuth 2.0").splitlines()
    assert head.split() == ["OBJECT", "PROPERTY", "VALUE", "FROM"]
    assert current.endswith("current")
    assert "30 minutes" in older
    assert here.json("objects", "conflicts", "--type=Component") == []
    lines = [json.loads(line) for line in here.run("objects", "export").splitlines()]
    assert [line["kind"] for line in lines] == ["object", "object", "relationship"]
    assert lines[0]["id"] == str(told.oauth)


async def test_objects_are_corrected_and_restored(
    here: Here, told: Told, store: Store, tmp_path: Path
) -> None:
    (tmp_path / "schema.json").write_text(json.dumps({"object_types": {"Requirement": {}, "Component": {}}}))
    here.run("schema", "set", str(tmp_path / "schema.json"))
    await say(store, told.chunks[3], ties=[tie(told.oauth, "guards", told.gateway)], schema=2)
    before = here.json("objects", "show", "OAuth 2.0")
    why = ("--reason=She knows", "--author=Ada")
    said = here.run("objects", "set", "OAuth 2.0", "expiration=2 hours", *why)
    assert "set OAuth 2.0 expiration: 2 hours" in said
    assert said.endswith("To undo: whence objects restore ID\n")
    claims = here.json("trace", "OAuth 2.0", "--property=expiration")["sources"]["expiration"]
    assert [(one["operation"], one.get("author")) for one in claims[:2]] == [
        ("set", "Ada"),
        ("updated", None),
    ]
    (rejected,) = here.json("objects", "reject", "OAuth 2.0", f"--claim={claims[1]['id']}", *why)
    assert (rejected["subject"], rejected["author"], rejected["reason"]) == ("claim", "Ada", "She knows")
    here.run("objects", "reject", "OAuth 2.0", "--property=description")
    (guards,) = [one for one in here.run("objects", "show", "Gateway").splitlines() if "guards" in one]
    assert "reject OAuth 2.0 guards" in here.run(
        "objects", "reject", f"--relationship={guards.split()[-1]}", *why
    )
    here.run("objects", "reject", "Gateway")
    assert [one["name"] for one in here.json("objects", "list")] == ["OAuth 2.0"]
    assert here.refused("objects", "reject", "Gateway") == "No object is named 'Gateway'"
    subjects = [one["subject"] for one in here.json("objects", "history")]
    assert subjects == ["object", "relationship", "property", "claim", "property"]
    assert len(here.json("objects", "history", "OAuth 2.0", "--limit=3")) == 3
    for which in ("“gateway”", "oauth 2.0", "oauth 2.0", rejected["id"], "oauth 2.0"):
        here.run("objects", "restore", which, *why)
    after = here.json("objects", "show", "OAuth 2.0")
    assert (after["properties"], after["sources"]) == (before["properties"], before["sources"])
    assert here.refused("objects", "restore", "oauth 2.0") == (
        "There is no correction of 'oauth 2.0' to undo"
    )


async def test_objects_are_merged_and_suggested(here: Here, told: Told, store: Store) -> None:
    others = [thing(name, "Component") for name in ("Gatewey", "API Manager", "AM")]
    await say(store, told.chunks[3], *others, schema=2)
    refused = here.refused("objects", "merge", "OAuth 2.0", "Gateway")
    assert refused == "Only objects of the same type can be merged: these are Requirement and Component"
    said = here.run("objects", "merge", "Gateway", "AM")
    assert said.startswith("AM is Gateway now. To undo: whence objects unmerge ")
    undo = ("objects", "unmerge", said.split()[-1])
    assert here.machine.run(*undo).stdout == "AM and Gateway are two objects again.\n"
    assert here.machine.refused(*undo, code=1) == "Merge not found"
    spelling, initials = here.json("objects", "suggestions", "--type=Component")
    said = here.run("objects", "suggestions", f"--accept={initials['id']}")
    assert said.startswith("AM is API Manager now. To undo: whence objects unmerge ")
    said = here.run("objects", "suggestions", f"--dismiss={spelling['id']}")
    assert said == "Gateway and Gatewey are not suggested again.\n"
    assert here.json("objects", "suggestions", "--dismissed") == [spelling]
    said = here.run("objects", "suggestions", f"--undo={spelling['id']}")
    assert said == "Gateway and Gatewey are suggested again.\n"
    assert "0.86" in here.run("objects", "suggestions")
    gone = here.refused("objects", "suggestions", f"--accept={uuid4()}")
    assert gone == "Merge suggestion not found"


async def test_what_a_job_rejected(here: Here, told: Told, store: Store) -> None:
    rejected = ("objects", "rejected", str(told.sample.job.id))
    assert here.machine.run(*rejected).stdout == "Nothing was rejected.\n"
    proposal = RejectedProposal(where="objects[0]", reason="wrong_value", message="low", proposed='"x"')
    await say(store, told.chunks[3], outcome="empty", rejected=1, rejections=[proposal])
    (reading,) = here.machine.json(*rejected)
    assert reading["rejections"] == [asdict(proposal)]
    assert here.machine.refused("objects", "rejected", str(uuid4()), code=1) == "Job not found"


def test_a_schema_is_set_and_documents_are_extracted(here: Here, tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    (tmp_path / "requirements.md").write_text(TEXT)
    here.run("ingest", str(tmp_path / "requirements.md"))
    reckoned = here.run("extract", "--dry-run")
    assert reckoned == "1 chunk of 1 document would be read by rules: about 0 tokens in, 0 out.\n"
    (job,) = here.json("extract")["jobs"]
    assert (job["status"], job["chunks"], job["document"]) == ("completed", 1, "requirements.md")
    assert "Nothing to read" in here.run("extract")
    assert "Requirement" in json.loads(here.run("schema", "show"))["object_types"]
    file.write_text(json.dumps(SCHEMA))
    assert here.run("schema", "set", str(file)) == f"The schema of project {here.project} is v2 now.\n"
    assert here.json("schema", "set", str(file))["created"] is False
    assert json.loads(here.run("schema", "show", "--version=v2")) == SCHEMA
    assert [one["version"] for one in here.json("schema", "versions")] == ["v2", "v1"]
    assert "removed  object type Person" in here.run("schema", "diff", "v1", "v2")
    assert here.json("extract", "--dry-run", job["document_id"])["schema_version"] == "v2"
    queued = here.json("extract", "--no-wait", "--all", job["document_id"])
    assert queued["jobs"][0]["document_id"] == job["document_id"]
    file.write_text('{"object_types": {"Requirement": {}, "Requirement": {}}}')
    wrong = here.refused("schema", "set", str(file))
    assert wrong == "object_types.Requirement must be there only once"
    assert here.machine.refused("extract", job["document_id"], code=1) == "Document not found"  # of another


def test_a_url_is_ingested_and_a_failed_job_is_retried(
    here: Here, tmp_path: Path, endpoint: Endpoint
) -> None:
    (tmp_path / "herons.html").write_text("<h1>Herons</h1><p>They wait in shallow water.</p>")
    site = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=tmp_path))
    threading.Thread(target=site.serve_forever, args=(0.02,), daemon=True).start()
    endpoint.default = status(401)
    try:
        url = f"http://127.0.0.1:{site.server_address[1]}/herons.html"
        assert "1 failed" in here.run("ingest", url, code=1)
    finally:
        endpoint.default = ok
        site.shutdown()
        site.server_close()
    (job,) = here.json("jobs", "list", "--status=failed")
    assert here.run("jobs", "retry", "--all") == "Queued 1 job.\n"
    here.run("ingest", "-", "--name", "n.txt", stdin="Storks nest on roofs.")
    assert here.refused("jobs", "retry", job["id"]) != ""
    (document,) = here.json("documents", "list", "--name", "herons")
    assert document["origin"] == url


def test_an_interrupted_ingest_says_that_the_server_goes_on(
    here: Here, there: Installation, tmp_path: Path, endpoint: Endpoint, wait_for: WaitFor
) -> None:
    (tmp_path / "a.txt").write_text("The heron waits.")
    gate = Gate()
    endpoint.script(gate)
    asked = there.serving[0].said.count("GET /api/v1/jobs/")
    ingesting = here.machine.start("ingest", str(tmp_path / "a.txt"), *here.of)
    try:
        wait_for(lambda: there.serving[0].said.count("GET /api/v1/jobs/") > asked, "it to look after its job")
        ingesting.send_signal(signal.SIGINT)
        _, said = ingesting.communicate(timeout=PATIENCE)
    finally:
        ingesting.kill()
        gate.open()
    assert ingesting.returncode == 130
    stop = f"Stop it with `whence jobs cancel --all --project {here.project}`."
    goes_on = f"1 document handed in and not done: the server goes on. {stop}"
    assert said.split("\n") == [goes_on, "", "Aborted.", ""]
    wait_for(
        lambda: {job["status"] for job in here.json("jobs", "list")} == {"completed"}, "the server to do it"
    )
