"""The graph: objects and relationships."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal, Self
from uuid import UUID

from pydantic import Field

from whence import links
from whence.api.base import AnswerShape, Listing, RequestShape
from whence.api.chunks import ChunkModel
from whence.api.claims import ClaimModel, RelationshipClaimModel, RelationshipRef, claims_by_property
from whence.api.values import Ident
from whence.chunk_findings import Outcome
from whence.models import (
    Claim,
    GraphObject,
    Operation,
    Relationship,
    RelationshipClaim,
)
from whence.store import Store
from whence.store.chunks import ChunkView
from whence.store.graph import Mention, PropertyConflict, Subgraph
from whence.store.graph.merges import Merge
from whence.store.graph.relationships import Outline

_SHOWN_CLAIMS = 200
_SHOWN_RELATIONSHIP_CLAIMS = 100
_SHOWN_MERGES = 100
_SHOWN_VALUES = 20


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
    aliases: list[str] = Field(
        description="Other names that chunks use.",
        examples=[["ASEAN"]],
    )
    ungrounded: list[str] = Field(
        description="Properties whose value no chunk states; `name` if no chunk contains the name."
    )
    created_at: datetime
    updated_at: datetime
    url: str | None = Field(description="A lasting link to the object.")

    @classmethod
    def of(cls, found: Any, /, **more: Any) -> Self:
        return super().of(found, **{"url": links.to_object(found.id), **more})


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
    ungrounded: bool = Field(description="No chunk mentions both ends; the project is lenient.")


class ConflictModel(AnswerShape):
    """A property with conflicting claims."""

    object_id: UUID = Field(description="The object, or the source of the relationship.")
    object_type: str
    object_name: str
    relationship: RelationshipRef | None = Field(
        description="The relationship, for a property of a relationship."
    )
    property_name: str
    value_count: int = Field(description="Number of different values.")
    claims: list[ClaimModel] = Field(
        description="The newest claim of each value, the current one first; at most twenty."
    )

    @classmethod
    def of(cls, found: PropertyConflict, /, **more: Any) -> Self:
        claims = [ClaimModel.of(claim) for claim in found.claims[:_SHOWN_VALUES]]
        related = RelationshipRef.of(found.relationship) if found.relationship else None
        return super().of(found, relationship=related, value_count=len(found.claims), claims=claims, **more)


class SuggestedObjectModel(AnswerShape):
    id: UUID
    name: str
    claim_count: int


class SuggestionModel(AnswerShape):
    """Two objects of one type that may be the same."""

    id: UUID = Field(description="Derived from the type and the two names.")
    type: str
    score: float = Field(description="From 0 to 1.")
    reasons: dict[Literal["initials", "containment", "spelling", "neighbours"], float] = Field(
        description="Each with its score. `neighbours`: similar vectors and at least two shared neighbours."
    )
    keep: SuggestedObjectModel = Field(
        description="The object with more claims. Accepting the suggestion keeps it."
    )
    drop: SuggestedObjectModel


class MergeModel(AnswerShape):
    id: UUID
    project_id: UUID
    object_id: UUID = Field(description="The object that was kept, or the one it was merged into since.")
    object_name: str
    dropped_id: UUID
    dropped_type: str
    dropped_name: str
    merged_at: datetime

    @classmethod
    def of(cls, merge: Merge, /, **more: Any) -> Self:
        return super().of(merge, object_id=merge.kept_id, object_name=merge.kept_name, **more)


class TracedObject(ObjectModel):
    """An object and its claims, for `whence trace` and exports."""

    sources: dict[str, list[ClaimModel]] = Field(
        description="The claims of each property, including the name, current ones first."
    )

    @classmethod
    def traced(cls, found: GraphObject, claims: Iterable[Claim], **more: Any) -> Self:
        return cls.of(found, sources=claims_by_property(claims), **more)


class ObjectAnswer(TracedObject):
    claim_count: int = Field(description="Number of claims; the provenance lists all.")
    merges: list[MergeModel] = Field(description="The last hundred objects that were merged into it.")

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
    sources: list[RelationshipClaimModel] = Field(description="Newest first, at most a hundred.")

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
    event: Literal[Operation, "merged", "rejected", "undone"]
    happened_at: datetime
    property_name: str | None
    value: Any
    schema_version: str | None
    quote: str | None
    chunk_id: UUID | None
    document_id: UUID | None
    dropped_id: UUID | None = Field(description="For a merge: the object that was merged into this one.")
    dropped_name: str | None
    author: str | None = Field(description="For a correction by a person.")
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
    """Claims under older schemas, and the chunks to extract again."""

    schema_version: str | None = Field(description="The project's current schema; null without one.")
    chunks: Listing[StaleChunkModel]


class GraphAnswer(AnswerShape):
    nodes: list[ObjectModel]
    edges: list[RelationshipModel] = Field(description="Both ends of each are among the nodes.")
    truncated: bool = Field(description="Whether the limit left something out.")

    @classmethod
    def of(cls, part: Subgraph, /, **more: Any) -> Self:
        nodes = list(map(ObjectModel.of, part.objects))
        return super().of(part, nodes=nodes, edges=part.relationships, **more)


class WholeGraphAnswer(GraphAnswer):
    types: dict[str, int] = Field(description="Number of objects of each type in the project.")


class GraphOutline(AnswerShape):
    nodes: list[tuple[str, str, str]] = Field(description="Id, type and name of each object.")
    edges: list[tuple[int, int]] = Field(
        description="Source and target of each relationship, as indexes of `nodes`."
    )
    total: int = Field(description="Number of objects that match.")
    types: dict[str, int] = Field(description="Number of objects of each type in the project.")

    @classmethod
    def of(cls, found: Outline, /, **more: Any) -> Self:
        places = {node[0]: place for place, node in enumerate(found.objects)}
        edges = [(places[source], places[target]) for source, target in found.lines]
        return super().of(found, nodes=found.objects, edges=edges, **more)
