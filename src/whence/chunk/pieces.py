"""Pieces: spans of text before they become chunks."""

from collections.abc import Sequence
from itertools import repeat

from whence.chunk.base import BoundaryType, ChunkingOptions, ChunkResult

# The fields of a `ChunkResult`. Plain tuples, and no Python loop to build the chunks: a chunk takes only a few
# microseconds, so both matter.
Piece = tuple[str, int, int, BoundaryType, tuple[str, ...]]


def merge_short(text: str, pieces: list[Piece], options: ChunkingOptions) -> list[Piece]:
    """Joins each piece shorter than the minimum to a neighbour if both fit in one chunk.

    Tries the neighbour before first. A section never joins the text before its header.
    """
    shortest, longest = options.min_chunk_size, options.max_chunk_size
    if all(end - start >= shortest for _, start, end, _, _ in pieces):
        return pieces
    merged: list[Piece] = []
    for piece in pieces:
        _, start, end, boundary_type, _ = piece
        if merged and boundary_type != "section":
            _, last_start, last_end, last_type, headings = merged[-1]
            is_short = last_end - last_start < shortest or end - start < shortest
            if is_short and end - last_start <= longest:
                merged[-1] = text[last_start:end], last_start, end, last_type, headings
                continue
        merged.append(piece)
    return merged


def as_chunks(pieces: list[Piece]) -> list[ChunkResult]:
    return list(map(tuple.__new__, repeat(ChunkResult), pieces))


def spans_as_chunks(
    text: str, starts: Sequence[int], ends: Sequence[int], boundary_type: BoundaryType
) -> list[ChunkResult]:
    """Chunks of one boundary type, without headings. Builds no pieces, which would burden the garbage collector."""
    slices = map(text.__getitem__, map(slice, starts, ends))
    fields = zip(slices, starts, ends, repeat(boundary_type), repeat(()))
    return list(map(tuple.__new__, repeat(ChunkResult), fields))
