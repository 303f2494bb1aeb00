"""Embeds objects, in parallel with other work if that keeps nobody waiting."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from uuid import UUID

from whence.extract.links import Ref
from whence.extract.to_store import text_of
from whence.models import ChunkExtraction, grounded
from whence.providers import Embedder, Embedders
from whence.store import Store
from whence.store.connection import busy
from whence.store.graph import WrittenChunk

LITTLE = 2_000
"""Total characters that can be embedded within moments."""

_BATCH = 64

T = TypeVar("T")


async def embed(embedder: Embedder, texts: Sequence[str]) -> list[list[float]]:
    embedded = await embedder.embed(texts)
    vectors: list[list[float]] = embedded.vectors.tolist()
    return vectors


async def embed_lacking(store: Store, embedders: Embedders, project_id: UUID) -> bool:
    """Embeds some objects without a vector in the project's space; returns whether there were any."""
    space, _ = await store.vectors.spaces(project_id)
    lacking = await store.graph.objects.lacking(project_id, space.id, limit=_BATCH) if space else []
    if space and lacking:
        texts = [text_of(each.type, each.name, grounded(each)) for each in lacking]
        vectors = await embed(embedders.of(space), texts)
        made = {each.id: vector for each, vector in zip(lacking, vectors, strict=True)}
        await store.graph.objects.put_vectors(project_id, space.id, made)
    return bool(lacking)


@asynccontextmanager
async def vectors_of(
    texts: Mapping[Ref, str], embedder: Embedder | None
) -> AsyncIterator[Awaitable[Mapping[Ref, Sequence[float]]]]:
    """Embeds the texts while the block runs. If that may take long, embeds them first, because the block holds row locks.

    `embedder` may be None if there are no texts.
    """
    is_soon_done = embedder is None or (embedder.is_at_hand and sum(map(len, texts.values())) <= LITTLE)
    async with meanwhile(_embed_texts(texts, embedder)) as made:
        # Embedding has started before the block runs, or is finished.
        await (asyncio.sleep(0) if is_soon_done else made)
        with busy():
            yield made


async def _embed_texts(texts: Mapping[Ref, str], embedder: Embedder | None) -> Mapping[Ref, Sequence[float]]:
    if embedder is None:
        return {}
    return dict(zip(texts, await embed(embedder, list(texts.values())), strict=True))


def own_vectors(
    extracted: ChunkExtraction, made: WrittenChunk, by_ref: Mapping[Ref, Sequence[float]]
) -> dict[UUID, Sequence[float]]:
    """The vectors of the written objects. An object that was merged into another has none: the other keeps its own.

    Exception: if the other was restored just now, its only claims are those of its parts, so it gets their vector.
    """
    back = vectors_under(extracted, made.objects, by_ref)
    own = vectors_under(extracted, made.themselves, by_ref)
    return {ident: vector for ident, vector in back.items() if ident in made.created} | own


def vectors_under(
    extracted: ChunkExtraction, written: Sequence[UUID | None], by_ref: Mapping[Ref, Sequence[float]]
) -> dict[UUID, Sequence[float]]:
    """The vectors of the found objects, by the ids they were written under."""
    return {
        ident: by_ref[found.ref]
        for found, ident in zip(extracted.objects, written, strict=True)
        if ident is not None and found.ref is not None and found.ref in by_ref
    }


@asynccontextmanager
async def meanwhile(work: Coroutine[Any, Any, T]) -> AsyncIterator[asyncio.Task[T]]:
    """Runs `work` as a task beside the block, and cancels it at the end of the block."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
