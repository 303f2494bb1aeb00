"""Packs whole paragraphs and sections into chunks."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from whence.chunk.base import (
    BoundaryType,
    ChunkingOptions,
    ChunkResult,
    Piece,
    as_chunks,
    heading_trail,
    merge_short,
)
from whence.chunk.boundaries import LastEnd, SentenceRule, cut_sentence, line_feeds, rstrip, sentence_ends
from whence.chunk.graphemes import first_content
from whence.chunk.markdown import Landmark, landmarks

_BLANK_LINE = re.compile(r"[^\S\n]*\n[^\S\n]*\n")
# Searches backwards, as in `boundaries`.
_BEFORE_BLANK_LINE = re.compile(r"(?s:.*)\n(?=[^\S\n]*(?:\n|\Z))")

# Merging in batches keeps few pieces alive: each full garbage collection visits all of them, so a text with very
# many sections would get slower with its length.
_BATCH = 500


class ParagraphStrategy:
    """`rule` overrides the sentence ends, for paragraphs that are too long for one chunk.

    In `code`, a line that begins with # is a comment, not a header, and nothing else is markdown.
    """

    name = "paragraph"

    def __init__(self, rule: SentenceRule | None = None, *, code: bool = False) -> None:
        self._rule = rule
        self._landmarks: Callable[[str], Iterable[Landmark]] = (lambda _text: ()) if code else landmarks

    def chunk(self, text: str, options: ChunkingOptions) -> list[ChunkResult]:
        layout = _Layout(text, self._rule, self._landmarks)
        chunks: list[ChunkResult] = []
        pieces: list[Piece] = []
        for section in layout.sections(options.max_chunk_size):
            # A section never joins the text before it, so the pieces so far can be merged.
            if len(pieces) > _BATCH:
                chunks += as_chunks(merge_short(text, pieces, options))
                pieces = []
            _pack(layout, section, options.max_chunk_size, pieces)
        return chunks + as_chunks(merge_short(text, pieces, options))


class _Section(NamedTuple):
    start: int
    headers_end: int  # equals `start` if there are none
    end: int
    headings: tuple[str, ...]


def _pack(layout: "_Layout", section: _Section, size: int, pieces: list[Piece]) -> None:
    start, headers_end, end, headings = section
    boundary: BoundaryType = "section" if headers_end > start else "paragraph"
    if end > start + size:
        body = first_content(layout.text, headers_end)
        while end > start + size:
            limit = start + size
            # A header must not be alone in its chunk.
            low = body if start < body < limit else start
            cut, then = layout.cut(low, limit)
            pieces.append((layout.text[start:cut], start, cut, boundary, headings))
            start = first_content(layout.text, cut)
            boundary = "paragraph" if start == body else then
    pieces.append((layout.text[start:end], start, end, boundary, headings))


class _Layout:
    """Finds the best place to cut a text."""

    def __init__(
        self, text: str, rule: SentenceRule | None, find_landmarks: Callable[[str], Iterable[Landmark]]
    ) -> None:
        self.text = text
        self._lines = line_feeds(text)
        self._rule = rule
        self._landmarks = find_landmarks
        self._whole: list[Landmark] = []
        self._whole_starts: list[int] = []

    @cached_property
    def _last_sentence_end(self) -> LastEnd:
        return sentence_ends(self.text, self._rule)

    def sections(self, size: int) -> Iterator[_Section]:
        """The text before the first header, then from each header, or run of nested headers, to the next.

        Also collects the blocks to keep whole; all blocks of a section are known when it is yielded.
        """
        text = self.text
        trail: list[Landmark] = []
        run: list[Landmark] = []
        headings: tuple[str, ...] = ()
        start = first_content(text, 0)
        for header in self._landmarks(self._lines):
            if header.kind != "header":
                self._whole.append(header)
                self._whole_starts.append(header.start)
                continue
            before = rstrip(text, header.start)
            if run and not self._stays_below(run, header, before, size):
                yield _Section(start, run[-1].end, before, headings)
                run = []
            elif not run and start < before:
                yield _Section(start, start, before, headings)
            if not run:
                start = first_content(text, before)
            while trail and trail[-1].level >= header.level:
                trail.pop()
            trail.append(header)
            headings = heading_trail(one.title for one in trail if one.title)
            run.append(header)
        content = len(text.rstrip())
        if start < content:
            yield _Section(start, run[-1].end if run else start, content, headings)

    def _stays_below(self, run: list[Landmark], header: Landmark, before: int, size: int) -> bool:
        """Whether a deeper header directly below another joins its section; else the upper one would end a chunk."""
        return run[-1].level < header.level and run[-1].end == before and header.end - run[0].start < size

    def cut(self, low: int, high: int) -> tuple[int, BoundaryType]:
        """The best cut in (low, high], and the boundary type of the next chunk."""
        if (end := self._last_block_end(low, high)) > low:
            return end, "paragraph"
        if self._is_whole(low) and (end := self._last_line_end(low, high)) > low:
            return end, "sentence"
        if (end := self._last_sentence_end(low, high)) > low:
            return end, "sentence"
        return cut_sentence(self.text, low, high), "character"

    def _last_block_end(self, low: int, high: int) -> int:
        beyond = first_content(self.text, high) if self.text[high].isspace() else high
        at = bisect_right(self._whole_starts, beyond) - 1
        whole = self._whole[at] if at >= 0 else None
        if whole is None or whole.end <= low:
            return self._last_paragraph_end(low, high)
        if whole.end <= high:
            return max(whole.end, self._last_paragraph_end(whole.end, high))
        return rstrip(self.text, whole.start) if whole.start > low else -1

    def _last_paragraph_end(self, low: int, high: int) -> int:
        text = self._lines
        if text[high].isspace():
            # White space at the limit may continue as a blank line beyond it.
            end = rstrip(text, high)
            if end > low and _BLANK_LINE.match(text, end):
                return end
        visible = high
        while found := _BEFORE_BLANK_LINE.match(text, low, visible):
            visible = rstrip(text, found.end())
            if visible <= low:
                return -1
            if _BLANK_LINE.match(text, visible):
                return visible
        return -1

    def _is_whole(self, position: int) -> bool:
        at = bisect_right(self._whole_starts, position) - 1
        return at >= 0 and position < self._whole[at].end

    def _last_line_end(self, low: int, high: int) -> int:
        line_end = self._lines.rfind("\n", low, high + 1)
        return rstrip(self.text, line_end) if line_end > low else -1
