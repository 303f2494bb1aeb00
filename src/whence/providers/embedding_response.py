"""Reads and checks the answers of embedding endpoints."""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from whence.errors import EmbeddingInvalid
from whence.providers.vectors import normalised

if TYPE_CHECKING:
    from whence.providers.base import Vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingResponse:
    vectors: "Vectors"
    """Of length 1, in the order of the inputs."""
    tokens: int | None
    """Of all inputs together; None if the endpoint does not report them."""


def read_answer(body: bytes, *, count: int, dimensions: int) -> EmbeddingResponse:
    """Raises EmbeddingInvalid unless the answer is `count` finite, non-zero vectors of `dimensions`."""
    try:
        answer = orjson.loads(body)
        rows = _in_order(answer["data"])
        vectors = [_floats(row["embedding"]) for row in rows]
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as exc:
        raise EmbeddingInvalid("The embedding endpoint's answer is not what the protocol says") from exc
    if len(vectors) != count:
        raise EmbeddingInvalid(
            "The embedding endpoint gave the wrong number of vectors",
            details={"expected": count, "received": len(vectors)},
        )
    return EmbeddingResponse(vectors=_checked(vectors, dimensions), tokens=_tokens(answer.get("usage")))


def _in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sorted by index if all rows have one: an endpoint that works in parallel may answer in any order."""
    indexes = [row.get("index") for row in rows]
    if sorted(index for index in indexes if type(index) is int) != list(range(len(rows))):
        return rows  # some endpoints number every row 0; then the order of the list counts
    return sorted(rows, key=lambda row: int(row["index"]))


def _floats(embedding: Any) -> "Vectors":
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


def _checked(vectors: Sequence["Vectors"], dimensions: int) -> "Vectors":
    wrong = next((vector for vector in vectors if vector.shape != (dimensions,)), None)
    if wrong is not None:
        raise EmbeddingInvalid(
            f"The embedding endpoint gave a vector of {wrong.size} dimensions, and "
            f"WHENCE_EMBEDDING_DIMENSIONS is {dimensions}",
            details={"expected": dimensions, "received": wrong.size},
        )
    together = np.stack(vectors)
    if not np.isfinite(together).all():
        raise EmbeddingInvalid(
            "The embedding endpoint gave a vector with a value that is not a finite number"
        )
    if not together.any(axis=1).all():
        raise EmbeddingInvalid("The embedding endpoint gave a vector of zeros, which has no direction")
    return normalised(together)


def _tokens(usage: Any) -> int | None:
    tokens = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    # Some endpoints write 0 when they do not count; every text has a token.
    return tokens if type(tokens) is int and tokens > 0 else None
