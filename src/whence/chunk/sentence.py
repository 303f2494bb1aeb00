"""Whole sentences, as many as fit."""

from whence.chunk.base import ChunkingOptions, ChunkResult
from whence.chunk.boundaries import SentenceRule, sentence_ends
from whence.chunk.graphemes import cut_before, first_content
from whence.chunk.pieces import Piece, as_chunks, merge_short, spans_as_chunks


class SentenceStrategy:
    """`rule` overrides where sentences end: a pattern whose matches end them, or a callable that lists the ends."""

    name = "sentence"

    def __init__(self, rule: SentenceRule | None = None) -> None:
        self._rule = rule

    def chunk(self, text: str, options: ChunkingOptions) -> list[ChunkResult]:
        starts, ends, inside = self._pack(text, options.max_chunk_size)
        # Packing is greedy: only where a sentence was cut can two neighbours fit into one chunk.
        if not inside:
            return spans_as_chunks(text, starts, ends, "sentence")
        pieces: list[Piece] = [
            (text[start:end], start, end, "character" if start in inside else "sentence", ())
            for start, end in zip(starts, ends, strict=True)
        ]
        return as_chunks(merge_short(text, pieces, options))

    def _pack(self, text: str, size: int) -> tuple[list[int], list[int], set[int]]:
        """Where the chunks start and end, and which of the starts are inside sentences that had to be cut.

        Nothing is sliced on the way: in a large text it is faster to look at all of it first.
        """
        last_end = sentence_ends(text, self._rule).last_end
        content = len(text.rstrip())
        starts: list[int] = []
        ends: list[int] = []
        inside: set[int] = set()
        start = first_content(text, 0)
        while (limit := start + size) < content:
            starts.append(start)
            if (end := last_end(start, limit)) > 0:
                ends.append(end)
                # Most often a single space or one blank line follows, and needs no closer look.
                if text[end] == " ":
                    if "!" <= text[end + 1] <= "~":
                        start = end + 1
                        continue
                elif text[end] == text[end + 1] == "\n" and "!" <= text[end + 2] <= "~":
                    start = end + 2
                    continue
                start = first_content(text, end)
            else:
                end = start + len(text[start : cut_before(text, start, limit)].rstrip())
                ends.append(end)
                start = first_content(text, end)
                inside.add(start)
        if start < content:
            starts.append(start)
            ends.append(content)
        return starts, ends, inside
