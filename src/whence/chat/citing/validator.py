"""The validator of citations: every citation in its output is `[<id>]` of a source.

A model sees passages numbered from 1 and cites them by number. Each marker (see `markers`) becomes one `[<chunk id>]` per passage
that it names. A marker that names no passage is removed (see `marker_cleanup`). Code (see `code_blocks`) is never changed. Numbers
in brackets that are not citations stay (see `false_markers`). Outside code, a marker with an id is always a citation: it is removed
unless the id is that of a source.

Each decision depends on the validated text so far and on a bounded piece of the text that follows. The validator waits until that
piece has arrived. So a stream gives the same text as the whole answer, however it is split, and validating a valid answer again
does not change it. For the same reason a marker removed inside other brackets leaves a `?`: `[[9]1]` must not become `[1]`.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from whence.chat.citing import code_blocks
from whence.chat.citing.false_markers import is_false_marker
from whence.chat.citing.marker_cleanup import held_size, remove_marker
from whence.chat.citing.markers import OPENING, Incomplete, PartialText, could_become_marker, read_marker
from whence.chat.citing.output_buffer import OutputBuffer
from whence.chat.citing.source_index import SourceIndex
from whence.chat.sources import Source

_SPECIAL = re.compile(rf"[\n`~{re.escape(''.join(sorted(OPENING)))}]")
"""Places that may begin code or a marker."""
_PLAIN = re.compile(r"\[(\d{1,3})\](?=[ .,;!?])")
_UNLIKE_PROSE = frozenset(" \t=([,:")


class Cited(NamedTuple):
    """A citation in the validated text: `text[start:end] == f"[{id}]"`."""

    start: int
    end: int
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Validated:
    text: str
    cited: tuple[Cited, ...]
    code: tuple[tuple[int, int], ...]
    """Start and end of each code block in the text."""
    removed: int = 0
    """Number of markers that named no source."""


def validate(text: str, sources: Sequence[Source]) -> Validated:
    stream = CitationStream(sources)
    stream.feed(text, is_last=True)
    return stream.validated


def without_citations(text: str, *, but: Sequence[Source] = ()) -> str:
    """An earlier answer without its citations, except those of the given sources. Numbers stay."""
    return CitationStream(but, numbered=False).feed(text, is_last=True)


class Verbatim:
    """In the place of a `CitationStream`, for an answer that is data: nothing in it is a citation."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    def feed(self, piece: str) -> str:
        self._parts.append(piece)
        return piece

    def close(self) -> str:
        return ""

    @property
    def validated(self) -> Validated:
        text = "".join(self._parts)
        return Validated(text=text, cited=(), code=((0, len(text)),))


