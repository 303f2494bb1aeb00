"""A question to search for, and its result."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from whence.models import Filters
from whence.search.expand import Context, Expansion
from whence.search.fuse import QueryVector
from whence.store.chunks import ChunkView
from whence.store.search_reads import FoundChunk
from whence.text.lexer import DEFAULT_LANGUAGE

Mode = Literal["hybrid", "vector", "text"]

MAX_LIMIT = 100
MAX_OFFSET = 1_000
MAX_QUERY = 10_000
"""Maximum length of a query in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    query: str
    mode: Mode = "hybrid"
    limit: int = 10
    offset: int = 0
    filters: Filters | None = None
    expansion: Expansion | None = None
    floor: bool = True
    """Return no hits if none is relevant to the question."""
    min_score: float = 0.0
    highlight: bool = True
    """Locate the query's words in the hits."""

    @property
    def end(self) -> int:
        """The rank behind the last hit of the page."""
        return self.offset + self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    found: FoundChunk
    score: float
    """From 0 to 1."""
    text: float | None
    """BM25; None if the text leg did not run."""
    cosine: float | None
    rerank: float | None
    """The reranker's score; None if it did not score the hit."""
    highlights: tuple[tuple[int, int], ...]
    """Spans of the query's words in the chunk's content."""
    also_in: tuple[FoundChunk, ...] = ()
    """Other chunks with the same text, which ranked lower."""
    context: Context | None = None

    @property
    def chunk(self) -> ChunkView:
        return self.found.chunk

    @property
    def distance(self) -> float | None:
        """Cosine distance, clamped to 0..1."""
        return None if self.cosine is None else min(max(1.0 - self.cosine, 0.0), 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    hits: tuple[Hit, ...] = ()
    total: int = 0
    """Number of ranked hits to page through; it grows on later pages."""
    notes: tuple[str, ...] = ()
    """Notes for the caller on how the hits were found."""
    vector: QueryVector | None = None
    """The question's vector if it was embedded, for reuse."""
    language: str = DEFAULT_LANGUAGE
    """The language of the project's text index."""
    corrections: Mapping[str, str] = field(default_factory=dict)
    """Words of the question that no chunk has, and the words that were searched instead."""
