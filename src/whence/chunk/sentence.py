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
        pieces, is_whole = self._pack(text, options.max_chunk_size)
        # Packing is greedy: only where a sentence was cut can two neighbours fit into one chunk.
        return as_chunks(pieces if is_whole else merge_short(text, pieces, options))

    def _pack(self, text: str, size: int) -> tuple[list[Piece], bool]:
        """Spans of whole sentences, and whether no sentence had to be cut."""
        last_end = sentence_ends(text, self._rule).last_end
        content = len(text.rstrip())
        pieces: list[Piece] = []
        boundary: BoundaryType = "sentence"
        is_whole = True
        start = first_content(text, 0)
        while (limit := start + size) < content:
            if (end := last_end(start, limit)) > 0:
                pieces.append((text[start:end], start, end, boundary, ()))
                boundary = "sentence"
                # Most often a single space follows, and needs no closer look.
                if text[end] == " " and "!" <= text[end + 1] <= "~":
                    start = end + 1
                    continue
            else:
                end = start + len(text[start : cut_before(text, start, limit)].rstrip())
                pieces.append((text[start:end], start, end, boundary, ()))
                boundary = "character"
                is_whole = False
            start = first_content(text, end)
        if start < content:
            pieces.append((text[start:content], start, content, boundary, ()))
        return pieces, is_whole
