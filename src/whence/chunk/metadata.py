"""What is stored beside each chunk."""

from typing import Any

from whence.chunk.base import ChunkResult


def chunk_metadata(
    chunk: ChunkResult,
    *,
    strategy: str,
    source_page: int | None = None,
    token_count: int | None = None,
    table_head: str = "",
) -> dict[str, Any]:
    """JSON, the same keys for every strategy. Only the parser knows pages, only the embedder tokens.

    A chunk that begins in the middle of a table also has `tableHead`, the line with the heads of its columns.
    """
    cut_table = {"tableHead": table_head} if table_head else {}
    return {
        "strategy": strategy,
        "startOffset": chunk.start_offset,
        "endOffset": chunk.end_offset,
        "boundaryType": chunk.boundary_type,
        "headings": list(chunk.headings),
        "source_page": source_page,
        "char_offset": chunk.start_offset,
        "token_count": token_count,
        **cut_table,
    }
