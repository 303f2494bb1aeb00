"""The embedding endpoint is down, slow or wrong: jobs say so, and go on when it is not."""

from typing import TYPE_CHECKING

import httpx
import psycopg
from tests.client import Client
from tests.endpoint import (
    Behaviour,
    Endpoint,
    garbage,
    hang_up,
    of_size,
    ok,
    slow,
    status,
)

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation, WaitFor

from tests.acceptance.faults.world import PATIENCE
from tests.texts import article

TROUBLES: list[tuple[str, Behaviour, str, str, str]] = [
    ("down", status(503), "pending", "EMBEDDING_UNAVAILABLE", "The embedding endpoint answered 503"),
    ("gone", hang_up, "pending", "EMBEDDING_UNAVAILABLE", "The embedding endpoint broke off its answer"),
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


def put_off(database: psycopg.Connection) -> int:
    """How many tasks will be tried again, which is in an hour from now on."""
    database.execute("SET search_path TO queue")  # the queue's triggers name its tables so
    return database.execute(
        "UPDATE queue.procrastinate_jobs SET scheduled_at = now() + interval '1 hour' "
        "WHERE status = 'todo' AND attempts > 0"
    ).rowcount


def test_again_at_once(
    hosted: "Installation", endpoint: Endpoint, database: psycopg.Connection, wait_for: "WaitFor"
) -> None:
    """Whoever mends the endpoint need not wait until the next try would have come."""
    hosted.env["WHENCE_EMBEDDING_ATTEMPTS"] = "1"
    client = Client(hosted.serve().ready().url)
    endpoint.default = status(503)
    items = [client.upload(article(5, word=word), f"{word}.txt") for word in ("heron", "bittern")]
    wait_for(lambda: put_off(database) == 2, "both to have been tried")
    assert {client.job(item["jobId"])["status"] for item in items} == {"pending"}
    endpoint.default = ok
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
