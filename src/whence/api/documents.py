"""Documents, their text, and what deleting one takes along."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from pydantic import ConfigDict, Field, model_validator

from whence.api.base import AnswerShape, RequestShape, StoredError
from whence.api.ingest import Metadata
from whence.api.jobs import ChunkingModel
from whence.errors import BadInput
from whence.models import Document, JobStatus, Page
from whence.parse import type_of_ending
from whence.store import Store
from whence.store.chunks import ChunkView

FILE_TYPE = (
    "A media type (`application/pdf`), its beginning (`text/`), or an ending of file names (`pdf`, `.md`)."
)


class LastExtraction(AnswerShape):
    job_id: UUID
    status: JobStatus
    schema_version: str | None = Field(
        description="The schema it reads by; null until the job begins.", examples=["v2"]
    )


class DocumentModel(AnswerShape):
    id: UUID
    project_id: UUID
    name: str = Field(examples=["handbook.pdf"])
    origin: str | None = Field(description="The URL it was fetched from, or the `origin` of an upload.")
    file_type: str = Field(examples=["application/pdf"])
    file_size: int
    sha256: str
    job_id: UUID | None = Field(description="Its newest job.")
    status: JobStatus | None = Field(
        description="The status of that job. The stored content stays until the job completes."
    )
    error: StoredError | None
    chunking: ChunkingModel | None
    chunk_count: int
    page_count: int | None
    created_at: datetime
    updated_at: datetime
    metadata: dict[str, Any] = Field(description="Facts that were sent with it or later.")
    extraction: LastExtraction | None = Field(description="Its newest extraction.")
    version: int = Field(description="Counts the published versions; 0 before the first.")
    version_at: datetime | None = Field(description="When this content came in.")
    valid_from: datetime | None = Field(
        description="The document's own date, from its metadata (`validFrom`) or the file. It orders claims before the version does."
    )
    url: str | None = Field(description="A lasting link to this version.")


class DocumentText(AnswerShape):
    document_id: UUID
    text: str
    characters: int = Field(description="Of the whole text.")
    start: int
    end: int
    pages: list[Page] = Field(
        description="Spans of the text, in code points; empty where the format has no pages."
    )


class DocumentDescription(RequestShape):
    model_config = ConfigDict(
        json_schema_extra={"required": ["metadata"], "example": {"metadata": {"team": "travel"}}}
    )

    metadata: Metadata = Field(default_factory=dict, description="Facts to add; null removes one.")

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
    stays: bool = Field(description="Another chunk gives a value, too: `falls_back_to`.")
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
    property_claims: int = Field(description="Claims about objects that go.")
    objects: int = Field(description="Objects that no other chunk mentions.")
    relationships: int = Field(description="Relationships that no other chunk states.")
    properties: int = Field(description="Properties of other objects that change or go.")
    relationship_properties: int = Field(description="The same for relationships that stay.")
    conflicts: int = Field(description="Properties about which claims that go and claims that stay differ.")
    graph: GraphLoss = Field(description="The first hundred of each.")


class DeletionImpact(_Impact):
    document_id: UUID
    name: str
    original_bytes: int
    chunks: int
    jobs: int
    answers: int = Field(description="Stored answers that cite it. They keep their quotes and become stale.")

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


def wanted_types(given: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Media types or their beginnings, and endings of names: a document matches one of either.

    `pdf` matches every name that ends so and every PDF under any name; `text` also matches `text/plain`.
    """
    names = [name.strip().lower().removesuffix("*") for name in given]
    words = [name.removeprefix(".") for name in names if "/" not in name]
    extensions = tuple(f".{word}" for word in words)
    mimes = [name for name in names if "/" in name]
    mimes += [f"{word}/" for word in words]
    mimes += [mime for mime in map(type_of_ending, extensions) if mime is not None]
    return tuple(mimes), extensions
