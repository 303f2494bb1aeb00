"""`/v1/chat/completions` and `/v1/models`, asked by OpenAI's own client on a real connection."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import openai
import pytest
from tests.api.chatting import ABSENT, CHAT, PROJECT, QUESTION, about, leave_to_chat, stock
from tests.api.ingesting import error_of
from tests.chat_endpoint import DONE, ChatEndpoint, cut, event, in_characters, says, sends, slow
from tests.extracting import scripted_endpoint, with_model
from tests.loopback import status

from whence.settings import Settings
from whence.store import Store

COMPLETIONS = "/v1/chat/completions"
ASKED: list[Any] = [{"role": "user", "content": QUESTION}]


pytestmark = pytest.mark.one_app(llm_model="test", llm_attempts=1, llm_timeout=120, auth="required")


@pytest.fixture(autouse=True)
def endpoint(request: pytest.FixtureRequest) -> Iterator[ChatEndpoint]:
    script = about("thirty", "Everyone has thirty days of leave in a year")
    yield from scripted_endpoint(request, says(script, split=in_characters))


@pytest.fixture
async def key(store: Store) -> str:
    _, secret = await store.keys.create(name="", scope="admin", project_id=None)
    return secret.reveal()


@pytest.fixture
async def library(address: str, key: str) -> AsyncIterator[openai.AsyncOpenAI]:
    """OpenAI's client, of a server that has two documents and wants a key."""
    async with httpx.AsyncClient(base_url=address, headers={"X-API-Key": key}, timeout=60) as client:
        await leave_to_chat(client)
        await stock(client)
    async with openai.AsyncOpenAI(base_url=f"{address}/v1", api_key=key, max_retries=0) as opened:
        yield opened


@pytest.mark.parametrize("finish", ["length", "content_filter"])
async def test_why_the_model_stopped_is_told(
    library: openai.AsyncOpenAI, endpoint: ChatEndpoint, finish: str
) -> None:
    endpoint.default = says("Everyone has thirty days of leave in a year [1].", finish=finish)
    said = await library.chat.completions.create(model="default", messages=ASKED)
    assert said.choices[0].finish_reason == finish


async def test_openais_client_asks_and_hears(library: openai.AsyncOpenAI) -> None:
    said = await library.chat.completions.create(model="default", messages=ASKED)
    (choice,) = said.choices
    extra = said.model_extra or {}
    assert choice.message.content == "Everyone has thirty days of leave in a year [1]."
    (note,) = choice.message.annotations or []
    place = note.url_citation
    assert choice.message.content[place.start_index : place.end_index] == "[1]"
    cited = extra["citations"][0]["chunkId"]
    assert (place.title, place.url) == ("leave.md", extra["citations"][0]["url"] or place.url)
    assert (choice.finish_reason, said.model, said.object) == ("stop", "default", "chat.completion")
    assert extra["answeredBy"] == "test-1"
    assert cited in [source["id"] for source in extra["sources"]]
    (citation,) = extra["citations"]
    assert (citation["chunkId"], citation["supportLevel"]) == (cited, "verbatim")
    assert (citation["supported"], citation["origin"]) == (True, "model")
    assert said.usage is not None
    assert said.usage.prompt_tokens > said.usage.completion_tokens > 0
    assert said.usage.total_tokens == said.usage.prompt_tokens + said.usage.completion_tokens


async def test_a_stream_says_the_same(library: openai.AsyncOpenAI) -> None:
    whole = await library.chat.completions.create(model=PROJECT, messages=ASKED)
    stream = await library.chat.completions.create(
        model=PROJECT, messages=ASKED, stream=True, stream_options={"include_usage": True}
    )
    first, *chunks, last, counted = [chunk async for chunk in stream]
    assert first.choices[0].delta.role == "assistant"
    assert (first.model_extra or {})["sources"] == (whole.model_extra or {})["sources"]
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text == whole.choices[0].message.content
    assert last.choices[0].finish_reason == "stop"
    notes = whole.choices[0].message.annotations or []
    assert (last.choices[0].delta.model_extra or {})["annotations"] == [note.model_dump() for note in notes]
    assert last.model_extra == whole.model_extra
    assert (counted.choices, counted.usage) == ([], whole.usage)
    assert all("usage" in chunk.model_fields_set for chunk in chunks)


