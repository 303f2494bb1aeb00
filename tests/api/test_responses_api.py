"""`/v1/responses` and `/v1/embeddings`, asked by OpenAI's own client; tasks of chat clients; pages of other origins."""

import base64
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import httpx
import numpy as np
import openai
import pytest
from tests.api.chatting import ABSENT, PROJECT, QUESTION, about, leave_to_chat, opened, stock
from tests.api.ingesting import error_of
from tests.chat_endpoint import ChatEndpoint, in_characters, says

from whence.settings import Settings

SAID = "Everyone has thirty days of leave in a year"
TASK = '### Task:\nSuggest a title.\n\n### Output:\nJSON format: {{ "{}": … }}\n\n<chat_history>\nUSER: How many days of leave do we have now?\nASSISTANT: Thirty.\n</chat_history>'


@pytest.fixture
def endpoint() -> Iterator[ChatEndpoint]:
    with ChatEndpoint(says(about("thirty", SAID), split=in_characters)) as running:
        yield running


@pytest.fixture
def settings(settings: Settings, endpoint: ChatEndpoint) -> Settings:
    return replace(settings, llm_base_url=endpoint.url, llm_model="test", llm_attempts=1, llm_timeout=120)


@pytest.fixture
async def http(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with opened(settings) as client:
        await leave_to_chat(client)
        await stock(client)
        yield client


@pytest.fixture
def library(http: Any) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url="http://localhost/v1", api_key="none", max_retries=0, http_client=http)


async def test_a_response_and_its_stream(library: openai.AsyncOpenAI) -> None:
    made = await library.responses.create(model="default", input=QUESTION)
    assert (made.status, made.output_text, made.model) == ("completed", f"{SAID} [1].", "default")
    (message,) = made.output
    assert message.type == "message"
    (part,) = message.content
    assert part.type == "output_text"
    (note,) = part.annotations
    assert note.type == "url_citation"
    assert part.text[note.start_index : note.end_index] == "[1]"
    assert (note.title, "/d/" in note.url) == ("leave.md", True)
    extra = made.model_extra or {}
    assert (extra["citations"][0]["supportLevel"], extra["answeredBy"]) == ("verbatim", "test-1")
    assert made.usage is not None
    assert made.usage.total_tokens == made.usage.input_tokens + made.usage.output_tokens > 0

    async with library.responses.stream(model="default", input=QUESTION) as stream:
        events = [event async for event in stream]
        last = await stream.get_final_response()
    assert [event.sequence_number for event in events] == list(range(len(events)))
    kinds = [event.type for event in events]
    assert (kinds[0], kinds[-1]) == ("response.created", "response.completed")
    assert kinds.count("response.output_text.annotation.added") == 1
    assert "".join(e.delta for e in events if e.type == "response.output_text.delta") == made.output_text
    assert last.output_text == made.output_text
    assert last.id == events[0].response.id  # type: ignore[union-attr]  # the first event is `created`
    assert [output.model_dump()["content"][0]["annotations"] for output in last.output] == [
        [note.model_dump()]
    ]


async def test_a_conversation_goes_on(
    library: openai.AsyncOpenAI, http: httpx.AsyncClient, endpoint: ChatEndpoint
) -> None:
    first = await library.responses.create(
        input=[{"role": "user", "content": QUESTION}], instructions="Rhyme."
    )
    second = await library.responses.create(input="And when is it lost?", previous_response_id=first.id)
    assert [turn["content"] for turn in endpoint.prompts[-1][1:3]] == [QUESTION, f"{SAID}."]
    stored = (await http.get(f"/api/v1/answers/{first.id.removeprefix('resp_')}")).json()["data"]
    conversation = (await http.get(f"/api/v1/conversations/{stored['conversationId']}")).json()["data"]
    assert len(conversation["messages"]) == 4
    refused: list[tuple[dict[str, Any], int, str]] = [
        ({"previous_response_id": first.id}, 409, "CONFLICT"),
        ({"previous_response_id": f"resp_{ABSENT}"}, 404, "ANSWER_NOT_FOUND"),
        ({"previous_response_id": "chatcmpl-1"}, 400, "INVALID_PARAMETER"),
        ({"input": []}, 400, "INVALID_PARAMETER"),
        ({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}, 400, "INVALID_PARAMETER"),
        (
            {
                "previous_response_id": second.id,
                "input": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}],
            },
            400,
            "INVALID_PARAMETER",
        ),
        ({"model": "nobody"}, 404, "PROJECT_NOT_FOUND"),
        ({"text": {"format": "x"}}, 400, "INVALID_PARAMETER"),
        ({"text": {"format": {"type": ["a"]}}}, 400, "INVALID_PARAMETER"),
        ({"tool_choice": "required"}, 400, "INVALID_PARAMETER"),
        ({"conversation": "conv_x"}, 400, "INVALID_PARAMETER"),
        ({"background": True}, 400, "INVALID_PARAMETER"),
    ]
    for more, status, code in refused:
        error_of(await http.post("/v1/responses", json={"input": "Why?", **more}), status, code)
    unstored = await library.responses.create(input=QUESTION, store=False)
    gone = await http.get(f"/api/v1/answers/{unstored.id.removeprefix('resp_')}")
    assert gone.status_code == 404


