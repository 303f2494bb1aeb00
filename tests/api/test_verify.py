"""A model judges the citations of an answer, over HTTP."""

import json
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.api.chatting import CHAT, PROJECT, QUESTION, leave_to_chat, opened, shown, stock
from tests.api.conftest import usual_settings
from tests.api.ingesting import events
from tests.chat_endpoint import MODEL, ChatEndpoint, Messages, says
from tests.endpoint import PATIENCE
from tests.loopback import Reply, Request, Stream

from whence.settings import Settings

THIRTY = "Everyone has thirty days of leave in a year [1]. Leave is never lost [1]."


def judging(*judgements: str) -> Any:
    """A model that answers questions, and judges pairs in this order."""

    def script(messages: Messages) -> str:
        if "You compare claims" not in messages[0]["content"]:
            assert shown(messages)
            return THIRTY
        rows = [{"number": number, "judgement": each} for number, each in enumerate(judgements, 1)]
        return json.dumps({"judgements": rows})

    return says(script)


@pytest.fixture
def endpoint() -> Iterator[ChatEndpoint]:
    with ChatEndpoint(judging("entailed", "contradicted")) as server:
        yield server


@pytest.fixture
def settings(dsn: str, tmp_path: Path, endpoint: ChatEndpoint) -> Settings:
    return replace(usual_settings(dsn, tmp_path / "data"), llm_base_url=endpoint.url, llm_model=MODEL)


@pytest.fixture
async def stocked(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with opened(settings) as client:
        await leave_to_chat(client)
        await stock(client)
        yield client


async def ask(client: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    answer = await client.post(CHAT, json={"projectId": PROJECT, "message": QUESTION, **fields})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def judgements(answer: dict[str, Any]) -> list[str | None]:
    return [one["judgement"] for one in answer["citations"]]


async def test_each_citation_is_judged_in_one_call(
    stocked: httpx.AsyncClient, endpoint: ChatEndpoint
) -> None:
    answer = await ask(stocked, verify=True)
    assert judgements(answer) == ["entailed", "contradicted"]
    assert {one["judgedBy"] for one in answer["citations"]} == {MODEL}
    assert len(endpoint.requests) == 2
    pairs = endpoint.requests[-1].body["messages"][-1]["content"]
    for one in answer["citations"]:
        assert one["quote"] in pairs


async def test_without_verify_nothing_is_judged(stocked: httpx.AsyncClient, endpoint: ChatEndpoint) -> None:
    answer = await ask(stocked)
    assert judgements(answer) == [None, None]
    assert len(endpoint.requests) == 1


async def test_in_a_stream_it_comes_after_the_answer(stocked: httpx.AsyncClient) -> None:
    body = {"projectId": PROJECT, "message": QUESTION, "stream": True, "verify": True}
    *_, (done, answer), (last, verified) = events((await stocked.post(CHAT, json=body)).text)
    assert (done, last) == ("done", "verified")
    assert judgements(answer) == [None, None]
    assert judgements(verified) == ["entailed", "contradicted"]


async def test_the_project_decides_unless_the_request_does(stocked: httpx.AsyncClient) -> None:
    changed = await stocked.patch(f"/api/v1/projects/{PROJECT}", json={"config": {"verify": True}})
    assert changed.status_code == 200
    assert judgements(await ask(stocked)) == ["entailed", "contradicted"]
    assert judgements(await ask(stocked, verify=False)) == [None, None]


@pytest.mark.parametrize(
    "reply", ["no JSON at all", '{"judgements": [{"number": "x"}]}', '{"verdicts": []}', "[]"]
)
async def test_a_judge_that_fails_leaves_the_answer(
    stocked: httpx.AsyncClient, endpoint: ChatEndpoint, reply: str
) -> None:
    endpoint.default = says(lambda messages: reply if "claims" in messages[0]["content"] else THIRTY)
    answer = await ask(stocked, verify=True)
    assert judgements(answer) == [None, None]
    (note,) = answer["notes"]
    assert note.startswith("The citations are not verified: ")


async def test_a_citation_without_a_quote_is_judged_against_its_chunk(
    stocked: httpx.AsyncClient, endpoint: ChatEndpoint
) -> None:
    endpoint.default = says(
        lambda messages: (
            '{"judgements": [{"number": 1, "judgement": "not stated"}]}'
            if "You compare claims" in messages[0]["content"]
            else "Penguins swim quickly [1]."
        )
    )
    answer = await ask(stocked, verify=True)
    (cited,) = answer["citations"]
    assert (cited["quote"], cited["judgement"]) == (None, "not stated")
    chunk = next(one["chunkText"] for one in answer["sources"] if one["id"] == cited["chunkId"])
    assert chunk[:40] in endpoint.requests[-1].body["messages"][-1]["content"]


async def test_the_answer_does_not_wait_for_a_judge_that_is_silent(
    stocked: httpx.AsyncClient, endpoint: ChatEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whence.chat.answer.JUDGE_SECONDS", 0.05)
    gate, usual = threading.Event(), endpoint.default

    def held(request: Request) -> Reply | Stream | None:
        if "You compare claims" in request.body["messages"][0]["content"]:
            gate.wait(PATIENCE)
        return usual(request)

    endpoint.default = held
    try:
        answer = await ask(stocked, verify=True)
    finally:
        gate.set()
    assert {(one["judgement"], one["judgedBy"]) for one in answer["citations"]} == {(None, None)}
    assert answer["notes"] == ["The citations are not verified: no answer within 0.05 s"]


async def test_a_judgement_that_is_none_is_left_out(
    stocked: httpx.AsyncClient, endpoint: ChatEndpoint
) -> None:
    endpoint.default = judging("perhaps", "not_stated")
    assert judgements(await ask(stocked, verify=True)) == [None, "not stated"]


async def test_documents_cannot_forge_a_pair(stocked: httpx.AsyncClient, endpoint: ChatEndpoint) -> None:
    await ask(stocked, verify=True)
    system, user = endpoint.requests[-1].body["messages"]
    code = user["content"].split(" ", 1)[0].removeprefix("<")
    assert code.startswith("pair-")
    assert user["content"].count(f"</{code}>") == 2
    assert f"<{code} " in system["content"]


async def test_without_a_model_a_note_says_so(dsn: str, tmp_path: Path) -> None:
    async with opened(usual_settings(dsn, tmp_path / "data")) as client:
        await stock(client)
        answer = await ask(client, verify=True)
    assert answer["citations"]
    (note,) = answer["notes"]
    assert "there is no chat model" in note
