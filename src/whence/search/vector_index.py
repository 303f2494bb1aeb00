"""Who makes the HNSW index of a space, and when: a worker, after the documents that made it worth it have come in.

To load vectors into an index that is there is slow, and to make one of vectors that are there is fast. So the first waits
until the queue is nearly empty. Until it is made, and wherever it is not, searching reads every vector.
"""

import logging
from uuid import UUID

from whence.errors import ProjectNotFound
from whence.models import EmbeddingSpace
from whence.search.vectors import SWITCH
from whence.store import Store

MAKE_INDEX = "whence:vector-index"
"""The task that makes the index of a space."""

BUSY = 20
"""More documents in the queue than so many are a load in bulk."""

log = logging.getLogger("whence.search")


def vector_lock(space_id: UUID) -> str:
    return f"vectors {space_id}"


def is_large(vectors: int) -> bool:
    """Whether an index is worth it for a project with so many."""
    return vectors > SWITCH


async def ask_for_index(store: Store, project_id: UUID) -> bool:
    """Have the index of the project's space made where the project has become large and there is none."""
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
    """Does nothing where it has been made, or is not worth it any more."""
    index = next((found for found in await store.nearest.indexes() if found.space.id == space_id), None)
    if index is None or not await _wanted(store, project_id, index.space):
        return
    vectors = await store.nearest.space_size(index.space)
    if await store.nearest.build(index.space, vectors=vectors):
        log.info("Made the index of %d vectors of %s", vectors, index.space.model)


async def drop_unused(store: Store) -> int:
    """Indexes of spaces that no project is in; gives how many."""
    unused = [index for index in await store.nearest.indexes() if index.state != "none" and not index.used]
    for index in unused:
        await store.nearest.drop(index.space)
    return len(unused)