async def test_a_format_is_passed_on(library: openai.AsyncOpenAI, endpoint: ChatEndpoint) -> None:
    wanted: Any = {"format": {"type": "json_schema", "name": "days", "schema": {"type": "object"}}}
    endpoint.default = says('{"days": 30}')
    made = await library.responses.create(input=QUESTION, text=wanted, store=False)
    assert made.output_text == '{"days": 30}'
    assert endpoint.requests[-1].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "days", "schema": {"type": "object"}},
    }


async def test_embeddings(library: openai.AsyncOpenAI, http: httpx.AsyncClient) -> None:
    by_name = await library.embeddings.create(model="default", input=["leave", "travel", "leave"])
    assert [entry.index for entry in by_name.data] == [0, 1, 2]
    first, second, third = (entry.embedding for entry in by_name.data)
    assert first == third != second
    assert np.linalg.norm(first) == pytest.approx(1, abs=1e-5)
    same = await http.post("/v1/embeddings", json={"model": by_name.model, "input": "leave"})
    assert same.json()["data"][0]["embedding"] == pytest.approx(first)
    packed = await http.post(
        "/v1/embeddings", json={"input": "leave", "encoding_format": "base64", "dimensions": len(first)}
    )
    row = np.frombuffer(base64.b64decode(packed.json()["data"][0]["embedding"]), "<f4")
    assert row.tolist() == pytest.approx(first)
    for body in (
        {"input": ""},
        {"input": [1, 2]},
        {"input": [[1]]},
        {"input": ["a"] * 2049},
        {"input": "a", "dimensions": 7},
    ):
        error_of(await http.post("/v1/embeddings", json=body), 400, "INVALID_PARAMETER")


async def test_tasks_of_chat_clients_go_to_the_model(
    library: openai.AsyncOpenAI, endpoint: ChatEndpoint
) -> None:
    task: Any = [{"role": "user", "content": TASK.format("title")}]
    endpoint.default = says('{"title": "Leave"}')
    said = await library.chat.completions.create(model="default", messages=task)
    assert said.choices[0].message.content == '{"title": "Leave"}'
    assert endpoint.prompts[-1] == task
    assert (said.model_extra or {})["sources"] == []
    made = await library.responses.create(input=TASK.format("title"))
    assert made.output_text == '{"title": "Leave"}'


@pytest.mark.parametrize(
    ("kind", "least"),
    [("title", "How many days of leave do"), ("follow_ups", [])],
)
async def test_tasks_of_chat_clients_without_a_model(
    settings: Settings, kind: str, least: str | list[str]
) -> None:
    body = {"messages": [{"role": "user", "content": TASK.format(kind)}]}
    async with opened(replace(settings, llm_base_url=None, llm_model=None)) as client:
        answer = (await client.post("/v1/chat/completions", json=body)).json()
    assert json.loads(answer["choices"][0]["message"]["content"]) == {kind: least}


async def test_unknown_routes_list_those_that_are_there(client: httpx.AsyncClient) -> None:
    there = error_of(await client.post("/v1/audio/speech", json={}), 404, "NOT_FOUND")["details"]["routes"]
    assert "POST /v1/responses" in there
    assert "routes" not in error_of(await client.get("/api/v1/nothing"), 404, "NOT_FOUND")["details"]


async def test_pages_of_allowed_origins(settings: Settings) -> None:
    mine, other = {"Origin": "https://app.corp"}, {"Origin": "https://evil.corp"}
    asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-api-key"}
    async with opened(replace(settings, cors_origins=("https://app.corp",))) as client:
        granted = await client.options("/v1/chat/completions", headers={**mine, **asks})
        assert granted.headers["access-control-allow-origin"] == "https://app.corp"
        answer = await client.get("/v1/models", headers=mine)
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (
            200,
            "https://app.corp",
        )
        refused = await client.options("/v1/chat/completions", headers={**other, **asks})
        assert "access-control-allow-origin" not in refused.headers
        assert (await client.get("/v1/models", headers=other)).status_code == 403
    async with opened(replace(settings, cors_origins=("*",))) as client:
        assert (await client.get("/v1/models", headers=other)).status_code == 403, "without keys"
    async with opened(replace(settings, cors_origins=("*",), auth="required")) as client:
        answer = await client.get(f"/v1/models/{PROJECT}", headers=other)
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (401, "*")


async def test_a_stored_response_is_got_and_deleted(
    library: openai.AsyncOpenAI, http: httpx.AsyncClient
) -> None:
    first = await library.responses.create(model="default", input=QUESTION)
    then = await library.responses.create(input="And in March?", previous_response_id=first.id)
    kept = await library.responses.retrieve(then.id)
    assert kept.previous_response_id == first.id
    kept = await library.responses.retrieve(first.id)
    assert kept.previous_response_id is None
    for field in ("id", "output", "usage", "model", "status", "store"):
        assert getattr(kept, field) == getattr(first, field), field
    assert (kept.model_extra or {})["citations"][0]["quote"] == (first.model_extra or {})["citations"][0][
        "quote"
    ]
    await library.responses.delete(first.id)
    with pytest.raises(openai.NotFoundError):
        await library.responses.retrieve(first.id)
    assert (await library.responses.retrieve(then.id)).previous_response_id is None
    await library.responses.delete(then.id)
    listed = (await http.get("/api/v1/conversations")).json()["data"]
    assert listed["items"] == [], "nothing is left of a conversation without answers"
    error_of(await http.get("/v1/responses/x"), 404, "ANSWER_NOT_FOUND")
    error_of(await http.delete(f"/v1/responses/resp_{ABSENT}"), 404, "ANSWER_NOT_FOUND")
