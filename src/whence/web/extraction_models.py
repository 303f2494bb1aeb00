"""The shapes of answers about schemas and extractions, as OpenAPI tells them."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from whence.types import ExtractorName, JobStatus
from whence.web.models import JobError


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
