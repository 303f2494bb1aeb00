"""Writes the citations of a validated answer in another form, also while it is streamed. Pure."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from whence.chat.citing.validator import CitationStream, Cited
from whence.chat.sources import Source

CitationStyle = Literal["number", "id", "markdown", "none"]


class Mark(NamedTuple):
    """A citation in the validated text, and its mark in the new one."""

    old_start: int
    old_end: int
    start: int
    end: int
    id: str


class Restyled:
    """Replaces each `[<chunk id>]` by what `write` makes of it. Without a mark, the space before it goes, too.

    The validator recognises citations: an id in code, or of no source, stays as it is.
    """

    def __init__(self, sources: Sequence[Source], write: Callable[[Cited], str]) -> None:
        self.marks: list[Mark] = []
        self._reading = CitationStream(sources, numbered=False)
        self._write = write
        self._read = self._written = 0
        self._held = ""
        """Spaces that go if a citation without a mark follows."""

    def feed(self, piece: str) -> str:
        """The text that is final after this piece."""
        return self._next(self._reading.feed(piece))

    def close(self) -> str:
        last = self._next(self._reading.close()) + self._held
        self._held = ""
        return last

    def at(self, offset: int) -> int:
        """The offset in the new text of the character at this offset of the validated text."""
        place = bisect_right(self.marks, offset, key=lambda mark: mark.old_end) - 1
        if place < 0:
            return offset
        mark = self.marks[place]
        return mark.end + offset - mark.old_end

    def _next(self, text: str) -> str:
        """`text` is the next part of the validated text; no citation is cut at its end."""
        start, self._read = self._read, self._read + len(text)
        cited = self._reading.cited
        parts, at = [self._held], 0
        self._held = ""
        for one in cited[bisect_left(cited, start, key=lambda one: one.start) :]:
            if one.end > self._read:
                break
            parts.append(text[at : one.start - start])
            mark = self._write(one)
            if not mark:
                parts = ["".join(parts).rstrip(" ")]
            written = self._written + sum(map(len, parts))
            self.marks.append(Mark(one.start, one.end, written, written + len(mark), one.id))
            parts.append(mark)
            at = one.end - start
        whole = "".join([*parts, text[at:]])
        final = whole.rstrip(" ")
        self._held = whole[len(final) :]
        self._written += len(final)
        return final


class Numbers:
    """Numbers for chunks, from 1, in order of appearance."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def __call__(self, chunk_id: str) -> int:
        return self._known.setdefault(chunk_id, len(self._known) + 1)
