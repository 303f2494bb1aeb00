"""The context of a chunk, read from the store."""

import asyncio
from uuid import UUID

from whence.errors import ChunkNotFound
from whence.extract.base import ChunkText, KnownObject
from whence.extract.context import ContextOptions, ExtractionContext
from whence.extract.mentions import names_in
from whence.extract.names import name_key
from whence.search import Expansion, Search
from whence.store import Store
from whence.store.chunks import ChunkView
from whence.store.hits import RelatedObject
from whence.types import GraphObject

MOST_NAMED = 50
"""How many objects are taken because their names occur in the chunk."""


async def gather(
    store: Store, search: Search, project_id: UUID, chunk_id: UUID, options: ContextOptions
) -> ExtractionContext:
    """Objects that the chunk names come before those that are only alike: vectors alone miss exact names."""
    found = await store.chunks.bulk([str(chunk_id)], project_id=project_id)
    if not found:
        raise ChunkNotFound(details={"chunk_id": str(chunk_id)})
    primary = found[0]
    expansion = Expansion(
        positional_count=options.positional_count,
        semantic_chunk_count=options.semantic_chunk_count,
        related_object_count=options.related_object_count,
        object_similarity_threshold=options.object_similarity_threshold,
    )
    around, named = await asyncio.gather(
        search.context(project_id, chunk_id, expansion),
        store.graph.objects.named(project_id, names_in(primary["content"]), limit=MOST_NAMED),
    )
    known = {each.id: _known(each) for each in named}
    alike = [_alike(each) for each in around.objects if each.id not in known]
    before = [view for view in around.positional if view["chunk_index"] < primary["chunk_index"]]
    after = [view for view in around.positional if view["chunk_index"] > primary["chunk_index"]]
    return ExtractionContext(
        primary=_text(primary),
        previous=tuple(map(_text, reversed(before))),
        next=tuple(map(_text, after)),
        semantic=tuple(_text(each.chunk) for each in around.semantic),
        objects=(*known.values(), *alike),
    )


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
