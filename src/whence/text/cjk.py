"""Weights of character pairs in scripts without spaces, and in Hangul, whose words include their endings. Pure.

A question in these scripts has many pairs that any text may have or lack: endings, particles, and pairs that span two words.
They are searched like all others, but say little about the relevance of a text.
"""

import re
from collections.abc import Container, Iterable, Iterator
from itertools import pairwise

from whence.text.word_lists import word_list

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff"  # Thai, Lao, Burmese, Hangul letters, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"  # kana and Han
    "\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"  # Hangul, more Han, narrow kana
)
"""Ranges for a character class in a pattern."""

_IS_UNSPACED = re.compile(f"[{UNSPACED}]")
_IS_HAN = re.compile("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")

_IS_LETTERS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")

_HIRAGANA = frozenset(map(chr, range(0x3041, 0x30A0)))
_LIGHT = _HIRAGANA.union(*word_list("chinese", "light"), *word_list("korean", "light"))
"""Characters that are most often part of endings, particles and question words."""
_ASKS = re.compile(
    "|".join(word for each in ("chinese", "japanese", "korean") for word in word_list(each, "asking"))
)
"""Question words and endings whose characters are part of other words as well."""

_WEIGHTS = (1.0, 0.3, 0.1)
"""Weight of a pair with none, one or two light characters."""
_WORD_AND_PARTICLE = 0.6
"""Weight of a single Han character followed by hiragana: a whole word and its particle."""
NAME = 3.0
"""Weight of a word in another script: a name, code or term, and so the subject of the question."""

BETWEEN = 0.5
"""Factor for a missing pair next to a present one: the missing pair may span two words that are apart in the text."""
SCATTERED = (0.1, 0.4, 1.0)
"""Factors for pairs of letters, by how many in a row the text has: one, two, three or more. Thai, Lao, Khmer and Burmese have
few letters, so every text has most of the pairs."""


def is_unspaced(text: str) -> bool:
    """Whether any character is in these scripts."""
    return not text.isascii() and _IS_UNSPACED.search(text) is not None


def is_han(character: str) -> bool:
    return _IS_HAN.match(character) is not None


def is_of_letters(term: str) -> bool:
    """Whether the term's script has letters and marks, not syllables or words."""
    return _IS_LETTERS.match(term) is not None


def weight(term: str) -> float:
    """The weight of a term relative to a word."""
    return _WEIGHTS[sum(map(_LIGHT.__contains__, term))] if _is_pair(term) else 1.0


def weights(text: str, terms: Iterable[tuple[int, str]]) -> dict[str, float]:
    """The weights of a question's terms, which also depend on their place in it."""
    asking = {at for found in _ASKS.finditer(text) for at in range(*found.span())}
    found: dict[str, float] = {}
    for at, term in terms:
        own = _weight_at(text, at, term, asking) if text.startswith(term, at) else weight(term)
        found[term] = max(own, found.get(term, 0.0))
    return found


def _weight_at(text: str, at: int, term: str, asking: Container[int]) -> float:
    if not _is_pair(term):
        return 1.0
    light = [character in _LIGHT or at + place in asking for place, character in enumerate(term)]
    is_first = not (at and is_han(text[at - 1]))
    if is_first and is_han(term[0]) and term[1] in _HIRAGANA and not light[0]:
        return _WORD_AND_PARTICLE
    return _WEIGHTS[sum(light)]


def _is_pair(term: str) -> bool:
    return len(term) == len(_WEIGHTS) - 1


def overlapping(terms: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Adjacent terms of a question that share a character: pairs of one run."""
    for one, other in pairwise(terms):
        if _is_pair(one) and _is_pair(other) and one[1] == other[0] and is_unspaced(one[1]):
            yield one, other
