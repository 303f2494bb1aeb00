"""Vectors in memory: few are compared one by one, of many first the sketches."""

import numpy as np
import pytest
from numpy.typing import NDArray

from whence.search import held_vectors
from whence.search.held_vectors import HeldVectors, hold_vectors

DIMENSIONS = 100  # no multiple of 64


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_vectors, "FEW", 50)
    monkeypatch.setattr(held_vectors, "_PART", 700)
    monkeypatch.setattr(held_vectors, "_FOR_MEAN", 100)


def clouds(count: int, seed: int) -> NDArray[np.float32]:
    """Points of few dimensions with some noise, away from the origin, as the vectors of texts are."""
    fixed, chance = np.random.default_rng(0), np.random.default_rng(seed)
    spread, middle = fixed.normal(size=(20, DIMENSIONS)), fixed.normal(size=DIMENSIONS)
    points = (
        chance.normal(size=(count, 20)) @ spread / 4 + chance.normal(size=(count, DIMENSIONS)) / 4 + middle
    )
    made: NDArray[np.float32] = (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)
    return made


def held(vectors: NDArray[np.float32]) -> HeldVectors:
    made, usable = hold_vectors(vectors.astype(np.float16), np.arange(len(vectors)))
    assert usable.all()
    return made


def test_sketches_find_nearly_all_of_the_nearest() -> None:
    vectors = clouds(5_000, 1)
    made = held(vectors)
    assert made.sketches is not None
    found = 0
    for wanted in clouds(40, 2):
        near = made.nearest(wanted, 10)
        right = np.argsort(-(vectors @ wanted))[:10]
        found += len({*near.numbers.tolist()} & {*right.tolist()})
        assert near.cosines == pytest.approx(vectors[near.numbers] @ wanted, abs=1e-3)
    assert found >= 0.97 * 400


def test_every_vector_is_nearest_to_itself() -> None:
    vectors = clouds(2_000, 3)
    made = held(vectors)
    for number in range(0, 2_000, 97):
        near = made.nearest(vectors[number], 1)
        assert number in near.numbers


def test_thousands_of_equal_vectors_are_not_all_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_vectors, "_SKETCHED", 20)
    vectors = np.repeat(clouds(2, 5), 3_000, axis=0)
    made = held(vectors)
    assert made.sketches is not None
    assert made.sketches.nearest(vectors[-1], 20).tolist() == list(range(3_000, 3_020))


def test_a_vector_without_a_length_is_not_usable() -> None:
    vectors = clouds(100, 6)
    vectors[60] = 0
    _, usable = hold_vectors(vectors.astype(np.float16), np.arange(100))
    assert np.flatnonzero(~usable).tolist() == [60]


def test_sixteen_bits_take_half_of_the_memory() -> None:
    vectors = clouds(5_000, 7)
    assert held(vectors).nbytes < 0.6 * vectors.nbytes
