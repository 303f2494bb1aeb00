"""Finds mentions of a name in the words of a text. Pure."""

import re
from collections.abc import Sequence
from functools import cached_property

from whence.text.names import fold

_WORD = re.compile(r"[^\W_]+(?:\.\d+)*[+#]*")
_NUMBER = re.compile(r"v?\d[\d.x]*", re.ASCII)
_NO_NUMBER = r"(?!v?[0-9][0-9.x]* )"
_NUMBER_BEHIND = re.compile(r"\s(?:version )?\(?v?\d[\d.x]*\)?\Z", re.ASCII)
_SHORT = 3
"""Shorter words do not identify anything."""
SMALL_WORDS = frozenset(
    ["a", "an", "and", "at", "by", "for", "from", "in", "into", "of", "on", "or", "the", "to", "with"]
)


class Words:
    """The stems of a text, to find mentions of a name, also inexact ones.

    "OAuth" mentions "OAuth 2.0"; "payment gateways" and "gateway for every payment" mention "Payment Gateway". A different number
    is a different thing: "OAuth 1.0" does not mention "OAuth 2.0", nor does "REQ-7" mention "REQ-12".
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def names(self, name: str) -> bool:
        """Whether the text contains the words of the name side by side. A trailing number may be missing but must not differ."""
        whole, base = fold(name), _NUMBER_BEHIND.sub("", fold(name))
        return self._has(_stems(whole)) or (base != whole and self._has(_stems(base), behind=_NO_NUMBER))

    def mentions(self, name: str) -> bool:
        """Like `names`, but also true if the text contains all words of the name in any order, except function words."""
        distinctive = set(_stems(_NUMBER_BEHIND.sub("", fold(name)))) - SMALL_WORDS
        words = [each for each in distinctive if not _NUMBER.fullmatch(each)]
        return self.names(name) or (len(words) > 1 and distinctive <= self._all)

    def passage(self, name: str) -> tuple[int, int]:
        """The shortest passage with the words of a name that the text mentions."""
        wanted = set(_stems(_NUMBER_BEHIND.sub("", fold(name))))
        wanted = wanted - SMALL_WORDS or wanted
        words = [(_stem(fold(word[0])), word.span()) for word in _WORD.finditer(self._text)]
        last: dict[str, int] = {}
        passages: list[tuple[int, int]] = []
        for stem, (start, end) in words:
            if stem in wanted:
                last[stem] = start
                if len(last) == len(wanted):
                    passages.append((min(last.values()), end))
        return min(passages, key=lambda each: each[1] - each[0], default=(0, len(self._text)))

    def has_word_of(self, name: str) -> bool:
        """Whether the text has a meaningful word of the name: "Jane" of "Jane Doe"."""
        distinctive = {
            each for each in _stems(fold(name)) if len(each) >= _SHORT and not _NUMBER.fullmatch(each)
        }
        return not self._all.isdisjoint(distinctive - SMALL_WORDS)

    def _has(self, stems: Sequence[str], *, behind: str = "") -> bool:
        return bool(stems) and re.search(rf" {re.escape(' '.join(stems))} {behind}", self._line) is not None

    @cached_property
    def _line(self) -> str:
        return f" {' '.join(_stems(fold(self._text)))} "

    @cached_property
    def _all(self) -> frozenset[str]:
        return frozenset(self._line.split())


def _stems(folded: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(folded)]


def _stem(word: str) -> str:
    """Removes only the plural. With a full stemmer, "authors" would mention `Authority`."""
    if len(word) <= _SHORT:
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return word.removesuffix("e")
