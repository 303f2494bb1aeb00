"""Reduces texts to the words that carry their meaning, to compare them. Any script, no dictionary.

Words lose case, accents and the commonest English endings; stop words are left out. Scripts without spaces, and Hangul, give
pairs of characters instead, as in the text index.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain, filterfalse

# Hangul has spaces, but its words include their endings.
UNSPACED = "\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff"
_WORD = re.compile(rf"\d+(?:[.,]\d+)*|[{UNSPACED}]+|[^\W\d_{UNSPACED}]+(?:['’][^\W\d_]+)?\d*")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_IS_UNSPACED = re.compile(f"[{UNSPACED}]")


def _listed(text: str) -> list[str]:
    return text.split()


_EMPTY = frozenset(
    _listed("""
        a an and any are as at be been being but by can could did do does for from had has have he her hers him his how
        i if in into is it its me more my no nor not of on or our she should so some such than that the their them then
        there these they this those through to was we were what when where which while who whom whose why will with
        would you your about according also between during mention mentioned
        der die das den dem des ein eine einer und oder ist sind war wie wer wo mit von zu im auf fur
        le la les un une et ou est sont dans pour par que qui el los las y o en es son por con del al
        il lo gli di e che per een het van de
    """)
)
_NUMERALS = {
    word: str(number)
    for number, word in enumerate(_listed("two three four five six seven eight nine ten eleven twelve"), 2)
}
_NO_ENDING = {"founded": "founder", "james": "james"}
"""Words whose regular stem is a different word: "founded" would become "found"."""
_CONTRACTED = re.compile("['’](?:s|re|ve|ll|d|m)?$|n['’]t$")
_CUT_SHORT = frozenset(_listed("ca wo sha ai"))
"""Remains of "can't", "won't", "shan't" and "ain't"."""
_ENDINGS = (
    *(("ies", "y"), ("ied", "y"), ("sses", "ss"), ("ees", "ee"), ("eed", "ee")),
    *(("ing", ""), ("ed", ""), ("es", ""), ("ly", ""), ("s", "")),
)
_LONG_ENOUGH = 3  # minimum letters of a stem
_NO_ADVERB = re.compile("^.{,3}ly$|(?:pp|ip|mp|mi|mb|ma|po|rf)ly$")  # early, supply, family
_NO_PAST = re.compile("(?<!gr)(?<!fr)(?<!cr)(?<!nt)eed$")  # speed, exceed; but agreed


def words(text: str) -> list[str]:
    """The words in order, in the form to compare."""
    return list(chain.from_iterable(map(_compared, _WORD.findall(plain(text)))))


def is_number(word: str) -> bool:
    return word[0].isdigit()


def rarities(texts: Iterable[frozenset[str]]) -> Mapping[str, float]:
    """The idf of each word; a word in none of the texts has the highest. Each text is the set of its words."""
    sets = list(texts)
    return _Rarities(Counter(chain.from_iterable(sets)), len(sets))


class _Rarities(dict[str, float]):
    """Computes values on first use: few of the words are needed."""

    def __init__(self, counts: Counter[str], total: int) -> None:
        super().__init__()
        self._counts = counts
        self._total = total

    def __missing__(self, word: str) -> float:
        count = self._counts[word]
        self[word] = found = math.log(1 + (self._total - count + 0.5) / (count + 0.5))
        return found


@lru_cache(maxsize=50_000)  # few words make up most of any text
def _compared(word: str) -> tuple[str, ...]:
    if _IS_UNSPACED.match(word):
        return tuple(word[at : at + 2] for at in range(max(len(word) - 1, 1)))
    if is_number(word):
        return (word.replace(",", ""),)
    bare = _CONTRACTED.sub("", word)
    if bare in _EMPTY or (bare in _CUT_SHORT and bare != word):
        return ()
    return (_NUMERALS.get(bare) or _NO_ENDING.get(bare) or _stem(bare),)


def plain(text: str) -> str:
    """The text without case and accents."""
    folded = text.casefold()
    if folded.isascii():
        return folded
    return _BEYOND_ASCII.sub(_without_marks, unicodedata.normalize("NFKD", folded))


def _without_marks(found: re.Match[str]) -> str:
    # NFKD also decomposed Hangul; NFC composes it again.
    return unicodedata.normalize("NFC", "".join(filterfalse(unicodedata.combining, found[0])))


def _stem(word: str) -> str:
    if _NO_ADVERB.search(word) or _NO_PAST.search(word):
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LONG_ENOUGH and not word.endswith("ss"):
            word = word[: -len(ending)] + instead
            break
    return word[:-1] if word.endswith("e") and len(word) > _LONG_ENOUGH else word
