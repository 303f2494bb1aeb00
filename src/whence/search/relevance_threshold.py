"""Decides whether any hit is relevant to the question. Pure.

    z + 20 · share ≥ limit,   z = (cosine - mean) / deviation of the background (`background`)

The best of many unrelated chunks is nearer than the best of few, so the limit grows with the number of chunks, as the expected
maximum of normally distributed numbers does. docs/decisions/0011-relevance-threshold.md has the measurements.
"""

from collections.abc import Iterable, Mapping
from statistics import NormalDist

from whence.models import ChunkKey
from whence.search.background import KNOWN
from whence.search.fuse import Scored
from whence.store.backgrounds import Background

TEXT_ALONE = 0.14
"""Limit of the share without vectors, for the share of the question's maximum BM25 weight."""
_TEXT_LEAST = 0.09
"""The same for a project of one chunk."""

SHARE_WEIGHT = 20.0
_LIMIT = 7.0
_LEAST = 4.0
"""The limit for a project of one chunk."""
_LEAST_UNKNOWN = -2.5
"""The same in a language that the embedder does not know: there related and unrelated texts have similar scores."""
_WITHOUT_WORDS = 2.0
"""Reduction of the limit in a search by vectors alone."""

MANY = 1_000
"""Number of chunks from which the limits are the full ones."""
_UP_TO = NormalDist().inv_cdf(1 - 1 / MANY)


def knows(background: Background | None) -> bool:
    """Whether the embedder knows the language of the project."""
    return background is None or background.reach >= KNOWN


def by_words(background: Background | None, *, is_unspaced: bool) -> bool:
    """Whether words decide: the embedder knows no language, or not this one and its texts have no spaces.

    Character pairs of such texts tell more than the words of others, which change their form.
    """
    if background is None or knows(background):
        return False
    return is_unspaced or background.best_reach < KNOWN


def passes(
    hits: Iterable[Scored],
    *,
    shares: Mapping[ChunkKey, float],
    background: Background | None,
    among: int,
    is_unspaced: bool = False,
) -> bool:
    """Whether any of the hits, the best of `among` chunks, is relevant. Without a background, every hit near a vector is.

    `shares` has each chunk's share of the question's maximum BM25 weight.
    """
    grown = NormalDist().inv_cdf(1 - 1 / min(max(among, 2), MANY)) / _UP_TO
    words_decide = by_words(background, is_unspaced=is_unspaced)
    least = TEXT_ALONE if is_unspaced else _TEXT_LEAST + grown * (TEXT_ALONE - _TEXT_LEAST)
    lowest = _LEAST if knows(background) else _LEAST_UNKNOWN
    limit = lowest + grown * (_LIMIT - lowest)

    def is_enough(hit: Scored) -> bool:
        share = shares.get(hit.chunk_id, 0.0)
        if hit.cosine is None or (words_decide and hit.text is not None):
            return share >= least
        if background is None:
            return True
        z = (hit.cosine - background.mean) / background.deviation
        if hit.text is None:
            return not knows(background) or z >= limit - _WITHOUT_WORDS
        return z + SHARE_WEIGHT * share >= limit

    return any(map(is_enough, hits))
