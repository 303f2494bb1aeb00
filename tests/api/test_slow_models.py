"""A model that takes too long: for one chunk, or for all of them."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from tests.api.ingesting import DOCUMENTS, JOBS, data_of, ended
from tests.api.services import PARTS, until_asked
from tests.chat_endpoint import ChatEndpoint
from tests.extracting import extract, graph, ingest_parts, primary_of, replies, with_model
from tests.graphs import require_sound
from tests.loopback import Behaviour, Request

from whence.settings import Settings

PATIENCE = 2


def told(primary: str, _: object) -> Any:
    return {"objects": [{"type": "Component", "name": primary.splitlines()[-1].split()[0]}]}


class Slow:
    """Answers not before it is let go, for the requests that are so."""

    def __init__(self, is_slow: Callable[[str, int], bool]) -> None:
        self.asked: list[str] = []
        self.free = threading.Event()
        self._is_slow = is_slow

    def __call__(self, request: Request) -> Any:
        primary = primary_of(request.body["messages"])
        self.asked.append(primary.splitlines()[-1].split()[0])
        if self._is_slow(primary, len(self.asked)):
            self.free.wait(60)
        behaviour: Behaviour = replies(told)
        return behaviour(request)


@pytest.fixture
def model() -> Iterator[ChatEndpoint]:
    with ChatEndpoint(replies(told)) as endpoint:
        yield endpoint


@pytest.fixture
def settings(settings: Settings, model: ChatEndpoint) -> Settings:
    return with_model(settings, model, llm_timeout=PATIENCE)


async def test_a_chunk_that_takes_too_long_twice_is_passed_over_and_the_others_go_on(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    model.default = slow = Slow(lambda primary, _: "Beta" in primary)
    job = await extract(by_hand, await ingest_parts(by_hand, *PARTS))
    slow.free.set()
    assert slow.asked == ["Alpha", "Beta", "Beta", "Gamma"]
    assert (job["status"], job["attempts"], job["error"]["code"]) == ("completed", 1, "INCOMPLETE")
    (failed,) = job["error"]["details"]["chunks"]
    assert failed["chunk_index"] == 1
    assert "did not answer within" in failed["reason"]
    assert set(graph(dsn)) == {"Component Alpha", "Component Gamma"}
    require_sound(dsn)


async def test_a_chunk_that_takes_too_long_once_is_asked_for_again(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    model.default = slow = Slow(lambda _, times: times == 2)
    job = await extract(by_hand, await ingest_parts(by_hand, *PARTS))
    slow.free.set()
    assert slow.asked == ["Alpha", "Beta", "Beta", "Gamma"]
    assert (job["status"], job["attempts"], job["error"]) == ("completed", 1, None)
    assert len(graph(dsn)) == 3


async def test_an_endpoint_that_takes_too_long_for_everything_is_waited_for(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    """The first chunk was read, three are passed over; from the fourth on the job waits, and nothing is read again."""
    names = ["Alpha", "One", "Two", "Three", "Four", "Five"]
    model.default = slow = Slow(lambda primary, _: "Alpha" not in primary)
    document_id = await ingest_parts(by_hand, *(f"{name} is a service." for name in names))
    job_id = data_of(await by_hand.post(f"{DOCUMENTS}/{document_id}/extract"), 202)["jobId"]
    await until_asked(model, times=8)
    async with asyncio.timeout(60):
        while (job := data_of(await by_hand.get(f"{JOBS}/{job_id}")))["error"] is None:  # noqa: ASYNC110 - nothing tells of it but asking
            await asyncio.sleep(0.02)
    assert (job["status"], job["error"]["code"], job["done"]) == ("pending", "MODEL_TIMEOUT", 4)
    await until_asked(model, times=9)  # the next try
    slow.free.set()
    job = await ended(by_hand, job_id)
    assert (job["status"], job["error"]["code"], job["extraction"]["failed"]) == (
        "completed",
        "INCOMPLETE",
        3,
    )
    passed_over = [name for name in names[1:4] for _ in range(2)]
    assert slow.asked == [
        "Alpha",
        *passed_over,
        "Four",
        "Four",
        "Five",
    ]  # once in each try: it is the endpoint
    assert set(graph(dsn)) == {"Component Alpha", "Component Four", "Component Five"}
    require_sound(dsn)
