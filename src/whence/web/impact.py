"""What goes with a document, or with one of its chunks, when it is deleted, as JSON."""

from typing import Any
from uuid import UUID

from whence.store import Store
from whence.store.chunks import ChunkView
from whence.store.graph import GraphImpact
from whence.types import Document


async def deletion_impact(store: Store, document: Document) -> dict[str, Any]:
    impact = await store.documents.impact(document.project_id, document.id)
    graph = await store.graph.deletion_impact(document.project_id, document.id)
    return {
        "document_id": document.id,
        "name": document.name,
        "original_bytes": document.size,
        **impact,
        "properties": graph.property_count,
        "relationship_properties": graph.relationship_property_count,
        "graph": _listed(graph),
    }


async def chunk_deletion_impact(store: Store, project_id: UUID, chunk: ChunkView) -> dict[str, Any]:
    graph = await store.graph.chunk_deletion_impact(project_id, UUID(chunk["id"]))
    return {
        "chunk_id": chunk["id"],
        "document_id": chunk["document_id"],
        "chunk_index": chunk["chunk_index"],
        "property_claims": graph.claim_count,
        "objects": graph.object_count,
        "relationships": graph.relationship_count,
        "properties": graph.property_count,
        "relationship_properties": graph.relationship_property_count,
        "graph": _listed(graph),
    }


def _listed(graph: GraphImpact) -> dict[str, Any]:
    return {
        "objects": graph.objects,
        "properties": graph.properties,
        "relationships": graph.relationships,
        "relationship_properties": graph.relationship_properties,
    }
