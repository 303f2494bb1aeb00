"""Embeddings from any endpoint that speaks OpenAI's protocol: OpenAI, Gemini, Ollama, vLLM, TEI, …

Requests ask for floats: some endpoints refuse base64, and others ignore that request.
"""

import asyncio
import base64
import binascii
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from whence.errors import EmbeddingInvalid, EmbeddingRefused, EmbeddingUnavailable
from whence.providers.base import Embedded, in_parallel, readable
from whence.providers.chat_response import count_tokens
from whence.providers.connection import ENDPOINT_ERRORS, NOT_UNDERSTOOD, Endpoint, Kind
from whence.providers.windows import Window, apportioned, averaged, batches, normalised, windows

if TYPE_CHECKING:
    from whence.providers.base import Vectors

_REQUEST_BYTES = 100_000
"""Maximum bytes of text in one request: about 30,000 tokens, which endpoints limit too."""
_BLANK = "."
"""Sent for a blank text: endpoints refuse those, and a full stop has the least meaning."""

_KIND = Kind(
    name="embedding",
    prefix="WHENCE_EMBEDDING_",
    unavailable=EmbeddingUnavailable,
    timeout=EmbeddingUnavailable,
    refused=EmbeddingRefused,
    invalid=EmbeddingInvalid,
)


@dataclass(kw_only=True, eq=False)
class OpenAIEmbedder(Endpoint):
    kind = _KIND
    is_at_hand = False

    dimensions: int
    batch: int = 64
    concurrency: int = 4
    timeout: float = 60
    attempts: int = 5
    max_bytes: int = 6000
    _takes_dimensions: bool | None = field(default=None, init=False)
    """Whether the endpoint knows the parameter `dimensions`; its first answers show it."""

    def __post_init__(self) -> None:
        self._turn = asyncio.Semaphore(self.concurrency)

    async def embed(self, texts: Sequence[str]) -> Embedded:
        if not texts:
            return Embedded(vectors=np.zeros((0, self.dimensions), dtype=np.float32), token_counts=[])
        cleaned = [readable(text) if text and not text.isspace() else _BLANK for text in texts]
        found = list(windows(cleaned, self.max_bytes))
        vectors = np.empty((len(found), self.dimensions), dtype=np.float32)
        tokens: list[int | None] = [None] * len(found)

        async def ask(part: range) -> None:
            asked = found[part.start : part.stop]
            vectors[part.start : part.stop], total = await self._answer([window.text for window in asked])
            if total is not None:
                tokens[part.start : part.stop] = apportioned(total, [window.weight for window in asked])

        weights, owners = [window.weight for window in found], [window.owner for window in found]
        requests = batches(weights, max_inputs=self.batch, max_size=_REQUEST_BYTES)
        await in_parallel(ask, requests, at_once=self.concurrency)
        together = averaged(vectors, weights=weights, owners=owners, count=len(texts))
        return Embedded(vectors=together, token_counts=_sum_tokens(found, tokens, len(texts)))

    async def check(self) -> str:
        await self._answer(["Is anybody there?"])
        return f"{self.model} at {self.where} answers with {self.dimensions} dimensions"

    async def _answer(self, inputs: list[str]) -> tuple["Vectors", int | None]:
        """Sends the request until it is answered. Raises a permanent error, or the error of the last attempt."""
        with_dimensions = self._takes_dimensions is not False
        attempt = 0
        while True:
            attempt += 1
            try:
                async with self._turn:
                    found = await self._ask(inputs, with_dimensions=with_dimensions)
            except ENDPOINT_ERRORS as exc:
                failure = self.failure(exc)
            else:
                self._takes_dimensions = with_dimensions
                return found
            if with_dimensions and self._takes_dimensions is not True and failure.status in NOT_UNDERSTOOD:
                # Perhaps it has vectors of one size only, and not that parameter. The answer's size is checked.
                with_dimensions = False
            else:
                await self.wait_or_raise(failure, attempt)

    async def _ask(self, inputs: list[str], *, with_dimensions: bool) -> tuple["Vectors", int | None]:
        """One request."""
        body: dict[str, Any] = {"model": self.model, "input": inputs, "encoding_format": "float"}
        if with_dimensions:
            body["dimensions"] = self.dimensions
        chunks = self.post("/embeddings", body)
        async with asyncio.timeout(self.timeout), aclosing(chunks):
            answer = b"".join([chunk async for chunk in chunks])
        return _read_answer(answer, count=len(inputs), dimensions=self.dimensions)


def _sum_tokens(found: Sequence[Window], tokens: Sequence[int | None], count: int) -> list[int | None]:
    """For each text the tokens of its windows; None if one of them is unknown."""
    totals: list[int | None] = [0] * count
    for window, more in zip(found, tokens, strict=True):
        before = totals[window.owner]
        totals[window.owner] = None if before is None or more is None else before + more
    return totals


def _read_answer(body: bytes, *, count: int, dimensions: int) -> tuple["Vectors", int | None]:
    """The vectors of length 1, and the tokens of all inputs together if the endpoint reports them.

    Raises EmbeddingInvalid unless the answer is `count` finite, non-zero vectors of `dimensions`.
    """
    try:
        answer = orjson.loads(body)
        rows = _sort(answer["data"])
        vectors = [_read_vector(row["embedding"]) for row in rows]
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as exc:
        raise EmbeddingInvalid("The embedding endpoint's answer is not what the protocol says") from exc
    if len(vectors) != count:
        raise EmbeddingInvalid(
            "The embedding endpoint gave the wrong number of vectors",
            details={"expected": count, "received": len(vectors)},
        )
    return _check(vectors, dimensions), count_tokens(answer, "prompt_tokens")


def _sort(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sorted by index if all rows have one: an endpoint that works in parallel may answer in any order."""
    indexes = [row.get("index") for row in rows]
    if sorted(index for index in indexes if type(index) is int) != list(range(len(rows))):
        return rows  # some endpoints number every row 0; then the order of the list counts
    return sorted(rows, key=lambda row: int(row["index"]))


def _read_vector(embedding: Any) -> "Vectors":
    """Numbers, or base64 of little-endian float32, which some endpoints send although floats were requested."""
    if isinstance(embedding, str):
        try:
            return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").astype(np.float32)
        except binascii.Error as exc:
            raise ValueError("not base64") from exc
    if not isinstance(embedding, list):
        raise TypeError("no vector")
    with np.errstate(over="ignore"):  # a value that is too large becomes infinite, and is refused
        return np.array(embedding, dtype=np.float64).astype(np.float32)


def _check(vectors: Sequence["Vectors"], dimensions: int) -> "Vectors":
    wrong = next((vector for vector in vectors if vector.shape != (dimensions,)), None)
    if wrong is not None:
        raise EmbeddingInvalid(
            f"The embedding endpoint gave a vector of {wrong.size} dimensions, and "
            f"WHENCE_EMBEDDING_DIMENSIONS is {dimensions}",
            details={"expected": dimensions, "received": wrong.size},
        )
    together = np.stack(vectors)
    if not np.isfinite(together).all() or not together.any(axis=1).all():
        raise EmbeddingInvalid("The embedding endpoint gave a vector of zeros, or one that is not finite")
    return normalised(together)
