"""Chat endpoints that fail, each in its way: what is tried again, what is not, and what is said in the end."""

import json
import logging
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
from tests.chat_endpoint import (
    DONE,
    ChatEndpoint,
    answers,
    cut,
    echo,
    endless,
    event,
    refusing,
    says,
    sends,
    slow,
    without_schemas,
)
from tests.loopback import Behaviour, closed_port, garbage, hang_up, status

from whence.errors import ModelError, ModelInvalid, ModelRefused, ModelTimeout, ModelUnavailable
from whence.providers import Completion, Message
from whence.providers.openai_chat import OpenAIChatModel
from whence.settings import Secret

KEY = "sk-hunter2-0123456789"
ASKED = [Message(role="system", content="Be brief."), Message(role="user", content="What is wheat?")]
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
Way = Callable[[OpenAIChatModel], Awaitable[Completion]]


async def whole(model: OpenAIChatModel) -> Completion:
    return await model.complete(ASKED, max_tokens=50)


async def streamed(model: OpenAIChatModel) -> Completion:
    *pieces, last = [part async for part in model.stream(ASKED, max_tokens=50)]
    assert isinstance(last, Completion)
    assert pieces, "the text comes before its end"
    return last


async def structured(model: OpenAIChatModel) -> Completion:
    return await model.complete(ASKED, max_tokens=50, schema=SCHEMA)


both_ways = pytest.mark.parametrize("way", [whole, streamed])


@pytest.fixture
def server() -> Iterator[ChatEndpoint]:
    with ChatEndpoint() as running:
        yield running


@pytest.fixture
async def model(server: ChatEndpoint) -> AsyncIterator[OpenAIChatModel]:
    opened = connect(server.url)
    yield opened
    await opened.aclose()


def connect(url: str, **changed: Any) -> OpenAIChatModel:
    options: dict[str, Any] = {
        "base_url": url,
        "api_key": Secret(KEY),
        "model": "test",
        "timeout": 5,
        "attempts": 3,
        "backoff": 0.001,
    }
    return OpenAIChatModel(**{**options, **changed})


async def failure(model: OpenAIChatModel, way: Way) -> ModelError:
    with pytest.raises(ModelError) as error:
        await way(model)
    await model.aclose()
    return error.value


async def test_the_request(server: ChatEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    model = connect(server.url)
    await whole(model)
    await streamed(model)
    await structured(model)
    await model.aclose()
    plain = {
        "model": "test",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is wheat?"},
        ],
        "max_tokens": 50,
        "temperature": 0,
    }
    wanted = {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
    }
    assert [request.body for request in server.requests] == [
        plain,
        {**plain, "stream": True, "stream_options": {"include_usage": True}},
        {**plain, "response_format": wanted},
    ]
    for request in server.requests:
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert not [name for name in request.headers if name.startswith("openai-")]


async def test_no_key(server: ChatEndpoint) -> None:
    model = connect(server.url, api_key=None)
    await whole(model)
    assert "authorization" not in server.requests[0].headers
    server.script(status(401))
    error = await failure(model, whole)
    assert (
        error.message == "The key for the chat endpoint is needed and not set (401): see WHENCE_LLM_API_KEY"
    )


@both_ways
@pytest.mark.parametrize("failing", [status(429), status(500), status(503), status(408), hang_up])
async def test_what_is_tried_again(
    server: ChatEndpoint, model: OpenAIChatModel, failing: Behaviour, way: Way
) -> None:
    server.script(failing, failing)
    assert (await way(model)).text == "You said: What is wheat?"
    assert len(server.requests) == 3


@both_ways
@pytest.mark.parametrize("code", [429, 500, 502, 503, 529])
async def test_when_the_attempts_are_used_up(server: ChatEndpoint, code: int, way: Way) -> None:
    server.default = status(code, message=f"not with {KEY}")
    error = await failure(connect(server.url), way)
    assert (type(error), error.status) == (ModelUnavailable, 502)
    assert error.details == {"status": code, "attempts": 3}
    assert error.message == f"The chat endpoint answered {code}"
    assert len(server.requests) == 3


