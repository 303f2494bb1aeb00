"""Chunking options of requests, and the answer of a preview."""

from dataclasses import replace
from itertools import accumulate, takewhile
from statistics import median
from typing import Annotated, Any, ClassVar, Self

from pydantic import ConfigDict, Field, model_validator

from whence.api.base import CamelShape, RequestShape
from whence.api.values import Value, json_object, snake, whole
from whence.chunk import (
    DEFAULT_STRATEGY,
    ChunkingOptions,
    ChunkingStrategy,
    checked_chunks,
    sentence_end_share,
    strategy,
)
from whence.chunk.base import MAX_CHUNK_SIZES, MIN_CHUNK_SIZES, BoundaryType, ChunkResult, heading_trail
from whence.errors import BadInput, InvalidParameter
from whence.ingest import Chunking

ALWAYS = Chunking()
"""`character`, 1200: the default since the first version."""

MOST_SHOWN = 4_000_000
"""Maximum characters of chunks and their headings in the answer of a preview."""
_EACH = 100  # size of a chunk's other fields
_SIZES = ("max_chunk_size", "min_chunk_size")
_MAX = whole(MAX_CHUNK_SIZES.start, MAX_CHUNK_SIZES.stop - 1)
_MIN = whole(MIN_CHUNK_SIZES.start, MIN_CHUNK_SIZES.stop - 1)
_STRATEGY = {"type": "string", "enum": ["character", "sentence", "paragraph"]}
_OPTIONS = {
    "type": "object",
    "properties": {
        "maxChunkSize": {**_MAX.schema, "default": 1200},
        "minChunkSize": {**_MIN.schema, "default": 100},
    },
    "additionalProperties": False,
}


def _read_sizes(value: Any) -> dict[str, Any]:
    """Reads the sizes, which a form sends as JSON text. `ChunkingOptions` checks the numbers."""
    sizes: dict[str, Any] = {}
    for name, size in json_object(as_text=True).read(value).items():
        if snake(name) not in _SIZES:
            raise InvalidParameter.unknown(
                f"chunkingOptions.{name}", provided=size, known=("maxChunkSize", "minChunkSize")
            )
        sizes[snake(name)] = int(size) if isinstance(size, float) and size.is_integer() else size
    return sizes


def _read_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    details = {"field": "text", "provided": value, "expected": "a string"}
    raise BadInput("text is required", details=details)


class ChunkingFields(RequestShape):
    """Fields of requests that may choose the chunking."""

    chunking_strategy: Annotated[str | None, Value(lambda name: strategy(name).name, _STRATEGY)] = Field(
        default=None,
        description=f"The chunking strategy. Default: the project's, else `{DEFAULT_STRATEGY}`. Strategies of other distributions are "
        "accepted.",
    )
    chunking_options: Annotated[dict[str, Any] | None, Value(_read_sizes, _OPTIONS)] = Field(
        default=None,
        description="`minChunkSize` must be less than `maxChunkSize`. With a `maxChunkSize` of 100 and no "
        "`minChunkSize`, the minimum is 50.",
        examples=[{"maxChunkSize": 600}],
    )

    @property
    def says_chunking(self) -> bool:
        return self.chunking_strategy is not None or self.chunking_options is not None

    def chunking(self, unnamed: Chunking = ALWAYS) -> Chunking:
        """The requested chunking; `unnamed` supplies what is missing."""
        name = unnamed.strategy if self.chunking_strategy is None else self.chunking_strategy
        sizes = self.chunking_options or {}
        most, options = sizes.get("max_chunk_size"), unnamed.options
        if "min_chunk_size" not in sizes and isinstance(most, int) and most <= options.min_chunk_size:
            # A default minimum must not make the requested maximum invalid.
            return Chunking(strategy=name, options=ChunkingOptions(**sizes))
        return Chunking(strategy=name, options=replace(options, **sizes))


class ChunkingChoice(RequestShape):
    """A project's default chunking."""

    null_is_absent: ClassVar[bool] = False

    strategy: Annotated[str, Value(lambda name: strategy(name).name, _STRATEGY)]
    max_chunk_size: Annotated[int, _MAX] | None = Field(default=None, description="Default 1200.")
    min_chunk_size: Annotated[int, _MIN] | None = Field(
        default=None, description="Less than `maxChunkSize`. Default 100."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        ChunkingOptions(**self.model_dump(exclude_none=True, exclude={"strategy"}))
        return self


class PreviewRequest(ChunkingFields):
    model_config = ConfigDict(
        json_schema_extra={"example": {"text": "One. Two.", "chunkingStrategy": "sentence"}}
    )

    text: Annotated[str, Value(_read_text, {"type": "string"})] = Field(description="The text to chunk.")


class PreviewForm(ChunkingFields):
    """The form fields other than the file."""

    file_parts: ClassVar[tuple[str, ...]] = ("file",)


class PreviewChunk(CamelShape):
    index: int
    text: str
    start_offset: int = Field(description="In Unicode code points.")
    end_offset: int
    size: int
    boundary_type: BoundaryType
    headings: list[str] = Field(description="The headings above the chunk, outermost first.")

    @classmethod
    def of(cls, chunk: ChunkResult, /, **more: Any) -> Self:
        return super().of(chunk, size=len(chunk.text), headings=list(heading_trail(chunk.headings)), **more)


class PreviewSummary(CamelShape):
    count: int
    min_size: int
    median_size: float
    max_size: int
    sentence_end_share: float | None = Field(
        description="Share of the cuts at the end of a sentence, from 0 to 1; null if there is no cut."
    )
    truncated: bool = Field(
        description="Whether `chunks` lists only the first chunks, up to 4,000,000 characters. The summary counts all."
    )


class PreviewOptions(CamelShape):
    max_chunk_size: int
    min_chunk_size: int


class PreviewAnswer(CamelShape):
    chunking_strategy: str
    chunking_options: PreviewOptions
    chunks: list[PreviewChunk]
    summary: PreviewSummary

    @classmethod
    def preview(
        cls, text: str, strategy: ChunkingStrategy, options: ChunkingOptions, *, most: int | None = None
    ) -> Self:
        """Lists at most `most` characters of chunks. Raises `StrategyError` if the strategy fails or its chunks are invalid."""
        found = checked_chunks(text, strategy, options)
        sums = accumulate(_EACH + len(chunk.text) + sum(map(len, chunk.headings)) for chunk in found)
        shown = len(found) if most is None else sum(1 for _ in takewhile(most.__ge__, sums))
        sizes = [len(chunk.text) for chunk in found] or [0]
        summary = PreviewSummary(
            count=len(found),
            min_size=min(sizes),
            median_size=float(median(sizes)),
            max_size=max(sizes),
            sentence_end_share=sentence_end_share(text, found),
            truncated=shown < len(found),
        )
        return cls(
            chunking_strategy=strategy.name,
            chunking_options=PreviewOptions.of(options),
            chunks=[PreviewChunk.of(chunk, index=index) for index, chunk in enumerate(found[:shown])],
            summary=summary,
        )
