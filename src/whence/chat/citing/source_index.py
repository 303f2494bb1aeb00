"""The sources of an answer, indexed for the validator. Chunks are numbered from 1, in order."""

import re
from collections.abc import Sequence
from functools import cache, cached_property

from whence.chat.citing.markers import Item, Marker
from whence.chat.sources import Source

_INDEXED = re.compile(r"(\w+)\[(?:(?:0+|[ijkn])\]|\d+\](?:\.[a-z]|\[| ?=))", re.ASCII)
_SPACES = re.compile(r"\s+")


class SourceIndex:
    def __init__(self, sources: Sequence[Source], *, numbered: bool = True) -> None:
        """Without `numbered`, only ids cite and numbers are text."""
        self.numbered = numbered
        self._sources = sources
        self._by_number = [source.id for source in sources if source.id]
        self._ids = {chunk_id.lower(): chunk_id for chunk_id in self._by_number}
        self._by_place = {
            (one.document_id.lower(), one.chunk_index): one.id
            for one in sources
            if one.id and one.document_id
        }
        self.plain = cache(self._id_of_number)

    def ids_of(self, marker: Marker) -> list[str]:
        """The ids of the sources that a marker names, each once."""
        return list(dict.fromkeys(chunk_id for item in marker.items for chunk_id in self._ids_of_item(item)))

    def _ids_of_item(self, item: Item) -> list[str]:
        if isinstance(item, range):
            return self._numbered(item)
        # The id is that of a chunk, or of a document with a chunk index.
        found = self._ids.get(item[0]) or self._by_place.get(item)
        return [found] if found else []

    def _numbered(self, numbers: range) -> list[str]:
        """The ids of a range. If one end names no source, only the other end counts: `[1-99]` does not cite all."""
        known = range(1, len(self._by_number) + 1)
        ends = dict.fromkeys((*numbers[:1], *numbers[-1:]))
        cited = [number for number in ends if number in known]
        return [self._by_number[number - 1] for number in (numbers if len(cited) == len(ends) else cited)]

    def _id_of_number(self, digits: str) -> str | None:
        """The id for a number alone in brackets; "" if it names no source, None if it may be text of the sources."""
        if not self.numbered or self.has_text(f"[{digits}]"):
            return None
        return "".join(self._numbered(range(int(digits), int(digits) + 1)))

    def has_word(self, word: str) -> bool:
        return word.lower() in self._words

    def has_code(self, name: str) -> bool:
        """Whether a source has the name with an index that no citation has: `prices[0]`, `prices[i]`, `prices[1].x`."""
        return name in self._indexed

    def has_text(self, text: str) -> bool:
        return _SPACES.sub(" ", text) in self._text

    @cached_property
    def _text(self) -> str:
        return "\n".join(" ".join(source.text.split()) for source in self._sources)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(re.findall(r"\w+", self._text.lower()))

    @cached_property
    def _indexed(self) -> frozenset[str]:
        return frozenset(_INDEXED.findall(self._text))