@both_ways
async def test_nobody_there(way: Way) -> None:
    error = await failure(connect(f"http://127.0.0.1:{closed_port()}/v1"), way)
    assert type(error) is ModelUnavailable
    assert error.message == "The chat endpoint cannot be reached"
    assert error.details == {"attempts": 3}


@both_ways
async def test_retry_after(server: ChatEndpoint, model: OpenAIChatModel, way: Way) -> None:
    await way(model)
    server.script(status(429, retry_after="1"))
    await way(model)
    first, second = server.requests[1:]
    assert second.at - first.at > 0.9


@both_ways
@pytest.mark.parametrize("slowly", [slow(first=60), slow(first=0.1, between=60)])
async def test_too_slow_is_not_tried_again(server: ChatEndpoint, slowly: Behaviour, way: Way) -> None:
    patient = connect(server.url)
    await way(patient)  # so that everything is loaded
    await patient.aclose()
    model = connect(server.url, timeout=2)
    server.default = slowly
    error = await failure(model, way)
    assert (type(error), error.status) == (ModelTimeout, 504)
    assert error.message == "The chat endpoint did not answer within 2 s"
    assert len(server.requests) == 2


async def test_a_stream_may_take_longer_than_a_silence(server: ChatEndpoint) -> None:
    model = connect(server.url, timeout=4)
    text = "one two three four five six seven eight nine ten"
    server.default = slow(between=0.5, text=text)
    assert (await streamed(model)).text == text
    await model.aclose()


async def test_a_stream_that_drips_for_ever(server: ChatEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whence.providers.openai_chat._STREAM_TIMEOUTS", 1)
    model = connect(server.url, timeout=1)
    server.default = slow(between=0.2, text="word " * 100)
    assert isinstance(await failure(model, streamed), ModelTimeout)


@both_ways
@pytest.mark.parametrize("code", [400, 401, 403, 404, 413, 422])
async def test_what_is_not_tried_again(server: ChatEndpoint, code: int, way: Way) -> None:
    server.default = status(code, message=f"not with {KEY}")
    error = await failure(connect(server.url), way)
    assert (type(error), error.status) == (ModelRefused, 502)
    assert error.details == {"status": code, "attempts": 1}
    assert str(code) in error.message
    assert "WHENCE_LLM_" in error.message
    assert len(server.requests) == 1


async def test_a_key_is_never_repeated(server: ChatEndpoint, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for code in (400, 401, 403, 429, 500):
        server.default = status(code, message=f"Incorrect API key provided: {KEY}")
        for way in (whole, streamed, structured):
            error = await failure(connect(server.url, attempts=2), way)
            assert KEY not in "".join(traceback.format_exception(error)) + repr(error.details)
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("whence")]
    assert [line for line in ours if "Incorrect API key" in line], "at this level the reason is told"
    assert not [line for line in ours if KEY in line]


def choices(value: Any) -> bytes:
    return json.dumps({"choices": value}).encode()


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (garbage(), "not JSON"),
        (garbage(b""), "not JSON"),
        (garbage(b"\xff\xfe\x00"), "not JSON"),
        (garbage(b'{"choices": [{"message": {"content": "Wh'), "not JSON"),
        (garbage(b"null"), "not what the protocol says"),
        (garbage(b"[]"), "not what the protocol says"),
        (garbage(b"{}"), "not what the protocol says"),
        (garbage(choices(None)), "not what the protocol says"),
        (garbage(choices([])), "not what the protocol says"),
        (garbage(choices([{}])), "not what the protocol says"),
        (garbage(choices([{"message": "text"}])), "not what the protocol says"),
        (garbage(choices("text")), "not what the protocol says"),
        (garbage(choices({"0": 1})), "not what the protocol says"),
        (garbage(choices([1])), "not what the protocol says"),
        (answers({"content": 5}), "not what the protocol says"),
        (answers({"content": [{"type": "image"}]}), "not what the protocol says"),
        (endless, "does not come to an end"),
        (sends(b" " * 1_000_000), "does not come to an end"),
    ],
)
async def test_answers_that_are_wrong(server: ChatEndpoint, wrong: Behaviour, told: str) -> None:
    server.default = wrong
    error = await failure(connect(server.url, attempts=5), whole)
    assert (type(error), error.status) == (ModelInvalid, 502)
    assert told in error.message
    assert error.details["attempts"] == len(server.requests) == 2


