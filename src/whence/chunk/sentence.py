"""Whole sentences, as many as fit."""

from whence.chunk.base import BoundaryType, ChunkingOptions, ChunkResult
from whence.chunk.boundaries import SentenceRule, sentence_ends
from whence.chunk.graphemes import cut_before, first_content
from whence.chunk.pieces import Piece, as_chunks, merge_short


class SentenceStrategy:
    """`rule` overrides where sentences end: a pattern whose matches end them, or a callable that lists the ends."""

    name = "sentence"

    def __init__(self, rule: SentenceRule | None = None) -> None:
        self._rule = rule

    def chunk(self, text: str, options: ChunkingOptions) -> list[ChunkResult]:
        return as_chunks(text, merge_short(self._pack(text, options.max_chunk_size), options))

    def _pack(self, text: str, size: int) -> list[Piece]:
        ends = sentence_ends(text, self._rule)
        content = len(text.rstrip())
        pieces: list[Piece] = []
        boundary: BoundaryType = "sentence"
        start = first_content(text, 0)
        while start < content:
            limit = start + size
            if limit >= content:
                end, then = content, boundary
            elif (end := ends.last_end(start, limit)) > 0:
                then = "sentence"
            else:
                cut = cut_before(text, start, limit)
                end, then = start + len(text[start:cut].rstrip()), "character"
            pieces.append((start, end, boundary, ()))
            boundary = then
            start = first_content(text, end)
        return pieces
