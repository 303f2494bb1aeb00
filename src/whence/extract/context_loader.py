"""Loads the context of a chunk from the store, in two steps.

`look_around` runs ahead, while the previous chunk is read. `gather` loads the objects after the previous chunk is written.

The nearest objects are looked up ahead, too, with `SPARE` extra: the previous chunk changes only a few objects, and their ids are
known. Objects that other documents add meanwhile are found by name, and from the next chunk on by vector.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

import orjson

from whence.errors import ChunkNotFound
from whence.extract.context import (
    ChunkText,
    ContextOptions,
    EarlierClaim,
    EarlierTie,
    ExtractionContext,
    KnownClaim,
    KnownObject,
    KnownTie,
)
from whence.extract.evidence import ChunkEvidence
from whence.models import ClaimKey, EmbeddingSpace, GraphObject
from whence.search import Context, Expansion, Search
from whence.store import Store
from whence.store.chunks import ChunkView
from whence.store.search_reads import RelatedObject
from whence.text.names import name_key, names_in

MOST_NAMED = 50
"""Maximum number of objects whose names occur in the chunk."""
MOST_BESIDE = 20
"""Maximum number of objects with claims from the chunk itself and the preceding ones: "it" may refer to any of them."""
MOST_NUMBERED = 10
"""Maximum number of objects whose names occur without the trailing number: "OAuth" mentions "OAuth 2.0"."""
SPARE = 40
"""Extra objects looked up ahead, to make up for those that change before they are used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """A chunk and its context, without the current state of the objects."""

    project_id: UUID
    space: EmbeddingSpace | None
    """The project's space at the time of the lookup."""
    primary: ChunkView
    chunks: Context
    names: frozenset[str]
    """Normalised names that the chunk may mention."""
    near: frozenset[UUID]
    """The objects nearest to the chunk at the time of the lookup."""

    @property
    def chunk_id(self) -> UUID:
        return UUID(self.primary["id"])

    @property
    def chunk_index(self) -> int:
        return int(self.primary["chunk_index"])

    @property
    def previous(self) -> list[ChunkView]:
        """The preceding chunks, the nearest first."""
        beside = reversed(self.chunks.positional)
        return [view for view in beside if view["chunk_index"] < self.chunk_index]

    @property
    def next(self) -> list[ChunkView]:
        return [view for view in self.chunks.positional if view["chunk_index"] > self.chunk_index]


class NamedObjects(NamedTuple):
    """Objects that the chunk may mention, by its words or its position."""

    exactly: Sequence[GraphObject] = ()
    but_a_number: Sequence[GraphObject] = ()
    before: Sequence[GraphObject] = ()
    """Objects of an earlier reading of the chunk, and of the preceding chunks. It may refer to them without their names."""


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


async def named(store: Store, around: Surroundings) -> NamedObjects:
    objects, project_id, names = store.graph.objects, around.project_id, around.names
    return NamedObjects(
        await objects.named(project_id, names, text=around.primary["content"], limit=MOST_NAMED),
        await objects.numbered(project_id, names, limit=MOST_NUMBERED),
        await objects.given_by(
            project_id,
            [around.chunk_id, *(UUID(view["id"]) for view in around.previous)],
            limit=MOST_BESIDE,
        ),
    )


async def gather(
    store: Store,
    around: Surroundings,
    options: ContextOptions,
    by_name: NamedObjects,
    *,
    changed: Collection[UUID] = (),
) -> ExtractionContext:
    """Orders objects by relevance: named in the chunk, similar, named without their number, from the preceding chunks.

    Names come before similarity, because vectors alone miss exact names. `changed` are the objects written since the lookup.
    """
    among = around.near.union(changed) if len(changed) <= SPARE else None
    alike = await _near(store, around.project_id, around.space, around.chunk_id, options, among=among)
    known: dict[UUID, GraphObject | RelatedObject] = {each.id: each for each in by_name.exactly}
    known |= {each.id: each for each in alike if each.id not in known}
    known |= {each.id: each for each in by_name.but_a_number if each.id not in known}
    room = max(options.related_object_count - len(known), 0)
    beside = [each for each in by_name.before if each.id not in known]
    primary = to_text(around.primary)
    rows = await store.graph.known_claims.earlier(around.project_id, around.chunk_id)
    earlier = tuple(EarlierClaim(*row) for row in rows)
    ties = await store.graph.known_claims.earlier_ties(around.project_id, around.chunk_id) if earlier else []
    objects = (*known.values(), *beside[:room])
    ids = [each.id for each in objects]
    claims = store.graph.known_claims
    between = await claims.quotes_between(around.project_id, around.chunk_id, ids)
    again = await claims.quoted_again(around.project_id, around.chunk_id, primary.text, ids)
    evidence = ChunkEvidence(primary.text, ())
    unstated = {
        (claim.object_id, claim.property_name)
        for claim in earlier
        if not evidence.place(claim.value, of=claim.name)
    }
    return ExtractionContext(
        primary=primary,
        previous=tuple(map(to_text, around.previous)),
        next=tuple(map(to_text, around.next)),
        semantic=tuple(to_text(each.chunk) for each in around.chunks.semantic),
        objects=tuple(to_known(each, unstated) for each in objects),
        earlier=earlier,
        earlier_ties=tuple(EarlierTie(*row) for row in ties),
        known_ties=tuple(KnownTie(*row) for row in between),
        known_claims=tuple(KnownClaim(*row) for row in again),
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


def to_text(view: ChunkView) -> ChunkText:
    # The store returns metadata as raw JSON.
    metadata = orjson.loads(orjson.dumps(view["metadata"])) or {}
    return ChunkText(
        id=UUID(view["id"]),
        text=view["content"],
        headings=tuple(metadata.get("headings") or ()),
        table_head=metadata.get("tableHead") or "",
    )


def to_known(each: GraphObject | RelatedObject, unstated: Collection[ClaimKey] = ()) -> KnownObject:
    return KnownObject(
        id=each.id,
        type=each.type,
        name=each.name,
        name_key=each.name_key if isinstance(each, GraphObject) else name_key(each.name),
        properties=each.properties,
        aliases=each.aliases if isinstance(each, GraphObject) else (),
        ungrounded=each.ungrounded,
        asked_again=frozenset(name for name in each.properties if (each.id, name) in unstated),
    )
