"""When nothing that was found has to do with the question. Pure.

The best of the hits has to show enough: its cosine, and how much of the question's words it has. Both were measured on
real questions, asked of the documents they are about and of documents that they are not about (docs/search.md). What
a cosine means differs from model to model, so the floor stands only for models that were measured.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log

from whence.search.fuse import Scored
from whence.types import ChunkKey, EmbeddingSpace

TEXT_ALONE = 0.14
"""Without vectors: the share of the BM25 that the question's words could come to at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was found to be enough for a model."""

    alone: float
    """A cosine, where words were not asked."""
    near: float
    """A cosine, whatever the words say: the question may be put in others."""
    both: float
    """A cosine and `SHARE_WEIGHT` times the share, together."""


SHARE_WEIGHT = 1.5

MEASURED = {("minilm", "all-MiniLM-L6-v2-int8"): Measured(alone=0.40, near=0.44, both=0.54)}

FEW = 200
"""Chunks. Of as many or more the best is near by chance as often as the measured; of fewer, it seldom is."""
_RELIEF = 0.14
"""What the floor is lower for the only chunk there is."""


def passes(
    hits: Iterable[Scored],
    *,
    shares: Mapping[ChunkKey, float],
    space: EmbeddingSpace | None,
    among: int,
    by_words: bool = False,
) -> bool:
    """Whether any of the hits, the best of `among` chunks, has to do with the question.

    `shares` say how much of the BM25 that the question's words could come to at most each chunk has. `by_words` is for
    questions in scripts that the measured models were not made for: to them all such texts are alike.
    """
    relief = _relief(among)
    return any(_enough(hit, shares.get(hit.chunk_id, 0.0), space, relief, by_words) for hit in hits)


def _relief(among: int) -> float:
    """Less by each doubling: the more chunks there are, the nearer the nearest that has nothing to do with it."""
    return _RELIEF * (1 - log(max(among, 1)) / log(FEW)) if among < FEW else 0.0


def _enough(hit: Scored, share: float, space: EmbeddingSpace | None, relief: float, by_words: bool) -> bool:
    if hit.cosine is None:
        return share >= TEXT_ALONE
    measured = MEASURED.get((space.provider, space.model)) if space else None
    if measured is None:
        return True
    if by_words and hit.text is not None:
        return share >= TEXT_ALONE
    if hit.text is None:
        return hit.cosine >= measured.alone - relief
    return hit.cosine >= measured.near or hit.cosine + SHARE_WEIGHT * share >= measured.both - relief
