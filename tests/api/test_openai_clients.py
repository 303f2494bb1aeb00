"""What clients of OpenAI send as a matter of course, to a server on this machine that wants no key."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import openai
import pytest
from tests.api.chatting import LEAVE, QUESTION, stock
from tests.api.ingesting import error_of

from whence.store import Store

pytestmark = pytest.mark.one_app

ASKED: Any = {"role": "user", "content": QUESTION}
CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}


@pytest.fixture
async def library(address: str) -> AsyncIterator[openai.AsyncOpenAI]:
    """OpenAI's client, with a key that is none: it cannot be made without."""
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        await stock(client)
    async with openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="x", max_retries=0) as opened:
        yield opened


async def answer(library: openai.AsyncOpenAI, *messages: Any, **more: Any) -> str:
    said = await library.chat.completions.create(model="default", messages=list(messages), **more)
    return said.choices[0].message.content or ""


def is_quoted(said: str) -> bool:
    return said.replace("[1]", "").strip().rstrip(".").rstrip() in LEAVE


async def test_any_key_will_do_where_none_is_needed(library: openai.AsyncOpenAI) -> None:
    assert [model.id async for model in library.models.list()] == ["default"]
    for key in ("", "EMPTY", "sk-proj-abc", "not-needed"):
        assert is_quoted(await answer(library.with_options(api_key=key), ASKED))


async def test_one_of_ours_must_be_good_all_the_same(library: openai.AsyncOpenAI, store: Store) -> None:
    key, secret = await store.keys.create(name="", scope="read", project_id=None)
    ours = library.with_options(api_key=secret.reveal())
    assert is_quoted(await answer(ours, ASKED))
    await store.keys.revoke(key.prefix)
    with pytest.raises(openai.AuthenticationError):
        await answer(ours, ASKED)


async def test_elsewhere_a_foreign_key_is_refused(client: httpx.AsyncClient) -> None:
    headers = {"Authorization": "Bearer x"}
    error_of(await client.get("/api/v1/projects", headers=headers), 401, "UNAUTHORIZED")
    assert (await client.get("/v1/models", headers=headers)).status_code == 200


async def test_a_model_is_found_by_its_name_or_id(library: openai.AsyncOpenAI, store: Store) -> None:
    other = await store.projects.create(name="a/b c")
    for name in ("a/b c", str(other.id)):
        found = await library.models.retrieve(name)
        assert (found.id, found.object, found.owned_by) == ("a/b c", "model", "whence")


@pytest.mark.parametrize("name", ["nowhere", "%00", "x" * 500, "00000000-0000-7000-8000-00000000ffff", ""])
async def test_a_model_that_is_not_there_is_404(client: httpx.AsyncClient, name: str) -> None:
    answered = await client.get(f"/v1/models/{name}")
    error_of(answered, 404, "PROJECT_NOT_FOUND")


@pytest.mark.parametrize(
    "before",
    [
        [{"role": "developer", "content": "Be brief."}],
        [{"role": "system", "content": [{"type": "text", "text": "Be brief."}], "name": "house"}],
        [
            {"role": "user", "content": "Look for it."},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "Found."}]},
            {"role": "assistant", "content": "Done."},
        ],
        [
            {"role": "assistant", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": "Found."},
        ],
        [
            {"role": "assistant", "content": "", "function_call": {"name": "look", "arguments": "{}"}},
            {"role": "function", "name": "look", "content": None},
        ],
        [{"role": "assistant", "content": [{"type": "refusal", "refusal": "I would rather not."}]}],
    ],
)
async def test_what_other_models_and_tools_said_is_no_hindrance(
    library: openai.AsyncOpenAI, before: list[Any]
) -> None:
    assert is_quoted(await answer(library, *before, ASKED))


async def test_a_question_stays_the_question_when_tools_spoke_last(library: openai.AsyncOpenAI) -> None:
    called = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    told = {"role": "tool", "tool_call_id": "call_1", "content": "Found."}
    assert is_quoted(await answer(library, ASKED, called, told))


async def test_a_question_may_come_in_parts(library: openai.AsyncOpenAI) -> None:
    parts = [{"type": "text", "text": QUESTION}]
    assert is_quoted(await answer(library, {"role": "user", "content": parts}))


async def test_what_is_not_known_here_is_ignored(library: openai.AsyncOpenAI) -> None:
    said = await answer(
        library,
        ASKED,
        temperature=0.2,
        top_p=1,
        n=1,
        stop=["END"],
        seed=7,
        user="somebody",
        tools=[TOOL],
        tool_choice="auto",
        parallel_tool_calls=False,
        max_completion_tokens=100,
        response_format={"type": "text"},
        metadata={"a": "b"},
        extra_body={"stream_options": None, "keep_alive": "5m"},
    )
    assert is_quoted(said)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("n", 2),
        ("response_format", {"type": "json_object"}),
        ("response_format", {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}),
        ("tool_choice", "required"),
        ("tool_choice", {"type": "function", "function": {"name": "look"}}),
        ("citation_style", "roman"),
    ],
)
async def test_what_cannot_be_done_is_refused_by_name(
    library: openai.AsyncOpenAI, field: str, value: Any
) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        await answer(library, ASKED, tools=[TOOL], extra_body={field: value})
    assert isinstance(refused.value.body, dict)
    assert refused.value.body["details"]["parameter"] == field


async def test_a_stream_tells_the_usage_when_it_is_asked(library: openai.AsyncOpenAI) -> None:
    stream = await library.chat.completions.create(
        model="default", messages=[ASKED], stream=True, stream_options={"include_usage": True}
    )
    *_, last = [chunk async for chunk in stream]
    assert last.usage is not None
    assert last.usage.total_tokens == 0  # nobody counted
