"""The vectors of objects, made beside other work where that keeps nobody waiting."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from whence.extract.outcome import Ref
from whence.providers import Embedder
from whence.store.pool import busy

LITTLE = 2_000
"""So many characters in all are embedded within moments."""

T = TypeVar("T")


async def embed(embedder: Embedder, texts: Sequence[str]) -> list[list[float]]:
    embedded = await embedder.embed(texts)
    vectors: list[list[float]] = embedded.vectors.tolist()
    return vectors


@asynccontextmanager
async def vectors_of(
    texts: Mapping[Ref, str], embedder: Embedder | None
) -> AsyncIterator[Awaitable[Mapping[Ref, Sequence[float]]]]:
    """Made while the block does its work, which holds rows that others want; where they may take long, before it.

    Where there are no texts, nobody is needed to embed them.
    """
    is_soon_done = embedder is None or (embedder.is_at_hand and sum(map(len, texts.values())) <= LITTLE)
    async with meanwhile(_vectors(texts, embedder)) as made:
        # Begun before the block is, or done.
        await (asyncio.sleep(0) if is_soon_done else made)
        with busy():
            yield made


async def _vectors(texts: Mapping[Ref, str], embedder: Embedder | None) -> Mapping[Ref, Sequence[float]]:
    if embedder is None:
        return {}
    return dict(zip(texts, await embed(embedder, list(texts.values())), strict=True))


@asynccontextmanager
async def meanwhile(work: Coroutine[Any, Any, T]) -> AsyncIterator[asyncio.Task[T]]:
    """Work that goes on beside that of the block, and ends with it."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