async def test_an_endpoint_that_does_not_stream(server: ChatEndpoint, model: OpenAIChatModel) -> None:
    server.default = answers({"role": "assistant", "content": "<think>Hm.</think>Wheat is a grass [1]."})
    assert (await streamed(model)).text == "Wheat is a grass [1]."


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (garbage(), "not the stream"),
        (garbage(b""), "not the stream"),
        (garbage(choices([{"delta": {"content": "piece"}}])), "not what the protocol says"),
        (sends(b": keep-alive\n\n" * 3), "not the stream"),
        (sends(b"data: <html>\n\n"), "not JSON"),
        (sends(b"data: 5\n\n"), "not what the protocol says"),
        (sends(b'data: {"choices": "text"}\n\n'), "not what the protocol says"),
        (sends(b'data: {"choices": [{"delta": "text"}]}\n\n'), "not what the protocol says"),
        (sends(event({"content": 5})), "not what the protocol says"),
        (sends(b"data: " + b"x" * 1_000_000), "does not come to an end"),
    ],
)
async def test_streams_that_are_wrong(server: ChatEndpoint, wrong: Behaviour, told: str) -> None:
    server.default = wrong
    error = await failure(connect(server.url, attempts=5), streamed)
    assert (type(error), error.status) == (ModelInvalid, 502)
    assert told in error.message
    assert error.details["attempts"] == len(server.requests) == 2


@pytest.mark.parametrize("cleanly", [True, False])
async def test_a_stream_that_is_cut_midway(server: ChatEndpoint, *, cleanly: bool) -> None:
    server.default = cut(after=2, cleanly=cleanly)
    model = connect(server.url)
    parts = model.stream(ASKED, max_tokens=50)
    assert [await anext(parts), await anext(parts)] == ["one", " two"]
    with pytest.raises(ModelUnavailable, match="The chat endpoint broke off its answer"):
        await anext(parts)
    await model.aclose()
    assert len(server.requests) == 1, "nobody could take the pieces back"


@pytest.mark.parametrize(
    "broken",
    [
        cut(after=0),
        cut(after=0, cleanly=True),
        sends(event({"role": "assistant"})),
        sends(event({"role": "assistant"}), b'data: {"choices": [{"del'),
        sends(b'data: {"error": {"message": "overloaded"}}\n\n'),
    ],
)
async def test_a_stream_that_fails_before_its_first_piece_is_tried_again(
    server: ChatEndpoint, model: OpenAIChatModel, broken: Behaviour
) -> None:
    server.script(broken)
    assert (await streamed(model)).text == "You said: What is wheat?"
    assert len(server.requests) == 2


async def test_an_error_in_the_middle_of_a_stream(server: ChatEndpoint) -> None:
    server.default = sends(event({"content": "one"}), b'data: {"error": {"message": "lost"}}\n\n')
    error = await failure(connect(server.url), streamed)
    assert error.message == "The chat endpoint reported a failure instead of an answer"


async def test_a_stream_without_an_end(server: ChatEndpoint) -> None:
    server.default = endless
    assert "does not come to an end" in (await failure(connect(server.url), streamed)).message


@both_ways
@pytest.mark.parametrize(
    ("finish", "kind", "told"),
    [
        ("stop", ModelInvalid, "The model gave an empty answer"),
        ("length", ModelInvalid, "see WHENCE_LLM_MAX_TOKENS"),
        ("content_filter", ModelRefused, "The model declined to answer"),
    ],
)
async def test_an_answer_without_a_word(
    server: ChatEndpoint, finish: str, kind: type[ModelError], told: str, way: Way
) -> None:
    server.default = says(" \n", finish=finish)
    error = await failure(connect(server.url), way)
    assert type(error) is kind
    assert told in error.message


