"""Spans on their way to becoming chunks."""

from collections.abc import Sequence
from itertools import repeat

from whence.chunk.base import BoundaryType, ChunkingOptions, ChunkResult

# The fields of a `ChunkResult`. Bare tuples, and chunks put together without a step of Python for each: at a few
# microseconds a chunk, both show.
Piece = tuple[str, int, int, BoundaryType, tuple[str, ...]]


def merge_short(text: str, pieces: list[Piece], options: ChunkingOptions) -> list[Piece]:
    """Join each piece shorter than the minimum to a neighbour where both fit in one chunk.

    The neighbour before is tried first. A section never joins what stands before its header.
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
    """All of one kind and without headings: no tuple on the way, which the garbage collector would look at."""
    slices = map(text.__getitem__, map(slice, starts, ends))
    fields = zip(slices, starts, ends, repeat(boundary_type), repeat(()))
    return list(map(tuple.__new__, repeat(ChunkResult), fields))
