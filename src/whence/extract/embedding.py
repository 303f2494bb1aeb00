"""The vectors of objects, made beside other work where that keeps nobody waiting."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from uuid import UUID

from whence.extract.outcome import Ref
from whence.models import ChunkExtraction
from whence.providers import Embedder
from whence.store.graph import WrittenChunk
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


def own_vectors(
    extracted: ChunkExtraction, made: WrittenChunk, by_ref: Mapping[Ref, Sequence[float]]
) -> dict[UUID, Sequence[float]]:
    """Of the objects that were written. One that became part of another has none: the other has its own.

    Unless that came back just now: then what is said of its parts is all that is said of it, and it is called what they are.
    """
    back = vectors_under(extracted, made.objects, by_ref)
    return {
        **{ident: vector for ident, vector in back.items() if ident in made.created},
        **vectors_under(extracted, made.themselves, by_ref),
    }


def vectors_under(
    extracted: ChunkExtraction, written: Sequence[UUID | None], by_ref: Mapping[Ref, Sequence[float]]
) -> dict[UUID, Sequence[float]]:
    """Those of what was found, by the ids that it was written under."""
    vectors: dict[object, Sequence[float]] = dict(by_ref.items())
    return {
        ident: vectors[item.ref]
        for item, ident in zip(extracted.objects, written, strict=True)
        if ident is not None and item.ref in vectors
    }


@asynccontextmanager
async def meanwhile(work: Coroutine[Any, Any, T]) -> AsyncIterator[asyncio.Task[T]]:
    """Work that goes on beside that of the block, and ends with it."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
