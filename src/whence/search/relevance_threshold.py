"""When nothing that was found has to do with the question. Pure.

The best of the hits has to show enough: its cosine, and how much of the question's words it has. Both were measured on
real questions, asked of the documents they are about and of documents that they are not about (docs/search.md). What
a cosine means differs from model to model, so the floor stands only for models that were measured.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log

from whence.models import ChunkKey, EmbeddingSpace
from whence.search.fuse import Scored

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

# What the only chunk there is has to show less:
_RELIEF = 0.18
"""of a cosine and a share together;"""
_ALONE_RELIEF = 0.14
"""of a cosine, where words were not asked;"""
_NEAR_RELIEF = 0.07
"""of a cosine, whatever the words say;"""
_TEXT_RELIEF = 0.05
"""of a share alone, but not of pairs of characters: many of them are in any text."""


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
    few = _few(among)
    return any(_enough(hit, shares.get(hit.chunk_id, 0.0), space, few, by_words) for hit in hits)


def _few(among: int) -> float:
    """From 1 for a single chunk to 0, less by each doubling: the more there are, the nearer the nearest that has nothing to do with it."""
    return 1 - log(max(among, 1)) / log(FEW) if among < FEW else 0.0


def _enough(hit: Scored, share: float, space: EmbeddingSpace | None, few: float, by_words: bool) -> bool:
    measured = MEASURED.get((space.provider, space.model)) if space else None
    if hit.cosine is not None and measured is None:
        return True
    if hit.cosine is None or measured is None or (by_words and hit.text is not None):
        return share >= TEXT_ALONE - (0.0 if by_words else few * _TEXT_RELIEF)
    if hit.text is None:
        return hit.cosine >= measured.alone - few * _ALONE_RELIEF
    together = hit.cosine + SHARE_WEIGHT * share
    return hit.cosine >= measured.near - few * _NEAR_RELIEF or together >= measured.both - few * _RELIEF
