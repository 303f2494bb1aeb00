"""`whence reembed`: a project moves to another model while it is read and written, also when the move is killed."""

import signal
import time
from typing import TYPE_CHECKING

import psycopg
import pytest
from tests.client import Client
from tests.endpoint import Endpoint, ok, slow, status
from tests.texts import article

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation, WaitFor

PATIENCE = 240.0
SMALL = {"chunkingOptions": '{"maxChunkSize": 100, "minChunkSize": 10}'}


@pytest.fixture
def hosted(hosted: "Installation") -> "Installation":
    hosted.env["WHENCE_EMBEDDER"] = "hash"
    return hosted


def dimensions(client: Client, document_id: str) -> set[int]:
    return {len(chunk["embedding"]) for chunk in client.whole(document_id)}


def test_to_other_dimensions(hosted: "Installation", database: psycopg.Connection) -> None:
    serving = hosted.serve().ready()
    client = Client(serving.url)
    item = client.upload(article(50), "a.txt", wait="true", **SMALL)
    assert dimensions(client, item["documentId"]) == {256}
    assert "is in" in hosted.run("reembed").stdout, "there already"

    moved = hosted.json("reembed", env={"WHENCE_EMBEDDING_DIMENSIONS": "64"})
    chunks = len(client.chunks(item["documentId"]))
    assert (moved["moved"], moved["chunks"], moved["embedded"]) == (True, chunks, chunks)
    assert dimensions(client, item["documentId"]) == {64}
    row = database.execute("SELECT count(*) FROM kb.chunk_vectors").fetchone()
    assert row == (chunks,), "nothing is left of the old"
    later = client.upload(article(5, word="bittern"), "b.txt", wait="true")
    assert dimensions(client, later["documentId"]) == {64}, "although the server's settings say otherwise"


def test_killed_on_the_way(hosted: "Installation", database: psycopg.Connection, wait_for: "WaitFor") -> None:
    """It goes on where it was; meanwhile the project is read and written, and what came in moves along."""
    first = hosted.serve().ready()
    client = Client(first.url)
    item = client.upload(article(400), "a.txt", wait="true", **SMALL)
    with Endpoint(default=slow(0.4)) as endpoint:
        hosted.embed_by(endpoint.url)
        assert first.end() == 0
        second = hosted.serve().ready()
        client = Client(second.url)
        said = hosted.run("reembed", "--no-wait").stdout
        assert "is on its way to test" in said
        wait_for(lambda: len(endpoint.requests) >= 2, "the move to begin")
        assert dimensions(client, item["documentId"]) == {256}
        second.end(signal.SIGKILL)
        database.execute(
            "UPDATE queue.procrastinate_workers SET last_heartbeat = now() - interval '1 minute'"
        )
        third = hosted.serve().ready()
        client = Client(third.url)
        wait_for(lambda: len(endpoint.requests) >= 4, "the move to go on")
        during = client.upload(article(100, word="bittern"), "b.txt", wait="true", **SMALL)
        endpoint.default = ok
        assert hosted.json("reembed")["moved"]
        texts = [text for request in endpoint.requests for text in request.inputs]
        assert len(texts) - len(set(texts)) <= 64, "a batch that was in hand"
    assert dimensions(client, item["documentId"]) == {64}
    assert dimensions(client, during["documentId"]) == {64}
    assert third.end() == 0
    assert "Traceback" not in third.said


def test_a_model_that_refuses(hosted: "Installation") -> None:
    """The command ends and says so; the project can go elsewhere, or stay."""
    client = Client(hosted.serve().ready().url)
    item = client.upload(article(20), "a.txt", wait="true", **SMALL)
    assert hosted.serving[0].end() == 0
    with Endpoint(default=status(401)) as endpoint:
        settings = dict(hosted.env)
        hosted.embed_by(endpoint.url)
        begun = time.monotonic()
        said = hosted.run("reembed", code=1).stderr
        assert "WHENCE_EMBEDDING_API_KEY" in said
        assert "The move did not finish" in said
        assert time.monotonic() - begun < PATIENCE
        hosted.env = settings
        stays = hosted.json("reembed")
        assert (stays["moved"], stays["model"]) == (True, "words")
        assert hosted.json("reembed", env={"WHENCE_EMBEDDING_DIMENSIONS": "32"})["moved"]
    client = Client(hosted.serve().ready().url)
    assert dimensions(client, item["documentId"]) == {32}