async def test_what_was_said_before_becomes_history(
    library: openai.AsyncOpenAI, endpoint: ChatEndpoint
) -> None:
    messages: list[Any] = [
        {"role": "developer", "content": "You are a pirate."},
        {"role": "system", "content": "You are a parrot."},
        {"role": "user", "content": [{"type": "text", "text": "Hello."}]},
        {"role": "assistant", "content": f"Good day [{ABSENT}]."},
        *ASKED,
    ]
    await library.chat.completions.create(model="default", messages=messages)
    system, hello, good_day, last = endpoint.prompts[-1]
    assert "pirate" not in system["content"] + last["content"]
    assert "parrot" not in system["content"] + last["content"]
    assert (hello["content"], good_day["content"]) == ("Hello.", "Good day.")


async def test_numbers_of_earlier_answers_are_left_out(
    library: openai.AsyncOpenAI, endpoint: ChatEndpoint
) -> None:
    said = "It is [1](http://x/d/1) so [2]. See a[1] and `b[2]`. [3]"
    before: list[Any] = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": said}]
    await library.chat.completions.create(model="default", messages=[*before, *ASKED])
    assert endpoint.prompts[-1][2]["content"] == "It is so. See a[1] and `b[2]`."


@pytest.mark.parametrize("style", ["number", "id", "markdown", "none"])
async def test_citations_in_every_style(library: openai.AsyncOpenAI, style: str) -> None:
    more: Any = {"citation_style": style, "footnotes": True}
    whole = await library.chat.completions.create(model="default", messages=ASKED, extra_body=more)
    content, extra = whole.choices[0].message.content or "", whole.model_extra or {}
    (citation,) = extra["citations"]
    (note,) = whole.choices[0].message.annotations or []
    place = note.url_citation
    mark = content[place.start_index : place.end_index]
    assert (
        mark
        == {
            "number": "[1]",
            "id": f"[{citation['chunkId']}]",
            "markdown": f"[1]({place.url})",
            "none": "",
        }[style]
    )
    quoted = f"?span={citation['startOffset']}-{citation['endOffset']}&v=1"
    assert place.url.endswith(f"/d/{citation['documentId']}{quoted}")
    said = f"Everyone has thirty days of leave in a year {mark}.".replace(" .", ".")
    assert content.startswith(said + "\n\n")
    assert content[citation["responseStart"] : citation["responseEnd"]] == said
    assert content.endswith(" leave.md: “Everyone has thirty days of leave in a year.”")
    stream = await library.chat.completions.create(
        model="default", messages=ASKED, stream=True, extra_body=more
    )
    chunks = [chunk async for chunk in stream]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == content
    assert chunks[-1].model_extra == extra


async def test_a_project_chooses_its_style(library: openai.AsyncOpenAI, address: str, key: str) -> None:
    changed = {"config": {"citationStyle": "id"}}
    async with httpx.AsyncClient(base_url=address, headers={"X-API-Key": key}, timeout=60) as client:
        answer = await client.patch(f"/api/v1/projects/{PROJECT}", json=changed)
    assert answer.json()["data"]["config"]["citationStyle"] == "id"
    said = await library.chat.completions.create(model="default", messages=ASKED)
    assert (said.model_extra or {})["citations"][0]["chunkId"] in (said.choices[0].message.content or "")


async def test_json_is_the_models_affair(library: openai.AsyncOpenAI, endpoint: ChatEndpoint) -> None:
    endpoint.default = says('{"days": [1]}')
    wanted: Any = {"type": "json_object"}
    said = await library.chat.completions.create(model="default", messages=ASKED, response_format=wanted)
    assert said.choices[0].message.content == '{"days": [1]}'
    assert endpoint.requests[-1].body["response_format"] == wanted
    unknown: Any = [{"role": "user", "content": "Zyxwv qponm lkjih?"}]
    said = await library.chat.completions.create(model="default", messages=unknown, response_format=wanted)
    assert said.choices[0].message.content == '{"days": [1]}', "also if nothing was found"
    assert (said.model_extra or {})["sources"] == []