async def test_a_refusal_in_its_own_field(server: ChatEndpoint) -> None:
    server.default = answers({"role": "assistant", "content": None, "refusal": "I would rather not."})
    assert isinstance(await failure(connect(server.url), structured), ModelRefused)
    server.default = sends(event({"refusal": "I would"}), event({"refusal": " rather not."}), DONE)
    assert isinstance(await failure(connect(server.url), streamed), ModelRefused)


@pytest.mark.parametrize("knows", ["json_object", None])
async def test_an_endpoint_that_does_not_know_schemas(
    server: ChatEndpoint, model: OpenAIChatModel, knows: str | None
) -> None:
    server.default = without_schemas(knows=knows)
    assert (await structured(model)).text == '{"a": 1}'
    tried = [request.body.get("response_format", {}).get("type") for request in server.requests]
    assert tried == ["json_schema", "json_object", *([] if knows else [None])]
    await structured(model)
    assert server.requests[-1].body.get("response_format", {}).get("type") == knows
    assert len(server.requests) == len(tried) + 1, "learnt: not asked again"


async def test_a_refusal_is_not_taken_for_that(server: ChatEndpoint, model: OpenAIChatModel) -> None:
    server.script(*[status(400)] * 3)
    with pytest.raises(ModelRefused):
        await structured(model)
    await structured(model)
    assert server.requests[-1].body["response_format"]["type"] == "json_schema"


async def test_one_schema_that_is_refused_does_not_speak_for_others(
    server: ChatEndpoint, model: OpenAIChatModel
) -> None:
    await structured(model)
    server.script(status(400))
    await structured(model)
    await structured(model)
    forms = [request.body["response_format"]["type"] for request in server.requests]
    assert forms == ["json_schema", "json_schema", "json_object", "json_schema"]


@both_ways
@pytest.mark.parametrize(
    ("refused", "instead"), [("max_tokens", "max_completion_tokens"), ("temperature", "")]
)
async def test_models_that_want_to_be_asked_differently(
    server: ChatEndpoint, model: OpenAIChatModel, refused: str, instead: str, way: Way
) -> None:
    server.default = refusing(refused, instead=f"Use '{instead}' instead.")
    await way(model)
    await way(model)
    assert [refused in request.body for request in server.requests] == [True, False, False]
    assert not instead or server.requests[-1].body[instead] == 50


async def test_an_endpoint_that_does_not_count_the_tokens_of_a_stream(
    server: ChatEndpoint, model: OpenAIChatModel
) -> None:
    server.default = refusing("stream_options")
    assert (await streamed(model)).prompt_tokens is None
    await streamed(model)
    assert len(server.requests) == 3


async def test_a_check_asks_once_and_does_not_mind_what_is_said(
    server: ChatEndpoint, model: OpenAIChatModel
) -> None:
    server.default = says("", finish="length")
    assert await model.check() == f"test at {server.url} answers"
    assert len(server.requests) == 1


async def test_which_model_answered(server: ChatEndpoint, model: OpenAIChatModel) -> None:
    server.script(says(echo), answers({"content": "yes"}, model=None))
    assert (await whole(model)).model == "test-1"
    assert (await whole(model)).model == "test"


@both_ways
async def test_calls_one_after_another_share_a_connection(
    server: ChatEndpoint, model: OpenAIChatModel, way: Way
) -> None:
    for _ in range(5):
        await way(model)
    assert server.connections == 1


async def test_an_endpoint_that_goes_on_after_its_end_mark_is_not_waited_for(
    server: ChatEndpoint, model: OpenAIChatModel
) -> None:
    server.script(sends(event({"content": "yes"}, finish="stop"), DONE, *[b": still there\n\n" * 1000] * 100))
    assert (await streamed(model)).text == "yes"
    await streamed(model)
    assert server.connections == 2
