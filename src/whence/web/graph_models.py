"""The shapes of answers about the graph, as OpenAPI tells them."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from whence.web.models import ChunkModel, Page


class ObjectModel(BaseModel):
    id: UUID
    project_id: UUID
    type: str = Field(examples=["Requirement"])
    name: str = Field(examples=["OAuth 2.0"])
    properties: dict[str, Any] = Field(
        description="All but the name: of each the value that was claimed last."
    )
    created_at: datetime
    updated_at: datetime


class RelationshipModel(BaseModel):
    id: UUID
    project_id: UUID
    type: str = Field(examples=["depends_on"])
    source_id: UUID
    source_type: str
    source_name: str
    target_id: UUID
    target_type: str
    target_name: str
    properties: dict[str, Any]
    created_at: datetime
    updated_at: datetime


class Grounds(BaseModel):
    """What a claim stands on."""

    schema_version: str = Field(examples=["v2"])
    extracted_at: datetime = Field(
        description="When the chunk first said so: one that says the same again is no newer."
    )
    read_at: datetime = Field(description="When the chunk was last read, under this version of the schema.")
    quote: str | None = Field(description="The words of the chunk; null where they were not found.")
    start_offset: int | None = Field(description="Where the quote is in the chunk's content, in code points.")
    end_offset: int | None
    chunk_id: UUID
    chunk_index: int
    document_id: UUID
    document_name: str
    page: int | None
    document_start: int | None = Field(description="Where the quote is in the document's text.")
    document_end: int | None


class ClaimModel(Grounds):
    id: UUID
    object_id: UUID
    property_name: str = Field(examples=["expiration"])
    value: Any
    operation: Literal["created", "updated"]
    current: bool = Field(description="The newest of its property: the one whose value the object has.")


class RelationshipClaimModel(Grounds):
    id: UUID
    relationship_id: UUID
    properties: dict[str, Any]


class MergeModel(BaseModel):
    id: UUID
    project_id: UUID
    object_id: UUID = Field(description="The object that was kept, or that it became part of since.")
    object_name: str
    dropped_id: UUID
    dropped_type: str
    dropped_name: str
    merged_at: datetime


class ObjectAnswer(ObjectModel):
    sources: dict[str, list[ClaimModel]] = Field(
        description="Of each property, the name among them, what was claimed: the current claim first."
    )
    claim_count: int = Field(description="How many claims there are; the provenance lists all.")
    merges: list[MergeModel] = Field(description="The objects that became part of it, the last hundred.")


class RelationshipAnswer(RelationshipModel):
    sources: list[RelationshipClaimModel] = Field(description="The newest first, at most a hundred.")
    claim_count: int


class MentionModel(ChunkModel):
    document_name: str
    page: int | None
    property_names: list[str] = Field(description="What the chunk says of the object.")
    schema_version: str = Field(description="The newest that it was read under.")


class MentionedObject(ObjectModel):
    property_names: list[str] = Field(description="What the chunk says of it.")


class EventModel(BaseModel):
    id: UUID = Field(description="Of the claim, or of the merge.")
    event: Literal["created", "updated", "merged"]
    happened_at: datetime
    property_name: str | None
    value: Any
    schema_version: str | None
    quote: str | None
    chunk_id: UUID | None
    document_id: UUID | None
    dropped_id: UUID | None = Field(description="Of a merge: the object that became part of this one.")
    dropped_name: str | None


class StaleChunkModel(BaseModel):
    chunk_id: UUID
    document_id: UUID
    chunk_index: int
    characters: int
    token_count: int | None
    schema_version: str | None = Field(description="It was last read under; null where it never was.")
    outcome: Literal["extracted", "empty", "failed"] | None


class RejectionModel(BaseModel):
    where: str = Field(description="The place in the model's reply.", examples=["objects[3].priority"])
    reason: str = Field(examples=["context_only"])
    message: str
    proposed: str | None = Field(description="What stood there, as JSON, its first 300 characters.")


class ReadingModel(BaseModel):
    chunk_id: UUID
    chunk_index: int
    page: int | None = Field(description="That the chunk begins on.")
    schema_version: str
    outcome: Literal["extracted", "empty", "failed"]
    reason: str | None = Field(description="Why it failed, or the reasons of all rejections, counted.")
    rejected: int = Field(description="How many proposals were not taken over.")
    rejections: list[RejectionModel] = Field(description="The first twenty of them.")
    prompt_tokens: int
    completion_tokens: int
    extracted_at: datetime


class StaleAnswer(Page[ClaimModel]):
    """The properties, and beside them the chunks."""

    schema_version: str | None = Field(description="The project's current one; null where it has none.")
    chunks: Page[StaleChunkModel]


class GraphAnswer(BaseModel):
    nodes: list[ObjectModel]
    edges: list[RelationshipModel] = Field(description="Both ends of each are among the nodes.")
    truncated: bool = Field(description="There is more than fits.")


class WholeGraphAnswer(GraphAnswer):
    types: dict[str, int] = Field(description="How many objects the project has of each type.")
