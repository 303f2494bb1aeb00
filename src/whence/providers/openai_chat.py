"""Chat models at any endpoint that speaks OpenAI's protocol: OpenAI, Gemini, Ollama, vLLM, llama.cpp, …"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace

from whence.errors import ModelError, ModelInvalid, ModelRefused, ModelTimeout, ModelUnavailable, WhenceError
from whence.providers.chat import Completion, JSONSchema, Message
from whence.providers.completions import CompletionReader, answered, read_completion
from whence.providers.connection import (
    NOT_UNDERSTOOD,
    Connection,
    Failure,
    Kind,
    TransportError,
    foreign,
    wait_or_raise,
)
from whence.providers.dialects import Dialect, Question, request, simpler
from whence.settings import Secret

_INVALID_ATTEMPTS = 2
_STREAM_TIMEOUTS = 10
"""How many times as long as it may be silent a stream may take in all."""
_BYTES_AROUND = 100_000
_BYTES_PER_TOKEN = 2_000
"""More than any endpoint writes about a token, so that an answer of more bytes is one without an end."""
_CHECK_TOKENS = 16
_KIND = Kind(
    name="chat",
    prefix="WHENCE_LLM_",
    too_long="a prompt",
    too_long_setting="_CONTEXT",
    unavailable=ModelUnavailable,
    timeout=ModelTimeout,
    refused=ModelRefused,
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
        """`backoff` is how many seconds to wait after the first failure; each further one doubles it."""
        self.model = model
        self._timeout = timeout
        self._attempts = attempts
        self._backoff = backoff
        self._connection = Connection(_KIND, base_url=base_url, api_key=api_key, timeout=timeout)
        self._dialect = Dialect()
        self._form_is_known = False
        """One schema that is refused says nothing of the endpoint once another was taken."""

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float = 0
    ) -> AsyncGenerator[str | Completion, None]:
        question = Question(messages=messages, max_tokens=max_tokens, temperature=temperature, streamed=True)
        async with aclosing(self._answer(question)) as parts:
            async for part in parts:
                yield answered(part) if isinstance(part, Completion) else part

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float = 0,
        schema: JSONSchema | None = None,
    ) -> Completion:
        question = Question(messages=messages, max_tokens=max_tokens, temperature=temperature, schema=schema)
        return answered(await self._whole(question))

    async def check(self) -> str:
        hello = Message(role="user", content="Is anybody there? Answer yes or no.")
        # Whatever it says, or nothing yet: a model that reasons first has not begun to speak after so few tokens.
        await self._whole(Question(messages=[hello], max_tokens=_CHECK_TOKENS))
        return f"{self.model} at {self._connection.where} answers"

    async def aclose(self) -> None:
        await self._connection.aclose()

    async def _whole(self, question: Question) -> Completion:
        async with aclosing(self._answer(question)) as parts:
            return [part async for part in parts if isinstance(part, Completion)][-1]

    async def _answer(self, question: Question) -> AsyncGenerator[str | Completion, None]:
        """Asks until there is an answer, or no hope or attempt left; once a piece is out there is no way back."""
        dialect = self._dialect
        attempt = 0
        while True:
            attempt += 1
            begun, failure = False, None
            async with aclosing(self._ask(question, dialect)) as parts:
                async for part in parts:
                    if isinstance(part, Failure):
                        failure = part
                    else:
                        begun = True
                        yield part
            if failure is None:
                self._learn(question, dialect)
                return
            if begun:
                raise failure.error
            understood = (
                simpler(dialect, question, failure.words) if failure.status in NOT_UNDERSTOOD else None
            )
            if understood is not None:
                dialect = understood
                attempt -= 1
                continue
            limit = self._limit(failure.error)
            await wait_or_raise(failure, attempt=attempt, limit=limit, backoff=self._backoff)

    def _learn(self, question: Question, dialect: Dialect) -> None:
        keep = question.schema is None or self._form_is_known
        self._dialect = replace(dialect, form=self._dialect.form) if keep else dialect
        self._form_is_known |= question.schema is not None

    def _limit(self, error: WhenceError) -> int:
        """How many attempts a failure like this deserves. Who waited in vain does not want to wait as long again."""
        if isinstance(error, ModelUnavailable) and not isinstance(error, ModelTimeout):
            return self._attempts
        return min(self._attempts, _INVALID_ATTEMPTS) if isinstance(error, ModelInvalid) else 1

    async def _ask(
        self, question: Question, dialect: Dialect
    ) -> AsyncGenerator[str | Completion | Failure, None]:
        """One request. What the SDK and its transport raise ends here, as a last part."""
        await self._connection.client()
        import openai  # noqa: PLC0415 - loaded by now, in a thread

        reading = self._streamed if question.streamed else self._read
        try:
            async with aclosing(reading(question, dialect)) as parts:
                async for part in parts:
                    yield part
        except ModelError as exc:
            yield Failure(exc)
        except (TimeoutError, TransportError, openai.OpenAIError) as exc:
            yield self._connection.failure(exc)

    async def _streamed(self, question: Question, dialect: Dialect) -> AsyncGenerator[str | Completion, None]:
        reader = CompletionReader(model=self.model)
        async with aclosing(
            self._chunks(question, dialect, in_all=_STREAM_TIMEOUTS * self._timeout)
        ) as chunks:
            async for chunk in chunks:
                for piece in reader.feed(chunk):
                    yield piece
                if reader.done:
                    break
        for piece in reader.flush():
            yield piece
        yield reader.end()

    async def _read(self, question: Question, dialect: Dialect) -> AsyncGenerator[str | Completion, None]:
        async with aclosing(self._chunks(question, dialect, in_all=self._timeout)) as chunks:
            body = b"".join([chunk async for chunk in chunks])
        yield read_completion(body, model=self.model)

    async def _chunks(
        self, question: Question, dialect: Dialect, *, in_all: float
    ) -> AsyncGenerator[bytes, None]:
        """The bytes of the answer, as long as they come in time and are not too many."""
        client = await self._connection.client()
        patience = _Patience(at_once=self._timeout, in_all=in_all)
        left = _BYTES_AROUND + _BYTES_PER_TOKEN * question.max_tokens
        body = request(self.model, question, dialect)
        async with AsyncExitStack() as held:
            async with patience.waiting():
                response = await held.enter_async_context(
                    # Sent as it is: the SDK would look at every place of what it is given for names to change.
                    client.chat.completions.with_streaming_response.create(
                        model=self.model,
                        messages=[],
                        extra_body=body,
                        extra_headers=self._connection.headers(),
                    )
                )
            chunks = response.iter_bytes()
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
    """How long the SDK is waited for: so long at once, and so long in all. The time between the waits is not counted."""

    def __init__(self, *, at_once: float, in_all: float) -> None:
        self._at_once = at_once
        self._left = in_all

    @asynccontextmanager
    async def waiting(self) -> AsyncIterator[None]:
        clock = asyncio.get_running_loop().time
        began = clock()
        with foreign():
            async with asyncio.timeout(min(self._at_once, self._left)):
                yield
        self._left -= clock() - began
