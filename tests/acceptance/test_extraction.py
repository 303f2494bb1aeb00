"""Extraction by real processes: killed on the way, and several at once."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.chat_endpoint import ChatEndpoint
from tests.client import Client
from tests.extracting import CUT, content, graph, paragraphs, replies, rows
from tests.graphs import require_sound
from tests.loopback import Request

from whence.models import DEFAULT_PROJECT_ID

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation

ROOT = Path(__file__).parents[2]
NAMES = ("Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta")
PARTS = tuple(
    f"{name} is a service. It follows {before}."
    for before, name in zip(("Origin", *NAMES), NAMES, strict=False)
)
PATIENCE = 240.0


def told(primary: str, known: dict[str, dict[str, Any]]) -> Any:
    """What a part says of its service, and of the one that it follows, as far as that is known."""
    name, before = primary.split("\n\n")[1].split(" is a service. It follows ")
    before = before.rstrip(".")
    objects: list[dict[str, Any]] = []
    if name not in known:
        objects.append({"type": "Component", "name": name, "description": "a service"})
    if before in known:
        objects.append({"id": known[before]["id"], "successor": name})
    ties = [{"type": "depends_on", "source": name, "target": before}] if before in known else []
    return {"objects": objects, "relationships": ties}


@pytest.fixture
def model() -> Iterator[ChatEndpoint]:
    with ChatEndpoint(replies(told)) as endpoint:
        yield endpoint


@pytest.fixture
def hosted(hosted: "Installation", model: ChatEndpoint) -> "Installation":
    hosted.env |= {
        "WHENCE_EMBEDDER": "hash",
        "WHENCE_LLM_BASE_URL": model.url,
        "WHENCE_LLM_MODEL": "test-1",
        "WHENCE_LLM_ATTEMPTS": "1",
    }
    return hosted


def test_a_graph_is_the_same_however_often_its_maker_is_killed(
    hosted: "Installation", model: ChatEndpoint, dsn: str
) -> None:
    serving = hosted.serve().ready()
    usual = model.default
    victims = {2, 5}
    asked = 0

    def deadly(request: Request) -> Any:
        """In the middle of a call the server is gone."""
        nonlocal asked
        asked += 1
        if asked in victims:
            os.kill(hosted.serving[-1].process.pid, signal.SIGKILL)
        return usual(request)

    model.default = deadly
    client = Client(serving.url)
    sent = client.post("/ingest/text", text=paragraphs(*PARTS), name="parts", wait=True, **CUT).json()["data"]
    for _ in victims:
        hosted.serving[-1].process.wait(PATIENCE)
        client = Client(hosted.serve().ready().url)
    (job,) = client.every("/jobs", job_type="extraction")
    job = client.ended(job["id"], patience=PATIENCE)
    assert (job["status"], job["done"], job["attempts"]) == ("completed", 6, 3)
    assert asked == len(PARTS) + len(victims)  # only what was under way is asked again
    killed = content(dsn)

    model.default = usual
    project = client.post("/projects", name="unharmed").json()["data"]["id"]
    body = {"text": paragraphs(*PARTS), "name": "parts", "projectId": project, "wait": True, **CUT}
    assert client.post("/ingest/text", **body).status_code == 200
    (other,) = client.every("/jobs", job_type="extraction", project_id=project)
    assert client.ended(other["id"])["status"] == "completed"
    assert killed == content(dsn, project) != []
    assert len(client.whole(sent["documentId"])) == 6
    require_sound(dsn)


def test_workers_that_meet_the_same_things_at_once_make_them_once(hosted: "Installation", dsn: str) -> None:
    client = Client(hosted.serve().ready().url)
    second = hosted.start("worker")
    try:
        texts = [paragraphs(*PARTS, f"Number{at} is a service. It follows Zeta.") for at in range(12)]
        for at, text in enumerate(texts):
            answer = client.post("/ingest/text", text=text, name=f"{at}", **CUT)
            assert answer.status_code == 202, answer.text
        for job in client.every("/jobs"):
            assert client.ended(job["id"], patience=PATIENCE)["status"] == "completed"
        jobs = client.every("/jobs", job_type="extraction")
        assert len(jobs) == len(texts)
        for job in jobs:
            ended = client.ended(job["id"], patience=PATIENCE)
            assert (ended["status"], ended["done"], ended["error"]) == ("completed", 7, None), ended
    finally:
        second.send_signal(signal.SIGTERM)
        second.communicate(timeout=PATIENCE)
    assert set(graph(dsn)) == {f"Component {name}" for name in (*NAMES, *(f"Number{at}" for at in range(12)))}
    twice = rows(dsn, "SELECT name_key FROM kb.graph_objects GROUP BY type, name_key HAVING count(*) > 1")
    assert twice == []
    require_sound(dsn)


def test_the_demo_grows_a_graph_and_takes_it_back(fresh: "Installation") -> None:
    done = subprocess.run(
        [sys.executable, "examples/graph.py"],
        cwd=ROOT,
        env={**os.environ, **fresh.environment({"WHENCE_EMBEDDER": "hash"})},
        capture_output=True,
        text=True,
        check=True,
    )
    parts = done.stdout.split("\n$ ")
    said = {part.split("\n", 1)[0]: part for part in parts}
    shown = [part for part in parts if part.startswith("whence objects show")]
    traced = said["whence trace 'OAuth 2.0'"]
    for words in (
        "sign_in.pdf, page 1, chunk 0",
        "sign_in.pdf, page 3, chunk 2",
        "“1 hour” at ",
        "schema v1",
    ):
        assert words in traced
    assert "4 chunks of 1 document would be read by rules" in said["whence extract --dry-run"]
    assert re.search(r"priority +high +sign_in.pdf, page 3, chunk 2 +v2", shown[0])
    changed = said["whence trace 'OAuth 2.0' --property expiration"]
    assert changed.index("30 minutes") < changed.index("1 hour (older)")
    (impact,) = [part for line, part in said.items() if "deletion-impact" in line]
    assert '"falls_back_to": "1 hour"' in impact
    assert [part for part in parts if part.startswith("curl -s -X DELETE")]
    assert re.search(r"expiration +1 hour +sign_in.pdf, page 3, chunk 2 +v[12]", shown[1])
    assert not fresh.data_dir.exists()


def test_the_command_line_extracts_without_a_server(embedded: "Installation", model: ChatEndpoint) -> None:
    embedded.env |= {"WHENCE_EMBEDDER": "hash"}
    file = embedded.folder / "requirements.md"
    file.write_text("REQ-7: The Gateway must answer within 2 seconds.\n\nOwner: Jane Doe\n")
    schema = embedded.folder / "schema.json"
    schema.write_text('{"object_types": {"Requirement": {"properties": {"owner": {"type": "string"}}}}}')
    embedded.run("ingest", str(file))
    reckoned = embedded.run("extract", "--dry-run").stdout
    assert "by rules: about 0 tokens in" in reckoned
    assert "with the settings of this command: no model is named." in reckoned
    assert f"POST /api/v1/projects/{DEFAULT_PROJECT_ID}/reextract" in reckoned
    assert embedded.json("extract", "--dry-run") == {
        "project_id": str(DEFAULT_PROJECT_ID),
        "model": None,
        "schema_version": None,
        "extractor": "rules",
        "documents": 1,
        "chunks": 1,
        "carried_over": 0,
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "cost": None,
    }
    (job,) = embedded.json("extract")["jobs"]
    assert (job["status"], job["chunks"], job["document"]) == ("completed", 1, "requirements.md")
    assert "Nothing to read" in embedded.run("extract").stdout
    assert embedded.run("schema", "set", str(schema)).stdout == "The schema of project default is v2 now.\n"
    assert (
        embedded.run("schema", "set", str(schema)).stdout == "The schema of project default is v2 already.\n"
    )
    assert "removed  object type Person" in embedded.run("schema", "diff", "v1", "v2").stdout
    assert [one["version"] for one in embedded.json("schema", "versions")] == ["v2", "v1"]
    shown = embedded.run("schema", "show").stdout
    assert list(json.loads(shown)["object_types"]) == ["Requirement"]
    assert embedded.run("extract", job["document_id"]).stdout.startswith("completed")
    assert "is not JSON" in embedded.refused("schema", "set", "-", code=1)
    schema.write_text('{"object_types": {"Requirement": {}, "Requirement": {}}}')
    assert (
        embedded.refused("schema", "set", str(schema), code=1)
        == "object_types.Requirement must be there only once"
    )
    assert embedded.refused("extract", "01a1e19a-f61f-7288-81ca-0a9d0df4d376", code=1) == "Document not found"
    embedded.run("extract", "nonsense", code=2)
    assert model.requests == []
