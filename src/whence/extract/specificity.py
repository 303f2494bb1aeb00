"""Decides whether a value is specific enough to show which text it came from. Pure.

"45 minutes", "two weeks", "Jane Doe" and "valid for all users" are specific. "high", "7" and "identity provider" may occur in a
text by chance.
"""

from typing import Any

from whence.extract.grounding import COUNTED, is_phrase, is_small_number
from whence.extract.mentions import SMALL_WORDS
from whence.text.names import fold
from whence.text.word_lists import word_list

_SENTENCE = 3
"""This many words do not match by chance."""
_NUMBERS = frozenset(
    (*COUNTED, "fifteen", *word_list("english", "tens"), "hundred", "thousand", "million", "billion")
)


def is_telling(value: Any) -> bool:
    """Whether the value has several words or a digit, and is no small number. Anything less is never specific."""
    if is_small_number(value):
        return False
    text = str(value)
    return len(text.split()) > 1 or _has_digit(text) or is_phrase(text)


def is_specific(value: Any, said: str) -> bool:
    """Whether the value is a number, a name, or three or more words.

    `said` is its wording in the text: two capitalised words there are a name.
    """
    if not is_telling(value):
        return False
    text = str(value)
    words = text.split()
    return (
        len(words) >= _SENTENCE
        or _has_digit(text)
        or is_phrase(text)
        or not _NUMBERS.isdisjoint(fold(text).split())
        or _is_name(said)
    )


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)


def _is_name(said: str) -> bool:
    words = [word for word in said.split() if word.lower() not in SMALL_WORDS]
    firsts = [next(filter(str.isalpha, word), "") for word in words]
    return len(firsts) > 1 and all(first.isupper() for first in firsts)
