"""The graph: objects, relationships, and the claims that both rest on."""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Any, Literal, Self
from uuid import UUID

from pydantic import Field

from whence.api.base import AnswerShape, Listing, RequestShape
from whence.api.chunks import ChunkModel
from whence.api.values import Ident
from whence.models import Claim, GraphObject, Outcome, Place, Relationship, RelationshipClaim
from whence.store import Store
from whence.store.chunks import ChunkView
from whence.store.graph import Mention, Subgraph
from whence.store.graph.merges import Merge

_SHOWN_CLAIMS = 200
_SHOWN_RELATIONSHIP_CLAIMS = 100
_SHOWN_MERGES = 100


class MergeRequest(RequestShape):
    keep_id: Ident = Field(
        description="The object that stays.", examples=["6ba7b810-9dad-11d1-80b4-00c04fd430c8"]
    )
    drop_id: Ident = Field(
        description="The object that becomes part of it.", examples=["6ba7b811-9dad-11d1-80b4-00c04fd430c8"]
    )


class ObjectModel(AnswerShape):
    id: UUID
    project_id: UUID
    type: str = Field(examples=["Requirement"])
    name: str = Field(examples=["OAuth 2.0"])
    properties: dict[str, Any] = Field(description="All except the name: for each, the current value.")
    created_at: datetime
    updated_at: datetime


class RelationshipModel(AnswerShape):
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


class Grounds(AnswerShape):
    """The words, the chunk, the document and the schema that a claim rests on."""

    schema_version: str = Field(examples=["v2"])
    extracted_at: datetime = Field(
        description="When the chunk first said so: reading it again does not make the claim newer."
    )
    read_at: datetime = Field(description="When the chunk was last read under this version of the schema.")
    quote: str | None = Field(description="The words of the chunk; null where they were not found.")
    start_offset: int | None = Field(description="The quote in the chunk's content, in code points.")
    end_offset: int | None
    chunk_id: UUID | None = Field(description="Null if a person set the value, like the following.")
    chunk_index: int | None
    document_id: UUID | None
    document_name: str | None
    page: int | None
    document_start: int | None = Field(description="The quote in the document's text.")
    document_end: int | None

    @classmethod
    def of(cls, claim: Claim | RelationshipClaim, /, **more: Any) -> Self:
        place = claim.origin if isinstance(claim, Claim) else claim.place
        names = ("chunk_id", "chunk_index", "document_id", "document_name", "page")
        named = {name: getattr(place, name, None) for name in names}
        return super().of(
            claim,
            read_at=getattr(place, "read_at", None) or claim.extracted_at,
            document_start=_in_document(place, claim.start_offset),
            document_end=_in_document(place, claim.end_offset),
            **named,
            **more,
        )


class ClaimModel(Grounds):
    id: UUID
    object_id: UUID
    property_name: str = Field(examples=["expiration"])
    value: Any
    operation: Literal["created", "updated", "confirmed", "set"] = Field(description="`set`: by a person.")
    current: bool = Field(description="The claim whose value the object has now.")
    rejected: bool = Field(default=False, description="A person rejected the claim.")
    author: str | None = Field(default=None, description="Who set the value or rejected the claim.")
    reason: str | None = None
    curation_id: UUID | None = Field(default=None, description="The correction, which can be undone.")

    @classmethod
    def of(cls, claim: Claim | RelationshipClaim, /, **more: Any) -> Self:
        said: dict[str, Any] = {}
        if isinstance(claim, Claim) and claim.word is not None:
            said = {**asdict(claim.word), "rejected": claim.operation != "set"}
        return super().of(claim, **said, **more)


class RelationshipClaimModel(Grounds):
    id: UUID
    relationship_id: UUID
    properties: dict[str, Any]


class MergeModel(AnswerShape):
    id: UUID
    project_id: UUID
    object_id: UUID = Field(description="The object that was kept, or the one it became part of since.")
    object_name: str
    dropped_id: UUID
    dropped_type: str
    dropped_name: str
    merged_at: datetime

    @classmethod
    def of(cls, merge: Merge, /, **more: Any) -> Self:
        return super().of(merge, object_id=merge.kept_id, object_name=merge.kept_name, **more)


class TracedObject(ObjectModel):
    """An object and the claims about it, as `whence trace` and exports have them."""

    sources: dict[str, list[ClaimModel]] = Field(
        description="For each property, the name included, its claims: the current one first."
    )

    @classmethod
    def traced(cls, found: GraphObject, claims: Iterable[Claim], **more: Any) -> Self:
        return cls.of(found, sources=claims_by_property(claims), **more)


