"""The results of the two legs of a search, text and vectors, and their ranking."""

from collections.abc import Sequence
from dataclasses import dataclass

from whence.models import ChunkKey, EmbeddingSpace
from whence.search.bm25 import Ranking
from whence.search.fuse import TEXT_WEIGHT, Scored, by_cosine, by_text, contenders, fused
from whence.search.vectors import Near
from whence.store.halfvec import HalfVector
from whence.store.search_reads import SearchRead


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryVector:
    space: EmbeddingSpace
    value: HalfVector


@dataclass(frozen=True, slots=True, kw_only=True)
class Legs:
    """The results of both legs. `text` and `ranking` are None if the text leg did not run."""

    text: dict[ChunkKey, float] | None = None
    """BM25 scores."""
    ranking: Ranking | None = None
    near: Near | None = None
    having: tuple[ChunkKey, ...] = ()
    """In a search by vectors alone: chunks with every phrase, whose distances are still to be read."""
    vector: QueryVector | None = None
    text_weight: float = TEXT_WEIGHT
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        cosines = self.near.cosines if self.near else {}
        return len(self.having) or len(cosines.keys() | (self.text or {}).keys())

    def contenders(self, count: int) -> list[ChunkKey]:
        """Chunks that may be among the first `count`."""
        if self.having:
            return list(self.having)
        if self.text is not None and self.near is not None:
            return contenders(
                self.text,
                self.near.cosines,
                beyond=self.near.beyond,
                count=count,
                text_weight=self.text_weight,
            )
        return [scored.chunk_id for scored in self.ranked(SearchRead())[:count]]

    def ranked(self, reading: SearchRead) -> list[Scored]:
        """The contenders that were read, best first. Distances from the database override cosines from memory."""
        if self.having:
            return by_cosine(_cosines(reading))
        if self.near is None:
            return by_text(self.text or {})
        cosines = {**self.near.cosines, **_cosines(reading)}
        if self.text is None:
            return by_cosine(cosines)
        return fused(self.text, cosines, among=reading.ids, text_weight=self.text_weight)

    def shares_of(self, scored: Sequence[Scored]) -> dict[ChunkKey, float]:
        return self.ranking.shares_of([one.chunk_id for one in scored]) if self.ranking else {}


def _cosines(reading: SearchRead) -> dict[ChunkKey, float]:
    return {key: 1.0 - distance for key, distance in reading.distances.items()}
