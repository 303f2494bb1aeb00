"""Fuses BM25 scores and cosines into one ranking. Pure functions.

    score = 0.4 * BM25 / best BM25 + 0.6 * cosine

BM25 has no upper bound, so it is divided by the best BM25 of the question. A cosine does not depend on the other hits.
docs/search.md compares other methods.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from whence.models import ChunkKey

TEXT_WEIGHT = 0.4
"""Weight of BM25; the cosine has the rest of 1."""
WORDS_FIRST = 0.9
"""Weight of BM25 if the embedding model does not know the script of the question."""


class Scored(NamedTuple):
    """A chunk and its scores; None for a leg that did not run."""

    chunk_id: ChunkKey
    score: float
    text: float | None
    """BM25."""
    cosine: float | None


def fused(
    text: Mapping[ChunkKey, float],
    cosines: Mapping[ChunkKey, float],
    *,
    among: Iterable[ChunkKey] | None = None,
    text_weight: float = TEXT_WEIGHT,
) -> list[Scored]:
    """Chunks of either leg, or only those in `among`, best first. A chunk that is missing in a leg scores 0 there."""
    for_text, for_vectors = _for_text(text, text_weight), 1 - text_weight
    found = []
    for chunk_id in text.keys() | cosines.keys() if among is None else among:
        bm25, cosine = text.get(chunk_id, 0.0), cosines.get(chunk_id, 0.0)
        score = for_text * bm25 + for_vectors * (cosine if cosine > 0 else 0.0)
        found.append((-score, -cosine, -bm25, chunk_id))
    found.sort()
    return [Scored(chunk_id, -score, -bm25, -cosine) for score, cosine, bm25, chunk_id in found]


def contenders(
    text: Mapping[ChunkKey, float],
    cosines: Mapping[ChunkKey, float],
    *,
    beyond: float,
    count: int,
    text_weight: float = TEXT_WEIGHT,
) -> list[ChunkKey]:
    """Chunks that may be among the first `count`, if an unknown cosine is at most `beyond`."""
    for_text, for_vectors = _for_text(text, text_weight), 1 - text_weight
    at_most = for_vectors * max(beyond, 0.0)
    known = [
        (for_text * text.get(chunk_id, 0.0) + for_vectors * (cosine if cosine > 0 else 0.0), chunk_id)
        for chunk_id, cosine in cosines.items()
    ]
    known.sort(reverse=True)
    least = known[count - 1][0] if len(known) >= count else 0.0
    found = [chunk_id for score, chunk_id in known if score >= least]
    found += [
        chunk_id
        for chunk_id, bm25 in text.items()
        if for_text * bm25 + at_most >= least and chunk_id not in cosines
    ]
    return found


def by_text(text: Mapping[ChunkKey, float]) -> list[Scored]:
    """Ranks by BM25 alone; the best has score 1."""
    best = max(text.values(), default=0.0)
    found = [
        Scored(chunk_id=chunk_id, score=value / best if best else 0.0, text=value, cosine=None)
        for chunk_id, value in text.items()
    ]
    return sorted(found, key=_rank)


def by_cosine(cosines: Mapping[ChunkKey, float]) -> list[Scored]:
    found = [
        Scored(chunk_id=chunk_id, score=max(value, 0.0), text=None, cosine=value)
        for chunk_id, value in cosines.items()
    ]
    return sorted(found, key=_rank)


def _for_text(text: Mapping[ChunkKey, float], weight: float) -> float:
    """The factor from BM25 to its part of the score."""
    best = max(text.values(), default=0.0)
    return weight / best if best else 0.0


def _rank(scored: Scored) -> tuple[float, float, float, ChunkKey]:
    """Ties are ordered by cosine, then BM25, then id (oldest first)."""
    return (-scored.score, -(scored.cosine or 0.0), -(scored.text or 0.0), scored.chunk_id)
