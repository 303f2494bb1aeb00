"""The whole graph as JSON Lines: objects, then relationships, each value with the claims behind it.

It is written while it is read, a few hundred rows at a time. Changes during the export may be missing; a relationship is written
only if both its ends were.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import TypeVar
from uuid import UUID

from whence.api.base import AnswerShape
from whence.api.graph import TracedObject, TracedRelationship
from whence.models import Claim, GraphObject, Relationship, RelationshipClaim, only_grounded
from whence.store import Store

T = TypeVar("T")

MEDIA_TYPE = "application/x-ndjson"
_BATCH = 500


async def exported(
    store: Store, project_id: UUID, *, include_ungrounded: bool = False
) -> AsyncGenerator[bytes, None]:
    written: set[UUID] = set()
    async for some in _group_items(store.graph.objects.every(project_id)):
        objects = some if include_ungrounded else only_grounded(some)
        written |= {one.id for one in objects}
        yield b"".join([_encode_line("object", one) for one in await _add_sources(store, objects)])
    async for edges in _group_items(store.graph.relationships.every(project_id)):
        kept = [
            one
            for one in edges
            if one.source_id in written
            and one.target_id in written
            and (include_ungrounded or not one.ungrounded)
        ]
        yield b"".join([_encode_line("relationship", one) for one in await _add_edge_sources(store, kept)])


async def _add_sources(store: Store, objects: Sequence[GraphObject]) -> list[TracedObject]:
    if not objects:
        return []
    claims: dict[UUID, list[Claim]] = {one.id: [] for one in objects}
    has = {one.id: {"name", *one.properties} for one in objects}
    for claim in await store.graph.provenance.current(objects[0].project_id, claims):
        if claim.property_name in has[claim.object_id]:
            claims[claim.object_id].append(claim)
    return [TracedObject.traced(one, claims[one.id]) for one in objects]


async def _add_edge_sources(store: Store, edges: Sequence[Relationship]) -> list[TracedRelationship]:
    if not edges:
        return []
    claims: dict[UUID, list[RelationshipClaim]] = {one.id: [] for one in edges}
    for claim in await store.graph.provenance.current_of_relationships(edges[0].project_id, claims):
        claims[claim.relationship_id].append(claim)
    return [TracedRelationship.traced(one, claims[one.id]) for one in edges]


def _encode_line(kind: str, shape: AnswerShape) -> bytes:
    return b'{"kind":"%s",%s\n' % (kind.encode(), shape.encode()[1:])


async def _group_items(items: AsyncIterator[T]) -> AsyncIterator[list[T]]:
    batch: list[T] = []
    async for item in items:
        batch.append(item)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
