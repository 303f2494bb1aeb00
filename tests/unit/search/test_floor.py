"""The floor: when nothing that was found has to do with the question."""

from uuid import UUID

import pytest

from whence.search.floor import passes
from whence.search.fuse import Scored
from whence.types import EmbeddingSpace

MINILM = EmbeddingSpace(id=UUID(int=1), provider="minilm", model="all-MiniLM-L6-v2-int8", dimensions=384)
OTHER = EmbeddingSpace(id=UUID(int=2), provider="openai", model="someone's", dimensions=8)
HIT = b"a chunk of sixty"
CEILING = 20.0


def hit(text: float | None, cosine: float | None) -> Scored:
    return Scored(chunk_id=HIT, score=0.5, text=text, cosine=cosine)


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
    shares = {} if text is None else {HIT: text / CEILING}
    assert passes([hit(text, cosine)], shares=shares, space=MINILM) is enough


def test_one_that_shows_enough_is_enough() -> None:
    assert passes([hit(0.0, 0.1), hit(0.0, 0.7)], shares={}, space=MINILM)


def test_nothing_found_is_nothing() -> None:
    assert not passes([], shares={}, space=MINILM)


def test_a_model_that_was_not_measured_has_no_floor() -> None:
    assert passes([hit(0.0, 0.01)], shares={}, space=OTHER)


def test_a_hit_without_any_of_the_words_is_not_enough() -> None:
    assert not passes([hit(0.0, None)], shares={}, space=None)
