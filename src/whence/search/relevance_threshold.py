"""Decides whether any hit is relevant to the question. Pure.

A hit needs a high enough cosine and share of the question's words. The thresholds were measured with real questions on
relevant and irrelevant documents (docs/search.md). Cosines differ between models, so the cosine thresholds apply only to
measured models.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log

from whence.models import ChunkKey, EmbeddingSpace
from whence.search.fuse import Scored

TEXT_ALONE = 0.14
"""Threshold without vectors, for the share of the question's maximum BM25 weight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The measured thresholds of a model."""

    alone: float
    """For the cosine, in a search by vectors alone."""
    near: float
    """For the cosine, whatever the share: the question may use other words."""
    both: float
    """For the cosine plus `SHARE_WEIGHT` times the share."""


SHARE_WEIGHT = 1.5

MEASURED = {("minilm", "all-MiniLM-L6-v2-int8"): Measured(alone=0.40, near=0.44, both=0.54)}

FEW = 200
"""Number of chunks from which the full thresholds apply. Among fewer, the best is seldom near by chance."""

# How much lower the thresholds are for a project with a single chunk.
_RELIEF = 0.18
_ALONE_RELIEF = 0.14
_NEAR_RELIEF = 0.07
_TEXT_RELIEF = 0.05  # but not for character pairs: any text has many of them


def passes(
    hits: Iterable[Scored],
    *,
    shares: Mapping[ChunkKey, float],
    space: EmbeddingSpace | None,
    among: int,
    by_words: bool = False,
) -> bool:
    """Whether any of the hits, the best of `among` chunks, is relevant.

    `shares` has each chunk's share of the question's maximum BM25 weight. `by_words` is for questions in scripts that the
    measured models do not know: to them all such texts look alike.
    """
    few = _few(among)
    return any(_enough(hit, shares.get(hit.chunk_id, 0.0), space, few, by_words) for hit in hits)


def _few(among: int) -> float:
    """Falls from 1 for one chunk to 0 for `FEW`, by the logarithm: the nearest of many irrelevant chunks is nearer."""
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
