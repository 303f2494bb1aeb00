"""Words that tell little of what a question is about."""

import pytest

from whence.search.query import Query
from whence.text.content_words import EVERYDAY, FUNCTION, light


@pytest.mark.parametrize(
    ("question", "language", "counts"),
    [
        ("How does photosynthesis work?", "english", (1, EVERYDAY)),
        ("Who discovered penicillin?", "english", (EVERYDAY, 1)),
        ("Bis wann gilt der Fahrschein?", "german", (FUNCTION, FUNCTION, 1, FUNCTION, 1)),
        ("Où est la gare ?", "french", (FUNCTION, FUNCTION, FUNCTION, 1)),
        ("Wie heavy ist die Linse?", "simple", (FUNCTION, EVERYDAY, FUNCTION, 1, 1)),  # to die is English
        ("C plus door", "english", (1, 1, 1)),  # in other languages they say nothing
        ("Hur fungerar det?", "swedish", (1, 1, 1)),
        ("報銷期限", "english", (1, 1, 1)),
    ],
)
def test_words_that_any_text_has_count_less(question: str, language: str, counts: tuple[float, ...]) -> None:
    assert Query.of(question, language).light == counts


def test_no_word_counts_nothing() -> None:
    assert set(light("english").values()) == {EVERYDAY, FUNCTION}
    assert set(light("german").values()) == {FUNCTION}
    assert light("swedish") == {}
