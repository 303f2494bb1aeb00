"""Embeddings from any endpoint that speaks OpenAI's protocol: OpenAI, Gemini, Ollama, vLLM, TEI, …

Requests ask for floats: some endpoints refuse base64, and others ignore that request.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np

from whence.errors import EmbeddingInvalid, EmbeddingRefused, EmbeddingUnavailable, WhenceError
from whence.providers.base import Embedded, in_parallel, readable
from whence.providers.connection import (
    ENDPOINT_ERRORS,
    NOT_UNDERSTOOD,
    EndpointConnection,
    EndpointFailure,
    Kind,
    wait_or_raise,
)
from whence.providers.embedding_response import EmbeddingResponse, read_answer
from whence.providers.vectors import averaged
from whence.providers.windows import Window, apportioned, batches, windows
from whence.settings import Secret

_REQUEST_BYTES = 100_000
"""Maximum bytes of text in one request: about 30,000 tokens, which endpoints limit too."""
_INVALID_ATTEMPTS = 2
_BLANK = "."
"""Sent for a blank text: endpoints refuse those, and a full stop has the least meaning."""

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
        """`backoff` is the pause in seconds after the first failure; each further failure doubles it."""
        self.model = model
        self.dimensions = dimensions
        self._batch = batch
        self._concurrency = concurrency
        self._timeout = timeout
        self._attempts = attempts
        self._max_bytes = max_bytes
        self._backoff = backoff
        self._turn = asyncio.Semaphore(concurrency)
        self._connection = EndpointConnection(_KIND, base_url=base_url, api_key=api_key, timeout=timeout)
        self._takes_dimensions: bool | None = None
        """Whether the endpoint knows the parameter `dimensions`; its first answers show it."""

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

    async def _answer(self, inputs: list[str]) -> EmbeddingResponse:
        """Sends the request until it is answered. Raises a permanent error, or the error of the last attempt."""
        with_dimensions = self._takes_dimensions is not False
        attempt = 0
        while True:
            attempt += 1
            async with self._turn:
                found = await self._ask(inputs, with_dimensions=with_dimensions)
            if isinstance(found, EmbeddingResponse):
                self._takes_dimensions = with_dimensions
                return found
            if with_dimensions and self._takes_dimensions is not True and found.status in NOT_UNDERSTOOD:
                # Perhaps it has vectors of one size only, and not that parameter. The answer's size is checked.
                with_dimensions = False
                continue
            limit = self._limit(found.error)
            await wait_or_raise(found, attempt=attempt, limit=limit, backoff=self._backoff)

    def _limit(self, error: WhenceError) -> int:
        """The number of attempts for a failure of this kind."""
        if isinstance(error, EmbeddingUnavailable):
            return self._attempts
        return min(self._attempts, _INVALID_ATTEMPTS) if isinstance(error, EmbeddingInvalid) else 1

    async def _ask(self, inputs: list[str], *, with_dimensions: bool) -> EmbeddingResponse | EndpointFailure:
        """One request."""
        body: dict[str, Any] = {"model": self.model, "input": inputs, "encoding_format": "float"}
        if with_dimensions:
            body["dimensions"] = self.dimensions
        try:
            async with asyncio.timeout(self._timeout), self._connection.post("/embeddings", body) as response:
                answer = await response.aread()
            return read_answer(answer, count=len(inputs), dimensions=self.dimensions)
        except EmbeddingInvalid as exc:
            return EndpointFailure(exc)
        except ENDPOINT_ERRORS as exc:
            return self._connection.failure(exc)


def _totals(found: Sequence[Window], tokens: Sequence[int | None], count: int) -> list[int | None]:
    """For each text the tokens of its windows; None if one of them is unknown."""
    totals: list[int | None] = [0] * count
    for window, more in zip(found, tokens, strict=True):
        before = totals[window.owner]
        totals[window.owner] = None if before is None or more is None else before + more
    return totals
