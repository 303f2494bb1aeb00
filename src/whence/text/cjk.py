"""Scripts that write no spaces, and Hangul, whose words come with their endings: what of their pairs says something. Pure.

A question in them is full of pairs that any text may have, or none: endings, particles, and what lies between two words. They
are looked for like all others, but they tell little of whether the documents have to do with the question.
"""

import re
from collections.abc import Container, Iterable, Iterator
from itertools import pairwise

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff"  # Thai, Lao, Burmese, Hangul letters, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"  # kana and Han
    "\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"  # Hangul, more Han, narrow kana
)
"""For a class of characters in a pattern."""

_IS_UNSPACED = re.compile(f"[{UNSPACED}]")
_IS_HAN = re.compile("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")

_IS_LETTERS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")

_HIRAGANA = frozenset(map(chr, range(0x3041, 0x30A0)))
_CHINESE = frozenset(
    "的了是在有么麼什怎多少吗嗎呢如何哪几幾谁誰为為请請我你可以要被把也就都这這那个与與久儿兒样樣"
)
_KOREAN = frozenset("은는이가을를의에서로도만와과까요다니습입합하해할한나인고")
_LIGHT = _HIRAGANA | _CHINESE | _KOREAN
"""Characters that stand for endings, particles and words that ask more often than for anything else."""
_ASKS = re.compile(
    "多少[钱錢]|什[么麼][时時]候|怎[么麼][办辦]|哪[里裡]|几[点天]|幾[點天]|是否|能否|需要|[找是][谁誰]|方法|[办辦]法|教えて"
    "|어떻게|무엇|무슨|언제|어디|얼마나?|누구|에게|까지|부터|몇|예요|어요|아요|해야"
)
"""Words that ask, and that have characters which are parts of others as well."""

_WEIGHTS = (1.0, 0.3, 0.1)
"""Of a pair with none of them, one and two."""
_WORD_AND_PARTICLE = 0.6
"""Of a Han character that stands alone before hiragana: it is a whole word, and what follows its particle."""
NAME = 3.0
"""Of a word in other letters in a question in these scripts: it is a name, a code or a term, and says what it is about."""

BETWEEN = 0.5
"""What a pair that a text lacks counts for, of what it would, beside one that the text has: it may be the end of one word and the
beginning of another, which stand apart in the text."""
SCATTERED = (0.1, 0.4, 1.0)
"""What pairs of letters count for that a text has, by how many in a row it has: one, two, three or more. Thai, Lao, Khmer and Burmese have
few letters, and every text has most pairs of them."""


def is_unspaced(text: str) -> bool:
    """Whether any of it is in these scripts."""
    return not text.isascii() and _IS_UNSPACED.search(text) is not None


def is_han(character: str) -> bool:
    return _IS_HAN.match(character) is not None


def is_of_letters(term: str) -> bool:
    """Whether a character of it is a letter or a mark, and no syllable or word."""
    return _IS_LETTERS.match(term) is not None


def weight(term: str) -> float:
    """How much it tells of a text that it has the term, as a share of what a word tells."""
    return _WEIGHTS[sum(map(_LIGHT.__contains__, term))] if _is_pair(term) else 1.0


def weights(text: str, terms: Iterable[tuple[int, str]]) -> dict[str, float]:
    """The same for the terms of a question, by where they stand in it as well."""
    asking = {at for found in _ASKS.finditer(text) for at in range(*found.span())}
    found: dict[str, float] = {}
    for at, term in terms:
        told = _weight_at(text, at, term, asking) if text.startswith(term, at) else weight(term)
        found[term] = max(told, found.get(term, 0.0))
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
    """Of the terms of a question in their order, those neighbours that share a character: pairs of one run."""
    for one, other in pairwise(terms):
        if _is_pair(one) and _is_pair(other) and one[1] == other[0] and is_unspaced(one[1]):
            yield one, other