class CitationStream:
    """Validates an answer piece by piece: `feed` returns the text that is final, `close` the rest."""

    def __init__(self, sources: Sequence[Source], *, numbered: bool = True) -> None:
        """Without `numbered`, only ids cite and numbers are text."""
        self.cited: list[Cited] = []
        self.code: list[tuple[int, int]] = []
        self.removed = 0
        self._sources = SourceIndex(sources, numbered=numbered)
        self._output = OutputBuffer()
        self._taken = 0
        """The output before this offset was returned."""
        self._floor = 0
        """The output before this offset is final."""
        self._seen = PartialText("", is_whole=False)
        self._at = 0
        """The input before this offset is in the output."""
        self._block: code_blocks.CodeBlock | None = None
        self._block_start = 0
        self._margin = code_blocks.Margin()
        self._margin_end = 0
        """The output before this offset was read by the margin."""

    def feed(self, piece: str, *, is_last: bool = False) -> str:
        if self._is_plain(piece):
            self._output.write(piece)
        else:
            self._seen = PartialText(self._seen.text[self._at :] + piece, is_last)
            self._at = 0
            with suppress(Incomplete):
                self._scan()
        is_final = is_last or self._block is not None
        held = 0 if is_final else held_size(self._output.end())
        size = max(0, self._output.length - held - self._taken)
        final = self._output.since(self._taken)[:size]
        self._taken += size
        return final

    def close(self) -> str:
        return self.feed("", is_last=True)

    @property
    def validated(self) -> Validated:
        cited, code = tuple(self.cited), tuple(self.code)
        return Validated(text=self._output.since(0), cited=cited, code=code, removed=self.removed)

    def _is_plain(self, piece: str) -> bool:
        """Whether a piece is text inside a line with nothing to decide."""
        is_inside = self._at == len(self._seen.text) and self._output.end(1) not in {"", "\n"}
        return is_inside and self._block is None and not _SPECIAL.search(piece)

    def _scan(self) -> None:
        """Reads the input to its end. Raises `Incomplete` where it has to wait for more."""
        text = self._seen.text
        while self._at < len(text):
            if self._block is None and text[self._at] in " \t":
                self._open_indented()
            if self._block is not None:
                self._read_block(self._block)
                continue
            found = _SPECIAL.search(text, self._at)
            start = found.start() if found else len(text)
            special = text[start : start + 1]
            if special == "[" and self._read_plain(start):
                continue
            self._copy_to(start)
            if special in OPENING:
                self._read_bracket(start)
            elif special == "\n":
                self._copy_to(start + 1)
            elif special:
                self._open_code(start)
        if self._block is not None and self._seen.is_whole:
            self.code.append((self._block_start, self._output.length))

    def _copy_to(self, end: int) -> None:
        self._output.write(self._seen.text[self._at : end])
        self._at = end

    # Code

    def _open_indented(self) -> None:
        if self._output.end(1) in {"", "\n"}:
            self._read_margin()
            self._block = self._margin.open_block(self._seen, self._at)
            self._block_start = self._output.length

    def _open_code(self, start: int) -> None:
        end, self._block = code_blocks.open_code(self._seen, start, self._output.end())
        self._block_start = self._output.length
        if self._block is not None:
            self._read_margin("`\n")
        self._copy_to(end)

    def _read_block(self, block: code_blocks.CodeBlock) -> None:
        end, self._block = code_blocks.read_block(self._seen, self._at, block)
        self._copy_to(end)
        if self._block is None:
            self.code.append((self._block_start, self._output.length))
            self._margin_end = self._output.length

    def _read_margin(self, more: str = "") -> None:
        self._margin.read(self._output.since(self._margin_end) + more)
        self._margin_end = self._floor = self._output.length

    # Markers

    def _read_plain(self, start: int) -> bool:
        """Reads a number between a space and the end of a phrase, as most markers are; False if it needs the full check."""
        text, found = self._seen.text, _PLAIN.match(self._seen.text, start)
        if not found or start < self._at + 2 or text[start - 1] != " " or text[start - 2] in _UNLIKE_PROSE:
            return False
        chunk_id = self._sources.id_of_number(found[1])
        if chunk_id:
            self._copy_to(start)
            self._cite(chunk_id)
        elif (
            chunk_id is not None
            and text[start - 2].isalnum()
            and text[start - 2] not in "dr"  # of "and", "or"
            and not could_become_marker(self._output.end())
        ):
            self._copy_to(start - 1)
            self.removed += 1
        else:
            return False
        self._at = found.end()
        return True

    def _read_bracket(self, start: int) -> None:
        marker = read_marker(self._seen, start)
        if marker is None:
            self._copy_to(start + 1)
            return
        before = self._output.end()
        escape = (len(before) - len(before.rstrip("\\"))) % 2
        before = before[: len(before) - escape]
        if not marker.is_certain and is_false_marker(self._seen, start, marker, before, self._sources):
            self._copy_to(marker.end)
        elif ids := self._sources.ids_of(marker):
            self._output.cut(escape)
            self._at = marker.end
            for chunk_id in ids:
                self._cite(chunk_id)
        else:
            length = self._output.length - escape
            self._floor = max(self._floor, length - held_size(before))
            floor = len(before) - length + self._floor
            kept, filler, self._at = remove_marker(before, self._seen, marker.end, floor=floor)
            self._output.cut(len(before) - kept + escape)
            self._output.write(filler)
            self.removed += 1

    def _cite(self, chunk_id: str) -> None:
        start = self._output.length
        self._output.write(f"[{chunk_id}]")
        self.cited.append(Cited(start, self._output.length, chunk_id))
