"""The protocol of chunking strategies, with their options, their results and the JSON stored with a chunk."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from reprlib import repr as shortened
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from whence.errors import InvalidParameter

BoundaryType = Literal["character", "sentence", "paragraph", "section"]

MAX_CHUNK_SIZES = range(100, 10_001)
MIN_CHUNK_SIZES = range(10, 1_001)
_USUAL_MIN = 100
_LONGEST_HEADING = 200
_MOST_HEADINGS = 8
_NOT_GIVEN: Any = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkingOptions:
    """Sizes count Unicode code points. A piece shorter than the minimum joins a neighbour if both fit.

    The minimum defaults to 100, or to half the maximum if the maximum is not above 100.
    """

    max_chunk_size: int = 1200
    min_chunk_size: int = _NOT_GIVEN

    def __post_init__(self) -> None:
        _require("maxChunkSize", self.max_chunk_size, MAX_CHUNK_SIZES)
        if self.min_chunk_size is _NOT_GIVEN:
            fits = self.max_chunk_size > _USUAL_MIN
            object.__setattr__(self, "min_chunk_size", _USUAL_MIN if fits else self.max_chunk_size // 2)
        _require("minChunkSize", self.min_chunk_size, MIN_CHUNK_SIZES)
        if self.min_chunk_size >= self.max_chunk_size:
            expected = f"less than maxChunkSize ({self.max_chunk_size})"
            raise refused("minChunkSize", self.min_chunk_size, expected)


def _require(parameter: str, value: Any, allowed: range) -> None:
    # Not `isinstance`: True is an int, but not a size.
    if type(value) is not int or value not in allowed:
        expected = f"an integer from {allowed.start} to {allowed.stop - 1}"
        raise refused(parameter, value, expected)


def refused(parameter: str, value: Any, expected: str) -> InvalidParameter:
    """Puts the value into the message: the command line and Python show only the message."""
    message = f"{parameter} must be {expected}, not {shortened(value)}"
    return InvalidParameter.of(parameter, provided=value, expected=expected, message=message)


class ChunkResult(NamedTuple):
    """A span of the text: `text == document[start_offset:end_offset]`, in code points.

    `boundary_type` is the kind of boundary at its start; `headings` are the titles above it, its own included.
    A tuple, because creating frozen dataclasses would take longer than finding the cuts.
    """

    text: str
    start_offset: int
    end_offset: int
    boundary_type: BoundaryType
    headings: tuple[str, ...] = ()


def heading_trail(titles: Iterable[str]) -> tuple[str, ...]:
    """The innermost 8 titles, each cut to 200 characters: every chunk below them carries a copy."""
    return tuple([title[:_LONGEST_HEADING] for title in titles][-_MOST_HEADINGS:])


def chunk_metadata(
    chunk: ChunkResult,
    *,
    strategy: str,
    source_page: int | None = None,
    token_count: int | None = None,
    table_head: str = "",
    confidence: float | None = None,
) -> dict[str, Any]:
    """The same keys for every strategy. The parser knows the page, the embedder the token count.

    A chunk that begins inside a table also has `tableHead`, the line with the column names. One with recognised text (OCR) has
    `ocr` and the lowest `confidence` of its pages.
    """
    more: dict[str, Any] = {"tableHead": table_head} if table_head else {}
    if confidence is not None:
        more |= {"ocr": True, "confidence": confidence}
    return {
        "strategy": strategy,
        "startOffset": chunk.start_offset,
        "endOffset": chunk.end_offset,
        "boundaryType": chunk.boundary_type,
        "headings": list(heading_trail(chunk.headings)),
        "source_page": source_page,
        "char_offset": chunk.start_offset,
        "token_count": token_count,
        **more,
    }


@runtime_checkable
class ChunkingStrategy(Protocol):
    """Chunks are exact slices in order, none longer than the maximum, with only white space between them."""

    @property
    def name(self) -> str: ...

    def chunk(self, text: str, options: ChunkingOptions) -> list[ChunkResult]: ...


# The fields of a `ChunkResult`. Plain tuples, and no Python loop to build the chunks: a chunk takes only a few
# microseconds, so both matter.
Piece = tuple[str, int, int, BoundaryType, tuple[str, ...]]


def merge_short(text: str, pieces: list[Piece], options: ChunkingOptions) -> list[Piece]:
    """Joins each piece shorter than the minimum to a neighbour if both fit in one chunk.

    Tries the neighbour before first. A section never joins the text before its header.
    """
    shortest, longest = options.min_chunk_size, options.max_chunk_size
    if all(end - start >= shortest for _, start, end, _, _ in pieces):
        return pieces
    merged: list[Piece] = []
    for piece in pieces:
        _, start, end, boundary_type, _ = piece
        if merged and boundary_type != "section":
            _, last_start, last_end, last_type, headings = merged[-1]
            is_short = last_end - last_start < shortest or end - start < shortest
            if is_short and end - last_start <= longest:
                merged[-1] = text[last_start:end], last_start, end, last_type, headings
                continue
        merged.append(piece)
    return merged


def as_chunks(pieces: list[Piece]) -> list[ChunkResult]:
    return list(map(tuple.__new__, repeat(ChunkResult), pieces))


def spans_as_chunks(
    text: str, starts: Sequence[int], ends: Sequence[int], boundary_type: BoundaryType
) -> list[ChunkResult]:
    """Chunks of one boundary type, without headings. Builds no pieces, which would burden the garbage collector."""
    slices = map(text.__getitem__, map(slice, starts, ends))
    fields = zip(slices, starts, ends, repeat(boundary_type), repeat(()))
    return list(map(tuple.__new__, repeat(ChunkResult), fields))
