"""The shapes of hits, their contexts and previews, as OpenAPI tells them."""

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from whence.web.models import ChunkModel, Page


class PreviewChunk(BaseModel):
    index: int
    text: str
    startOffset: int = Field(description="In Unicode code points, as Python counts.")  # noqa: N815 - the API's name
    endOffset: int  # noqa: N815 - likewise
    size: int
    boundaryType: Literal["section", "paragraph", "sentence", "character"]  # noqa: N815 - likewise
    headings: list[str] = Field(description="The titles above the chunk, from the outermost.")


class PreviewSummary(BaseModel):
    count: int
    minSize: int  # noqa: N815 - likewise
    medianSize: float  # noqa: N815 - likewise
    maxSize: int  # noqa: N815 - likewise
    sentenceEndShare: float | None = Field(  # noqa: N815 - likewise
        description="How many of the cuts fall on the end of a sentence, from 0 to 1; null where there is no cut."
    )


class PreviewOptions(BaseModel):
    maxChunkSize: int  # noqa: N815 - likewise
    minChunkSize: int  # noqa: N815 - likewise


class PreviewAnswer(BaseModel):
    chunkingStrategy: str  # noqa: N815 - likewise
    chunkingOptions: PreviewOptions  # noqa: N815 - likewise
    chunks: list[PreviewChunk]
    summary: PreviewSummary


class HitDocument(BaseModel):
    id: UUID
    name: str = Field(examples=["quarterly_report_2024.pdf"])
    file_type: str = Field(examples=["application/pdf"])


class HitScores(BaseModel):
    text: float | None = Field(description="BM25; null where the words were not asked.")
    vector: float | None = Field(description="Cosine; null where the vectors were not asked.")


class Span(BaseModel):
    start: int
    end: int


class AlikeModel(BaseModel):
    chunk: ChunkModel
    distance: float


class RelatedObjectModel(BaseModel):
    id: UUID
    type: str
    name: str
    properties: dict[str, Any]
    similarity: float


class ContextModel(BaseModel):
    positionalChunks: list[ChunkModel] = Field(description="Before and after it, in reading order.")  # noqa: N815 - likewise
    semanticChunks: list[AlikeModel] = Field(description="Of its own document first.")  # noqa: N815 - likewise
    relatedObjects: list[RelatedObjectModel]  # noqa: N815 - likewise


class ContextAnswer(ContextModel):
    chunk: ChunkModel


class HitModel(BaseModel):
    chunk: ChunkModel
    document: HitDocument
    page: int | None
    startOffset: int | None = Field(description="In the document's text, in code points.")  # noqa: N815 - likewise
    endOffset: int | None  # noqa: N815 - likewise
    score: float = Field(description="From 0 to 1; of both legs in hybrid mode.")
    scores: HitScores
    distance: float | None = Field(description="Cosine distance to the query, from 0 to 1.")
    highlights: list[Span] = Field(description="Words of the query in the chunk's content, in code points.")
    context: ContextModel = Field(default=None, description="Only with `expand`.")  # type: ignore[assignment]  # optional, but never null


class SearchAnswer(Page[HitModel]):
    query: str
    mode: Literal["hybrid", "vector", "text"]
    notes: list[str] = Field(description="What is to be known of how they were found.")
