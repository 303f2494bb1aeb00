"""What is stored beside each chunk."""

from typing import Any

from whence.chunk.base import ChunkResult


def chunk_metadata(
    chunk: ChunkResult, *, strategy: str, source_page: int | None = None, token_count: int | None = None
) -> dict[str, Any]:
    """JSON, the same keys for every strategy. Pages and tokens are known to the parser and the embedder only."""
    return {
        "strategy": strategy,
        "startOffset": chunk.start_offset,
        "endOffset": chunk.end_offset,
        "boundaryType": chunk.boundary_type,
        "headings": list(chunk.headings),
        "source_page": source_page,
        "char_offset": chunk.start_offset,
        "token_count": token_count,
    }
