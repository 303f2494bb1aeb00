"""Whether a text speaks of something, though not by its whole name. Pure.

"OAuth" is said of "OAuth 2.0", "payment gateways" of a "Payment Gateway", "gateway for every payment" too. Another number
is another thing: "OAuth 1.0" is not said of "OAuth 2.0", nor "REQ-7" of "REQ-12".
"""

import re
from collections.abc import Sequence
from functools import cached_property

from whence.text.names import fold

_WORD = re.compile(r"[^\W_]+(?:\.\d+)*[+#]*")
_NUMBER_BEHIND = re.compile(r"\s(?:version )?\(?v?\d[\d.x]*\)?\Z", re.ASCII)
_SHORT = 3
"""Words of so few letters are taken as they are."""
_NUMBER = re.compile(r"v?\d[\d.x]*", re.ASCII)
SMALL_WORDS = frozenset(
    ["a", "an", "and", "at", "by", "for", "from", "in", "into", "of", "on", "or", "the", "to", "with"]
)


class Words:
    """Of one text, in their order, each in the form that singular and plural have in common."""

    def __init__(self, text: str) -> None:
        self._text = text

    def names(self, name: str) -> bool:
        """Whether the words of the name stand there side by side, but for a number behind them."""
        whole, base = fold(name), _NUMBER_BEHIND.sub("", fold(name))
        return self._has(_stems(whole)) or (base != whole and self._has(_stems(base), other_number=False))

    def mentions(self, name: str) -> bool:
        """The same; or all its words that mean something, wherever they stand."""
        if self.names(name):
            return True
        telling = set(_stems(_NUMBER_BEHIND.sub("", fold(name)))) - SMALL_WORDS
        words = [each for each in telling if not _NUMBER.fullmatch(each)]
        return len(words) > 1 and telling <= self._all

    def has_word_of(self, name: str) -> bool:
        """Whether one word of the name stands there, and means something: "Jane" for "Jane Doe"."""
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
    """What is left without the marks of the plural: `policies` and `policy`, `databases` and `database` are one."""
    if len(word) <= _SHORT:
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return word.removesuffix("e")
