"""Fusing: what is true of every order that is made of words and vectors."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.models import ChunkKey
from whence.search.fuse import TEXT_WEIGHT, WORDS_FIRST, Scored, fused

IDS: list[ChunkKey] = [n.to_bytes(16) for n in range(1, 13)]

bm25 = st.dictionaries(st.sampled_from(IDS), st.floats(0.01, 50), max_size=10)
cosines = st.dictionaries(st.sampled_from(IDS), st.floats(-1, 1), max_size=10)


def test_the_weights_are_those_that_were_measured() -> None:
    a, b = IDS[:2]
    (first, second) = fused({a: 10.0, b: 5.0}, {a: 0.5, b: 0.9})
    assert (first.chunk_id, second.chunk_id) == (b, a)
    assert first.score == pytest.approx(0.4 * 0.5 + 0.6 * 0.9)
    assert second.score == pytest.approx(0.4 + 0.6 * 0.5)
    assert TEXT_WEIGHT == 0.4


def test_where_vectors_know_nothing_of_a_script_the_words_come_first() -> None:
    a, b = IDS[:2]
    text, near = {a: 10.0, b: 5.0}, {a: 0.1, b: 0.9}
    assert [hit.chunk_id for hit in fused(text, near)] == [b, a]
    assert [hit.chunk_id for hit in fused(text, near, text_weight=WORDS_FIRST)] == [a, b]


def test_nothing_makes_nothing() -> None:
    assert fused({}, {}) == fused({}, None) == fused(None, {}) == []


def test_the_best_by_words_alone_has_score_one() -> None:
    found = fused({IDS[0]: 2.0, IDS[1]: 8.0}, None)
    assert [(hit.chunk_id, hit.score, hit.cosine) for hit in found] == [
        (IDS[1], 1.0, None),
        (IDS[0], 0.25, None),
    ]


def test_what_points_the_other_way_has_score_zero() -> None:
    (hit,) = fused(None, {IDS[0]: -0.5})
    assert (hit.score, hit.cosine, hit.text) == (0.0, -0.5, None)


@given(bm25, cosines)
def test_every_chunk_of_either_is_there_once(
    text: dict[ChunkKey, float], near: dict[ChunkKey, float]
) -> None:
    found = [hit.chunk_id for hit in fused(text, near)]
    assert len(found) == len(set(found))
    assert set(found) == text.keys() | near.keys()


@given(bm25, cosines)
def test_scores_fall_and_stay_between_zero_and_one(
    text: dict[ChunkKey, float], near: dict[ChunkKey, float]
) -> None:
    scores = [hit.score for hit in fused(text, near)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 + 1e-9 for score in scores)


@given(bm25, cosines, st.randoms())
def test_the_order_in_which_they_come_does_not_matter(
    text: dict[ChunkKey, float], near: dict[ChunkKey, float], chance: Random
) -> None:
    def shuffled(scores: dict[ChunkKey, float]) -> dict[ChunkKey, float]:
        items = list(scores.items())
        chance.shuffle(items)
        return dict(items)

    assert fused(shuffled(text), shuffled(near)) == fused(text, near)


@given(bm25, cosines, st.permutations(IDS))
def test_who_they_are_does_not_matter(
    text: dict[ChunkKey, float], near: dict[ChunkKey, float], others: list[ChunkKey]
) -> None:
    """Other ids, the same scores: ids decide only between equals."""
    renamed = dict(zip(IDS, others, strict=True))
    before = fused(text, near)
    after = fused({renamed[i]: s for i, s in text.items()}, {renamed[i]: s for i, s in near.items()})
    assert [hit.score for hit in after] == [hit.score for hit in before]
    scores = [hit.score for hit in before]
    for old, new in zip(before, after, strict=True):
        if scores.count(old.score) == 1:
            assert new.chunk_id == renamed[old.chunk_id]


@given(bm25, cosines, st.sampled_from(IDS), st.floats(0, 1))
def test_who_comes_nearer_never_falls(
    text: dict[ChunkKey, float], near: dict[ChunkKey, float], who: ChunkKey, more: float
) -> None:
    near = {**near, who: near.get(who, 0.0)}
    better = {**near, who: max(near[who], more)}
    assert _rank(fused(text, better), who) <= _rank(fused(text, near), who)


@given(bm25, cosines, st.sampled_from(IDS), st.floats(0, 20))
def test_who_has_more_of_the_words_never_falls(
    text: dict[ChunkKey, float], near: dict[ChunkKey, float], who: ChunkKey, more: float
) -> None:
    text = {**text, who: text.get(who, 0.0)}
    better = {**text, who: text[who] + more}
    assert _rank(fused(better, near), who) <= _rank(fused(text, near), who)


def _rank(found: list[Scored], who: ChunkKey) -> int:
    """Equals share the rank of the first of them."""
    scores = {hit.chunk_id: hit.score for hit in found}
    return sum(score > scores[who] + 1e-12 for score in scores.values())