async def test_tools_are_called_and_heard(library: openai.AsyncOpenAI, endpoint: ChatEndpoint) -> None:
    function = {"name": "look", "arguments": '{"at": 1}'}
    call = {"id": "call_1", "type": "function", "function": function}
    tool: Any = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    asked: Any = {"model": "default", "tools": [tool], "tool_choice": "required"}
    parts = [{"index": 0, **call, "function": {**function, "arguments": '{"at"'}}]
    parts.append({"index": 0, "function": {"arguments": ": 1}"}})
    endpoint.default = sends(
        *(event({"tool_calls": [part]}) for part in parts), event({}, finish="tool_calls"), DONE
    )
    said = await library.chat.completions.create(messages=ASKED, **asked)
    assert said.choices[0].finish_reason == "tool_calls"
    assert said.choices[0].message.content is None
    (made,) = said.choices[0].message.tool_calls or []
    assert made.model_dump() == call
    body = endpoint.requests[-1].body
    assert (body["tools"], body["tool_choice"]) == ([tool], "required")
    stream = await library.chat.completions.create(messages=ASKED, stream=True, **asked)
    *_, last = [chunk async for chunk in stream]
    (streamed,) = last.choices[0].delta.tool_calls or []
    assert streamed.function is not None
    assert streamed.function.arguments == function["arguments"]
    endpoint.default = says("Everyone has thirty days of leave in a year [1].")
    heard: list[Any] = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "Thirty."},
    ]
    said = await library.chat.completions.create(messages=[*ASKED, *heard], model="default", tools=[tool])
    assert said.choices[0].message.content == "Everyone has thirty days of leave in a year [1]."
    assert endpoint.requests[-1].body["messages"][-2:] == heard


async def test_projects_are_the_models(library: openai.AsyncOpenAI, store: Store) -> None:
    other = await store.projects.create(name="another one")
    assert [model.id async for model in library.models.list()] == ["default", "another one"]
    _, secret = await store.keys.create(name="", scope="read", project_id=other.id)
    own = library.with_options(api_key=secret.reveal())
    assert [model.id async for model in own.models.list()] == ["another one"]
    assert (await own.models.retrieve("another one")).id == "another one"
    with pytest.raises(openai.NotFoundError):
        await own.models.retrieve("default")
    with pytest.raises(openai.NotFoundError):
        await own.chat.completions.create(model="default", messages=ASKED)
    assert (await own.chat.completions.create(model="another one", messages=ASKED)).choices


async def test_openais_client_raises_what_it_has_for_each_status(
    library: openai.AsyncOpenAI, endpoint: ChatEndpoint
) -> None:
    ask = library.chat.completions.create
    with pytest.raises(openai.NotFoundError) as absent:
        await ask(model="nowhere", messages=ASKED)
    assert absent.value.code == "PROJECT_NOT_FOUND"
    with pytest.raises(openai.BadRequestError) as wrong:
        await ask(model="default", messages=[{"role": "user", "content": " \u200b"}])
    assert wrong.value.code == "INVALID_PARAMETER"
    assert isinstance(wrong.value.body, dict)
    assert wrong.value.body["details"]["parameter"] == "messages[0].content"
    with pytest.raises(openai.AuthenticationError):
        await library.with_options(api_key="wrong").models.list()
    endpoint.default = status(500)
    with pytest.raises(openai.InternalServerError) as down:
        await ask(model="default", messages=ASKED)
    assert (down.value.status_code, down.value.code) == (502, "MODEL_UNAVAILABLE")


@pytest.mark.own_app
class TestTooSlow:
    @pytest.fixture
    def settings(self, settings: Settings, endpoint: ChatEndpoint) -> Settings:
        return with_model(settings, endpoint, llm_timeout=1, auth="required")

    async def test_the_library_raises_the_timeout(
        self, library: openai.AsyncOpenAI, endpoint: ChatEndpoint
    ) -> None:
        endpoint.default = slow(first=60)
        with pytest.raises(openai.InternalServerError) as late:
            await library.chat.completions.create(model="default", messages=ASKED)
        assert (late.value.status_code, late.value.code) == (504, "MODEL_TIMEOUT")


