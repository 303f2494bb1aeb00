"""The floor: when nothing that was found has to do with the question."""

from uuid import UUID

import pytest

from whence.search.floor import passes
from whence.search.fuse import Scored
from whence.types import EmbeddingSpace

MINILM = EmbeddingSpace(id=UUID(int=1), provider="minilm", model="all-MiniLM-L6-v2-int8", dimensions=384)
OTHER = EmbeddingSpace(id=UUID(int=2), provider="openai", model="someone's", dimensions=8)
CEILING = 20.0


def hit(text: float | None, cosine: float | None) -> Scored:
    return Scored(chunk_id=UUID(int=9), score=0.5, text=text, cosine=cosine)


@pytest.mark.parametrize(
    ("text", "cosine", "enough"),
    [
        (None, 0.45, True),
        (None, 0.35, False),
        (3.0, None, True),  # 0.15 of what the words could come to
        (2.0, None, False),
        (0.0, 0.45, True),  # near, in other words
        (0.0, 0.42, False),
        (4.0, 0.30, True),
        (1.0, 0.30, False),
    ],
)
def test_the_best_has_to_show_enough(text: float | None, cosine: float | None, enough: bool) -> None:
    assert passes([hit(text, cosine)], ceiling=CEILING, space=MINILM) is enough


def test_one_that_shows_enough_is_enough() -> None:
    assert passes([hit(0.0, 0.1), hit(8.0, 0.7)], ceiling=CEILING, space=MINILM)


def test_nothing_found_is_nothing() -> None:
    assert not passes([], ceiling=CEILING, space=MINILM)


def test_a_model_that_was_not_measured_has_no_floor() -> None:
    assert passes([hit(0.0, 0.01)], ceiling=CEILING, space=OTHER)


def test_words_that_nobody_has_are_no_reason_to_divide_by_zero() -> None:
    assert not passes([hit(0.0, None)], ceiling=0.0, space=None)
