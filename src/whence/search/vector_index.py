"""Builds and drops the HNSW index of an embedding space. A worker builds it after the ingest that made the project large.

Inserting vectors into an existing index is slow; building an index of existing vectors is fast. So the first build waits
until the queue is nearly empty. Without an index, a search scans all vectors.
"""

import logging
from uuid import UUID

from whence.errors import ProjectNotFound
from whence.models import EmbeddingSpace
from whence.search.vectors import SWITCH
from whence.store import Store

MAKE_INDEX = "whence:vector-index"
"""The task that builds the index of a space."""

BUSY = 20
"""More documents than this in the queue count as a bulk load."""

log = logging.getLogger("whence.search")


def vector_lock(space_id: UUID) -> str:
    return f"vectors {space_id}"


def is_large(vectors: int) -> bool:
    """Whether a project with this many vectors needs an index."""
    return vectors > SWITCH


async def ask_for_index(store: Store, project_id: UUID) -> bool:
    """Queues the build of the project's index if the project is large and has none. Returns whether it did."""
    try:
        space, _ = await store.vectors.spaces(project_id)
    except ProjectNotFound:
        return False
    if space is None or not await _wanted(store, project_id, space):
        return False
    async with store.transaction() as tx:
        if await tx.queue.waits(MAKE_INDEX, lock=vector_lock(space.id)):
            return False
        await tx.queue.defer(
            MAKE_INDEX, lock=vector_lock(space.id), project_id=str(project_id), space_id=str(space.id)
        )
    return True


async def _wanted(store: Store, project_id: UUID, space: EmbeddingSpace) -> bool:
    if (await store.nearest.index(space)).state == "valid":
        return False
    return is_large(await store.nearest.count(project_id, space, most=SWITCH + 1))


async def make_index(store: Store, project_id: UUID, space_id: UUID) -> None:
    """Builds the index, unless it exists or the project no longer needs it."""
    index = next((found for found in await store.nearest.indexes() if found.space.id == space_id), None)
    if index is None or not await _wanted(store, project_id, index.space):
        return
    vectors = await store.nearest.space_size(index.space)
    if await store.nearest.build(index.space, vectors=vectors):
        log.info("Made the index of %d vectors of %s", vectors, index.space.model)


async def drop_unused(store: Store) -> int:
    """Drops the indexes of spaces that no project uses. Returns their number."""
    unused = [index for index in await store.nearest.indexes() if index.state != "none" and not index.used]
    for index in unused:
        await store.nearest.drop(index.space)
    return len(unused)
