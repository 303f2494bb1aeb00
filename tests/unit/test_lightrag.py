"""Asking a LightRAG server: what it gives, and every way in which it fails."""

import asyncio
import json
import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.lightrag_endpoint import KEY, LightragEndpoint, recorded
from tests.loopback import Behaviour, HangUp, Reply, Request, Stream, closed_port, garbage, hang_up, status

from whence.fetch import Allowed
from whence.lightrag import LightragReply, LightragServer, LightragServers, ask_lightrag
from whence.settings import Secret, Settings

PATIENCE = 60
HERE = Allowed.of(["127.0.0.1"])
QUESTION = "How many days of leave does everyone have in a year?"
UNUSED = "LightRAG was not used: "
UNANSWERED = "LightRAG's passages are used without its answer: "


@pytest.fixture
def lightrag() -> Iterator[LightragEndpoint]:
    with LightragEndpoint() as running:
        yield running


async def ask(
    url: str, *, key: str | None = KEY, seconds: float = PATIENCE, allow: Allowed = HERE
) -> LightragReply:
    server = LightragServer(url=url, key=Secret(key) if key else None, seconds=seconds, allow=allow)
    return await ask_lightrag(server, QUESTION)


def replies(body: Any) -> Behaviour:
    return garbage(json.dumps(body).encode())


async def test_the_answer_and_the_chunks_with_their_ids(lightrag: LightragEndpoint) -> None:
    reply = await ask(lightrag.url + "/")
    exchange = recorded()
    assert reply.answer == exchange["/query"]["response"]
    assert [(one.id, one.text, one.file) for one in reply.chunks] == [
        (one["chunk_id"], one["content"], one["file_path"])
        for one in exchange["/query/data"]["data"]["chunks"]
    ]
    assert reply.notes == ()
    first, second = lightrag.requests
    assert first.body == {"query": QUESTION, "mode": "mix"}
    assert second.body == {
        **first.body,
        "include_references": True,
        "include_chunk_content": True,
        "hl_keywords": ["leave"],
        "ll_keywords": ["days of leave"],
    }


async def test_an_older_server_has_chunks_without_ids(lightrag: LightragEndpoint) -> None:
    lightrag.script(status(404))
    reply = await ask(lightrag.url)
    assert reply.answer == recorded()["/query"]["response"]
    assert sorted(one.file for one in reply.chunks) == ["elsewhere.md", "leave.md"]
    assert all(len(one.id) == len("chunk-") + 32 for one in reply.chunks)
    assert reply.notes == ()


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [
        (status(500), "it answered 500"),
        (status(429), "it answered 429"),
        (status(404), "it answered 404"),
        (hang_up, "it cannot be reached"),
        (garbage(), "its answer is not JSON"),
        (garbage(b"[" * 100_000), "its answer is not JSON"),
        (garbage(b'{"response": "\xff"}'), "its answer is not JSON"),
        (replies(["a"]), "its answer has another form than LightRAG's"),
        (replies({"data": []}), "its answer has another form than LightRAG's"),
        (garbage(b" " * (9 << 20)), "its answer is larger than 8 MB"),
        (lambda _: Reply(status=307, headers={"Location": "http://127.0.0.1:1/"}), "it redirects"),
        (lambda _: Reply(status=302, headers={"Location": "/query"}), "it redirects"),
    ],
)
async def test_a_failure_is_a_note(lightrag: LightragEndpoint, behaviour: Behaviour, why: str) -> None:
    lightrag.default = behaviour
    assert await ask(lightrag.url) == LightragReply(notes=(UNUSED + why,))


async def test_an_answer_that_unpacks_without_end_is_too_large(lightrag: LightragEndpoint) -> None:
    def chunks() -> Iterator[bytes]:
        while True:
            yield b" " * 65536

    lightrag.default = lambda _: Stream(chunks=chunks(), content_type="application/json")
    assert (await ask(lightrag.url)).notes == (UNUSED + "its answer is larger than 8 MB",)


async def test_a_server_that_is_down_or_has_no_name() -> None:
    down = await ask(f"http://127.0.0.1:{closed_port()}")
    assert down.notes == (UNUSED + "it cannot be reached",)


