"""What every chunking strategy takes and gives."""

from dataclasses import dataclass
from reprlib import repr as shortened
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from whence.errors import InvalidParameter

BoundaryType = Literal["character", "sentence", "paragraph", "section"]

MAX_CHUNK_SIZES = range(100, 10_001)
MIN_CHUNK_SIZES = range(10, 1_001)
_USUAL_MIN = 100
_NOT_GIVEN: Any = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkingOptions:
    """Sizes count Unicode code points. A piece shorter than the minimum joins a neighbour where that fits.

    The minimum is 100 where it is not given; where that is no less than the maximum, it is half the maximum.
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
    # True is an int to Python, but not a size to anyone.
    if type(value) is not int or value not in allowed:
        expected = f"an integer from {allowed.start} to {allowed.stop - 1}"
        raise refused(parameter, value, expected)


def refused(parameter: str, value: Any, expected: str) -> InvalidParameter:
    """With the value in the message: on the command line and in Python that is all there is to see."""
    message = f"{parameter} must be {expected}, not {shortened(value)}"
    return InvalidParameter.of(parameter, provided=value, expected=expected, message=message)


class ChunkResult(NamedTuple):
    """A span of the text: `text == document[start_offset:end_offset]`, in code points.

    `boundary_type` says what the chunk's start is; `headings` are the titles it stands under, its own included.
    A tuple, because making frozen dataclasses would take longer than finding where to cut.
    """

    text: str
    start_offset: int
    end_offset: int
    boundary_type: BoundaryType
    headings: tuple[str, ...] = ()


@runtime_checkable
class ChunkingStrategy(Protocol):
    """Chunks are exact slices in order, none longer than the maximum, with only white space between them."""

    @property
    def name(self) -> str: ...

    def chunk(self, text: str, options: ChunkingOptions) -> list[ChunkResult]: ...
