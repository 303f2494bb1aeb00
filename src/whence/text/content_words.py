"""The words that carry the meaning of a text: the terms of the text index without function words.

In a search, words of the question that say little about its subject weigh less: a text with "work" does not answer `How does
photosynthesis work?`, and a text about a warranty need not have "long" to answer `How long is the warranty?`.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from itertools import chain
from typing import TypeVar

from whence.text.lexer import DEFAULT_LANGUAGE, SIMPLE, WORD, lexer
from whence.text.word_lists import FOREIGN, word_list

_THOUSANDS = re.compile(r"(?<=\d),(?=\d)")
_LEXER = lexer(DEFAULT_LANGUAGE)
EVERYDAY = 0.3
"""Weight of a word that any text may have."""
FUNCTION = 0.1
"""Weight of a function word."""


@cache
def light(language: str) -> Mapping[int, float]:
    """Weights by term key in a project of this language; other terms have weight 1."""
    keys = lexer(language).keys
    if language in FOREIGN:
        return dict.fromkeys(keys(" ".join(word_list(language, "function"))), FUNCTION)
    if language not in (DEFAULT_LANGUAGE, SIMPLE):
        return {}
    # Such projects may have texts in any language.
    everyday = dict.fromkeys(keys(" ".join(word_list("english", "everyday"))), EVERYDAY)
    return everyday | dict.fromkeys(keys(" ".join(foreign_function_words())), FUNCTION)


def foreign_function_words() -> tuple[str, ...]:
    """Function words of other languages that have no meaning in English."""
    english = word_list("english", "like_foreign")
    words = chain.from_iterable(word_list(language, "function") for language in FOREIGN)
    # A single letter may be a programming language or belong to a number.
    return tuple(word for word in words if len(word) > 1 and word not in english)


_Word = TypeVar("_Word", str, int)
_FUNCTION = frozenset(_LEXER.terms(" ".join(foreign_function_words())))


def words(text: str) -> list[str]:
    """The words in order, in the form to compare."""
    return list(chain.from_iterable(map(_terms, WORD.findall(_THOUSANDS.sub("", text)))))


def rarities(texts: Iterable[frozenset[_Word]]) -> Callable[[_Word], float]:
    """A function for the idf of a word; a word in none of the texts has the highest. Each text is the set of its words."""
    sets = list(texts)
    counts = Counter(chain.from_iterable(sets))
    return lambda word: math.log(1 + (len(sets) - counts[word] + 0.5) / (counts[word] + 0.5))


@lru_cache(maxsize=50_000)  # few words make up most of any text
def _terms(word: str) -> list[str]:
    found = (piece.term for piece in _LEXER.pieces(word))
    return [term for term in found if term is not None and term not in _FUNCTION]
