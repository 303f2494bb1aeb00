"""Chat models at any endpoint that speaks OpenAI's protocol: OpenAI, Gemini, Ollama, vLLM, llama.cpp, …"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace

from whence.errors import ModelInvalid, ModelRefused, ModelTimeout, ModelUnavailable
from whence.providers.base import Completion, JSONSchema, Message
from whence.providers.chat_response import CompletionReader, require_text
from whence.providers.connection import ENDPOINT_ERRORS, NOT_UNDERSTOOD, EndpointConnection, Kind
from whence.providers.dialects import Dialect, ModelRequest, request, simpler
from whence.settings import Secret

_STREAM_TIMEOUTS = 10
"""A stream may take this many times as long as it may be silent."""
_BYTES_AROUND = 100_000
_BYTES_PER_TOKEN = 2_000
"""More than any endpoint writes for one token: an answer with more bytes does not end."""
_CHECK_TOKENS = 16
_KIND = Kind(
    name="chat",
    prefix="WHENCE_LLM_",
    too_long="a prompt",
    too_long_setting="_CONTEXT",
    unavailable=ModelUnavailable,
    timeout=ModelTimeout,
    refused=ModelRefused,
    invalid=ModelInvalid,
)


class OpenAIChatModel:
    provider = "openai"

    def __init__(
        self,
        *,
        base_url: str,
        api_key: Secret | None,
        model: str,
        timeout: float = 120,
        attempts: int = 3,
        backoff: float = 0.5,
    ) -> None:
        self.model = model
        self._timeout = timeout
        self._connection = EndpointConnection(
            _KIND, base_url=base_url, api_key=api_key, timeout=timeout, attempts=attempts, backoff=backoff
        )
        self._dialect = Dialect()
        self._form_is_known = False
        """True once the endpoint has accepted a schema: a later refusal is about that schema only."""

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float = 0
    ) -> AsyncGenerator[str | Completion, None]:
        question = ModelRequest(
            messages=messages, max_tokens=max_tokens, temperature=temperature, streamed=True
        )
        async with aclosing(self._answer(question)) as parts:
            async for part in parts:
                yield require_text(part) if isinstance(part, Completion) else part

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float = 0,
        schema: JSONSchema | None = None,
    ) -> Completion:
        question = ModelRequest(
            messages=messages, max_tokens=max_tokens, temperature=temperature, schema=schema
        )
        return require_text(await self._whole(question))

    async def check(self) -> str:
        hello = Message(role="user", content="Is anybody there? Answer yes or no.")
        # Any answer will do, also an empty one: a model that reasons first has not answered after so few tokens.
        await self._whole(ModelRequest(messages=[hello], max_tokens=_CHECK_TOKENS))
        return f"{self.model} at {self._connection.where} answers"

    async def aclose(self) -> None:
        await self._connection.aclose()

    async def _whole(self, question: ModelRequest) -> Completion:
        async with aclosing(self._answer(question)) as parts:
            return [part async for part in parts if isinstance(part, Completion)][-1]

    async def _answer(self, question: ModelRequest) -> AsyncGenerator[str | Completion, None]:
        """Sends the request until it is answered. Raises a permanent error, or the error of the last attempt.

        Never retries once the caller has a piece of the answer.
        """
        dialect = self._dialect
        attempt = 0
        while True:
            attempt += 1
            has_begun = False
            try:
                async with aclosing(self._ask(question, dialect)) as parts:
                    async for part in parts:
                        has_begun = True
                        yield part
            except ENDPOINT_ERRORS as exc:
                failure = self._connection.failure(exc)
            else:
                self._learn(question, dialect)
                return
            if has_begun:
                raise failure.error
            not_understood = failure.status in NOT_UNDERSTOOD
            if not_understood and (other := simpler(dialect, question, failure.words)):
                dialect = other
                attempt -= 1
            else:
                await self._connection.wait_or_raise(failure, attempt)

    def _learn(self, question: ModelRequest, dialect: Dialect) -> None:
        keep = question.schema is None or self._form_is_known
        self._dialect = replace(dialect, form=self._dialect.form) if keep else dialect
        self._form_is_known |= question.schema is not None

    async def _ask(self, question: ModelRequest, dialect: Dialect) -> AsyncGenerator[str | Completion, None]:
        """One request."""
        reader = CompletionReader(model=self.model, is_stream=question.streamed)
        async with aclosing(self._chunks(question, dialect)) as chunks:
            async for chunk in chunks:
                for piece in reader.feed(chunk):
                    yield piece
                if reader.done:
                    break
        for piece in reader.flush():
            yield piece
        yield reader.end()

    async def _chunks(self, question: ModelRequest, dialect: Dialect) -> AsyncGenerator[bytes, None]:
        """The bytes of the answer; raises when they come too late or are too many."""
        in_all = self._timeout * (_STREAM_TIMEOUTS if question.streamed else 1)
        patience = _Patience(at_once=self._timeout, in_all=in_all)
        left = _BYTES_AROUND + _BYTES_PER_TOKEN * question.max_tokens
        body = request(self.model, question, dialect)
        async with AsyncExitStack() as held:
            async with patience.waiting():
                response = await held.enter_async_context(self._connection.post("/chat/completions", body))
            chunks = response.aiter_bytes()
            while True:
                async with patience.waiting():
                    chunk = await anext(chunks, None)
                if chunk is None:
                    return
                left -= len(chunk)
                if left < 0:
                    raise ModelInvalid("The chat endpoint's answer does not come to an end")
                yield chunk


class _Patience:
    """Limits each wait for the endpoint, and all of them together. The time between the waits does not count."""

    def __init__(self, *, at_once: float, in_all: float) -> None:
        self._at_once = at_once
        self._left = in_all

    @asynccontextmanager
    async def waiting(self) -> AsyncIterator[None]:
        clock = asyncio.get_running_loop().time
        began = clock()
        async with asyncio.timeout(min(self._at_once, self._left)):
            yield
        self._left -= clock() - began