class ObjectAnswer(TracedObject):
    claim_count: int = Field(description="Number of claims; the provenance lists all.")
    merges: list[MergeModel] = Field(description="The objects that became part of it, the last hundred.")

    @classmethod
    async def load(cls, store: Store, found: GraphObject) -> Self:
        """All current claims and the newest of the older ones."""
        provenance = store.graph.provenance
        current = await provenance.current(found.project_id, [found.id])
        newest, total = await provenance.of_object(found.project_id, found.id, limit=_SHOWN_CLAIMS, offset=0)
        known = {claim.id for claim in current}
        merges, _ = await store.graph.merges.page(
            found.project_id, object_id=found.id, limit=_SHOWN_MERGES, offset=0
        )
        return cls.traced(
            found,
            [*current, *(claim for claim in newest if claim.id not in known)],
            claim_count=total,
            merges=[MergeModel.of(merge) for merge in merges],
        )


class TracedRelationship(RelationshipModel):
    sources: list[RelationshipClaimModel] = Field(description="The newest first, at most a hundred.")

    @classmethod
    def traced(cls, found: Relationship, claims: Iterable[RelationshipClaim], **more: Any) -> Self:
        return cls.of(found, sources=[RelationshipClaimModel.of(claim) for claim in claims], **more)


class RelationshipAnswer(TracedRelationship):
    claim_count: int

    @classmethod
    async def load(cls, store: Store, found: Relationship) -> Self:
        claims, total = await store.graph.provenance.of_relationships(
            found.project_id, [found.id], limit=_SHOWN_RELATIONSHIP_CLAIMS, offset=0
        )
        return cls.traced(found, claims, claim_count=total)


class MentionModel(ChunkModel):
    document_name: str
    page: int | None
    property_names: list[str] = Field(description="The properties that the chunk states about the object.")
    schema_version: str = Field(description="The newest schema that it was read under.")

    @classmethod
    def in_chunk(cls, mention: Mention, chunk: ChunkView) -> Self:
        return cls.of(
            chunk,
            document_name=mention.place.document_name,
            page=mention.place.page,
            property_names=mention.property_names,
            schema_version=f"v{mention.schema_number}",
        )


class MentionedObject(ObjectModel):
    property_names: list[str] = Field(description="The properties that the chunk states about it.")


class EventModel(AnswerShape):
    id: UUID = Field(description="The id of the claim, of the merge, or of the correction.")
    event: Literal["created", "updated", "confirmed", "merged", "set", "rejected", "undone"]
    happened_at: datetime
    property_name: str | None
    value: Any
    schema_version: str | None
    quote: str | None
    chunk_id: UUID | None
    document_id: UUID | None
    dropped_id: UUID | None = Field(description="Of a merge: the object that became part of this one.")
    dropped_name: str | None
    author: str | None = Field(description="Of a correction by a person.")
    reason: str | None


class StaleChunkModel(AnswerShape):
    chunk_id: UUID
    document_id: UUID
    chunk_index: int
    characters: int
    token_count: int | None
    schema_version: str | None = Field(description="The schema of the last reading; null without one.")
    outcome: Outcome | None


class StaleAnswer(Listing[ClaimModel]):
    """The properties that come from older schemas, and the chunks to read again."""

    schema_version: str | None = Field(description="The project's current schema; null without one.")
    chunks: Listing[StaleChunkModel]


class GraphAnswer(AnswerShape):
    nodes: list[ObjectModel]
    edges: list[RelationshipModel] = Field(description="Both ends of each are among the nodes.")
    truncated: bool = Field(description="The limit cut something off.")

    @classmethod
    def of(cls, part: Subgraph, /, **more: Any) -> Self:
        return super().of(part, nodes=part.objects, edges=part.relationships, **more)


class WholeGraphAnswer(GraphAnswer):
    types: dict[str, int] = Field(description="Number of objects of each type in the project.")


def claims_by_property(claims: Iterable[Claim]) -> dict[str, list[ClaimModel]]:
    """Sorted by property; the order of the claims stays within each."""
    found: dict[str, list[ClaimModel]] = {}
    for claim in claims:
        found.setdefault(claim.property_name, []).append(ClaimModel.of(claim))
    return dict(sorted(found.items()))


def _in_document(place: Place | None, offset: int | None) -> int | None:
    return None if place is None or place.start is None or offset is None else place.start + offset
