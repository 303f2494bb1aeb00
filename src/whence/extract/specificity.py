"""Whether a value tells where it was taken from, or may be said of anything. Pure.

"45 minutes", "two weeks", "Jane Doe" and "valid for all users" come from where they stand; "high", "7" and "identity provider"
may stand there by chance.
"""

from typing import Any

from whence.extract.grounding import COUNTED, is_phrase, is_small_number
from whence.extract.mentions import SMALL_WORDS
from whence.text.names import fold

_SENTENCE = 3
"""So many words are not put together by chance."""
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS = frozenset((*COUNTED, "fifteen", *_TENS, "hundred", "thousand", "million", "billion"))


def is_telling(value: Any) -> bool:
    """More than one word, or a number that is not small. What is less is never specific."""
    if is_small_number(value):
        return False
    text = str(value)
    return len(text.split()) > 1 or _has_digit(text) or is_phrase(text)


def is_specific(value: Any, said: str) -> bool:
    """A number, a name, or some words more than two. `said` is how the text has it: it tells whether two words are a name."""
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