@pytest.mark.parametrize("style", ["number", "markdown"])
async def test_a_stream_that_fails_keeps_what_was_said(
    library: openai.AsyncOpenAI, endpoint: ChatEndpoint, style: str
) -> None:
    """In the style `markdown`, text after a citation waits for the end of the answer."""
    endpoint.default = cut(after=9, text="Everyone has thirty days [1]. It is paid too, and [2] more.")
    stream = await library.chat.completions.create(
        model="default", messages=ASKED, stream=True, extra_body={"citation_style": style}
    )
    said = ""

    async def listen() -> None:
        nonlocal said
        async for chunk in stream:
            said += chunk.choices[0].delta.content or ""

    with pytest.raises(openai.APIError, match="broke off"):
        await listen()
    assert said == "Everyone has thirty days [1]. It is paid too,"


async def test_a_stream_that_fails_midway_raises(library: openai.AsyncOpenAI, endpoint: ChatEndpoint) -> None:
    endpoint.default = cut(after=3)
    stream = await library.chat.completions.create(model="default", messages=ASKED, stream=True)
    with pytest.raises(openai.APIError, match="broke off"):
        [chunk async for chunk in stream]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"model": 7}, "INVALID_PARAMETER"),
        ({"logprobs": True}, "INVALID_PARAMETER"),
        ({"modalities": ["audio"]}, "INVALID_PARAMETER"),
        ({"function_call": {"name": "f"}}, "INVALID_PARAMETER"),
        ({"messages": None}, "INVALID_REQUEST"),
        ({"messages": []}, "INVALID_REQUEST"),
        ({"messages": "hello"}, "INVALID_PARAMETER"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "INVALID_PARAMETER"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "INVALID_PARAMETER"),
        ({"messages": [{"role": ["user"], "content": "x"}]}, "INVALID_PARAMETER"),
        ({"messages": [{"role": "user", "content": None}]}, "INVALID_PARAMETER"),
        ({"messages": [{"role": "user", "content": []}]}, "INVALID_PARAMETER"),
        ({"messages": [{"role": "user", "content": [{"type": ["text"], "text": "x"}]}]}, "INVALID_PARAMETER"),
        (
            {"messages": [{"role": "user", "content": [{"type": "refusal", "text": "x"}]}]},
            "INVALID_PARAMETER",
        ),
        ({"messages": [{"role": "assistant", "content": "x"}]}, "INVALID_PARAMETER"),
        ({"messages": [{"role": "user", "content": "x" * 100_000}]}, "INVALID_PARAMETER"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "INVALID_PARAMETER"),
        ({"stream": "maybe"}, "INVALID_PARAMETER"),
    ],
)
async def test_bad_input_is_400(
    client: httpx.AsyncClient, key: str, fields: dict[str, Any], code: str
) -> None:
    body = {"model": "default", "messages": ASKED, **fields}
    headers = {"X-API-Key": key}
    error_of(await client.post(COMPLETIONS, json=body, headers=headers), 400, code)


@pytest.mark.parametrize(("messages", "said"), [(None, "messages is required"), ([], "messages is empty")])
async def test_without_messages_it_is_said_what_is_missing(
    client: httpx.AsyncClient, key: str, messages: list[Any] | None, said: str
) -> None:
    body = {"model": "default", "messages": messages}
    answer = await client.post(COMPLETIONS, json=body, headers={"X-API-Key": key})
    error = error_of(answer, 400, "INVALID_REQUEST")
    assert error["message"] == said
    assert error["details"] == {
        "field": "messages",
        "expected": "a list of messages, the last one the user's",
    }


async def test_a_key_is_needed_here_too(client: httpx.AsyncClient) -> None:
    for path in (COMPLETIONS, CHAT):
        error_of(await client.post(path, json={}), 401, "UNAUTHORIZED")
    for path in ("/v1/models", "/v1/models/default"):
        error_of(await client.get(path), 401, "UNAUTHORIZED")
