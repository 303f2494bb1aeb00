"""Runs a strategy and verifies its chunks, so that no citation has a wrong offset."""

from collections.abc import Sequence
from typing import get_args

from whence.chunk.base import BoundaryType, ChunkingOptions, ChunkingStrategy, ChunkResult
from whence.chunk.boundaries import sentences
from whence.errors import StrategyError, WhenceError

_BOUNDARY_TYPES = frozenset(get_args(BoundaryType))


def checked_chunks(text: str, strategy: ChunkingStrategy, options: ChunkingOptions) -> list[ChunkResult]:
    try:
        chunks = strategy.chunk(text, options)
        fault = _fault(text, chunks, options.max_chunk_size)
    except WhenceError:
        raise
    except Exception as exc:
        # Foreign code may raise anything. Its message goes to the log with the cause, not to the client.
        raise StrategyError(
            f"The chunking strategy {strategy.name!r} failed with {type(exc).__name__}"
        ) from exc
    if fault:
        raise StrategyError(f"The chunking strategy {strategy.name!r} {fault}")
    return chunks


def _fault(text: str, chunks: Sequence[ChunkResult], size: int) -> str | None:
    """The first fault of the chunks, or None."""
    if not isinstance(chunks, list) or not all(isinstance(chunk, ChunkResult) for chunk in chunks):
        return "gave something else than a list of ChunkResult"
    end = 0
    for chunk in chunks:
        between = text[end : chunk.start_offset]
        whole = chunk.text and text[chunk.start_offset : chunk.end_offset] == chunk.text
        if chunk.start_offset < end or not whole:
            return "gave a chunk that is no part of the text, or not in order"
        if between and not between.isspace():
            return "left out some of the text"
        if len(chunk.text) > size:
            return f"gave a chunk of {len(chunk.text)} characters, more than the maximum of {size}"
        if chunk.boundary_type not in _BOUNDARY_TYPES:
            return f"gave a chunk with the unknown boundary type {chunk.boundary_type!r}"
        end = chunk.end_offset
    return "left out some of the text" if text[end:].strip() else None


def sentence_end_share(text: str, chunks: Sequence[ChunkResult]) -> float | None:
    """The share of chunks, without the last, that end where a sentence ends; None for fewer than two chunks."""
    inner = chunks[:-1]
    if not inner:
        return None
    ends = {sentence.end_offset for sentence in sentences(text)}
    # Chunks of fixed size may include the white space after a sentence.
    on_end = sum(chunk.start_offset + len(chunk.text.rstrip()) in ends for chunk in inner)
    return round(on_end / len(inner), 4)
