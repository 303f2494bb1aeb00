"""Texts as the words that carry their meaning, so that two texts can be compared. Any script, no dictionary.

Words lose case, accents and the commonest English endings; words that say nothing are left out. Scripts without
spaces, and Hangul, give pairs of characters instead, as they do where texts are searched.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain, filterfalse

# Hangul has spaces, but what stands between two of them is a word with its endings.
_UNSPACED = "\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff"
_WORD = re.compile(rf"\d+(?:[.,]\d+)*|[{_UNSPACED}]+|[^\W\d_{_UNSPACED}]+(?:['’][^\W\d_]+)?\d*")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")


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
_POSSESSIVE = re.compile("['’]s?$")
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("ly", ""), ("s", ""))
_LONG_ENOUGH = 3  # letters that a stem keeps


def words(text: str) -> list[str]:
    """The words in their order, in the form in which they are compared."""
    plain = text.casefold()
    if not plain.isascii():
        plain = _BEYOND_ASCII.sub(_without_marks, unicodedata.normalize("NFKD", plain))
    return list(chain.from_iterable(map(_compared, _WORD.findall(plain))))


def is_alone(word: str) -> bool:
    """Whether it is one character of a script without spaces: in longer runs there are only pairs with it."""
    return len(word) == 1 and _IS_UNSPACED.match(word) is not None


def is_number(word: str) -> bool:
    return word[0].isdigit()


def rarities(texts: Iterable[Iterable[str]]) -> Mapping[str, float]:
    """How much it says that a word occurs, by how few of the texts have it; a word in none says the most."""
    counts: Counter[str] = Counter()
    total = 0
    for one in texts:
        counts.update(set(one))
        total += 1
    return _Rarities(
        {word: math.log(1 + (total - count + 0.5) / (count + 0.5)) for word, count in counts.items()},
        unseen=math.log(1 + (total + 0.5) / 0.5),
    )


class _Rarities(dict[str, float]):
    def __init__(self, known: dict[str, float], *, unseen: float) -> None:
        super().__init__(known)
        self._unseen = unseen

    def __missing__(self, word: str) -> float:
        return self._unseen


@lru_cache(maxsize=50_000)  # few words make up most of any text
def _compared(word: str) -> tuple[str, ...]:
    if _IS_UNSPACED.match(word):
        return tuple(word[at : at + 2] for at in range(max(len(word) - 1, 1)))
    if is_number(word):
        return (word.replace(",", ""),)
    return () if word in _EMPTY else (_NUMERALS.get(word) or _stem(word),)


def _without_marks(found: re.Match[str]) -> str:
    # Hangul was taken apart with the accents.
    return unicodedata.normalize("NFC", "".join(filterfalse(unicodedata.combining, found[0])))


def _stem(word: str) -> str:
    word = _POSSESSIVE.sub("", word)
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LONG_ENOUGH and not word.endswith("ss"):
            word = word[: -len(ending)] + instead
            break
    return word[:-1] if word.endswith("e") and len(word) > _LONG_ENOUGH else word
