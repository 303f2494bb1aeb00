"""Spans on their way to becoming chunks."""

from collections.abc import Iterable
from typing import NamedTuple

from whence.chunk.base import BoundaryType, ChunkingOptions, ChunkResult


class Piece(NamedTuple):
    start: int
    end: int
    boundary_type: BoundaryType
    headings: tuple[str, ...] = ()


def merge_short(pieces: list[Piece], options: ChunkingOptions) -> list[Piece]:
    """Join each piece shorter than the minimum to a neighbour where both fit in one chunk.

    The neighbour before is tried first. A section never joins what stands before its header.
    """
    shortest, longest = options.min_chunk_size, options.max_chunk_size
    if all(end - start >= shortest for start, end, _, _ in pieces):
        return pieces
    merged: list[Piece] = []
    for piece in pieces:
        if merged and piece.boundary_type != "section":
            last = merged[-1]
            is_short = last.end - last.start < shortest or piece.end - piece.start < shortest
            if is_short and piece.end - last.start <= longest:
                merged[-1] = last._replace(end=piece.end)
                continue
        merged.append(piece)
    return merged


def as_chunks(text: str, pieces: Iterable[Piece]) -> list[ChunkResult]:
    return [
        ChunkResult(text[start:end], start, end, boundary_type, headings)
        for start, end, boundary_type, headings in pieces
    ]
