"""When nothing that was found has to do with the question. Pure.

The best of the hits has to show enough: its cosine, and how much of the question's words it has. Both were measured on
real questions, asked of the documents they are about and of documents that they are not about (docs/search.md). What
a cosine means differs from model to model, so the floor stands only for models that were measured.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from whence.search.fuse import Scored
from whence.types import EmbeddingSpace

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


def passes(hits: Iterable[Scored], *, ceiling: float, space: EmbeddingSpace | None) -> bool:
    """Whether any of the hits has to do with the question.

    `ceiling` is the BM25 of a chunk that is nothing but the question's words, without end.
    """
    return any(_enough(hit, ceiling, space) for hit in hits)


def _enough(hit: Scored, ceiling: float, space: EmbeddingSpace | None) -> bool:
    share = hit.text / ceiling if hit.text is not None and ceiling else 0.0
    if hit.cosine is None:
        return share >= TEXT_ALONE
    measured = MEASURED.get((space.provider, space.model)) if space else None
    if measured is None:
        return True
    if hit.text is None:
        return hit.cosine >= measured.alone
    return hit.cosine >= measured.near or hit.cosine + SHARE_WEIGHT * share >= measured.both
