"""Finds mentions of a name in a text, also inexact ones. Pure.

"OAuth" mentions "OAuth 2.0"; "payment gateways" and "gateway for every payment" mention "Payment Gateway". A different number
is a different thing: "OAuth 1.0" does not mention "OAuth 2.0", nor does "REQ-7" mention "REQ-12".
"""

import re
from collections.abc import Sequence
from functools import cached_property

from whence.text.names import fold

_WORD = re.compile(r"[^\W_]+(?:\.\d+)*[+#]*")
_NUMBER_BEHIND = re.compile(r"\s(?:version )?\(?v?\d[\d.x]*\)?\Z", re.ASCII)
_SHORT = 3
"""Words up to this length are not stemmed."""
_NUMBER = re.compile(r"v?\d[\d.x]*", re.ASCII)
SMALL_WORDS = frozenset(
    ["a", "an", "and", "at", "by", "for", "from", "in", "into", "of", "on", "or", "the", "to", "with"]
)


class Words:
    """The words of a text in order, each as a stem that singular and plural share."""

    def __init__(self, text: str) -> None:
        self._text = text

    def names(self, name: str) -> bool:
        """Whether the text has the words of the name side by side. A number at the end may be missing, but not differ."""
        whole, base = fold(name), _NUMBER_BEHIND.sub("", fold(name))
        return self._has(_stems(whole)) or (base != whole and self._has(_stems(base), other_number=False))

    def mentions(self, name: str) -> bool:
        """Like `names`; also if the text has all words of the name but small ones, in any order."""
        if self.names(name):
            return True
        telling = set(_stems(_NUMBER_BEHIND.sub("", fold(name)))) - SMALL_WORDS
        words = [each for each in telling if not _NUMBER.fullmatch(each)]
        return len(words) > 1 and telling <= self._all

    def has_word_of(self, name: str) -> bool:
        """Whether the text has a meaningful word of the name: "Jane" of "Jane Doe"."""
        telling = {each for each in _stems(fold(name)) if len(each) >= _SHORT and not _NUMBER.fullmatch(each)}
        return not self._all.isdisjoint(telling - SMALL_WORDS)

    def _has(self, wanted: Sequence[str], *, other_number: bool = True) -> bool:
        if not wanted or not self._all.issuperset(wanted):
            return False
        stems, size = self._stems, len(wanted)
        return any(
            stems[at : at + size] == wanted and (other_number or not _is_number(stems, at + size))
            for at in range(len(stems) - size + 1)
        )

    @cached_property
    def _stems(self) -> list[str]:
        return _stems(fold(self._text))

    @cached_property
    def _all(self) -> frozenset[str]:
        return frozenset(self._stems)


def _is_number(stems: Sequence[str], at: int) -> bool:
    return at < len(stems) and _NUMBER.fullmatch(stems[at]) is not None


def _stems(folded: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(folded)]


def _stem(word: str) -> str:
    """Removes the plural: `policies` and `policy` have the same stem, as do `databases` and `database`."""
    if len(word) <= _SHORT:
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return word.removesuffix("e")
