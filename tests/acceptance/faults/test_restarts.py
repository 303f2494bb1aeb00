"""The database restarts again and again under load: clients see 200 and 503, and nothing acknowledged is lost."""

import asyncio
import itertools
import os
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.client import Client
from tests.texts import article

from whence.models import DEFAULT_PROJECT_ID

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation, PostgresOn, Serving, WaitFor

READERS = 32
WRITERS = 8
RESTARTS = 5
PAUSE = 0.05  # of a client after a 503

Ask = Callable[[httpx.AsyncClient], Awaitable[httpx.Response]]


@dataclass
class Seen:
    """The answers of all clients."""

    statuses: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @property
    def successes(self) -> int:
        return sum(times for status, times in self.statuses.items() if status < 300)

    def good(self, answer: httpx.Response) -> bool:
        self.statuses[answer.status_code] += 1
        if answer.is_success:
            return True
        if answer.status_code != 503 or answer.json()["error"]["code"] != "DATABASE_UNAVAILABLE":
            self.wrong.append(
                f"{answer.request.method} {answer.request.url}: {answer.status_code} {answer.text}"
            )
        return False


@dataclass
class Restarts:
    """Kills the embedded database of a server, which starts it again."""

    serving: "Serving"
    processes: Callable[[], list[int]]
    wait_for: "WaitFor"
    seen: Seen = field(default_factory=Seen)
    over: bool = False

    async def all(self) -> None:
        for number in range(RESTARTS):
            await asyncio.to_thread(self._once, brutal=number % 2 == 0)
        self.over = True

    def _once(self, *, brutal: bool) -> None:
        enough = self.seen.successes + READERS
        self.wait_for(
            lambda: self.seen.successes > enough or bool(self.seen.wrong), "clients that are served"
        )
        before = self.processes()
        postmaster = min(before)
        for pid in before if brutal else [postmaster]:
            with suppress(ProcessLookupError):
                os.kill(
                    pid, signal.SIGKILL if brutal else signal.SIGQUIT
                )  # SIGQUIT: `pg_ctl stop -m immediate`
        self.wait_for(lambda: bool(set(self.processes()) - set(before)), "another database")
        self.serving.ready()


@pytest.fixture
def restarts(embedded: "Installation", postgres_on: "PostgresOn", wait_for: "WaitFor") -> Restarts:
    embedded.env["WHENCE_EMBEDDER"] = "hash"
    serving = embedded.serve().ready()
    return Restarts(serving, lambda: postgres_on(embedded.data_dir), wait_for)


async def test_readers_see_200_and_503_only(embedded: "Installation", restarts: Restarts) -> None:
    url = restarts.serving.url
    key = embedded.run("keys", "create", "--scope=read").stdout.strip()
    asks, seen = reads(Client(url)), restarts.seen

    async def reader(client: httpx.AsyncClient, number: int) -> None:
        since_over = 0
        for ask in itertools.islice(itertools.cycle(asks), number, None):
            if seen.good(await ask(client)):
                since_over += restarts.over
            else:
                await asyncio.sleep(PAUSE)
            if since_over == len(asks) or seen.wrong:
                return

    limits = httpx.Limits(max_connections=READERS)
    async with httpx.AsyncClient(
        base_url=f"{url}/api/v1", timeout=60, limits=limits, headers={"X-API-Key": key}
    ) as client:
        await asyncio.gather(restarts.all(), *(reader(client, number) for number in range(READERS)))
    assert not seen.wrong
    assert seen.statuses[200] >= READERS * len(asks)
    assert "Traceback" not in restarts.serving.said


def reads(client: Client) -> Sequence[Ask]:
    item = client.upload(article(60), "birds.txt", wait="true", chunkingOptions='{"maxChunkSize": 200}')
    chunks = client.chunks(item["documentId"])
    ids = [chunk["id"] for chunk in chunks]
    return [
        lambda http: http.get(f"/chunks/{ids[0]}", params={"include_source": "true"}),
        lambda http: http.get(f"/jobs/{item['jobId']}/chunks"),
        lambda http: http.post("/chunks/bulk", json={"chunk_ids": ids[:50], "include_embeddings": True}),
        lambda http: http.post("/search", json={"query": "a bird that sings"}),
        lambda http: http.get(f"/documents/{item['documentId']}"),
        lambda http: http.get("/projects"),
        lambda http: http.post(
            "/chat", json={"message": "Which bird sings?", "projectId": str(DEFAULT_PROJECT_ID)}
        ),
        lambda http: http.get("/graph/export"),
    ]


async def test_what_was_acknowledged_is_there(restarts: Restarts) -> None:
    url, seen = restarts.serving.url, restarts.seen
    kept: list[str] = []

    async def writer(client: httpx.AsyncClient, number: int) -> None:
        good = True
        for turn in itertools.count():
            after_over = restarts.over
            for path, body in writes(f"{number}-{turn}"):
                answer = await client.post(path, json=body)
                good = seen.good(answer)
                if good:
                    kept.append(path_of(answer.json()["data"]))
                else:
                    await asyncio.sleep(PAUSE)
            if (after_over and good) or seen.wrong:
                return

    async with httpx.AsyncClient(base_url=f"{url}/api/v1", timeout=60) as client:
        await asyncio.gather(restarts.all(), *(writer(client, number) for number in range(WRITERS)))
        assert not seen.wrong
        assert kept
        for path in kept:
            assert (await client.get(path)).status_code == 200, path
    assert "Traceback" not in restarts.serving.said


def writes(name: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("/projects", {"name": f"Project {name}"}),
        ("/ingest/text", {"text": f"The text {name}.", "name": f"{name}.txt"}),
    ]


def path_of(data: dict[str, Any]) -> str:
    if "documentId" in data:
        return f"/documents/{data['documentId']}"
    return f"/projects/{data['id']}"
