"""Embeds objects, in parallel with other work unless it would hold locks for long."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from uuid import UUID

from whence.chunk_findings import ChunkExtraction
from whence.extract.context import KnownObject
from whence.extract.links import Ref
from whence.extract.to_store import object_text
from whence.models import EmbeddingSpace
from whence.providers import Embedder, Embedders
from whence.store import Store
from whence.store.connection import busy
from whence.store.graph import WrittenChunk

LITTLE = 2_000
"""Maximum total of characters that are embedded in a moment."""

_BATCH = 64

T = TypeVar("T")


async def embed(embedder: Embedder, texts: Sequence[str]) -> list[list[float]]:
    embedded = await embedder.embed(texts)
    vectors: list[list[float]] = embedded.vectors.tolist()
    return vectors


async def embed_lacking(store: Store, embedders: Embedders, project_id: UUID) -> bool:
    """Embeds some objects without a vector in the project's space; returns whether there were any.

    An object that changed meanwhile is skipped: it still lacks a vector, or its writer stored one.
    """
    space, _ = await store.vectors.spaces(project_id)
    lacking = await store.graph.objects.lacking(project_id, space.id, limit=_BATCH) if space else []
    if space and lacking:
        texts = {each.id: object_text(each) for each in lacking}
        vectors = dict(zip(texts, await embed(embedders.of(space), list(texts.values())), strict=True))
        async with store.transaction() as tx:
            now = await tx.graph.objects.lock(project_id, texts)
            fitting = {each.id: vectors[each.id] for each in now if object_text(each) == texts[each.id]}
            await tx.graph.objects.put_vectors(project_id, space.id, fitting)
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


async def store_vectors(
    tx: Store,
    space: EmbeddingSpace,
    written: ChunkExtraction,
    made: WrittenChunk,
    *,
    texts: Mapping[Ref, str],
    known: Iterable[KnownObject],
    vectors: Mapping[Ref, Sequence[float]],
) -> bool:
    """Stores the vectors that fit the objects as written; returns whether others must be embedded again.

    An object differs from the text that was embedded if a claim was rejected or withdrawn, if another claim is newer, or if the
    claim is about an object merged into it. Then it loses its vector.
    """
    objects = await tx.graph.objects.many(written.project_id, made.changed) if made.changed else []
    now = {one.id: object_text(one) for one in objects}
    before = {one.id: object_text(one) for one in known}
    embedded = _by_id(written, made.themselves, texts)
    fitting = {
        ident: vector
        for ident, vector in _by_id(written, made.themselves, vectors).items()
        if now.get(ident) == embedded[ident]
    }
    stale = [ident for ident in now if ident not in fitting and now[ident] != before.get(ident)]
    await tx.graph.objects.put_vectors(written.project_id, space.id, fitting)
    await tx.graph.objects.forget_vectors(written.project_id, stale)
    if not made.rejected and (parts := _by_id(written, made.parts, vectors)):
        await tx.graph.merges.put_vectors(written.project_id, space.id, parts)
    return bool(stale)


def _by_id(
    extracted: ChunkExtraction, written: Sequence[UUID | None], by_ref: Mapping[Ref, T]
) -> dict[UUID, T]:
    """The values of the found objects, by the ids under which they were stored."""
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
