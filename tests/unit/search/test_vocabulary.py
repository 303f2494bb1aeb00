"""KnownWords and their corrections, without a database."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.search.vocabulary import KnownWords, count_words, pack_words, replace_words, unpack_words


def words_of(**counts: int) -> KnownWords:
    return KnownWords(list(counts), np.array(list(counts.values())))


def test_counts_texts_not_occurrences() -> None:
    counts = count_words(["Ledger ledger, the ledger.", "A LEDGER of the v1.2 e-mail 2026, Lincoln's"])
    assert counts == Counter(ledger=2, mail=1, lincoln=1)


def test_letters_that_stand_for_several_words_are_left_out() -> None:
    """U+FDFA is one letter that folds to four words."""
    counts = count_words(
        ["\u0642\u0627\u0644 \u0627\u0644\u0646\u0628\u064a \ufdfa \u0643\u0630\u0627\u0643"]
    )
    assert counts == unpack_words(pack_words(counts))
    assert not any(" " in word for word in counts)


@given(st.lists(st.text(max_size=80)))
def test_packed_words_come_back(texts: list[str]) -> None:
    counts = count_words(texts)
    assert unpack_words(pack_words(counts)) == counts


@pytest.mark.parametrize("typed", ["ledgr", "ledgeer", "lefger", "legder"])
def test_one_edit(typed: str) -> None:
    assert words_of(ledger=3, lodge=9, ridge=9).near(typed) == ["ledger"]


def test_the_nearest_first_then_the_most_frequent() -> None:
    words = words_of(consultation=1, constellation=50, consolation=2, consolations=7)
    assert words.near("consolatio") == ["consolation", "consolations"]
    assert words_of(former=2, farmer=9).near("fermer") == ["farmer", "former"]


def test_two_edits_in_long_words_only() -> None:
    assert words_of(repurchases=1).near("repurchse") == ["repurchases"]
    assert words_of(harbour=1).near("harbr") == []


def test_no_words() -> None:
    assert KnownWords([], np.array([], np.int64)).near("ledger") == []


def test_the_text_is_kept_around_corrected_words() -> None:
    corrections = {"ledgr": "ledger"}
    assert (
        replace_words("Where is the Ledgr, and who's ledgrs?", corrections)
        == "Where is the ledger, and who's ledgrs?"
    )
    assert replace_words("the ledgr's all-ledgr page", corrections) == "the ledger's all-ledger page"
