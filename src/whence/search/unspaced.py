"""Scripts that write no spaces, and Hangul, whose words come with their endings: what of their pairs says something. Pure.

A question in them is full of pairs that any text may have, or none: endings, particles, and what lies between two words. They
are looked for like all others, but they tell little of whether the documents have to do with the question.
"""

import re

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff"  # Thai, Lao, Burmese, Hangul letters, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"  # kana and Han
    "\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"  # Hangul, more Han, narrow kana
)
"""For a class of characters in a pattern."""

_IS_UNSPACED = re.compile(f"[{UNSPACED}]")
_IS_HAN = re.compile("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")

_HIRAGANA = frozenset(map(chr, range(0x3041, 0x30A0)))
_CHINESE = frozenset("的了是在有么麼什怎多少吗嗎呢如何哪几幾谁誰为為请請我你可以要被把也就都这這那个与與")
_KOREAN = frozenset(
    "은는이가을를의에서로도만와과까요다니습입합하해할한나인고어떻게무엇언제디얼마몇누구왜면지시"
)
_LIGHT = _HIRAGANA | _CHINESE | _KOREAN
"""Characters that stand for endings, particles and words that ask more often than for anything else."""

_WEIGHTS = (1.0, 0.3, 0.1)
"""Of a pair with none of them, one and two."""
NAME = 3.0
"""Of a word in other letters in a question in these scripts: it is a name, a code or a term, and says what it is about."""


def is_unspaced(text: str) -> bool:
    """Whether any of it is in these scripts."""
    return not text.isascii() and _IS_UNSPACED.search(text) is not None


def is_han(character: str) -> bool:
    return _IS_HAN.match(character) is not None


def weight(term: str) -> float:
    """How much it tells of a text that it has the term, as a share of what a word tells."""
    return _WEIGHTS[sum(map(_LIGHT.__contains__, term))] if len(term) == len(_WEIGHTS) - 1 else 1.0
