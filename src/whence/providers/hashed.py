"""An embedder without a model: each word adds to one dimension of the vector. For tests and benchmarks.

Texts with common words are near each other, which is enough to test that search finds the right chunk. It does not
know the meaning of words.
"""

import asyncio
import re
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from whence.providers.base import Embedded, readable
from whence.providers.windows import normalised

if TYPE_CHECKING:
    from whence.providers.base import Vectors

DIMENSIONS = 256

_WORD = re.compile(r"\w+|[^\w\s]")
_AT_ONCE = 64


class HashEmbedder:
    provider = "hash"
    model = "words"
    is_at_hand = True

    def __init__(self, *, dimensions: int = DIMENSIONS) -> None:
        self.dimensions = dimensions

    async def embed(self, texts: Sequence[str]) -> Embedded:
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        counts: list[int | None] = []
        for n, text in enumerate(texts):
            if n % _AT_ONCE == 0:
                await asyncio.sleep(0)  # lets other tasks run, and ends a cancelled call
            found = words(text)
            vectors[n] = vector(found, self.dimensions)
            counts.append(len(found))
        return Embedded(vectors=normalised(vectors), token_counts=counts)

    async def check(self) -> str:
        return f"hash, {self.dimensions} dimensions: for tests only, it does not know what words mean"

    async def aclose(self) -> None:
        pass


def words(text: str) -> list[bytes]:
    return [word.encode() for word in _WORD.findall(readable(text).lower())]


def vector(found: Sequence[bytes], dimensions: int) -> "Vectors":
    hashes = np.fromiter(map(zlib.crc32, found), dtype=np.uint32, count=len(found))
    signs = np.where(hashes >> np.uint32(31), -1.0, 1.0)  # words that share a dimension by chance cancel out
    summed = np.bincount(hashes % np.uint32(dimensions), weights=signs, minlength=dimensions)
    if not summed.any():  # no words, or words that cancel out: any direction
        summed[0] = 1
    return summed.astype(np.float32)
