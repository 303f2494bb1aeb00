"""The passages as the validator of citations asks for them."""

import re
from collections.abc import Sequence
from functools import cached_property

from whence.chat.markers import Marker
from whence.chat.passages import Passage

_INDEXED = re.compile(r"(\w+)\[(?:(?:0+|[ijkn])\]|\d+\](?:\.[a-z]|\[| ?=))", re.ASCII)
_SPACES = re.compile(r"\s+")


class Citable:
    def __init__(self, passages: Sequence[Passage], *, numbered: bool = True) -> None:
        """Not `numbered` where numbers name none of them."""
        self.numbered = numbered
        self._passages = passages
        self._by_number = [passage.id for passage in passages if passage.id]
        self._ids = {chunk_id.lower(): chunk_id for chunk_id in self._by_number}

        self.plain: dict[str, str | None] = _Plain(self)
        """What digits name that stand alone in brackets: an id, or an empty text for no passage; None where it takes
        a closer look, as they may be no marker."""

    def named_by_alone(self, digits: str) -> str | None:
        if not self.numbered or self.has_text(f"[{digits}]"):
            return None
        number = int(digits)
        return "".join(self.named_by(Marker(0, 0, (range(number, number + 1),))))

    def named_by(self, marker: Marker) -> list[str]:
        """The ids of the passages that it names, each once."""
        found: dict[str, None] = {}
        for item in marker.items:
            if isinstance(item, str):
                known = [self._ids[item]] if item in self._ids else []
            else:
                known = self._numbered(item)
            found.update(dict.fromkeys(known))
        return list(found)

    def _numbered(self, numbers: range) -> list[str]:
        """Of a range that ends at no passage, only the ends that are some: who wrote it did not mean all there are."""
        known = range(1, len(self._by_number) + 1)
        ends = dict.fromkeys((*numbers[:1], *numbers[-1:]))
        there = [number for number in ends if number in known]
        return [self._by_number[number - 1] for number in (numbers if len(there) == len(ends) else there)]

    def has_word(self, word: str) -> bool:
        return word.lower() in self._words

    def has_code(self, name: str) -> bool:
        """Whether they have it with an index that no reference of a text has."""
        return name in self._indexed

    def has_text(self, text: str) -> bool:
        return _SPACES.sub(" ", text) in self._text

    @cached_property
    def _text(self) -> str:
        return "\n".join(" ".join(passage.text.split()) for passage in self._passages)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(re.findall(r"\w+", self._text.lower()))

    @cached_property
    def _indexed(self) -> frozenset[str]:
        return frozenset(_INDEXED.findall(self._text))


class _Plain(dict[str, str | None]):
    """Found out when first asked."""

    def __init__(self, citable: Citable) -> None:
        super().__init__()
        self._citable = citable

    def __missing__(self, digits: str) -> str | None:
        found = self[digits] = self._citable.named_by_alone(digits)
        return found
