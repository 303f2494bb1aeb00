"""Fixed cuts, whatever the text says."""

from whence.chunk.base import ChunkingOptions, ChunkResult


class CharacterStrategy:
    name = "character"

    def chunk(self, text: str, options: ChunkingOptions) -> list[ChunkResult]:
        size = options.max_chunk_size
        # Every piece but the last is full, so a short one has no neighbour that it could join.
        pieces = ((start, text[start : start + size]) for start in range(0, len(text), size))
        return [
            ChunkResult(
                text=piece, start_offset=start, end_offset=start + len(piece), boundary_type="character"
            )
            for start, piece in pieces
            if not piece.isspace()
        ]
