"""Whole paragraphs and sections, as many as fit."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from whence.chunk.base import BoundaryType, ChunkingOptions, ChunkResult
from whence.chunk.boundaries import SentenceEnds, SentenceRule, line_feeds, sentence_ends
from whence.chunk.graphemes import cut_before, first_content
from whence.chunk.markdown import Block, BlockKind, blocks
from whence.chunk.pieces import Piece, as_chunks, merge_short


class _Unit(NamedTuple):
    """A block with the headers right above it, which must not be parted from it."""

    body: int  # where the block itself starts; the end, where there is nothing under the headers
    end: int
    kind: BlockKind
    is_section: bool
    headings: tuple[str, ...]


class ParagraphStrategy:
    """`rule` overrides where sentences end, for paragraphs that are too long for one chunk."""

    name = "paragraph"

    def __init__(self, rule: SentenceRule | None = None) -> None:
        self._rule = rule

    def chunk(self, text: str, options: ChunkingOptions) -> list[ChunkResult]:
        cutter = _Cutter(text, self._rule)
        pieces = _pack(
            cutter, list(_units(blocks(cutter.lines), options.max_chunk_size)), options.max_chunk_size
        )
        return as_chunks(text, merge_short(pieces, options))


class _Cutter:
    """Finds the best place inside a block that is too long."""

    def __init__(self, text: str, rule: SentenceRule | None) -> None:
        self.text = text
        self.lines = line_feeds(text)
        self._rule = rule

    @cached_property
    def _sentence_ends(self) -> SentenceEnds:
        return sentence_ends(self.text, self._rule)

    def cut(self, unit: _Unit, start: int, limit: int) -> tuple[int, BoundaryType]:
        # Something of the block must follow its headers.
        low = unit.body if start < unit.body < limit else start
        end = self._last_line_end(low, limit) if unit.kind in {"code", "table"} else -1
        if end <= low:
            end = self._sentence_ends.last_end(low, limit)
        if end > low:
            return end, "sentence"
        cut = cut_before(self.text, low, limit)
        return start + len(self.text[start:cut].rstrip()), "character"

    def _last_line_end(self, low: int, high: int) -> int:
        line_end = self.lines.rfind("\n", low, high + 1)
        return low + len(self.text[low:line_end].rstrip()) if line_end > low else -1


def _units(found: Iterable[Block], size: int) -> Iterator[_Unit]:
    trail: list[Block] = []
    headers: list[Block] = []
    for block in found:
        if block.kind == "header":
            if headers and not _stays_below(headers, block, size):
                yield _unit(headers[-1].end, headers[-1], is_section=True, trail=trail)
                headers = []
            trail = [*(above for above in trail if above.level < block.level), block]
            headers.append(block)
        else:
            yield _unit(block.start, block, is_section=bool(headers), trail=trail)
            headers = []
    if headers:
        yield _unit(headers[-1].end, headers[-1], is_section=True, trail=trail)


def _stays_below(headers: list[Block], header: Block, size: int) -> bool:
    """A deeper header is the first thing in the section of the one above, which would else end a chunk."""
    return headers[-1].level < header.level and header.end - headers[0].start < size


def _unit(body: int, block: Block, *, is_section: bool, trail: list[Block]) -> _Unit:
    headings = tuple(header.title for header in trail if header.title)
    return _Unit(body, block.end, block.kind, is_section, headings)


def _pack(cutter: _Cutter, units: list[_Unit], size: int) -> list[Piece]:
    pieces: list[Piece] = []
    index, start = 0, first_content(cutter.text, 0)
    within: BoundaryType | None = None  # what a cut inside a unit was
    while index < len(units):
        unit, limit = units[index], start + size
        boundary = within or ("section" if unit.is_section else "paragraph")
        if unit.end > limit:
            end, within = cutter.cut(unit, start, limit)
        else:
            index += 1
            while index < len(units) and units[index].end <= limit and not units[index].is_section:
                index += 1
            end, within = units[index - 1].end, None
        pieces.append((start, end, boundary, unit.headings))
        start = first_content(cutter.text, end)
        if start == unit.body:
            within = "paragraph"
    return pieces
