"""Cuts at fixed sizes, whatever the content."""

from itertools import chain, repeat

from whence.chunk.base import ChunkingOptions, ChunkResult


class CharacterStrategy:
    name = "character"

    def chunk(self, text: str, options: ChunkingOptions) -> list[ChunkResult]:
        # Every piece but the last is full, so a short one has no neighbour to join.
        size = options.max_chunk_size
        starts = range(0, len(text), size)
        pieces = [text[start : start + size] for start in starts]
        ends = chain(starts[1:], (len(text),))
        # Built without a Python loop, which would be most of the work here.
        fields = zip(pieces, starts, ends, repeat("character"), repeat(()))
        chunks = list(map(tuple.__new__, repeat(ChunkResult), fields))
        if any(map(str.isspace, pieces)):
            return [chunk for chunk in chunks if not chunk.text.isspace()]
        return chunks
