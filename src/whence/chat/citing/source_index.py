"""The sources of an answer, indexed for the validator. Chunks are numbered from 1, in order."""

import re
from collections.abc import Sequence
from functools import cache, cached_property

from whence.chat.citing.markers import Item, Marker
from whence.chat.sources import Source


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
        self.id_of_number = cache(self._id_of_number)
        self.has_text = cache(self._has_text)

    def ids_of(self, marker: Marker) -> list[str]:
        """The ids of the sources that a marker names, each once."""
        return list(dict.fromkeys(chunk_id for item in marker.items for chunk_id in self._ids_of_item(item)))

    def _ids_of_item(self, item: Item) -> list[str]:
        if not isinstance(item, range):
            # The id is that of a chunk, or of a document with a chunk index.
            found = self._ids.get(item[0]) or self._by_place.get(item)
            return [found] if found else []
        # If one end of a range names no source, only the other end counts: `[1-99]` does not cite all.
        ends = dict.fromkeys((*item[:1], *item[-1:]))
        cited = [number for number in ends if 0 < number <= len(self._by_number)]
        return [self._by_number[number - 1] for number in (item if len(cited) == len(ends) else cited)]

    def _id_of_number(self, digits: str) -> str | None:
        """The id for a number alone in brackets; "" if it names no source, None if it may be text of the sources."""
        if not self.numbered or self.has_text(f"[{digits}]"):
            return None
        return "".join(self._ids_of_item(range(int(digits), int(digits) + 1)))

    def _has_text(self, text: str) -> bool:
        return re.sub(r"\s+", " ", text) in self._text

    @cached_property
    def _text(self) -> str:
        # Without LightRAG's answer: its references are not text of the documents.
        return "\n".join(" ".join(one.text.split()) for one in self._sources if not one.is_answer)
