"""Cuts at fixed sizes."""

from whence.chunk.base import ChunkingOptions, ChunkResult, spans_as_chunks


class CharacterStrategy:
    name = "character"

    def chunk(self, text: str, options: ChunkingOptions) -> list[ChunkResult]:
        # Every piece but the last is full, so a short one has no neighbour to join.
        starts = range(0, len(text), options.max_chunk_size)
        chunks = spans_as_chunks(text, starts, [*starts[1:], len(text)], "character")
        return [chunk for chunk in chunks if not chunk[0].isspace()]
