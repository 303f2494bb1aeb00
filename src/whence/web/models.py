"""The shapes of requests and answers, as OpenAPI tells them: what all share, chunks, documents and jobs.

Examples are of a real document.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from whence.errors import BadInput, InvalidUUID
from whence.types import ExtractorName, JobStage, JobStatus, JobType
from whence.web.inputs import Flag
from whence.web.values import all_canonical, canonical_uuid, parse_flag

MAX_CHUNK_IDS = 100

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


class LastExtraction(BaseModel):
    job_id: UUID
    status: JobStatus
    schema_version: str | None = Field(
        description="The schema it goes by; null until it has begun.", examples=["v2"]
    )


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
    extraction: LastExtraction | None = Field(description="The newest job that reads it for the graph.")


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
    stays: bool = Field(description="Something else gives a value too: `falls_back_to`.")
    falls_back_to: Any


class LostRelationship(BaseModel):
    id: UUID
    type: str
    source_name: str
    target_name: str


class LostRelationshipProperty(BaseModel):
    relationship_id: UUID
    relationship_type: str
    source_name: str
    target_name: str
    property_name: str
    value: Any
    stays: bool = Field(description="Something else gives a value too: `falls_back_to`.")
    falls_back_to: Any


class GraphLoss(BaseModel):
    objects: list[LostObject]
    properties: list[LostProperty]
    relationships: list[LostRelationship]
    relationship_properties: list[LostRelationshipProperty]


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
    relationship_properties: int = Field(description="The same of relationships that stay.")
    graph: GraphLoss = Field(description="The first hundred of each.")


class ChunkDeletionImpact(BaseModel):
    chunk_id: UUID
    document_id: UUID
    chunk_index: int
    property_claims: int = Field(description="What it said of objects in the graph.")
    objects: int = Field(description="Objects that nothing else speaks of.")
    relationships: int = Field(description="Relationships that nothing else speaks of.")
    properties: int = Field(description="Properties of other objects that get another value, or none.")
    relationship_properties: int = Field(description="The same of relationships that stay.")
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


class Health(BaseModel):
    status: Literal["ok"]
    version: str


class BackgroundFailure(BaseModel):
    name: str = Field(examples=["the sweep for stalled jobs"])
    since: datetime
    times: int = Field(description="Failures in a row.")
    reason: str = Field(examples=["The database does not answer"])


class Readiness(BaseModel):
    status: Literal["ready", "degraded", "not ready"] = Field(
        description="`degraded`: requests are answered, and work in the background keeps failing."
    )
    database: str = Field(examples=["ok"])
    migrations: str = Field(examples=["current"])
    worker: str = Field(examples=["ok"])
    background: list[BackgroundFailure] = Field(description="Background work that keeps failing.")
