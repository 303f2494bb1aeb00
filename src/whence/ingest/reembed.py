"""A project's embedding space, and the move to another."""

import logging
from collections.abc import Callable, Sequence
from uuid import UUID

from whence.errors import ProjectNotFound
from whence.models import EmbeddingSpace
from whence.providers import Embedders
from whence.search.background import Calibrator
from whence.store import Store

REEMBED = "whence:reembed"
"""The task that embeds a project's chunks in its next space and then switches to it."""

BATCH = 64

_LOOKED_THROUGH = 1_024
"""Number of chunks that are looked through at once for missing vectors."""

log = logging.getLogger("whence.ingest")


async def space_of(store: Store, embedders: Embedders, project_id: UUID) -> EmbeddingSpace:
    """The project's space. A project without one gets the space of the configured embedder."""
    current, _ = await store.vectors.spaces(project_id)
    if current is None:
        await store.vectors.first_space(project_id, await configured_space(store, embedders))
        current, _ = await store.vectors.spaces(project_id)
    assert current is not None, "set by the statement before"
    return current


async def configured_space(store: Store, embedders: Embedders) -> EmbeddingSpace:
    embedder = embedders.configured
    return await store.vectors.ensure_space(
        provider=embedder.provider, model=embedder.model, dimensions=embedder.dimensions
    )


async def begin_move(store: Store, embedders: Embedders, project_id: UUID) -> EmbeddingSpace | None:
    """Queue the move to the configured embedder's space. Returns None if the project is in that space already.

    The project uses its current space until every chunk has a vector in the new one. A move to a third space is
    abandoned: its model may never answer.
    """
    target = await configured_space(store, embedders)
    async with store.transaction(patient=True) as tx:
        # Waits for a running switch, then blocks others until this transaction ends.
        await tx.vectors.hold(project_id)
        await tx.vectors.first_space(project_id, target)  # a project without a space has nothing to move
        current, following = await tx.vectors.spaces(project_id)
        await tx.vectors.move_to(project_id, target.id)
        if following not in (None, target):
            await tx.vectors.forget(project_id, following.id)
            log.info("Project %s does not move to %s any more", project_id, following.model)
        assert current is not None, "it has at least the one from above"
        if current == target:
            return None
        await tx.queue.withdraw(REEMBED, lock=reembed_lock(project_id))
        await tx.queue.defer(REEMBED, lock=reembed_lock(project_id), project_id=str(project_id))
    log.info("Project %s moves from %s to %s", project_id, current.model, target.model)
    return target


def reembed_lock(project_id: UUID) -> str:
    return f"reembed {project_id}"


async def move(
    store: Store, embedders: Embedders, project_id: UUID, *, stopping: Callable[[], bool] = lambda: False
) -> bool:
    """Embed the chunks that lack a vector in the next space, then switch. Returns False if stopped before the end."""
    after: UUID | None = None
    while not stopping():
        try:
            _, target = await store.vectors.spaces(project_id)
        except ProjectNotFound:
            return True
        if target is None:
            return True
        some = await store.vectors.following(project_id, target.id, after=after, limit=BATCH)
        if not some:
            after = None  # chunks that came in meanwhile are found from the start
            async with store.transaction(patient=True) as tx:
                await tx.vectors.switch(project_id, new=target.id)
            await Calibrator(store, embedders).calibrate(project_id)
            continue
        after = some[-1][0]
        await _embed_lacking(store, embedders, project_id, target, some)
    return False


async def fill(store: Store, embedders: Embedders, project_id: UUID) -> int:
    """Embed the chunks that lack a vector in the project's current space. Returns their number."""
    space = await space_of(store, embedders, project_id)
    count, after = 0, None
    while some := await store.vectors.following(project_id, space.id, after=after, limit=_LOOKED_THROUGH):
        after = some[-1][0]
        lacking = [(ident, content) for ident, content in some if content is not None]
        for start in range(0, len(lacking), BATCH):
            count += await _embed_lacking(store, embedders, project_id, space, lacking[start : start + BATCH])
    return count


async def _embed_lacking(
    store: Store,
    embedders: Embedders,
    project_id: UUID,
    space: EmbeddingSpace,
    chunks: Sequence[tuple[UUID, str | None]],
) -> int:
    """Embed the chunks that have a content here. Returns their number."""
    lacking = [(ident, content) for ident, content in chunks if content is not None]
    if lacking:
        embedded = await embedders.of(space).embed([content for _, content in lacking])
        idents = [ident for ident, _ in lacking]
        await store.vectors.fill(project_id, space.id, idents, embedded.vectors, embedded.token_counts)
    return len(lacking)
