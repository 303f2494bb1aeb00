"""Texts as the words that carry their meaning."""

import unicodedata

import pytest

from whence.text.content_words import words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The cafés of Málaga opened", ["cafe", "malaga", "open"]),
        ("1,000 Bridges in 3.5 years", ["1000", "bridg", "3.5", "3", "5", "year"]),
        ("东京塔", ["东京", "京塔"]),
        ("한강이 흐른다", ["한강", "강이", "흐른", "른다"]),
        ("서울 강", ["서울", "강"]),
        ("K팝", ["k", "팝"]),
    ],
)
def test_words_are_the_same_however_they_are_encoded(text: str, found: list[str]) -> None:
    assert words(text) == words(unicodedata.normalize("NFD", text)) == found


@pytest.mark.parametrize(
    "forms",
    [
        "apply applies applied applying",
        "family families",
        "supply supplies",
        "exceed exceeds exceeded",
        "speed speeds",
        "agree agreed agrees",
        "quick quickly",
        "employee employees",
        "retry retried",
    ],
)
def test_forms_of_a_word_are_the_same(forms: str) -> None:
    assert len(set(words(forms))) == 1


@pytest.mark.parametrize("strangers", ["apply app", "early ear", "James jam", "speed spe", "family fami"])
def test_strangers_are_not(strangers: str) -> None:
    assert len(set(words(strangers))) == 2


def test_contractions_say_nothing() -> None:
    assert words("Who's what’s don't isn't doesn't can't won't we're I'm they've you'll") == []
    assert words("The porter's key, James's") == words("porter key James")
