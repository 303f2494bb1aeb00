"""Any endpoint that speaks OpenAI's protocol: OpenAI, Gemini, Ollama, vLLM, TEI, …

Of the SDK only its client is used. It neither retries nor reads answers here: endpoints differ in both, and
each difference is handled where it can be tested. Floats are asked for, as some endpoints refuse base64 and others
ignore that they were asked for it.
"""

import asyncio
import logging
from collections.abc import Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from whence.errors import EmbeddingError, EmbeddingInvalid, EmbeddingRefused, EmbeddingUnavailable
from whence.providers.answers import Answer, read_answer
from whence.providers.base import Embedded, in_parallel, readable
from whence.providers.retries import may_pass, wait_after
from whence.providers.vectors import averaged
from whence.providers.windows import Window, apportioned, batches, windows
from whence.settings import Secret

if TYPE_CHECKING:
    import openai

_REQUEST_BYTES = 100_000
"""Of text in one request: about 30,000 tokens, and endpoints limit those too."""
_INVALID_ATTEMPTS = 2
_EXCERPT = 300
_NOT_UNDERSTOOD = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)
_ABOUT_THE_KEY = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
_BLANK = "."
"""Sent for a text without anything in it: endpoints refuse those, and a full stop says as little as can be said."""

_log = logging.getLogger(__name__)


class _Failure(NamedTuple):
    """A request that was not answered as it should be: what to raise, and what to know before sending it again."""

    error: EmbeddingError
    status: int | None = None
    retry_after: str | None = None


