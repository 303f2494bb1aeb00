"""Reranks with an endpoint that has `/rerank`: Jina, Cohere, vLLM, or TEI, which names its fields differently."""

import asyncio
import math
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import orjson

from whence.errors import RerankError
from whence.providers.base import readable
from whence.providers.connection import ENDPOINT_ERRORS, NOT_UNDERSTOOD, Endpoint, Kind

_KIND = Kind(
    name="rerank",
    prefix="WHENCE_RERANK_",
    unavailable=RerankError,
    timeout=RerankError,
    refused=RerankError,
    invalid=RerankError,
)


@dataclass(kw_only=True, eq=False)
class EndpointReranker(Endpoint):
    kind = _KIND

    timeout: float = 5
    attempts: int = 1
    _is_tei: bool = field(default=False, init=False)
    """Whether the endpoint wants `texts` instead of `documents`; its first answer shows it."""

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        cleaned = [readable(text) for text in texts]
        try:
            return await self._ask(readable(query), cleaned, is_tei=self._is_tei)
        except ENDPOINT_ERRORS as exc:
            failure = self.failure(exc)
        if failure.status not in NOT_UNDERSTOOD or self._is_tei:
            raise failure.error
        try:
            scores = await self._ask(readable(query), cleaned, is_tei=True)
        except ENDPOINT_ERRORS:
            raise failure.error from None
        self._is_tei = True
        return scores

    async def check(self) -> str:
        await self.rerank("Is anybody there?", ["Yes.", "No."])
        return f"{self.model} at {self.where} answers"

    async def _ask(self, query: str, texts: list[str], *, is_tei: bool) -> list[float]:
        body: dict[str, Any] = {"model": self.model, "query": query, "documents": texts, "top_n": len(texts)}
        if is_tei:
            body = {"query": query, "texts": texts, "truncate": True}
        chunks = self.post("/rerank", body)
        async with asyncio.timeout(self.timeout), aclosing(chunks):
            answer = b"".join([chunk async for chunk in chunks])
        return _read_scores(answer, len(texts))


def _read_scores(body: bytes, count: int) -> list[float]:
    """Raises RerankError unless the answer has one finite score for each text."""
    try:
        answer = orjson.loads(body)
        rows = answer if isinstance(answer, list) else answer["results"]
        scores = {int(row["index"]): float(row.get("relevance_score", row.get("score"))) for row in rows}
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as exc:
        raise RerankError("The rerank endpoint's answer is not what the protocol says") from exc
    if sorted(scores) != list(range(count)) or not all(map(math.isfinite, scores.values())):
        raise RerankError("The rerank endpoint did not score each text once")
    return [scores[index] for index in range(count)]
