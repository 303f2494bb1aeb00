"""Postings say of each term which chunks have it: as arrays, in blocks, and merged, always the same."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whence.search.postings import MOST_COUNTED, Postings, from_blocks, in_block, invert, merge, to_blocks

KEYS = st.one_of(st.integers(-4, 4), st.integers(-(2**63), 2**63 - 1))
TEXTS = st.lists(st.lists(KEYS, max_size=12), max_size=12)


def plain(texts: Sequence[Sequence[int]]) -> dict[int, list[tuple[int, int, int]]]:
    """Chunk, count and length for each term, the slow way."""
    found: dict[int, list[tuple[int, int, int]]] = {}
    for number, text in enumerate(texts):
        for key, count in Counter(text).items():
            found.setdefault(key, []).append((number, count, len(text)))
    return found


def opened(postings: Postings) -> dict[int, list[tuple[int, int, int]]]:
    found: dict[int, list[tuple[int, int, int]]] = {}
    start = 0
    for term, end in zip(postings.terms.tolist(), postings.ends.tolist(), strict=True):
        found[term] = sorted(zip(*(row[start:end].tolist() for row in postings.rows), strict=True))
        start = end
    assert start == postings.rows.shape[1]
    return found


@given(texts=TEXTS)
def test_every_term_of_every_chunk_is_there(texts: list[list[int]]) -> None:
    postings, lengths = invert(texts)
    assert opened(postings) == plain(texts)
    assert lengths.tolist() == [len(text) for text in texts]
    assert postings.terms.tolist() == sorted(postings.terms.tolist())


@given(texts=TEXTS)
def test_blocks_are_the_postings_again(texts: list[list[int]]) -> None:
    postings, _ = invert(texts)
    assert opened(from_blocks(block for _, block in to_blocks(postings))) == plain(texts)


@given(seed=st.integers(0, 2**32))
def test_a_term_is_in_the_last_block_that_begins_before_it(seed: int) -> None:
    chance = np.random.default_rng(seed)
    texts = [(chance.zipf(1.3, 100) % 5_000).tolist() for _ in range(150)]
    expected = plain(texts)
    blocks = list(to_blocks(invert(texts)[0]))
    assert len(blocks) > 1
    assert blocks == sorted(blocks)
    for key in range(-1, 300):
        holding = [block for first, block in blocks if first <= key]
        found = in_block(holding[-1], key) if holding else None
        rows = [] if found is None else sorted(zip(*(column.tolist() for column in found), strict=True))
        assert rows == expected.get(key, [])


@given(parts=st.lists(TEXTS, min_size=1, max_size=4), chance=st.randoms(use_true_random=False))
def test_merged_is_as_if_the_living_were_one(parts: list[list[list[int]]], chance: object) -> None:
    dead = [[chance.random() < 0.3 for _ in part] for part in parts]  # type: ignore[attr-defined]
    numbered: list[tuple[Postings, np.ndarray[tuple[int, ...], np.dtype[np.int64]]]] = []
    living: list[list[int]] = []
    for part, gone in zip(parts, dead, strict=True):
        numbers = []
        for text, is_dead in zip(part, gone, strict=True):
            numbers.append(-1 if is_dead else len(living))
            living += [] if is_dead else [text]
        numbered.append((invert(part)[0], np.array(numbers, np.int64)))
    assert opened(merge(numbered)) == plain(living)


def test_what_is_beyond_counting_counts_as_the_most() -> None:
    postings, lengths = invert([[7] * (MOST_COUNTED + 10), [7]])
    assert opened(postings) == {7: [(0, MOST_COUNTED, MOST_COUNTED), (1, 1, 1)]}
    assert lengths.tolist() == [MOST_COUNTED, 1]
