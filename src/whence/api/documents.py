"""Documents, their text, and the impact of deleting one."""

from datetime import datetime
from typing import Any, Self
from uuid import UUID

from pydantic import ConfigDict, Field, model_validator

from whence.api.base import AnswerShape, RequestShape, StoredError
from whence.api.ingest import Metadata
from whence.api.jobs import ChunkingModel
from whence.errors import BadInput
from whence.models import Document, JobStatus, Page
from whence.store import Store
from whence.store.chunks import ChunkView


class LastExtraction(AnswerShape):
    job_id: UUID
    status: JobStatus
    schema_version: str | None = Field(
        description="The schema version it uses; null until the job begins.", examples=["v2"]
    )


class DocumentModel(AnswerShape):
    id: UUID
    project_id: UUID
    name: str = Field(examples=["handbook.pdf"])
    origin: str | None = Field(description="The URL it was fetched from, or the `origin` of an upload.")
    file_type: str = Field(examples=["application/pdf"])
    file_size: int
    sha256: str
    job_id: UUID | None = Field(description="The document's newest job.")
    status: JobStatus | None = Field(
        description="The status of that job. The stored content stays until the job completes."
    )
    error: StoredError | None
    chunking: ChunkingModel | None
    chunk_count: int
    page_count: int | None
    created_at: datetime
    updated_at: datetime
    metadata: dict[str, Any] = Field(description="Metadata sent with the document or later.")
    extraction: LastExtraction | None = Field(description="The document's newest extraction.")
    version: int = Field(description="Number of published versions; 0 before the first.")
    version_at: datetime | None = Field(description="Time when this content was received.")
    valid_from: datetime | None = Field(
        description="The document's own date, from its metadata (`validFrom`) or the file. It takes precedence over `version_at` in the order of claims."
    )
    url: str | None = Field(description="A lasting link to this version.")


class DocumentText(AnswerShape):
    document_id: UUID
    text: str
    characters: int = Field(description="Length of the whole text.")
    start: int
    end: int
    pages: list[Page] = Field(
        description="Spans of the text, in code points; empty if the format has no pages."
    )


class DocumentDescription(RequestShape):
    model_config = ConfigDict(
        json_schema_extra={"required": ["metadata"], "example": {"metadata": {"team": "travel"}}}
    )

    metadata: Metadata = Field(default_factory=dict, description="Metadata to add; null removes a key.")

    @model_validator(mode="after")
    def _require_something(self) -> Self:
        if not self.model_fields_set:
            raise BadInput("Nothing to change", details={"expected": "metadata"})
        return self


class LostObjectModel(AnswerShape):
    id: UUID
    type: str
    name: str


class _LostValue(AnswerShape):
    property_name: str
    value: Any
    stays: bool = Field(description="Whether another chunk has a value: `falls_back_to`.")
    falls_back_to: Any


class LostPropertyModel(_LostValue):
    object_id: UUID
    object_type: str
    object_name: str


class LostRelationshipModel(AnswerShape):
    id: UUID
    type: str
    source_name: str
    target_name: str


class LostRelationshipPropertyModel(_LostValue):
    relationship_id: UUID
    relationship_type: str
    source_name: str
    target_name: str


class GraphLoss(AnswerShape):
    objects: list[LostObjectModel]
    properties: list[LostPropertyModel]
    relationships: list[LostRelationshipModel]
    relationship_properties: list[LostRelationshipPropertyModel]


class _Impact(AnswerShape):
    property_claims: int = Field(description="Number of deleted claims about objects.")
    objects: int = Field(description="Number of objects that no other chunk mentions.")
    relationships: int = Field(description="Number of relationships that no other chunk states.")
    properties: int = Field(description="Number of properties of other objects that change or are removed.")
    relationship_properties: int = Field(
        description="Number of properties of remaining relationships that change or are removed."
    )
    conflicts: int = Field(
        description="Number of properties for which a deleted and a remaining claim differ."
    )
    graph: GraphLoss = Field(description="The first hundred of each.")


class DeletionImpact(_Impact):
    document_id: UUID
    name: str
    original_bytes: int
    chunks: int
    jobs: int
    answers: int = Field(
        description="Number of stored answers that cite it. They keep their quotes and become stale."
    )

    @classmethod
    async def load(cls, store: Store, document: Document) -> Self:
        impact = await store.graph.deletion_impact(document.project_id, document.id)
        about = {"document_id": document.id, "name": document.name, "original_bytes": document.size}
        _, jobs = await store.jobs.page(document.project_id, document_id=document.id, limit=1, offset=0)
        chunks = await store.chunks.count(document.project_id, document.id)
        answers = await store.answers.count_citing(document.project_id, document.id)
        return cls.of(impact, chunks=chunks, jobs=jobs, answers=answers, **about)


class ChunkDeletionImpact(_Impact):
    chunk_id: UUID
    document_id: UUID
    chunk_index: int

    @classmethod
    async def load(cls, store: Store, project_id: UUID, chunk: ChunkView) -> Self:
        impact = await store.graph.deletion_impact(project_id, UUID(chunk["id"]))
        return cls.of({**chunk, **impact}, chunk_id=chunk["id"])
