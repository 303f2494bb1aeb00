"""The floor: when nothing that was found has to do with the question."""

from uuid import UUID

import pytest

from whence.models import EmbeddingSpace
from whence.search.fuse import Scored
from whence.search.relevance_threshold import FEW, passes

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
    assert passes([hit(text, cosine)], shares=shares, space=MINILM, among=1000) is enough


def test_one_that_shows_enough_is_enough() -> None:
    assert passes([hit(0.0, 0.1), hit(0.0, 0.7)], shares={}, space=MINILM, among=1000)


def test_nothing_found_is_nothing() -> None:
    assert not passes([], shares={}, space=MINILM, among=1000)


def test_a_model_that_was_not_measured_has_no_floor() -> None:
    assert passes([hit(0.0, 0.01)], shares={}, space=OTHER, among=1000)


def test_a_hit_without_any_of_the_words_is_not_enough() -> None:
    assert not passes([hit(0.0, None)], shares={}, space=None, among=1000)


@pytest.mark.parametrize("cosine", [0.30, 0.35, 0.399])
def test_the_best_of_few_has_less_to_show(cosine: float) -> None:
    def enough(among: int) -> bool:
        return passes([hit(None, cosine)], shares={}, space=MINILM, among=among)

    decided = [enough(among) for among in range(FEW + 2)]
    assert decided == sorted(decided, reverse=True)  # and the more there are, the more
    assert decided[1]
    assert not decided[FEW]


@pytest.mark.parametrize("share", [0.10, 0.12, 0.139])
def test_of_few_their_words_have_less_to_show_too(share: float) -> None:
    def enough(among: int) -> bool:
        return passes([hit(1.0, None)], shares={HIT: share}, space=None, among=among)

    decided = [enough(among) for among in range(FEW + 2)]
    assert decided == sorted(decided, reverse=True)
    assert decided[1]
    assert not decided[FEW]


def test_of_few_the_nearest_is_less_near_without_the_words() -> None:
    assert passes([hit(0.0, 0.38)], shares={}, space=MINILM, among=1)
    assert not passes([hit(0.0, 0.36)], shares={}, space=MINILM, among=1)
    assert not passes([hit(0.0, 0.43)], shares={}, space=MINILM, among=FEW)


def test_what_has_nothing_in_common_is_not_enough_even_of_one() -> None:
    assert not passes([hit(0.0, 0.2)], shares={HIT: 0.0}, space=MINILM, among=1)
    assert not passes([hit(None, 0.2)], shares={}, space=MINILM, among=1)


def test_in_scripts_that_a_model_was_not_made_for_the_words_decide() -> None:
    near = hit(0.0, 0.9)
    assert not passes([near], shares={HIT: 0.1}, space=MINILM, among=1000, by_words=True)
    assert passes([near], shares={HIT: 0.15}, space=MINILM, among=1000, by_words=True)
    assert passes([near], shares={}, space=OTHER, among=1000, by_words=True)
    assert passes(
        [hit(None, 0.9)], shares={}, space=MINILM, among=1000, by_words=True
    )  # words were not asked