@pytest.mark.parametrize(("key", "why"), [("wrong", "was refused"), (None, "is needed and not set")])
async def test_a_wrong_key_is_in_no_note_and_no_log(
    lightrag: LightragEndpoint, key: str | None, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    reply = await ask(lightrag.url, key=key)
    assert reply.notes == (f"{UNUSED}its key {why} (403)",)
    assert "wrong" not in caplog.text
    assert f"LightRAG was asked /query/data: its key {why} (403)" in caplog.text


async def test_a_slow_server_is_left_behind(lightrag: LightragEndpoint) -> None:
    gate = threading.Event()

    def stuck(_: Request) -> None:
        gate.wait(PATIENCE)

    try:
        lightrag.script(stuck)
        assert (await ask(lightrag.url, seconds=0.2)).notes == (UNUSED + "it did not answer within 0.2 s",)
    finally:
        gate.set()


async def test_passages_stay_where_the_answer_fails(lightrag: LightragEndpoint) -> None:
    for behaviour in (status(500), replies({"response": 5})):
        lightrag.script(lightrag.default, behaviour)
        reply = await ask(lightrag.url)
        assert (len(reply.chunks), reply.answer) == (2, None)
        assert reply.notes[0].startswith(UNANSWERED)


async def test_where_lightrag_finds_nothing_there_is_nothing(lightrag: LightragEndpoint) -> None:
    lightrag.script(replies({"status": "failure", "message": "no results", "data": {}, "metadata": {}}))
    assert await ask(lightrag.url) == LightragReply()
    assert len(lightrag.requests) == 1
    for said in (
        {"response": "Sorry, I'm not able to provide an answer to that question.[no-context]"},
        {"response": "No relevant context found for the query.", "llm_generated": False},
    ):
        lightrag.script(lightrag.default, replies(said))
        assert (await ask(lightrag.url)).answer is None


async def test_odd_chunks_are_left_out_and_odd_ids_and_characters_replaced(
    lightrag: LightragEndpoint,
) -> None:
    given = [
        None,
        {"content": 5, "chunk_id": "chunk-" + "0" * 32},
        {"content": "  "},
        {"content": "One \ud800\0text.", "chunk_id": "x] [1", "file_path": None},
        {"content": "Two.", "chunk_id": "doc-" + "a" * 32 + "-chunk-001", "file_path": "/in/two.md"},
        {"content": "Two.", "chunk_id": "doc-" + "b" * 32 + "-chunk-001"},
    ]
    lightrag.script(replies({"data": {"chunks": given}, "metadata": {"keywords": 3}}))
    one, two, *_ = (await ask(lightrag.url)).chunks
    assert (one.text, one.file, one.id[:6]) == ("One ?text.", "LightRAG", "chunk-")
    assert (two.text, two.file, two.id) == ("Two.", "/in/two.md", "doc-" + "a" * 32 + "-chunk-001")


async def test_a_cancelled_question_ends_the_request(lightrag: LightragEndpoint) -> None:
    asked, gone = threading.Event(), threading.Event()

    def dripping() -> Iterator[bytes]:
        asked.set()
        try:
            while not gone.wait(0.01):
                yield b" "
        finally:
            gone.set()

    lightrag.default = lambda _: Stream(chunks=dripping(), content_type="application/json")
    asking = asyncio.create_task(ask(lightrag.url))
    assert await asyncio.to_thread(asked.wait, PATIENCE)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    async with asyncio.timeout(PATIENCE):
        while lightrag.running:  # noqa: ASYNC110 - the endpoint sets no events
            await asyncio.sleep(0.01)


async def test_a_server_that_a_project_names_is_guarded_like_a_url(lightrag: LightragEndpoint) -> None:
    reply = await ask(lightrag.url, allow=Allowed())
    assert reply.notes == (UNUSED + "its URL is refused (loopback address; see WHENCE_FETCH_ALLOW)",)
    assert lightrag.requests == []


def test_the_settings_may_name_any_server() -> None:
    servers = LightragServers.of(Settings(lightrag_url="http://10.1.2.3:9621", lightrag_api_key=Secret("k")))
    assert servers.default is not None
    assert servers.default.allow.has_host("10.1.2.3")
    assert not servers.allow.has_host("10.1.2.3")


def hangs_up_in_the_middle(_: Request) -> Stream:
    def chunks() -> Iterator[bytes]:
        yield b'{"response": "Every'
        raise HangUp

    return Stream(chunks=chunks(), content_type="application/json")


async def test_an_answer_that_breaks_off(lightrag: LightragEndpoint) -> None:
    lightrag.default = hangs_up_in_the_middle
    assert (await ask(lightrag.url)).notes == (UNUSED + "it cannot be reached",)
