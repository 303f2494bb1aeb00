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
from whence.chat.citing.code_blocks import MAX_SPAN
from whence.chat.citing.false_markers import is_false_marker
from whence.chat.citing.marker_cleanup import HELD_REACH, held_size, remove_marker
from whence.chat.citing.markers import OPENING, Incomplete, PartialText, could_become_marker, read_marker
from whence.chat.citing.output_buffer import OutputBuffer
from whence.chat.citing.source_index import SourceIndex
from whence.chat.sources import Source

_RARE_IN_ASCII = tuple(re.compile(rare) for rare in ("`", "<", "~", code_blocks.INDENTED_LINE))
_RARE = (*_RARE_IN_ASCII, re.compile(f"[{''.join(sorted(OPENING - {'['}))}]"))
_SPECIAL = re.compile(rf"[\n`<~{re.escape(''.join(sorted(OPENING)))}]")

# Most markers are one number between a space and the end of a phrase. A bracket whose next character cannot begin a marker is skipped.
_BRACKET = re.compile(r"\[(?:(\d{1,3})\](?=[ .,;!?\n])|(?!\[\[|[\n\])!-\"$-'+-/:->@`{-~]))")
_UNLIKE_PROSE = frozenset(" \t=([,:")
_ENDS_SENTENCE = frozenset(".!?\n")


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


def validate(text: str, sources: Sequence[Source]) -> Validated:
    stream = CitationStream(sources)
    stream.feed(text, is_last=True)
    return stream.validated


def without_citations(text: str, *, but: Sequence[Source] = ()) -> str:
    """An earlier answer without its citations, except those of the given sources. Numbers stay."""
    return CitationStream(but, numbered=False).feed(text, is_last=True)


