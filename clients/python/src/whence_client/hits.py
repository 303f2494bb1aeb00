"""Hits for retrievers of other frameworks."""

from typing import Any

from whence_client.types import HitModel


def metadata_of(hit: HitModel) -> dict[str, Any]:
    """Where a hit is, as frameworks keep it beside its text. The quote is its words from the first match to the last."""
    chunk, document = hit["chunk"], hit["document"]
    marked = hit["highlights"]
    first, last = (marked[0]["start"], marked[-1]["end"]) if marked else (0, None)
    return {
        "chunk_id": chunk["id"],
        "document_id": document["id"],
        "source": document["name"],
        "page": hit["page"],
        "url": hit["url"],
        "quote": chunk["content"][first:last],
        "start": hit["startOffset"],
        "end": hit["endOffset"],
        "score": hit["score"],
    }
