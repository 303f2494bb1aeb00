"""The context of a chunk, read from the store: first what can be looked up while the one before it is read; then the objects as
they are once that one is written.

Who is near enough of all the objects is looked up ahead too, with some to spare: a chunk that is written brings a few
objects closer or away, and it is known which. What other documents bring meanwhile is found by its name, and by its vector from the
next chunk on.
"""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from whence.errors import ChunkNotFound
from whence.extract.base import ChunkText, KnownObject
from whence.extract.context import ContextOptions, ExtractionContext
from whence.extract.mentions import names_in
from whence.extract.names import name_key
from whence.search import Context, Expansion, Search
from whence.store import Store
from whence.store.chunks import ChunkView
from whence.store.hits import RelatedObject
from whence.types import EmbeddingSpace, GraphObject

MOST_NAMED = 50
"""How many objects are taken because their names occur in the chunk."""
SPARE = 40
"""So many objects more than are wanted are looked up ahead, to make up for those that change until they are wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """A chunk, and all of its context but the objects as they are."""

    project_id: UUID
    space: EmbeddingSpace | None
    """That of the project when this was looked up."""
    primary: ChunkView
    chunks: Context
    names: frozenset[str]
    """Those that the chunk may speak of, normalised."""
    near: frozenset[UUID]
    """The objects that were nearest to it."""

    @property
    def chunk_id(self) -> UUID:
        return UUID(self.primary["id"])

    @property
    def chunk_index(self) -> int:
        return int(self.primary["chunk_index"])


async def look_around(
    store: Store, search: Search, project_id: UUID, chunk_id: UUID, options: ContextOptions
) -> Surroundings:
    found = await store.chunks.bulk([str(chunk_id)], project_id=project_id)
    if not found:
        raise ChunkNotFound(details={"chunk_id": str(chunk_id)})
    expansion = Expansion(
        positional_count=options.positional_count,
        semantic_chunk_count=options.semantic_chunk_count,
        related_object_count=0,
    )
    space, _ = await store.vectors.spaces(project_id)
    near = await _near(store, project_id, space, chunk_id, options, spare=SPARE)
    return Surroundings(
        project_id=project_id,
        space=space,
        primary=found[0],
        chunks=await search.context(project_id, chunk_id, expansion),
        names=frozenset(names_in(found[0]["content"])),
        near=frozenset(each.id for each in near),
    )


async def gather(
    store: Store, around: Surroundings, options: ContextOptions, *, changed: Collection[UUID] = ()
) -> ExtractionContext:
    """Objects that the chunk names come before those that are only alike: vectors alone miss exact names.

    `changed` are those that were written since the chunk was looked up.
    """
    among = around.near.union(changed) if len(changed) <= SPARE else None
    named, alike = await asyncio.gather(
        store.graph.objects.named(around.project_id, around.names, limit=MOST_NAMED),
        _near(store, around.project_id, around.space, around.chunk_id, options, among=among),
    )
    known = {each.id: _known(each) for each in named}
    primary, beside = around.primary, around.chunks.positional
    before = [view for view in beside if view["chunk_index"] < primary["chunk_index"]]
    after = [view for view in beside if view["chunk_index"] > primary["chunk_index"]]
    return ExtractionContext(
        primary=_text(primary),
        previous=tuple(map(_text, reversed(before))),
        next=tuple(map(_text, after)),
        semantic=tuple(_text(each.chunk) for each in around.chunks.semantic),
        objects=(*known.values(), *(_alike(each) for each in alike if each.id not in known)),
    )


async def _near(
    store: Store,
    project_id: UUID,
    space: EmbeddingSpace | None,
    chunk_id: UUID,
    options: ContextOptions,
    *,
    spare: int = 0,
    among: Collection[UUID] | None = None,
) -> list[RelatedObject]:
    nobody = among is not None and not among
    if space is None or not options.related_object_count or nobody:
        return []
    found = await store.hits.objects(
        project_id,
        space,
        [chunk_id],
        count=options.related_object_count + spare,
        similarity=options.object_similarity_threshold,
        among=among,
    )
    return [each for _, each in found]


def _text(view: ChunkView) -> ChunkText:
    return ChunkText(id=UUID(view["id"]), text=view["content"])


def _known(each: GraphObject) -> KnownObject:
    return KnownObject(
        id=each.id, type=each.type, name=each.name, name_key=each.name_key, properties=each.properties
    )


def _alike(each: RelatedObject) -> KnownObject:
    return KnownObject(
        id=each.id, type=each.type, name=each.name, name_key=name_key(each.name), properties=each.properties
    )
