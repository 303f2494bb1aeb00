"""The floor: when nothing that was found has to do with the question."""

import pytest

from whence.search.fuse import Scored
from whence.search.relevance_threshold import MANY, by_words, passes
from whence.store.backgrounds import Background

ENGLISH = Background(mean=0.02, deviation=0.08, reach=7.3, best_reach=7.3)
SPANISH = Background(mean=0.30, deviation=0.08, reach=1.0, best_reach=7.3)
NOTHING_KNOWN = Background(mean=0.1, deviation=0.08, reach=0.7, best_reach=2.1)
HIT = b"a chunk of sixty"


def hit(text: float | None, cosine: float | None) -> Scored:
    return Scored(chunk_id=HIT, score=0.5, text=text, cosine=cosine)


@pytest.mark.parametrize(
    ("cosine", "share", "enough"),
    [
        (0.60, 0.0, True),  # near, in other words
        (0.50, 0.0, False),
        (0.30, 0.20, True),
        (0.30, 0.10, False),
        (None, 0.15, True),
        (None, 0.10, False),
    ],
)
def test_the_best_has_to_show_enough(cosine: float | None, share: float, enough: bool) -> None:
    found = passes([hit(1.0, cosine)], shares={HIT: share}, background=ENGLISH, among=MANY)
    assert found is enough


@pytest.mark.parametrize(("cosine", "enough"), [(0.45, True), (0.38, False)])
def test_without_words_the_nearest_is_enough_from_a_lower_limit(cosine: float, enough: bool) -> None:
    assert passes([hit(None, cosine)], shares={}, background=ENGLISH, among=MANY) is enough


def test_one_that_shows_enough_is_enough() -> None:
    assert passes([hit(0.0, 0.1), hit(0.0, 0.7)], shares={}, background=ENGLISH, among=MANY)
    assert not passes([], shares={}, background=ENGLISH, among=MANY)


def test_the_scale_of_the_cosines_plays_no_role() -> None:
    """An embedder may give unrelated texts a cosine of 0.8."""
    for cosine in (0.1, 0.3, 0.5, 0.6, 0.7):
        for share in (0.0, 0.1, 0.2):
            narrow = ENGLISH._replace(
                mean=0.8 + 0.2 * ENGLISH.mean, deviation=max(0.2 * ENGLISH.deviation, 0.01)
            )
            own, other = (
                passes([hit(1.0, value)], shares={HIT: share}, background=background, among=MANY)
                for value, background in ((cosine, ENGLISH), (0.8 + 0.2 * cosine, narrow))
            )
            assert own is other


def test_without_a_background_every_near_hit_passes() -> None:
    assert passes([hit(0.0, 0.01)], shares={}, background=None, among=MANY)
    assert not passes([hit(0.0, None)], shares={}, background=None, among=MANY)


@pytest.mark.parametrize(
    ("scored", "share"), [(hit(0.0, 0.5), 0.0), (hit(None, 0.36), 0.0), (hit(1.0, None), 0.12)]
)
def test_the_best_of_few_has_less_to_show(scored: Scored, share: float) -> None:
    decided = [
        passes([scored], shares={HIT: share}, background=ENGLISH, among=among)
        for among in (0, 1, 2, 5, 20, 100, MANY, 10 * MANY)
    ]
    assert decided == sorted(decided, reverse=True)  # and the more there are, the more
    assert decided[1]
    assert not decided[-1]


def test_what_has_nothing_in_common_is_not_enough_even_of_one() -> None:
    assert not passes([hit(0.0, 0.2)], shares={HIT: 0.0}, background=ENGLISH, among=1)
    assert not passes([hit(None, 0.1)], shares={}, background=ENGLISH, among=1)


def test_in_a_language_that_the_embedder_does_not_know_few_chunks_have_little_to_show() -> None:
    near = hit(0.0, 0.36)
    assert passes([near], shares={}, background=SPANISH, among=3)
    assert not passes([near], shares={}, background=SPANISH, among=MANY)
    assert passes([near], shares={HIT: 0.35}, background=SPANISH, among=MANY)
    assert passes([hit(None, 0.36)], shares={}, background=SPANISH, among=MANY)  # it cannot tell


def test_words_decide_where_the_embedder_knows_nothing() -> None:
    near = hit(0.0, 0.9)
    for background, is_unspaced in ((SPANISH, True), (NOTHING_KNOWN, False)):
        assert by_words(background, is_unspaced=is_unspaced)
        for share, enough in ((0.1, False), (0.15, True)):
            found = passes(
                [near], shares={HIT: share}, background=background, among=MANY, is_unspaced=is_unspaced
            )
            assert found is enough
    assert not by_words(SPANISH, is_unspaced=False)
    assert not by_words(ENGLISH, is_unspaced=True)
    assert not by_words(None, is_unspaced=True)