class CitationStream:
    """Validates an answer piece by piece: `feed` returns the text that is final, `close` the rest."""

    def __init__(self, sources: Sequence[Source], *, numbered: bool = True) -> None:
        """Without `numbered`, only ids cite and numbers are text."""
        self.cited: list[Cited] = []
        self.code: list[tuple[int, int]] = []
        self._sources = SourceIndex(sources, numbered=numbered)
        self._output = OutputBuffer()
        self._pieces: list[str] = []
        self._input = ""
        self._seen = PartialText("", is_whole=False)
        self._at = 0
        """The input before this offset is in the output."""
        self._next_rare: dict[re.Pattern[str], int] = {}
        self._block: code_blocks.CodeBlock | None = None
        self._block_start = 0
        self._margin = code_blocks.Margin()
        self._unclosed = -MAX_SPAN
        """Where in the output the last unclosed code span begins."""
        self._floor = 0
        """The output before this offset is final."""

    def feed(self, piece: str, *, is_last: bool = False) -> str:
        if self._is_plain(piece):
            self._output.write(piece)
        else:
            self._read(piece, is_last=is_last)
        is_final = is_last or self._block is not None
        self._pieces.append(self._output.take(0 if is_final else held_size(self._output.end(HELD_REACH))))
        return self._pieces[-1]

    def close(self) -> str:
        return self.feed("", is_last=True)

    @property
    def validated(self) -> Validated:
        return Validated(text="".join(self._pieces), cited=tuple(self.cited), code=tuple(self.code))

    def _is_plain(self, piece: str) -> bool:
        """Whether a piece is text inside a line with nothing to decide."""
        is_inside = not self._input and self._block is None and self._output.end(1) not in {"", "\n"}
        return is_inside and not _SPECIAL.search(piece)

    def _read(self, piece: str, *, is_last: bool) -> None:
        self._input += piece
        self._seen = PartialText(self._input, is_last)
        self._next_rare = dict.fromkeys(_RARE_IN_ASCII if self._input.isascii() else _RARE, -1)
        with suppress(Incomplete):
            self._scan()
        self._input = self._input[self._at :]
        self._at = 0

    def _scan(self) -> None:
        """Reads the input to its end. Raises `Incomplete` where it has to wait for more."""
        while self._at < len(self._input):
            if self._block is None and self._input[self._at] in " \t":
                self._open_indented()
            if self._block is not None:
                self._read_block(self._block)
                continue
            start = self._read_prose()
            self._copy_to(start)
            if start == len(self._input):
                return
            if self._input[start] in OPENING:
                self._read_bracket(start)
            elif self._input[start] == "\n":
                self._copy_to(start + 1)
            else:
                self._open_code(start)
        if self._block is not None and self._seen.is_whole:
            self.code.append((self._block_start, self._output.length))

    def _copy_to(self, end: int) -> None:
        self._output.write(self._input[self._at : end])
        self._at = end

    # Code

    def _open_indented(self) -> None:
        if self._output.end(1) in {"", "\n"}:
            self._margin.read(self._output.read())
            self._block = self._margin.open_block(self._seen, self._at)
            self._block_start = self._output.length

    def _open_code(self, start: int) -> None:
        opened = code_blocks.open_code(self._seen, start, self._output.end())
        self._block, self._block_start = opened.block, self._output.length
        if self._block is not None:
            self._margin.read(f"{self._output.read()}`\n")
        elif opened.is_unclosed:
            self._unclosed = self._output.length
        self._copy_to(opened.end)

    def _read_block(self, block: code_blocks.CodeBlock) -> None:
        end, self._block = code_blocks.read_block(self._seen, self._at, block)
        self._copy_to(end)
        if self._block is None:
            self.code.append((self._block_start, self._output.length))
            self._output.read()
        elif end < len(self._input):
            raise Incomplete

    # Markers

    def _read_prose(self) -> int:
        """Handles plain markers up to a place that needs the full check, and returns that place.

        A fast path with the same decisions as `_read_bracket`.
        """
        text, output, plain = self._input, self._output, self._sources.plain
        write, cited, rare = output.parts.append, self.cited, self._find_rare()
        at, length = self._at, output.length
        is_closed = False  # whether no bracket or tag is open in the output
        while found := _BRACKET.search(text, at, rare):
            start, end = found.span()
            chunk_id = plain(found[1]) if found[1] else None
            if (
                chunk_id is None
                or start < at + 2
                or text[start - 1] != " "
                or text[start - 2] in _UNLIKE_PROSE
            ):
                break
            if chunk_id:
                citation = f"[{chunk_id}]"
                write(text[at:start])
                write(citation)
                length += start - at
                cited.append(Cited(length, length := length + len(citation), chunk_id))
            elif (
                text[start - 2].isalnum()
                and (
                    text[end + 1 : end + 2].isalnum()
                    if text[end] == " "
                    else text[end] in _ENDS_SENTENCE and not text.endswith(("and", "or"), at, start - 1)
                )
                and text.find("[", at, start) < 0
                and (is_closed or self._is_closed())
            ):
                write(text[at : start - 1])
                length += start - 1 - at
            else:
                break
            at, is_closed = end, True
        self._at, output.length = at, length
        return found.start() if found else rare

    def _is_closed(self) -> bool:
        before = self._output.end()
        return "<" not in before[-10:] and not could_become_marker(before)

    def _find_rare(self) -> int:
        """The next place that may begin code or a rare bracket, or the end of the input."""
        for rare, place in self._next_rare.items():
            if place < self._at:
                found = rare.search(self._input, self._at)
                self._next_rare[rare] = found.start() if found else len(self._input)
        return min(self._next_rare.values())

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
            floor, is_near = len(before) - length + self._floor, length - self._unclosed <= MAX_SPAN
            removal = remove_marker(before, self._seen, marker.end, floor=floor, keeps_lines=is_near)
            self._output.cut(removal.size + escape)
            self._output.write(removal.filler)
            self._at = removal.end

    def _cite(self, chunk_id: str) -> None:
        start = self._output.length
        self._output.write(f"[{chunk_id}]")
        self.cited.append(Cited(start, self._output.length, chunk_id))
