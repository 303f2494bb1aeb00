"""A reply that was cut off is no reading: the chunk is asked about again, in halves if need be, and else stays stale."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from tests.api.ingesting import data_of
from tests.chat_endpoint import ChatEndpoint, Messages, completion, says, usage
from tests.extracting import (
    PROJECTS,
    SHARED,
    extract,
    graph,
    ingest_parts,
    primary_of,
    put_schema,
    rows,
    scripted_endpoint,
)
from tests.graphs import require_sound
from tests.loopback import Behaviour, Reply, Request, status

from whence.models import DEFAULT_PROJECT_ID

pytestmark = SHARED

NAMES = ("Alpha", "Beta", "Gamma", "Delta")
TEXT = "\n\n".join(f"{name} must hold for every user of the system." for name in NAMES)


@pytest.fixture(autouse=True)
def model(request: pytest.FixtureRequest) -> Iterator[ChatEndpoint]:
    yield from scripted_endpoint(request, limited(lambda _: True))


def reply_to(messages: Messages) -> str:
    primary = primary_of(messages)
    found = [
        {"type": "Requirement", "name": name, "description": f"{name} must hold"}
        for name in NAMES
        if name in primary
    ]
    return json.dumps({"objects": found})


def limited(suffices: Callable[[Request], bool], *, finish: str | None = "length") -> Behaviour:
    """Replies in full where that is allowed, and with half of it otherwise."""

    def reply(request: Request) -> Reply:
        messages = request.body["messages"]
        text, is_whole = reply_to(messages), suffices(request)
        said = text if is_whole else text[: len(text) // 2]
        message = {"role": "assistant", "content": said}
        return completion(message, finish="stop" if is_whole else finish, usage=usage(messages, said))

    return reply


def limits(model: ChatEndpoint) -> list[int]:
    return [request.body["max_tokens"] for request in model.requests]


def tokens(model: ChatEndpoint) -> int:
    return sum(len(one["content"].split()) for messages in model.prompts for one in messages)


async def read(client: httpx.AsyncClient, *texts: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The job and its readings."""
    await put_schema(client, DEFAULT_PROJECT_ID, ["description"])
    job = await extract(client, await ingest_parts(client, *(texts or (TEXT,))))
    return job, data_of(await client.get(f"/api/v1/jobs/{job['id']}/readings"))["items"]


@pytest.mark.parametrize("finish", ["length", "stop", None])
async def test_a_cut_reply_is_asked_for_again_with_twice_the_tokens(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str, finish: str | None
) -> None:
    model.default = limited(lambda request: request.body["max_tokens"] > 2048, finish=finish)
    job, (reading,) = await read(by_hand)
    assert (job["status"], job["error"], reading["outcome"]) == ("completed", None, "extracted")
    assert limits(model) == [2048, 4096]
    assert set(graph(dsn)) == {f"Requirement {name}" for name in NAMES}
    assert job["extraction"]["prompt_tokens"] == tokens(model)
    assert reading["rejected"] == 0
    require_sound(dsn)


async def test_a_reply_cut_at_every_limit_is_asked_for_in_halves_and_written_as_one_outcome(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    model.default = limited(
        lambda request: (
            "Delta" not in primary_of(request.body["messages"])
            or "Alpha" not in primary_of(request.body["messages"])
        )
    )
    job, (reading,) = await read(by_hand)
    assert (job["status"], job["error"], reading["outcome"]) == ("completed", None, "extracted")
    first, second = (primary_of(messages) for messages in model.prompts[-2:])
    assert first.rstrip().endswith("Beta must hold for every user of the system.")
    assert second.startswith("Gamma")
    assert "Gamma" in model.prompts[-2][1]["content"]  # the other half is context
    assert job["extraction"]["prompt_tokens"] == tokens(model)
    claims = rows(
        dsn,
        """SELECT c.text, p.quote, p.start_offset, p.end_offset FROM kb.object_provenance p
           JOIN kb.chunks c ON c.id = p.chunk_id""",
    )
    assert len(claims) == 2 * len(NAMES)
    assert all(text[start:end] == quote for text, quote, start, end in claims)
    require_sound(dsn)


async def test_what_is_still_cut_off_is_not_taken_as_read(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    model.default = limited(lambda request: "Alpha" not in primary_of(request.body["messages"]))
    job, (one, other) = await read(by_hand, TEXT, "Delta must hold, too.")
    assert (job["status"], job["error"]["code"]) == ("completed", "INCOMPLETE")
    assert "cut off" in job["error"]["details"]["chunks"][0]["reason"]
    assert (one["outcome"], other["outcome"]) == ("failed", "extracted")
    assert set(graph(dsn)) == {"Requirement Delta"}
    assert job["extraction"]["prompt_tokens"] == tokens(model)
    stale = data_of(await by_hand.get(f"{PROJECTS}/{DEFAULT_PROJECT_ID}/provenance/stale"))["chunks"]["items"]
    assert [(chunk["chunk_id"], chunk["outcome"]) for chunk in stale] == [(one["chunk_id"], "failed")]
    model.default = limited(lambda _: True)
    again = await extract(by_hand, one_document(dsn))
    assert (again["error"], again["extraction"]["extracted"]) == (None, 1)
    assert set(graph(dsn)) == {f"Requirement {name}" for name in NAMES}


def one_document(dsn: str) -> str:
    ((ident,),) = rows(dsn, "SELECT id::text FROM kb.documents")
    return str(ident)


async def test_a_reply_that_ran_out_of_tokens_before_its_first_word_is_cut_off_too(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    model.script(says("", finish="length"))
    job, (reading,) = await read(by_hand)
    assert (job["error"], reading["outcome"], limits(model)) == (None, "extracted", [2048, 4096])
    assert job["extraction"]["completion_tokens"] > 2048
    assert len(graph(dsn)) == len(NAMES)


async def test_an_endpoint_that_refuses_more_tokens_gets_halves(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    def reply(request: Request) -> Any:
        if request.body["max_tokens"] > 2048:
            return status(400, message="max_tokens is too large")(request)
        primary = primary_of(request.body["messages"])
        return limited(lambda _: not ("Alpha" in primary and "Delta" in primary))(request)

    model.default = reply
    job, _ = await read(by_hand)
    assert job["error"] is None
    assert len(graph(dsn)) == len(NAMES)


async def test_a_text_without_a_place_to_cut_fails_at_once(
    by_hand: httpx.AsyncClient, model: ChatEndpoint
) -> None:
    model.default = says('{"objects": [{"type": "Requirement", "na', finish="length")
    job, (reading,) = await read(by_hand, "x" * 200 + "y" * 200)
    assert (job["status"], job["error"]["code"]) == ("failed", "EXTRACTION_FAILED")
    assert "WHENCE_EXTRACTION_MAX_TOKENS" in reading["reason"]
    assert len(model.requests) == 2
