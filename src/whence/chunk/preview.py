"""A preview of how a text would be chunked: the chunks and a summary."""

from dataclasses import dataclass
from statistics import median

from whence.chunk.base import ChunkingOptions, ChunkingStrategy, ChunkResult
from whence.chunk.boundaries import sentences
from whence.chunk.checked import checked_chunks


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    count: int
    min_size: int
    median_size: float
    max_size: int
    # Share of chunks, without the last, that end where a sentence ends; None for fewer than two chunks.
    sentence_end_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    strategy: str
    options: ChunkingOptions
    chunks: list[ChunkResult]
    summary: Summary


def preview(text: str, strategy: ChunkingStrategy, options: ChunkingOptions) -> Preview:
    """Raises `StrategyError` if the strategy fails or its chunks are invalid."""
    chunks = checked_chunks(text, strategy, options)
    return Preview(strategy=strategy.name, options=options, chunks=chunks, summary=_summary(text, chunks))


def _summary(text: str, chunks: list[ChunkResult]) -> Summary:
    sizes = [len(chunk.text) for chunk in chunks] or [0]
    return Summary(
        count=len(chunks),
        min_size=min(sizes),
        median_size=float(median(sizes)),
        max_size=max(sizes),
        sentence_end_share=_sentence_end_share(text, chunks),
    )


def _sentence_end_share(text: str, chunks: list[ChunkResult]) -> float | None:
    inner = chunks[:-1]
    if not inner:
        return None
    ends = {sentence.end_offset for sentence in sentences(text)}
    # Chunks of fixed size may include the white space after a sentence.
    on_end = sum(chunk.start_offset + len(chunk.text.rstrip()) in ends for chunk in inner)
    return round(on_end / len(inner), 4)
