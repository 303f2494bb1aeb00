"""Any endpoint that speaks OpenAI's protocol: OpenAI, Gemini, Ollama, vLLM, TEI, …

Floats are asked for, as some endpoints refuse base64 and others ignore that they were asked for it.
"""

import asyncio
from collections.abc import Sequence

import numpy as np

from whence.errors import EmbeddingInvalid, EmbeddingRefused, EmbeddingUnavailable, WhenceError
from whence.providers.answers import Answer, read_answer
from whence.providers.base import Embedded, in_parallel, readable
from whence.providers.connection import (
    NOT_UNDERSTOOD,
    Connection,
    Failure,
    Kind,
    TransportError,
    foreign,
    wait_or_raise,
)
from whence.providers.vectors import averaged
from whence.providers.windows import Window, apportioned, batches, windows
from whence.settings import Secret

_REQUEST_BYTES = 100_000
"""Of text in one request: about 30,000 tokens, and endpoints limit those too."""
_INVALID_ATTEMPTS = 2
_BLANK = "."
"""Sent for a text without anything in it: endpoints refuse those, and a full stop says as little as can be said."""

_KIND = Kind(
    name="embedding",
    prefix="WHENCE_EMBEDDING_",
    too_long="a text",
    too_long_setting="_MAX_BYTES",
    unavailable=EmbeddingUnavailable,
    timeout=EmbeddingUnavailable,
    refused=EmbeddingRefused,
)


class OpenAIEmbedder:
    provider = "openai"
    is_at_hand = False

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
        self._batch = batch
        self._concurrency = concurrency
        self._timeout = timeout
        self._attempts = attempts
        self._max_bytes = max_bytes
        self._backoff = backoff
        self._turn = asyncio.Semaphore(concurrency)
        self._connection = Connection(_KIND, base_url=base_url, api_key=api_key, timeout=timeout)
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
        return f"{self.model} at {self._connection.where} answers with {self.dimensions} dimensions"

    async def aclose(self) -> None:
        await self._connection.aclose()

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
            if with_dimensions and self._takes_dimensions is not True and found.status in NOT_UNDERSTOOD:
                # Perhaps it knows vectors of one size only, and not that parameter. What it gives is checked.
                with_dimensions = False
                continue
            limit = self._limit(found.error)
            await wait_or_raise(found, attempt=attempt, limit=limit, backoff=self._backoff)

    def _limit(self, error: WhenceError) -> int:
        """How many attempts a failure like this deserves."""
        if isinstance(error, EmbeddingUnavailable):
            return self._attempts
        return min(self._attempts, _INVALID_ATTEMPTS) if isinstance(error, EmbeddingInvalid) else 1

    async def _ask(self, inputs: list[str], *, with_dimensions: bool) -> Answer | Failure:
        """One request. What the SDK raises ends here."""
        client = await self._connection.client()
        import openai  # noqa: PLC0415 - loaded by now, in a thread

        try:
            with foreign():
                async with asyncio.timeout(self._timeout):
                    response = await client.embeddings.with_raw_response.create(
                        model=self.model,
                        input=inputs,
                        encoding_format="float",
                        dimensions=self.dimensions if with_dimensions else openai.omit,
                        extra_headers=self._connection.headers(),
                    )
                    body = response.content
            return read_answer(body, count=len(inputs), dimensions=self.dimensions)
        except EmbeddingInvalid as exc:
            return Failure(exc)
        except (TimeoutError, TransportError, openai.OpenAIError) as exc:
            return self._connection.failure(exc)


def _totals(found: Sequence[Window], tokens: Sequence[int | None], count: int) -> list[int | None]:
    """For each text the tokens of its windows; unknown if those of one are."""
    totals: list[int | None] = [0] * count
    for window, more in zip(found, tokens, strict=True):
        before = totals[window.owner]
        totals[window.owner] = None if before is None or more is None else before + more
    return totals
