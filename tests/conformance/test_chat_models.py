"""What every chat model has to do. The one of endpoints is tried against a server on loopback."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing

import pytest
from tests.chat_endpoint import ChatEndpoint, echo, endless, in_characters, says, slow
from tests.loopback import status

from whence.errors import ModelError
from whence.providers import ChatModel, Completion, Message, open_chat_model
from whence.settings import Settings

CHAT_MODELS = ("openai",)
TEXTS = [
    "Wheat is a grass [1].",
    "x",
    " leading and trailing \n",
    "東京は日本の首都です。[1][2]",
    "👩‍👩‍👧‍👦 🇩🇪 👍🏽",
    "مرحبا بالعالم",
    "```python\ndata: [DONE]\n\n```\r\n",
    'data: {"choices": []}\n\n',
    "nul \x00 and \x1b escape, \u2028 and \u0085",
    "<|im_start|>system",
    "word " * 2000,
]


@pytest.fixture
def server() -> Iterator[ChatEndpoint]:
    with ChatEndpoint() as running:
        yield running


@pytest.fixture(params=CHAT_MODELS)
async def model(server: ChatEndpoint) -> AsyncIterator[ChatModel]:
    settings = Settings(llm_base_url=server.url, llm_model="test", llm_timeout=120, llm_attempts=1)
    opened = open_chat_model(settings)
    assert opened is not None
    yield opened
    await opened.aclose()


def asking(text: str) -> list[Message]:
    return [Message(role="system", content="Be brief."), Message(role="user", content=text)]


async def streamed(model: ChatModel, text: str) -> tuple[list[str], Completion]:
    *pieces, whole = [part async for part in model.stream(asking(text), max_tokens=10_000)]
    assert isinstance(whole, Completion)
    return [piece for piece in pieces if isinstance(piece, str)], whole


async def until(reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not reached():  # noqa: ASYNC110 - it happens in another thread
            await asyncio.sleep(0.01)


class TestChatModel:
    async def test_has_names_and_fits_the_protocol(self, model: ChatModel) -> None:
        assert isinstance(model, ChatModel)
        assert model.provider in CHAT_MODELS
        assert model.model == "test"

    @pytest.mark.parametrize("text", TEXTS)
    async def test_any_text_whole_and_in_pieces(
        self, model: ChatModel, server: ChatEndpoint, text: str
    ) -> None:
        for split in (in_characters, str.splitlines, lambda whole: [whole]):
            server.default = says(text, split=split)
            said = "".join(split(text))
            pieces, whole = await streamed(model, "What?")
            assert "".join(pieces) == whole.text == said
            assert all(pieces)
        assert (await model.complete(asking("What?"), max_tokens=10_000)).text == text

    @pytest.mark.parametrize("text", [*TEXTS, "a lone \ud800 surrogate"])
    async def test_any_question(self, model: ChatModel, text: str) -> None:
        assert (await model.complete(asking(text), max_tokens=100)).text.startswith("You said: ")

    async def test_both_ways_tell_the_same(self, model: ChatModel) -> None:
        whole = await model.complete(asking("one two three"), max_tokens=100)
        assert (await streamed(model, "one two three"))[1] == whole
        assert (whole.prompt_tokens, whole.completion_tokens, whole.finish) == (5, 5, "stop")

    async def test_tokens_that_nobody_counted(self, model: ChatModel, server: ChatEndpoint) -> None:
        server.default = says(echo, counted=False)
        whole = await model.complete(asking("one"), max_tokens=100)
        assert (whole.prompt_tokens, whole.completion_tokens) == (None, None)
        assert (await streamed(model, "one"))[1] == whole

    async def test_an_answer_that_ran_out_of_tokens_says_so(
        self, model: ChatModel, server: ChatEndpoint
    ) -> None:
        server.default = says("And then he", finish="length")
        assert (await model.complete(asking("one"), max_tokens=3)).finish == "length"
        assert (await streamed(model, "one"))[1].finish == "length"

    async def test_pieces_come_as_they_are_written(self, model: ChatModel, server: ChatEndpoint) -> None:
        server.default = endless
        async with aclosing(model.stream(asking("one"), max_tokens=10_000)) as parts:
            assert [await anext(parts) for _ in range(3)] == ["0 ", "1 ", "2 "]
        await until(lambda: server.running == 0)  # it goes on until it notices that nobody listens

    async def test_many_callers(self, model: ChatModel) -> None:
        asked = [f"Caller {n}" for n in range(12)]
        both = await asyncio.gather(*(streamed(model, text) for text in asked))
        assert [whole.text for _, whole in both] == [f"You said: {text}" for text in asked]

    async def test_cancelled_it_stops_and_works_again(self, model: ChatModel, server: ChatEndpoint) -> None:
        server.script(slow(first=3))
        running = asyncio.create_task(model.complete(asking("one"), max_tokens=10))
        await until(lambda: bool(server.requests))
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert (await model.complete(asking("two"), max_tokens=10)).text == "You said: two"

    async def test_a_failure_is_a_model_error(self, model: ChatModel, server: ChatEndpoint) -> None:
        server.default = status(500)
        with pytest.raises(ModelError):
            await model.complete(asking("one"), max_tokens=10)
        with pytest.raises(ModelError):
            await streamed(model, "one")
        with pytest.raises(ModelError):
            await model.check()

    async def test_it_says_that_it_works(self, model: ChatModel) -> None:
        assert "test" in await model.check()

    async def test_closing_twice(self, model: ChatModel) -> None:
        await model.check()
        await model.aclose()
        await model.aclose()
