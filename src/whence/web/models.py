"""The shapes of requests and answers, as OpenAPI tells them. Examples are of a real document."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Generic, Literal, Self, TypeVar
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)

from whence.errors import BadInput, InvalidUUID
from whence.search.lexer import DEFAULT_LANGUAGE, LANGUAGES
from whence.types import (
    MAX_NAME,
    PROJECT_NAME,
    ExtractionSwitch,
    ExtractorName,
    JobStage,
    JobStatus,
    JobType,
    project_name,
)
from whence.web.inputs import Flag, all_canonical, canonical_uuid, parse_flag

MAX_CHUNK_IDS = 100
MAX_DESCRIPTION = 10_000

T = TypeVar("T")


class Success(BaseModel, Generic[T]):
    success: Literal[True] = True
    data: T


class Pagination(BaseModel):
    total: int
    limit: int
    offset: int
    has_more: bool


class Page(BaseModel, Generic[T]):
    items: list[T]
    pagination: Pagination


class ErrorBody(BaseModel):
    code: str = Field(examples=["INVALID_PARAMETER"])
    message: str = Field(examples=["include_source must be a boolean"])
    details: dict[str, Any] = Field(
        examples=[{"parameter": "include_source", "provided": "maybe", "expected": "true, false, 1, or 0"}]
    )


class Failure(BaseModel):
    success: Literal[False] = False
    error: ErrorBody


class SourceModel(BaseModel):
    """The job (source document) behind a chunk."""

    job_id: UUID
    job_name: str = Field(examples=["quarterly_report_2024.pdf"])
    job_type: JobType
    status: JobStatus
    file_name: str = Field(examples=["quarterly_report_2024.pdf"])
    file_type: str = Field(examples=["application/pdf"])
    file_size: int = Field(examples=[2457600])
    created_at: datetime
    completed_at: datetime | None
    total_chunks: int = Field(examples=[42])


class ChunkModel(BaseModel):
    id: UUID
    job_id: UUID
    document_id: UUID
    chunk_index: int
    content: str
    content_hash: str = Field(description="sha256 of the content, in hex.", pattern="^[0-9a-f]{64}$")
    metadata: dict[str, Any] | None
    created_at: datetime
    source: SourceModel = Field(default=None, description="Only with `include_source`.")  # type: ignore[assignment]  # optional, but never null
    embedding: list[float] | None = Field(
        default=None, description="Only with `include_embedding`; null where the chunk has no vector."
    )


class BulkAnswer(BaseModel):
    chunks: list[ChunkModel]
    found_count: int
    requested_count: int
    not_found: list[UUID]


def _chunk_ids(value: Any) -> list[str]:
    if not isinstance(value, list):
        raise BadInput("chunk_ids array is required", details={"field": "chunk_ids", "provided": value})
    if not 1 <= len(value) <= MAX_CHUNK_IDS:
        raise BadInput(
            f"chunk_ids must contain 1-{MAX_CHUNK_IDS} items",
            details={"provided": len(value), "max_allowed": MAX_CHUNK_IDS},
        )
    found = all_canonical(value)
    if found is None:
        index = next(index for index, item in enumerate(value) if canonical_uuid(item) is None)
        raise InvalidUUID(
            f"Invalid UUID format at index {index}", details={"index": index, "provided": value[index]}
        )
    return found


class BulkRequest(BaseModel):
    model_config = ConfigDict(
        json_schema_extra={
            "example": {"chunk_ids": ["6ba7b810-9dad-11d1-80b4-00c04fd430c8"], "include_source": True}
        }
    )

    chunk_ids: Annotated[
        list[str],
        BeforeValidator(_chunk_ids),
        WithJsonSchema(
            {
                "type": "array",
                "items": {"type": "string", "format": "uuid"},
                "minItems": 1,
                "maxItems": MAX_CHUNK_IDS,
            }
        ),
    ]
    include_embeddings: Annotated[
        bool, BeforeValidator(lambda v: parse_flag("include_embeddings", v)), Flag
    ] = False
    include_source: Annotated[bool, BeforeValidator(lambda v: parse_flag("include_source", v)), Flag] = False

    @model_validator(mode="before")
    @classmethod
    def _has_ids(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and "chunk_ids" not in data:
            raise BadInput("chunk_ids array is required", details={"field": "chunk_ids"})
        return data


class ProjectConfig(BaseModel):
    """Null, or absent, is no choice: then the settings of the server decide."""

    model_config = ConfigDict(strict=True, extra="forbid")

    extraction: ExtractionSwitch | None = Field(
        default=None,
        description="Whether documents are extracted when they have been ingested. By default `auto` where a model "
        "endpoint is configured, else `manual`.",
    )
    extractor: ExtractorName | None = Field(
        default=None,
        description="Who extracts. By default `model` where an endpoint is configured, else `rules`.",
    )


class ProjectModel(BaseModel):
    id: UUID
    name: str
    description: str | None
    language: str = Field(description="Of its texts: how words are taken for the same.", examples=["english"])
    config: ProjectConfig
    created_at: datetime
    updated_at: datetime


def storable(text: str) -> str:
    """Postgres keeps any text but NUL; lone surrogates are no text at all."""
    if "\x00" in text:
        raise ValueError("text without NUL characters")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("valid Unicode text") from None
    return text


def _name(text: str) -> str:
    return project_name(storable(text))


Name = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_NAME,
        examples=["handbooks"],
        json_schema_extra={"pattern": f"^{PROJECT_NAME}$"},
    ),
    AfterValidator(_name),
]
Description = Annotated[
    str,
    Field(max_length=MAX_DESCRIPTION, json_schema_extra={"pattern": r"^[^\u0000]*$"}),
    AfterValidator(storable),
]


def _language(name: str) -> str:
    if name not in LANGUAGES:
        raise ValueError(f"one of {', '.join(LANGUAGES)}")
    return name


Language = Annotated[
    str,
    AfterValidator(_language),
    Field(
        json_schema_extra={"enum": list(LANGUAGES)},
        description="Of its texts: by its rules words are taken for the same. `simple` takes them as they are.",
    ),
]


class ProjectCreate(BaseModel):
    model_config = ConfigDict(strict=True)

    name: Name
    description: Description | None = None
    language: Language = DEFAULT_LANGUAGE


class ProjectChange(BaseModel):
    """Fields that are absent stay as they are."""

    model_config = ConfigDict(
        strict=True,
        json_schema_extra={
            "anyOf": [{"required": [name]} for name in ("name", "description", "language", "config")]
        },
    )

    name: Name = ""
    description: Description | None = None
    language: Language = DEFAULT_LANGUAGE
    config: ProjectConfig = Field(default_factory=ProjectConfig)

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.model_fields_set:
            raise BadInput("Nothing to change", details={"expected": "name, description, language or config"})
        return self


class JobError(BaseModel):
    code: str = Field(examples=["UNREADABLE_DOCUMENT"])
    message: str
    details: dict[str, Any] = Field(default_factory=dict)


class ChunkingModel(BaseModel):
    strategy: str
    max_chunk_size: int
    min_chunk_size: int


class ExtractionModel(BaseModel):
    scope: Literal["stale", "all"]
    schema_version: str | None = Field(description="Null until it has begun.", examples=["v2"])
    extractor: ExtractorName | None
    model: str | None
    extracted: int = Field(description="Chunks that gave something.")
    empty: int = Field(description="Chunks that gave nothing.")
    failed: int = Field(description="Chunks that could not be read; `error` says why.")
    rejected: int = Field(description="Proposals that were not taken over; `readings` has them.")
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = Field(description="An estimate; null where no price is configured.")


class JobModel(BaseModel):
    id: UUID
    project_id: UUID
    document_id: UUID
    job_type: JobType
    job_name: str
    status: JobStatus
    stage: JobStage | None = Field(description="What it is at, or was when it ended.")
    done: int = Field(description="How many chunks are embedded, or read by an extraction.")
    total: int | None = Field(description="Of how many; null until the document has been cut.")
    attempts: int
    error: JobError | None = Field(description="Why it failed, or why it is tried again.")
    chunking: ChunkingModel | None
    extraction: ExtractionModel | None = Field(description="Only of extractions.")
    file_name: str
    file_type: str
    file_size: int
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None


class DocumentModel(BaseModel):
    id: UUID
    project_id: UUID
    name: str
    origin: str | None = Field(description="The URL it was fetched from.")
    file_type: str
    file_size: int
    sha256: str
    job_id: UUID | None = Field(description="The newest job on it.")
    status: JobStatus | None = Field(
        description="That job's; what was stored before it stays until it completes."
    )
    error: JobError | None
    chunking: ChunkingModel | None
    chunk_count: int
    page_count: int | None
    created_at: datetime
    updated_at: datetime
    metadata: dict[str, Any] = Field(description="What was said of it when it came in, or since.")


class PageSpan(BaseModel):
    number: int
    start: int
    end: int


class DocumentText(BaseModel):
    document_id: UUID
    text: str
    characters: int
    pages: list[PageSpan] = Field(
        description="Spans of the text, in code points; none where the format has no pages."
    )


class LostObject(BaseModel):
    id: UUID
    type: str
    name: str


class LostProperty(BaseModel):
    object_id: UUID
    object_type: str
    object_name: str
    property_name: str
    value: Any
    stays: bool = Field(description="Another document gives a value too: `falls_back_to`.")
    falls_back_to: Any


class LostRelationship(BaseModel):
    id: UUID
    type: str
    source_name: str
    target_name: str


class GraphLoss(BaseModel):
    objects: list[LostObject]
    properties: list[LostProperty]
    relationships: list[LostRelationship]


class DeletionImpact(BaseModel):
    document_id: UUID
    name: str
    original_bytes: int
    chunks: int
    jobs: int
    property_claims: int = Field(description="What its chunks said of objects in the graph.")
    objects: int = Field(description="Objects that nothing else speaks of.")
    relationships: int = Field(description="Relationships that nothing else speaks of.")
    properties: int = Field(description="Properties of other objects that get another value, or none.")
    graph: GraphLoss = Field(description="The first hundred of each.")


class Ingested(BaseModel):
    fileName: str  # noqa: N815 - the API's names
    documentId: UUID | None  # noqa: N815 - likewise
    jobId: UUID | None  # noqa: N815 - likewise
    status: JobStatus
    alreadyExists: bool = Field(description="The project has these bytes; there was nothing to do.")  # noqa: N815 - likewise
    error: JobError | None
    chunkCount: int = Field(default=None, description="Only with `wait`.")  # type: ignore[assignment]  # noqa: N815 - optional, but never null


class IngestedMany(BaseModel):
    items: list[Ingested]


class SchemaModel(BaseModel):
    project_id: UUID
    version: str | None = Field(
        description="Null for the default schema, until the first extraction.", examples=["v2"]
    )
    number: int | None
    sha256: str
    body: dict[str, Any] = Field(alias="schema")
    created_at: datetime | None


class SchemaPut(SchemaModel):
    created: bool = Field(description="False where the current version is the same already.")


class SchemaElement(BaseModel):
    kind: Literal["object_type", "property", "relationship_type", "relationship_property"]
    type: str = Field(default=None, description="Of a property: what it belongs to.")  # type: ignore[assignment]  # optional, but never null
    name: str
    was: str = Field(default=None, description="Of what was renamed: its old name.")  # type: ignore[assignment]  # likewise


class SchemaDiff(BaseModel):
    from_: str = Field(alias="from")
    to: str
    added: list[SchemaElement]
    removed: list[SchemaElement]
    renamed: list[SchemaElement]
    changed: list[SchemaElement]
    needs_model: bool = Field(description="Whether chunks have to be read again.")


class ExtractionOrdered(BaseModel):
    documentId: UUID  # noqa: N815 - the API's names
    jobId: UUID  # noqa: N815 - likewise
    status: JobStatus
    scope: Literal["stale", "all"]
    error: JobError | None


class OrderedJob(BaseModel):
    documentId: UUID  # noqa: N815 - likewise
    jobId: UUID  # noqa: N815 - likewise


class Reextraction(BaseModel):
    dryRun: bool  # noqa: N815 - likewise
    scope: Literal["stale", "all"]
    schemaVersion: str | None  # noqa: N815 - likewise
    documents: int
    chunks: int = Field(description="To read again, by a model or by rules.")
    carriedOver: int = Field(  # noqa: N815 - likewise
        description="Chunks that nobody needs to read: properties were only removed or renamed."
    )
    extractor: ExtractorName
    promptTokens: int = Field(description="An estimate, as are the next two.")  # noqa: N815 - likewise
    completionTokens: int  # noqa: N815 - likewise
    cost: float | None = Field(description="Null where no price is configured.")
    jobs: list[OrderedJob]


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


class ChatSource(BaseModel):
    id: UUID | None = Field(description="The chunk; null for what was put together from the graph.")
    documentId: UUID | None  # noqa: N815 - likewise
    chunkIndex: int | None = Field(description="The chunk's place in its document, from 0.")  # noqa: N815 - likewise
    chunkText: str  # noqa: N815 - likewise
    source: str = Field(description="The file's name, or `LightRAG Answer`.", examples=["report.pdf"])
    distance: float | None = Field(description="Cosine distance to the question, from 0 to 1.")
    page: int | None


class ChatCitation(BaseModel):
    responseStart: int = Field(description="The sentence of the response, in code points.")  # noqa: N815 - likewise
    responseEnd: int  # noqa: N815 - likewise
    chunkId: UUID | None = Field(description="Null for a sentence that cites nothing.")  # noqa: N815 - likewise
    documentId: UUID | None  # noqa: N815 - likewise
    startOffset: int | None = Field(description="The quote in the document's text, in code points.")  # noqa: N815 - likewise
    endOffset: int | None  # noqa: N815 - likewise
    page: int | None
    quote: str | None
    support: float = Field(description="How much of the sentence the quote has, from 0 to 1.")
    supported: bool


class ChatTurn(BaseModel):
    role: Literal["system", "user", "assistant"]
    content: str


class ChatAnswer(BaseModel):
    response: str = Field(description="Citations in it are `[<chunk id>]`.")
    messages: list[ChatTurn]
    sources: list[ChatSource]
    model: str = Field(description="Which model answered; `extractive` where there is none.")
    totalDuration: int = Field(description="Milliseconds.")  # noqa: N815 - likewise
    promptEvalCount: int | None = Field(description="Tokens of the prompt; null where unknown.")  # noqa: N815 - likewise
    evalCount: int | None = Field(description="Tokens of the answer; null where unknown.")  # noqa: N815 - likewise
    citations: list[ChatCitation]
    notes: list[str] = Field(description="What is to be known of how it came about.")


class CompletionMessage(BaseModel):
    role: Literal["assistant"]
    content: str
    refusal: None


class CompletionChoice(BaseModel):
    index: int
    message: CompletionMessage
    logprobs: None
    finish_reason: Literal["stop", "length"]


class CompletionUsage(BaseModel):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class Completion(BaseModel):
    id: str
    object: Literal["chat.completion"]
    created: int
    model: str = Field(description="The project's name.")
    choices: list[CompletionChoice]
    usage: CompletionUsage
    sources: list[ChatSource]
    citations: list[ChatCitation]
    notes: list[str]
    answeredBy: str = Field(description="The model that answered.")  # noqa: N815 - likewise


class ModelEntry(BaseModel):
    id: str
    object: Literal["model"]
    created: int
    owned_by: Literal["whence"]


class Models(BaseModel):
    object: Literal["list"]
    data: list[ModelEntry]


class Health(BaseModel):
    status: Literal["ok"]
    version: str


class Readiness(BaseModel):
    status: Literal["ready", "not ready"]
    database: str = Field(examples=["ok"])
    migrations: str = Field(examples=["current"])
    worker: str = Field(examples=["ok"])
