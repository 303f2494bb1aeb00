"""How a text would be chunked: the chunks, and what there is to say about them all."""

from dataclasses import dataclass
from statistics import median
from typing import Any

from whence.chunk.base import ChunkingOptions, ChunkingStrategy, ChunkResult
from whence.chunk.boundaries import sentences
from whence.chunk.checked import checked_chunks


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    count: int
    min_size: int
    median_size: float
    max_size: int
    # Of the ends of chunks that another one follows; nothing can be said where there is none.
    sentence_end_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    strategy: str
    options: ChunkingOptions
    chunks: list[ChunkResult]
    summary: Summary

    def as_json(self) -> dict[str, Any]:
        return {
            "chunkingStrategy": self.strategy,
            "chunkingOptions": {
                "maxChunkSize": self.options.max_chunk_size,
                "minChunkSize": self.options.min_chunk_size,
            },
            "chunks": [_chunk_as_json(index, chunk) for index, chunk in enumerate(self.chunks)],
            "summary": {
                "count": self.summary.count,
                "minSize": self.summary.min_size,
                "medianSize": self.summary.median_size,
                "maxSize": self.summary.max_size,
                "sentenceEndShare": self.summary.sentence_end_share,
            },
        }


def preview(text: str, strategy: ChunkingStrategy, options: ChunkingOptions) -> Preview:
    """Raises `StrategyError` where somebody else's strategy does not keep to what chunks must be."""
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
    # Chunks of fixed size may take the white space after a sentence along.
    on_end = sum(chunk.start_offset + len(chunk.text.rstrip()) in ends for chunk in inner)
    return round(on_end / len(inner), 4)


def _chunk_as_json(index: int, chunk: ChunkResult) -> dict[str, Any]:
    return {
        "index": index,
        "text": chunk.text,
        "startOffset": chunk.start_offset,
        "endOffset": chunk.end_offset,
        "size": len(chunk.text),
        "boundaryType": chunk.boundary_type,
        "headings": list(chunk.headings),
    }
