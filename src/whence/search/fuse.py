"""The results of the two legs of a search, text and vectors, and their fusion into one ranking. Pure.

    score = 0.4 * BM25 / best BM25 + 0.6 * cosine

BM25 has no upper bound, so it is divided by the best BM25 of the question. A cosine does not depend on the other hits.
docs/benchmarks.md compares other methods.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from whence.models import ChunkKey, EmbeddingSpace
from whence.search.bm25 import Ranking
from whence.store.halfvec import HalfVector
from whence.store.search_reads import SearchRead

TEXT_WEIGHT = 0.4
"""Weight of BM25; the cosine has the rest of 1."""
NAMED = 0.2
"""Weight of being in a document that the question names, if it names any."""
WORDS_FIRST = 0.9
"""Weight of BM25 if the embedding model does not know the script of the question."""


class Scored(NamedTuple):
    """A chunk and its scores; None for a leg that did not run."""

    chunk_id: ChunkKey
    score: float
    text: float | None
    """BM25."""
    cosine: float | None
    rerank: float | None = None
    """The score of the reranker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryVector:
    space: EmbeddingSpace
    value: HalfVector


@dataclass(frozen=True, slots=True, kw_only=True)
class Legs:
    """The results of both legs; None for a leg that did not run."""

    text: Mapping[ChunkKey, float] | None = None
    """BM25 scores."""
    ranking: Ranking | None = None
    cosines: Mapping[ChunkKey, float] | None = None
    vector: QueryVector | None = None
    text_weight: float = TEXT_WEIGHT
    notes: tuple[str, ...] = ()
    named: Collection[ChunkKey] = frozenset()
    """Chunks of documents that the question names."""
    name_keys: Collection[int] = frozenset()
    """Keys of the question's words that are in names of documents."""

    @property
    def total(self) -> int:
        return len((self.cosines or {}).keys() | (self.text or {}).keys())

    def best(self, count: int) -> list[ChunkKey]:
        found = _ordered(self.text, self.cosines, None, self.text_weight, self.named)
        return [chunk_id for *_, chunk_id in found[:count]]

    def with_named(self, other: "Legs", name_keys: Collection[int]) -> "Legs":
        """Adds the chunks that the legs found in the documents that the question names."""
        return replace(
            self,
            text=None if self.text is None else {**(other.text or {}), **self.text},
            cosines=None if self.cosines is None else {**(other.cosines or {}), **self.cosines},
            named=frozenset(other.text or ()) | frozenset(other.cosines or ()),
            name_keys=name_keys,
        )

    def ranked(self, reading: SearchRead) -> list[Scored]:
        """The chunks that were read, best first. Distances from the database override cosines from memory."""
        cosines = self.cosines
        if cosines is not None:
            cosines = {**cosines, **{key: 1.0 - distance for key, distance in reading.distances.items()}}
        return fused(self.text, cosines, among=reading.ids, text_weight=self.text_weight, named=self.named)

    def shares_of(self, scored: Sequence[Scored]) -> dict[ChunkKey, float]:
        """The share of the question's words in each chunk. A chunk need not repeat the name of its document."""
        if self.ranking is None:
            return {}
        shares = self.ranking.shares_of([one.chunk_id for one in scored])
        named = [one.chunk_id for one in scored if one.chunk_id in self.named]
        for chunk_id, share in self.ranking.shares_of(named, without=self.name_keys).items():
            shares[chunk_id] = max(share, shares[chunk_id])
        return shares


def fused(
    text: Mapping[ChunkKey, float] | None,
    cosines: Mapping[ChunkKey, float] | None,
    *,
    among: Iterable[ChunkKey] | None = None,
    text_weight: float = TEXT_WEIGHT,
    named: Collection[ChunkKey] = frozenset(),
) -> list[Scored]:
    """Chunks of either leg, or only those in `among`, best first. A chunk that is missing in a leg scores 0 there.

    A leg that did not run leaves the whole weight to the other. Ties are ordered by cosine, then BM25, then id (oldest first).
    """
    return [
        Scored(chunk_id, -score, None if text is None else -bm25, None if cosines is None else -cosine)
        for score, cosine, bm25, chunk_id in _ordered(text, cosines, among, text_weight, named)
    ]


def _ordered(
    text: Mapping[ChunkKey, float] | None,
    cosines: Mapping[ChunkKey, float] | None,
    among: Iterable[ChunkKey] | None,
    text_weight: float,
    named: Collection[ChunkKey],
) -> list[tuple[float, float, float, ChunkKey]]:
    """Score, cosine and BM25, all negative, and the chunk; best first."""
    weight = 0.0 if text is None else 1.0 if cosines is None else text_weight
    bm25s, nears = text or {}, cosines or {}
    best = max(bm25s.values(), default=0.0) or 1.0
    found = []
    for chunk_id in bm25s.keys() | nears.keys() if among is None else among:
        bm25, cosine = bm25s.get(chunk_id, 0.0), nears.get(chunk_id, 0.0)
        score = weight * (bm25 / best) + (1 - weight) * max(cosine, 0.0)
        if named:
            score = (1 - NAMED) * score + NAMED * (chunk_id in named)
        found.append((-score, -cosine, -bm25, chunk_id))
    found.sort()
    return found
