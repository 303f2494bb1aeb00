"""Decides whether a value is specific enough to identify its source text. Pure."""

from typing import Any

from whence.extract.grounding import is_phrase, is_small_number
from whence.extract.name_words import SMALL_WORDS
from whence.text.numbers import has_number

FEWEST_WORDS = 3
"""Number of words that do not match by chance."""


def is_specific(value: Any, said: str) -> bool:
    """Whether the value identifies its source text: a number, a name, or three or more words.

    "45 minutes", "two weeks", "Jane Doe" and "valid for all users" are specific. "high", "7" and "identity provider" may occur in
    a text by chance. `said` is the wording in the text: two capitalised words there are a name.
    """
    text = str(value)
    return is_distinctive(value) and (
        len(text.split()) >= FEWEST_WORDS or has_figure(text) or is_phrase(text) or _is_capitalised(said)
    )


def is_distinctive(value: Any) -> bool:
    """Whether the value has several words or a digit and is not a small number. No other value is specific."""
    text = str(value)
    return not is_small_number(value) and (len(text.split()) > 1 or _has_digit(text) or is_phrase(text))


def _has_digit(text: str) -> bool:
    return any(character.isnumeric() and not character.isalpha() for character in text)


def has_figure(text: str) -> bool:
    return _has_digit(text) or has_number(text)


def _is_capitalised(said: str) -> bool:
    words = [word for word in said.split() if word.lower() not in SMALL_WORDS]
    firsts = [next(filter(str.isalpha, word), "") for word in words]
    return len(firsts) > 1 and all(first.isupper() for first in firsts)
