"""Words of questions that say little about the subject. Pure except for a cache.

They are searched like all others, but weigh less: a text with "work" does not answer `How does photosynthesis work?`, and a
text about a warranty need not have "long" to answer `How long is the warranty?`.
"""

from collections.abc import Mapping
from functools import cache
from itertools import chain

from whence.text.lexer import DEFAULT_LANGUAGE, SIMPLE, lexer
from whence.text.word_lists import FOREIGN, word_list

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
