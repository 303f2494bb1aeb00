"""Chat models at any endpoint that speaks OpenAI's protocol: OpenAI, Gemini, Ollama, vLLM, llama.cpp, …"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import httpx

from whence.errors import ModelInvalid, ModelRefused, ModelTimeout, ModelUnavailable
from whence.providers.base import NOTHING_PASSED_ON, Completion, JSONSchema, Message, PassedOn, readable
from whence.providers.chat_response import CompletionReader, require_text
from whence.providers.connection import ENDPOINT_ERRORS, NOT_UNDERSTOOD, Endpoint, Kind

_STREAM_TIMEOUTS = 10
"""Maximum duration of a stream, as a multiple of its maximum silence."""
_BYTES_AROUND = 100_000
_BYTES_PER_TOKEN = 2_000
"""Bytes per token that no endpoint exceeds. An answer with more bytes is taken for endless."""
_LAST_SECONDS = 0.25
"""Maximum seconds to wait for the end of a stream after its end mark."""
_CHECK_TOKENS = 16
_KIND = Kind(
    name="chat",
    prefix="WHENCE_LLM_",
    unavailable=ModelUnavailable,
    timeout=ModelTimeout,
    refused=ModelRefused,
    invalid=ModelInvalid,
)


Form = Literal["json_schema", "json_object", "none"]
_NEXT_FORM: dict[Form, Form] = {"json_schema": "json_object", "json_object": "none"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """A request to a model, independent of the endpoint's dialect."""

    messages: Sequence[Message]
    max_tokens: int
    schema: JSONSchema | None = None
    streamed: bool = False
    passed_on: PassedOn = NOTHING_PASSED_ON


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The parameters that an endpoint accepts, learnt from its refusals."""

    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """Every endpoint knows the first; OpenAI's newer models require the second."""
    temperature: bool = True
    """Reasoning models often have a fixed one."""
    usage: bool = True
    """Whether the endpoint reports the tokens of a stream on request."""
    form: Form = "json_schema"
    """The strictest way to make the answer fit a schema."""


@dataclass(kw_only=True, eq=False)
class OpenAIChatModel(Endpoint):
    kind = _KIND

    timeout: float = 120
    attempts: int = 3
    _dialect: Dialect = field(default=Dialect(), init=False)
    _form_is_known: bool = field(default=False, init=False)
    """True once the endpoint has accepted a schema: a later refusal is about that schema only."""

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int, passed_on: PassedOn = NOTHING_PASSED_ON
    ) -> AsyncGenerator[str | Completion, None]:
        question = ModelRequest(messages=messages, max_tokens=max_tokens, streamed=True, passed_on=passed_on)
        async with aclosing(self._answer(question)) as parts:
            async for part in parts:
                yield require_text(part) if isinstance(part, Completion) else part

    async def complete(
        self, messages: Sequence[Message], *, max_tokens: int, schema: JSONSchema | None = None
    ) -> Completion:
        question = ModelRequest(messages=messages, max_tokens=max_tokens, schema=schema)
        return require_text(await self._whole(question))

    async def check(self) -> str:
        hello = Message(role="user", content="Is anybody there? Answer yes or no.")
        # Any answer will do, also an empty one: a model that reasons first has not answered after so few tokens.
        await self._whole(ModelRequest(messages=[hello], max_tokens=_CHECK_TOKENS))
        return f"{self.model} at {self.where} answers"

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
                failure = self.failure(exc)
            else:
                self._learn(question, dialect)
                return
            if has_begun:
                raise failure.error
            not_understood = failure.status in NOT_UNDERSTOOD
            if not_understood and (other := _simplify(dialect, question, failure.words)):
                dialect = other
                attempt -= 1
            else:
                await self.wait_or_raise(failure, attempt)

    def _learn(self, question: ModelRequest, dialect: Dialect) -> None:
        keep = question.schema is None or self._form_is_known
        self._dialect = replace(dialect, form=self._dialect.form) if keep else dialect
        self._form_is_known |= question.schema is not None

    async def _ask(self, question: ModelRequest, dialect: Dialect) -> AsyncGenerator[str | Completion, None]:
        """One request. Limits each wait for the endpoint and all together; time between the waits does not count."""
        reader = CompletionReader(model=self.model, is_stream=question.streamed)
        body = _write_body(self.model, question, dialect)
        seconds_left = self.timeout * (_STREAM_TIMEOUTS if question.streamed else 1)
        bytes_left = _BYTES_AROUND + _BYTES_PER_TOKEN * question.max_tokens
        clock = asyncio.get_running_loop().time
        async with aclosing(self.post("/chat/completions", body)) as chunks:
            while not reader.done:
                began = clock()
                async with asyncio.timeout(min(self.timeout, seconds_left)):
                    chunk = await anext(chunks, None)
                seconds_left -= clock() - began
                if chunk is None:
                    break
                bytes_left -= len(chunk)
                if bytes_left < 0:
                    raise ModelInvalid("The chat endpoint's answer does not come to an end")
                for piece in reader.feed(chunk):
                    yield piece
            await _read_rest(chunks)
        for piece in reader.flush():
            yield piece
        yield reader.end()


async def _read_rest(chunks: AsyncGenerator[bytes, None]) -> None:
    """Read on to the end of the body, so that its connection serves the next request. The answer is complete already."""
    bytes_left = _BYTES_AROUND
    with suppress(TimeoutError, httpx.HTTPError):
        async with asyncio.timeout(_LAST_SECONDS):
            async for chunk in chunks:
                bytes_left -= len(chunk)
                if bytes_left < 0:
                    return


def _write_body(model: str, question: ModelRequest, dialect: Dialect) -> dict[str, Any]:
    said = [{"role": one.role, "content": readable(one.content)} for one in question.messages]
    messages = [*said, *question.passed_on.messages]
    body: dict[str, Any] = {
        "model": model,
        "messages": messages,
        dialect.limit: question.max_tokens,
        **question.passed_on.options,
    }
    if dialect.temperature:
        body["temperature"] = 0
    if question.streamed:
        body["stream"] = True
        if dialect.usage:
            body["stream_options"] = {"include_usage": True}
    if question.schema is not None and dialect.form != "none":
        body["response_format"] = {"type": dialect.form}
        if dialect.form == "json_schema":
            strict = {"name": "answer", "strict": True, "schema": dict(question.schema)}
            body["response_format"]["json_schema"] = strict
    return body


def _simplify(dialect: Dialect, question: ModelRequest, words: str) -> Dialect | None:
    """The dialect to try after a refusal with these words; None when nothing more can be left out.

    The words may quote the messages and so name a parameter by chance. That costs one useless request: only a dialect
    that got an answer is kept.
    """
    if dialect.limit == "max_tokens" and "max_completion_tokens" in words:
        return replace(dialect, limit="max_completion_tokens")
    if dialect.temperature and "temperature" in words:
        return replace(dialect, temperature=False)
    if dialect.usage and question.streamed and "stream_options" in words:
        return replace(dialect, usage=False)
    if question.schema is not None and dialect.form in _NEXT_FORM:
        return replace(dialect, form=_NEXT_FORM[dialect.form])
    return None
