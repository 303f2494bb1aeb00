"""Texts as the words that carry their meaning."""

import unicodedata

import pytest

from whence.chat.words import words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The cafés of Málaga opened", ["caf", "malaga", "open"]),
        ("1,000 Bridges in 3.5 years", ["1000", "bridg", "3.5", "year"]),
        ("东京塔", ["东京", "京塔"]),
        ("한강이 흐른다", ["한강", "강이", "흐른", "른다"]),
        ("서울 강", ["서울", "강"]),
        ("K팝", ["k", "팝"]),
    ],
)
def test_words_are_the_same_however_they_are_encoded(text: str, found: list[str]) -> None:
    assert words(text) == words(unicodedata.normalize("NFD", text)) == found
