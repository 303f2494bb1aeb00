"""How the graph is told: objects, relationships and what they stand on, as JSON."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from whence.store import Store
from whence.store.graph import Event, Mention, Reading, StaleChunk, Subgraph
from whence.types import Claim, GraphObject, Merge, Place, Relationship, RelationshipClaim

JSON = dict[str, Any]

_SHOWN_CLAIMS = 200
_SHOWN_MERGES = 100


def object_as_json(found: GraphObject) -> JSON:
    return {
        "id": found.id,
        "project_id": found.project_id,
        "type": found.type,
        "name": found.name,
        "properties": found.properties,
        "created_at": found.created_at,
        "updated_at": found.updated_at,
    }


def relationship_as_json(found: Relationship) -> JSON:
    return {
        "id": found.id,
        "project_id": found.project_id,
        "type": found.type,
        "source_id": found.source_id,
        "source_type": found.source_type,
        "source_name": found.source_name,
        "target_id": found.target_id,
        "target_type": found.target_type,
        "target_name": found.target_name,
        "properties": found.properties,
        "created_at": found.created_at,
        "updated_at": found.updated_at,
    }


def claim_as_json(claim: Claim) -> JSON:
    return {
        "id": claim.id,
        "object_id": claim.object_id,
        "property_name": claim.property_name,
        "value": claim.value,
        "operation": claim.operation,
        "current": claim.current,
        **_grounds(claim),
    }


def relationship_claim_as_json(claim: RelationshipClaim) -> JSON:
    return {
        "id": claim.id,
        "relationship_id": claim.relationship_id,
        "properties": claim.properties,
        **_grounds(claim),
    }


def claims_by_property(claims: Iterable[Claim]) -> dict[str, list[JSON]]:
    """The order of the claims stays, within each property."""
    found: dict[str, list[JSON]] = {}
    for claim in claims:
        found.setdefault(claim.property_name, []).append(claim_as_json(claim))
    return dict(sorted(found.items()))


async def object_with_sources(store: Store, found: GraphObject) -> JSON:
    """All current claims, and of the older ones the newest."""
    provenance = store.graph.provenance
    current = await provenance.current(found.project_id, [found.id])
    newest, total = await provenance.of_object(found.project_id, found.id, limit=_SHOWN_CLAIMS, offset=0)
    known = {claim.id for claim in current}
    merges, _ = await store.graph.merges.page(
        found.project_id, object_id=found.id, limit=_SHOWN_MERGES, offset=0
    )
    return {
        **object_as_json(found),
        "sources": claims_by_property([*current, *(claim for claim in newest if claim.id not in known)]),
        "claim_count": total,
        "merges": [merge_as_json(merge) for merge in merges],
    }


def mention_as_json(mention: Mention, chunk: JSON) -> JSON:
    """The chunk, and what it says."""
    return {
        **chunk,
        "document_name": mention.place.document_name,
        "page": mention.place.page,
        "property_names": list(mention.property_names),
        "schema_version": f"v{mention.schema_number}",
    }


def stale_as_json(chunk: StaleChunk) -> JSON:
    return {
        "chunk_id": chunk.chunk_id,
        "document_id": chunk.document_id,
        "chunk_index": chunk.chunk_index,
        "characters": chunk.characters,
        "token_count": chunk.token_count,
        "schema_version": None if chunk.schema_number is None else f"v{chunk.schema_number}",
        "outcome": chunk.outcome,
    }


def reading_as_json(reading: Reading) -> JSON:
    return {
        "chunk_id": reading.chunk_id,
        "chunk_index": reading.chunk_index,
        "page": reading.page,
        "schema_version": f"v{reading.schema_number}",
        "outcome": reading.outcome,
        "reason": reading.reason,
        "rejected": reading.rejected,
        "rejections": [asdict(each) for each in reading.rejections],
        "prompt_tokens": reading.prompt_tokens,
        "completion_tokens": reading.completion_tokens,
        "extracted_at": reading.extracted_at,
    }


def event_as_json(event: Event) -> JSON:
    return {
        "id": event.id,
        "event": event.kind,
        "happened_at": event.happened_at,
        "property_name": event.property_name,
        "value": event.value,
        "schema_version": None if event.schema_number is None else f"v{event.schema_number}",
        "quote": event.quote,
        "chunk_id": event.chunk_id,
        "document_id": event.document_id,
        "dropped_id": event.dropped_id,
        "dropped_name": event.dropped_name,
    }


def merge_as_json(merge: Merge) -> JSON:
    return {
        "id": merge.id,
        "project_id": merge.project_id,
        "object_id": merge.kept_id,
        "object_name": merge.kept_name,
        "dropped_id": merge.dropped_id,
        "dropped_type": merge.dropped_type,
        "dropped_name": merge.dropped_name,
        "merged_at": merge.merged_at,
    }


def subgraph_as_json(part: Subgraph) -> JSON:
    return {
        "nodes": [object_as_json(found) for found in part.objects],
        "edges": [relationship_as_json(found) for found in part.relationships],
        "truncated": part.truncated,
    }


def _grounds(claim: Claim | RelationshipClaim) -> JSON:
    """What a claim stands on: the words, the chunk, the document, the schema."""
    place = claim.place
    return {
        "schema_version": claim.schema_version,
        "extracted_at": claim.extracted_at,
        "read_at": place.read_at or claim.extracted_at,
        "quote": claim.quote,
        "start_offset": claim.start_offset,
        "end_offset": claim.end_offset,
        "chunk_id": place.chunk_id,
        "chunk_index": place.chunk_index,
        "document_id": place.document_id,
        "document_name": place.document_name,
        "page": place.page,
        "document_start": _in_document(place, claim.start_offset),
        "document_end": _in_document(place, claim.end_offset),
    }


def _in_document(place: Place, offset: int | None) -> int | None:
    return None if place.start is None or offset is None else place.start + offset
