"""What goes with a document when it is deleted, as JSON."""

from typing import Any

from whence.store import Store
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
        "graph": {
            "objects": graph.objects,
            "properties": graph.properties,
            "relationships": graph.relationships,
        },
    }
