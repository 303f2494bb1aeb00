"""Requests and answers of search: hits and their context."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Self
from uuid import UUID

from pydantic import ConfigDict, Field, ValidationInfo, field_validator

from whence.api.base import CamelShape, Listing, RequestShape
from whence.api.chunks import ChunkModel
from whence.api.file_types import FILE_TYPE, wanted_types
from whence.api.values import Flag, Ident, json_object, moment, number, text, texts, whole, wrong
from whence.models import MAX_NAME, Filters
from whence.search import (
    MAX_LIMIT,
    MAX_OFFSET,
    MAX_QUERY,
    Context,
    Expansion,
    Hit,
    Mode,
    Question,
    SearchResult,
)
from whence.store.search_reads import FoundChunk, RelatedObject

MAX_DOCUMENTS = 1000
MAX_TYPES = 100
MOST_BESIDE, MOST_ALIKE, MOST_OBJECTS = 10, 20, 100

POSITIONAL = "Number of chunks before it, and of chunks after it."
SEMANTIC = "Number of similar chunks, those of the same document first."
RELATED = "Maximum number of objects of the graph."
SIMILARITY = "Minimum similarity of an object that the chunk does not name."
UNGROUNDED = "Include ungrounded objects and values, which no chunk states. Only projects with lenient grounding have any."


class TimeSpan(RequestShape):
    """Days or times. A day as `to` is included; a time as `to` is excluded."""

    start: Annotated[datetime | None, moment()] = Field(default=None, alias="from")
    end: Annotated[datetime | None, moment(end_of_day=True)] = Field(default=None, alias="to")

    @field_validator("end", mode="after")
    @classmethod
    def _require_order(cls, end: datetime | None, info: ValidationInfo) -> datetime | None:
        start = info.data.get("start")
        if start and end and end < start:
            raise wrong(f"a time after {start.isoformat()}")
        return end


class FiltersRequest(RequestShape):
    """Only documents that meet every filter."""

    document_ids: list[Ident] | None = Field(default=None, max_length=MAX_DOCUMENTS)
    file_types: Annotated[tuple[str, ...], texts(MAX_TYPES)] = Field(
        default=(), description=f"Each: {FILE_TYPE}"
    )
    metadata: Annotated[dict[str, Any] | None, json_object()] = Field(
        default=None, description="Keys and values that the document's metadata must contain."
    )
    created: TimeSpan | None = None
    updated: TimeSpan | None = None

    def filters(self) -> Filters | None:
        mimes, extensions = wanted_types(self.file_types)
        created, updated = self.created or TimeSpan(), self.updated or TimeSpan()
        filters = Filters(
            document_ids=None if self.document_ids is None else tuple(self.document_ids),
            mimes=mimes,
            extensions=extensions,
            metadata=self.metadata,
            created_from=created.start,
            created_before=created.end,
            updated_from=updated.start,
            updated_before=updated.end,
        )
        return None if filters == Filters() else filters


class ContextChoice(RequestShape):
    """The context of a chunk. Null or absent: the default applies."""

    null_is_absent: ClassVar[bool] = False

    positional_count: Annotated[int, whole(0, MOST_BESIDE)] | None = Field(
        default=None, description=f"{POSITIONAL} Default 1."
    )
    semantic_chunk_count: Annotated[int, whole(0, MOST_ALIKE)] | None = Field(
        default=None, description=f"{SEMANTIC} Default 3."
    )
    related_object_count: Annotated[int, whole(0, MOST_OBJECTS)] | None = Field(
        default=None, description=f"{RELATED} Default 10."
    )
    object_similarity_threshold: Annotated[float, number(0, 1)] | None = Field(
        default=None, description=f"{SIMILARITY} Default 0.7."
    )

    def expansion(self, *, include_ungrounded: bool = False) -> Expansion:
        return Expansion(**self.model_dump(exclude_none=True), include_ungrounded=include_ungrounded)


class OfProject(RequestShape):
    """A request about one project, by its id or its name."""

    project_id: Ident | None = Field(
        default=None, description="Default: the key's project, or the default one."
    )
    project: Annotated[str | None, text(MAX_NAME)] = Field(
        default=None, description="Instead of `projectId`: the project's name or id."
    )

    @field_validator("project", mode="after")
    @classmethod
    def _require_one_project(cls, named: str | None, info: ValidationInfo) -> str | None:
        if named is not None and info.data.get("project_id") is not None:
            raise wrong("absent where there is a projectId")
        return named


class SearchRequest(OfProject):
    model_config = ConfigDict(json_schema_extra={"example": {"query": "Who paid for it?", "limit": 3}})

    query: Annotated[str, text(MAX_QUERY)]
    mode: Mode = "hybrid"
    limit: Annotated[int, whole(1, MAX_LIMIT)] = 10
    offset: Annotated[int, whole(0, MAX_OFFSET)] = 0
    floor: Flag = Field(default=True, description="Return nothing if no chunk is relevant to the question.")
    min_score: Annotated[float, number(0, 1)] = 0.0
    filters: FiltersRequest | None = None
    expand: ContextChoice | None = Field(
        default=None, description="Context for each hit; empty: the defaults."
    )
    include_ungrounded: Flag = Field(default=False, description=UNGROUNDED)

    def question(self) -> Question:
        ungrounded = self.include_ungrounded
        return Question(
            filters=None if self.filters is None else self.filters.filters(),
            expansion=None if self.expand is None else self.expand.expansion(include_ungrounded=ungrounded),
            **self.model_dump(exclude={"project_id", "project", "filters", "expand", "include_ungrounded"}),
        )


class HitDocument(CamelShape):
    id: UUID
    name: str = Field(examples=["quarterly_report_2024.pdf"])
    file_type: str = Field(examples=["application/pdf"])

    @classmethod
    def of_chunk(cls, found: FoundChunk) -> Self:
        return cls(id=found.chunk["document_id"], name=found.document_name, file_type=found.mime)


class HitScores(CamelShape):
    text: float | None = Field(description="BM25 score; null if words were not searched.")
    vector: float | None = Field(description="Cosine similarity; null if vectors were not searched.")
    rerank: float | None = Field(description="Score of the reranker; null if none scored the hit.")


class Highlight(CamelShape):
    start: int
    end: int


class SimilarChunk(CamelShape):
    chunk: ChunkModel
    distance: float


class ContextModel(CamelShape):
    positional_chunks: list[ChunkModel] = Field(description="Chunks before and after it, in reading order.")
    semantic_chunks: list[SimilarChunk] = Field(
        description="Similar chunks, those of its own document first."
    )
    related_objects: list[RelatedObject]

    @classmethod
    def of(cls, context: Context, /, **more: Any) -> Self:
        found = {"positional_chunks": context.positional, "semantic_chunks": context.semantic}
        return super().of(found, related_objects=context.objects, **more)


class ContextAnswer(ContextModel):
    chunk: ChunkModel


class OtherPlace(CamelShape):
    chunk_id: UUID
    document: HitDocument
    page: int | None
    start_offset: int | None
    end_offset: int | None
    url: str | None

    @classmethod
    def of_chunk(cls, found: FoundChunk) -> Self:
        return cls(
            url=found.chunk["url"],
            chunk_id=found.chunk["id"],
            document=HitDocument.of_chunk(found),
            page=found.page,
            start_offset=found.start,
            end_offset=found.end,
        )


class HitModel(CamelShape):
    chunk: ChunkModel
    document: HitDocument
    page: int | None
    start_offset: int | None = Field(description="In the document's text, in code points.")
    end_offset: int | None
    score: float = Field(description="From 0 to 1; in hybrid mode, of words and vectors together.")
    scores: HitScores
    distance: float | None = Field(description="Cosine distance to the query, from 0 to 1.")
    highlights: list[Highlight] = Field(
        description="Words of the query in the chunk's content, in code points."
    )
    url: str | None = Field(description="A lasting link to the chunk.")
    also_in: list[OtherPlace] = Field(description="Other chunks with the same text.")
    context: ContextModel = Field(default=None, description="Only with `expand`.")  # type: ignore[assignment]  # optional, but never null

    @classmethod
    def of(cls, hit: Hit, /, **more: Any) -> Self:
        found = hit.found
        if hit.context is not None:
            more["context"] = ContextModel.of(hit.context)
        return cls(
            chunk=ChunkModel.of(found.chunk),
            document=HitDocument.of_chunk(found),
            page=found.page,
            start_offset=found.start,
            end_offset=found.end,
            score=hit.score,
            scores=HitScores(text=hit.text, vector=hit.cosine, rerank=hit.rerank),
            distance=hit.distance,
            highlights=[Highlight(start=start, end=end) for start, end in hit.highlights],
            url=found.chunk["url"],
            also_in=list(map(OtherPlace.of_chunk, hit.also_in)),
            **more,
        )


class SearchAnswer(Listing[HitModel]):
    query: str
    mode: Mode
    notes: list[str] = Field(description="Remarks on how the hits were found.")

    @classmethod
    def for_question(cls, question: Question, found: SearchResult) -> Self:
        items = [HitModel.of(hit) for hit in found.hits]
        about = {"query": question.query, "mode": question.mode, "notes": list(found.notes)}
        return cls.page(items, found.total, question.limit, question.offset, **about)