class OpenAIEmbedder:
    provider = "openai"

    def __init__(
        self,
        *,
        base_url: str,
        api_key: Secret | None,
        model: str,
        dimensions: int,
        batch: int = 64,
        concurrency: int = 4,
        timeout: float = 60,
        attempts: int = 5,
        max_bytes: int = 6000,
        backoff: float = 0.5,
    ) -> None:
        """`backoff` is how many seconds to wait after the first failure; each further one doubles it."""
        self.model = model
        self.dimensions = dimensions
        self._base_url = base_url
        self._api_key = api_key
        self._batch = batch
        self._concurrency = concurrency
        self._timeout = timeout
        self._attempts = attempts
        self._max_bytes = max_bytes
        self._backoff = backoff
        self._turn = asyncio.Semaphore(concurrency)
        self._connecting = asyncio.Lock()
        self._client: openai.AsyncOpenAI | None = None
        self._takes_dimensions: bool | None = None
        """Whether the endpoint allows to name the dimensions: learnt from its first answers."""

    async def embed(self, texts: Sequence[str]) -> Embedded:
        if not texts:
            return Embedded(vectors=np.zeros((0, self.dimensions), dtype=np.float32), token_counts=[])
        cleaned = [readable(text) if text and not text.isspace() else _BLANK for text in texts]
        found = list(windows(cleaned, self._max_bytes))
        vectors = np.empty((len(found), self.dimensions), dtype=np.float32)
        tokens: list[int | None] = [None] * len(found)

        async def ask(part: range) -> None:
            asked = found[part.start : part.stop]
            answer = await self._answer([window.text for window in asked])
            vectors[part.start : part.stop] = answer.vectors
            if answer.tokens is not None:
                shares = apportioned(answer.tokens, [window.weight for window in asked])
                tokens[part.start : part.stop] = shares

        requests = batches(found, max_inputs=self._batch, max_bytes=_REQUEST_BYTES)
        await in_parallel(ask, requests, at_once=self._concurrency)
        weights, owners = [window.weight for window in found], [window.owner for window in found]
        together = averaged(vectors, weights=weights, owners=owners, count=len(texts))
        return Embedded(vectors=together, token_counts=_totals(found, tokens, len(texts)))

    async def check(self) -> str:
        await self._answer(["Is anybody there?"])
        # Without the query: keys are written there.
        where = self._base_url.partition("?")[0]
        return f"{self.model} at {where} answers with {self.dimensions} dimensions"

    async def aclose(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _answer(self, inputs: list[str]) -> Answer:
        """Asks until there is an answer, or no hope or attempt left."""
        with_dimensions = self._takes_dimensions is not False
        attempt = 0
        while True:
            attempt += 1
            async with self._turn:
                found = await self._ask(inputs, with_dimensions=with_dimensions)
            if isinstance(found, Answer):
                self._takes_dimensions = with_dimensions
                return found
            if with_dimensions and self._takes_dimensions is not True and found.status in _NOT_UNDERSTOOD:
                # Perhaps it knows vectors of one size only, and not that parameter. What it gives is checked.
                with_dimensions = False
                continue
            limit = self._limit(found.error)
            if attempt >= limit:
                found.error.details["attempts"] = attempt
                raise found.error
            seconds = wait_after(attempt, retry_after=found.retry_after, backoff=self._backoff)
            _log.info(
                "Attempt %d of %d: %s; the next in %.1f s", attempt, limit, found.error.message, seconds
            )
            await asyncio.sleep(seconds)

    def _limit(self, error: EmbeddingError) -> int:
        """How many attempts a failure like this deserves."""
        if isinstance(error, EmbeddingUnavailable):
            return self._attempts
        return min(self._attempts, _INVALID_ATTEMPTS) if isinstance(error, EmbeddingInvalid) else 1

    async def _ask(self, inputs: list[str], *, with_dimensions: bool) -> Answer | _Failure:
        """One request. What the SDK raises ends here."""
        client = await self._connected()
        import openai  # noqa: PLC0415 - loaded by now, in a thread

        # Left out, or the SDK would take them from OPENAI_* variables: settings come from one place.
        headers: dict[str, Any] = {"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}
        if self._api_key is None:
            headers["Authorization"] = openai.Omit()
        try:
            async with asyncio.timeout(self._timeout):  # the SDK's limit is for each read, not for the whole
                response = await client.embeddings.with_raw_response.create(
                    model=self.model,
                    input=inputs,
                    encoding_format="float",
                    dimensions=self.dimensions if with_dimensions else openai.omit,
                    extra_headers=headers,
                )
                body = response.content
            return read_answer(body, count=len(inputs), dimensions=self.dimensions)
        except EmbeddingInvalid as exc:
            return _Failure(exc)
        except (TimeoutError, openai.APITimeoutError):
            return _Failure(
                EmbeddingUnavailable(f"The embedding endpoint did not answer within {self._timeout:g} s")
            )
        except openai.APIConnectionError as exc:
            error = EmbeddingUnavailable("The embedding endpoint cannot be reached")
            error.__cause__ = exc
            return _Failure(error)
        except openai.APIStatusError as exc:
            return self._refusal(exc)

    def _refusal(self, exc: "openai.APIStatusError") -> _Failure:
        """Not chained to the SDK's exception: that repeats what the endpoint said, and some repeat the key."""
        status = exc.status_code
        self._log_words(status, exc.response.text)
        error: EmbeddingError
        if may_pass(status):
            error = EmbeddingUnavailable(f"The embedding endpoint answered {status}")
        elif status in _ABOUT_THE_KEY:
            given = "was refused" if self._api_key else "is needed and not set"
            error = EmbeddingRefused(
                f"The key for the embedding endpoint {given} ({status}): see WHENCE_EMBEDDING_API_KEY"
            )
        elif status == HTTPStatus.NOT_FOUND:
            error = EmbeddingRefused(
                "The embedding endpoint knows no such address or model (404): see WHENCE_EMBEDDING_BASE_URL "
                "and WHENCE_EMBEDDING_MODEL"
            )
        else:
            error = EmbeddingRefused(
                f"The embedding endpoint refused the request ({status}): perhaps a key or a model that it does not know, "
                "or a text too long for the model; see WHENCE_EMBEDDING_API_KEY, _MODEL and _MAX_BYTES"
            )
        error.details["status"] = status
        return _Failure(error, status, exc.response.headers.get("retry-after"))

    def _log_words(self, status: int, words: str) -> None:
        """For who looks for the reason; not by default, as an endpoint may repeat the texts it was sent."""
        if status not in _ABOUT_THE_KEY:
            secret = self._api_key.reveal() if self._api_key else ""
            shown = words.replace(secret, "…") if secret else words
            _log.debug("The embedding endpoint answered %d: %r", status, shown[:_EXCERPT])

    async def _connected(self) -> "openai.AsyncOpenAI":
        async with self._connecting:
            if self._client is None:
                self._client = await asyncio.to_thread(self._connect)
            return self._client

    def _connect(self) -> "openai.AsyncOpenAI":
        """In a thread, as importing the SDK takes a second."""
        import openai  # noqa: PLC0415 - likewise

        return openai.AsyncOpenAI(
            base_url=self._base_url,
            api_key=self._api_key.reveal() if self._api_key else "none",
            timeout=self._timeout,
            max_retries=0,
        )


def _totals(found: Sequence[Window], tokens: Sequence[int | None], count: int) -> list[int | None]:
    """For each text the tokens of its windows; unknown if those of one are."""
    totals: list[int | None] = [0] * count
    for window, more in zip(found, tokens, strict=True):
        before = totals[window.owner]
        totals[window.owner] = None if before is None or more is None else before + more
    return totals
