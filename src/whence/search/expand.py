"""The context of a chunk, found at read time, so that no text is stored twice.

It has the chunk's neighbours in its document, the most similar chunks (its own document first) and related graph objects.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from uuid import UUID

from whence.models import Claim, EmbeddingSpace, GraphObject, only_grounded
from whence.search.vectors import VectorLeg
from whence.store import Store
from whence.store.chunks import ChunkView
from whence.store.search_reads import RelatedObject, Setting
from whence.text.names import names_in

Key = TypeVar("Key")
Value = TypeVar("Value")
AnyGraphObject = TypeVar("AnyGraphObject", GraphObject, RelatedObject)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    positional_count: int = 1
    """Number of chunks before, and again after."""
    semantic_chunk_count: int = 3
    related_object_count: int = 10
    object_similarity_threshold: float = 0.7
    include_ungrounded: bool = False
    """Whether objects have values that no chunk states."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlikeChunk:
    chunk: ChunkView
    distance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    positional: tuple[ChunkView, ...] = ()
    """In reading order."""
    semantic: tuple[AlikeChunk, ...] = ()
    """Nearest first; chunks of the same document before those of others."""
    objects: tuple[RelatedObject, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Expander:
    store: Store
    leg: VectorLeg
    project_id: UUID
    setting: Setting
    """Without an embedding space, the context has only neighbours."""
    expansion: Expansion
    documents: Sequence[UUID] | None = None
    """The documents that related objects may come from; None for all."""

    async def around(self, ids: Sequence[UUID]) -> dict[UUID, Context]:
        beside = await self._beside(ids)
        alike: dict[UUID, list[tuple[UUID, float]]] = {}
        objects: dict[UUID, list[RelatedObject]] = {}
        space = self.setting.space
        if space is not None:
            alike, objects = await asyncio.gather(self._alike(ids, space, beside), self._objects(ids, space))
        wanted = {found for some in beside.values() for found in some}
        wanted |= {found for some in alike.values() for found, _ in some}
        views = await self._views(wanted)
        return {
            ident: Context(
                positional=tuple(views[found] for found in beside.get(ident, ()) if found in views),
                semantic=tuple(
                    AlikeChunk(chunk=views[found], distance=distance)
                    for found, distance in alike.get(ident, ())
                    if found in views
                ),
                objects=tuple(objects.get(ident, ())),
            )
            for ident in ids
        }

    async def _beside(self, ids: Sequence[UUID]) -> dict[UUID, list[UUID]]:
        count = self.expansion.positional_count
        return _grouped(await self.store.hits.beside(self.project_id, ids, count=count)) if count else {}

    async def _alike(
        self, ids: Sequence[UUID], space: EmbeddingSpace, beside: Mapping[UUID, Sequence[UUID]]
    ) -> dict[UUID, list[tuple[UUID, float]]]:
        count, apart = self.expansion.semantic_chunk_count, self.expansion.positional_count
        if not count:
            return {}
        # After a deletion a neighbour can have a more distant index, so up to 2 * apart rows may be neighbours.
        rows = await self.store.hits.alike(self.project_id, space, ids, count=count + 2 * apart, apart=apart)
        grouped = _grouped((own, (found, distance)) for own, found, distance in rows)
        alike = {
            ident: [one for one in some if one[0] not in beside.get(ident, ())][:count]
            for ident, some in grouped.items()
        }
        short = [ident for ident in ids if len(alike.get(ident, ())) < count]
        vectors = await self.store.nearest.vectors(self.project_id, space, short) if short else {}
        for ident, vector in vectors.items():
            have = alike.setdefault(ident, [])
            # The chunk's document has no more than these. The limit leaves room for `count` chunks of other documents.
            known = {ident, *beside.get(ident, ()), *(found for found, _ in have)}
            near = await self.leg.nearest(
                self.project_id, space, vector, among=self.setting.chunks, limit=count + len(known)
            )
            others = [(UUID(bytes=key), 1.0 - cosine) for key, cosine in near.items()]
            have += [one for one in others if one[0] not in known][: count - len(have)]
        return alike

    async def _objects(self, ids: Sequence[UUID], space: EmbeddingSpace) -> dict[UUID, list[RelatedObject]]:
        """Objects that the chunk names, then similar ones: vectors alone miss exact names."""
        count, similarity = self.expansion.related_object_count, self.expansion.object_similarity_threshold
        if not count:
            return {}
        alike = _grouped(
            await self.store.hits.objects(self.project_id, space, ids, count=count, similarity=similarity)
        )
        named = await self._named(ids, space)
        found = {
            ident: list({one.id: one for one in (*named.get(ident, ()), *alike.get(ident, ()))}.values())
            for ident in ids
        }
        with_all = self.expansion.include_ungrounded
        if not with_all:
            found = {ident: only_grounded(some) for ident, some in found.items()}
        if self.documents is not None:
            every = {one.id for some in found.values() for one in some}
            claims = await self.store.graph.provenance.current(
                self.project_id, every, document_ids=self.documents
            )
            claims = [claim for claim in claims if with_all or claim.is_grounded]
            found = {ident: values_claimed(some, claims) for ident, some in found.items()}
        return {ident: some[:count] for ident, some in found.items()}

    async def _named(self, ids: Sequence[UUID], space: EmbeddingSpace) -> dict[UUID, list[RelatedObject]]:
        count, found = self.expansion.related_object_count, dict[UUID, list[RelatedObject]]()
        for ident, view in (await self._views(ids)).items():
            names = names_in(view["content"])
            named = await self.store.graph.objects.named(self.project_id, names, limit=count)
            if named:
                rows = await self.store.hits.objects(
                    self.project_id,
                    space,
                    [ident],
                    count=count,
                    similarity=-1,
                    among=[one.id for one in named],
                )
                found[ident] = [one for _, one in rows]
        return found

    async def _views(self, ids: Collection[UUID]) -> dict[UUID, ChunkView]:
        """Reads each chunk once, even if several contexts have it."""
        read = await self.store.chunks.bulk(map(str, ids), project_id=self.project_id) if ids else []
        return {UUID(view["id"]): view for view in read}


def values_claimed(objects: Sequence[AnyGraphObject], claims: Iterable[Claim]) -> list[AnyGraphObject]:
    """The objects with the names and values of these claims; those without any are left out."""
    values = defaultdict[UUID, dict[str, Any]](dict)
    for claim in claims:
        value: Any = claim.value
        newer: Any = values[claim.object_id].get(claim.property_name)
        if newer is not None:  # a list has several claims, the newest first
            value = [*value, *(one for one in newer if one not in value)]
        values[claim.object_id][claim.property_name] = value
    return [
        replace(one, name=str(given.pop("name", one.name)), properties=given)
        for one in objects
        if (given := dict(values.get(one.id, {})))
    ]


def _grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    groups: defaultdict[Key, list[Value]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return dict(groups)
