"""The JSON stored with each chunk."""

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
    """The same keys for every strategy. The parser knows the page, the embedder the token count.

    A chunk that begins inside a table also has `tableHead`, the line with the column names.
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
