"""The graph: objects, relationships, and the claims that both rest on."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Literal, Self, TypeVar
from uuid import UUID

from pydantic import Field

from whence import links
from whence.api.base import AnswerShape, Listing, RequestShape
from whence.api.chunks import ChunkModel
from whence.api.evidence import PageRectsModel
from whence.api.values import Ident
from whence.chunk_findings import Outcome
from whence.evidence import Evidence
from whence.models import (
    Claim,
    GraphObject,
    Operation,
    OrderedBy,
    Place,
    Relationship,
    RelationshipClaim,
)
from whence.store import Store
from whence.store.chunks import ChunkView
from whence.store.evidence import TextSpan
from whence.store.graph import Mention, PropertyConflict, Subgraph
from whence.store.graph.merges import Merge

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
        description="What chunks call it instead of its name.",
        examples=[["ASEAN"]],
    )
    ungrounded: list[str] = Field(
        description="Properties whose value no chunk states; `name` where no chunk has the name."
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
    as_of: datetime | None = Field(description="The time that orders claims: the newest one is current.")
    ordered_by: OrderedBy | None = Field(
        description="Whether that is the document's own date or the time of its version."
    )
    document_version: int | None
    url: str | None = Field(description="A lasting link to the quote; without one, to the chunk.")
    text: str = Field(default="", description="The chunk's text, if asked for.")
    pages: list[PageRectsModel] = Field(default=[], description="The rectangles of the quote, if asked for.")

    @classmethod
    def of(cls, claim: Claim | RelationshipClaim, /, **more: Any) -> Self:
        place = claim.origin if isinstance(claim, Claim) else claim.place
        names = ("chunk_id", "chunk_index", "document_id", "document_name", "page", "as_of", "ordered_by")
        named = {name: getattr(place, name, None) for name in (*names, "document_version")}
        start, end = _in_document(place, claim.start_offset), _in_document(place, claim.end_offset)
        return super().of(
            claim,
            read_at=getattr(place, "read_at", None) or claim.extracted_at,
            document_start=start,
            document_end=end,
            url=_link_to(place, start, end),
            **named,
            **more,
        )


class ElementModel(AnswerShape):
    value: Any
    quote: str | None = Field(description="The words of the chunk; null where they were not found.")
    start_offset: int | None = Field(description="The quote in the chunk's content, in code points.")
    end_offset: int | None


Source = TypeVar("Source", bound=Grounds)


class ClaimModel(Grounds):
    id: UUID
    object_id: UUID
    property_name: str = Field(examples=["expiration"])
    value: Any
    operation: Operation = Field(
        description="`confirmed`: the chunk repeats what was known. `set`: by a person."
    )
    elements: list[ElementModel] | None = Field(description="Of a list: where each element comes from.")
    ungrounded: bool = Field(description="The chunk does not state the value; the project is lenient.")
    current: bool = Field(description="The object has its value now; of a list, its elements.")
    rejected: bool = Field(default=False, description="A person rejected the claim.")
    author: str | None = Field(default=None, description="Who set the value or rejected the claim.")
    reason: str | None = None
    curation_id: UUID | None = Field(default=None, description="The correction, which can be undone.")

    @classmethod
    def of(cls, claim: Claim | RelationshipClaim, /, **more: Any) -> Self:
        said: dict[str, Any] = {"ungrounded": isinstance(claim, Claim) and not claim.is_grounded}
        if isinstance(claim, Claim) and claim.word is not None:
            said |= {**asdict(claim.word), "rejected": claim.operation != "set"}
        return super().of(claim, **said, **more)


class ObjectRef(AnswerShape):
    id: UUID
    type: str
    name: str


class RelationshipRef(AnswerShape):
    id: UUID
    type: str
    source: ObjectRef
    target: ObjectRef

    @classmethod
    def of(cls, found: Relationship, /, **more: Any) -> Self:
        source = ObjectRef(id=found.source_id, type=found.source_type, name=found.source_name)
        target = ObjectRef(id=found.target_id, type=found.target_type, name=found.target_name)
        return super().of(found, source=source, target=target, **more)


class StatedClaim(Grounds):
    """A claim of a chunk about an object's property or a relationship."""

    id: UUID
    kind: Literal["property", "relationship"]
    object: ObjectRef | None = Field(description="Null for a relationship.")
    relationship: RelationshipRef | None
    property_name: str | None
    value: Any = Field(description="The value of the property; of a relationship its properties.")
    current: bool = Field(description="The newest claim about the property or the relationship.")

    @classmethod
    async def load(
        cls, store: Store, project_id: UUID, found: Sequence[tuple[Claim | RelationshipClaim, bool]]
    ) -> list[Self]:
        """With the objects and relationships that the claims are about. Those that went since are left out."""
        graph, claims = store.graph, [claim for claim, _ in found]
        objects = {claim.object_id for claim in claims if isinstance(claim, Claim)}
        related = {claim.relationship_id for claim in claims if isinstance(claim, RelationshipClaim)}
        about: dict[UUID, ObjectRef | RelationshipRef] = {}
        for one in await graph.objects.many(project_id, objects):
            about[one.id] = ObjectRef.of(one)
        for edge in await graph.relationships.many(project_id, related):
            about[edge.id] = RelationshipRef.of(edge)
        return [
            cls._about(about[ident], claim, current)
            for claim, current in found
            if (ident := claim.object_id if isinstance(claim, Claim) else claim.relationship_id) in about
        ]

    @classmethod
    def _about(
        cls, ref: ObjectRef | RelationshipRef, claim: Claim | RelationshipClaim, current: bool
    ) -> Self:
        if isinstance(claim, Claim):
            return cls.of(claim, kind="property", object=ref, relationship=None, current=current)
        more = {"property_name": None, "value": claim.properties, "current": current}
        return cls.of(claim, kind="relationship", object=None, relationship=ref, **more)


class ConflictModel(AnswerShape):
    """A property about which claims differ."""

    object_id: UUID = Field(description="The object, or the source of the relationship.")
    object_type: str
    object_name: str
    relationship: RelationshipRef | None = Field(description="If it is a property of a relationship.")
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
    """Two objects of one type that may be one."""

    id: UUID = Field(description="Derived from the type and the two names.")
    type: str
    score: float = Field(description="From 0 to 1.")
    reasons: dict[Literal["initials", "containment", "spelling", "neighbours"], float] = Field(
        description="Each with its score. `neighbours`: similar vectors and at least two shared neighbours."
    )
    keep: SuggestedObjectModel = Field(description="The object with more claims, which accepting keeps.")
    drop: SuggestedObjectModel


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
    event: Literal[Operation, "merged", "rejected", "undone"]
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
        nodes = list(map(ObjectModel.of, part.objects))
        return super().of(part, nodes=nodes, edges=part.relationships, **more)


class WholeGraphAnswer(GraphAnswer):
    types: dict[str, int] = Field(description="Number of objects of each type in the project.")


async def add_texts(store: Store, project_id: UUID, claims: Sequence[Source]) -> list[Source]:
    """The claims with the text of their chunks."""
    ids = {str(claim.chunk_id) for claim in claims if claim.chunk_id is not None}
    views = await store.chunks.bulk(ids, project_id=project_id) if ids else []
    texts: dict[UUID | None, str] = {UUID(view["id"]): view["content"] for view in views}
    return [claim.model_copy(update={"text": texts.get(claim.chunk_id, "")}) for claim in claims]


async def add_rects(evidence: Evidence, project_id: UUID, claims: Sequence[Source]) -> list[Source]:
    """The claims with the rectangles of their quotes."""
    spans = [TextSpan.of(one.document_id, one.document_start, one.document_end) for one in claims]
    found = await evidence.rects(project_id, list(filter(None, spans)))
    pages = [[PageRectsModel.of(page) for page in found.get(span, ())] if span else [] for span in spans]
    return [one.model_copy(update={"pages": own}) for one, own in zip(claims, pages, strict=True)]


def claims_by_property(claims: Iterable[Claim]) -> dict[str, list[ClaimModel]]:
    """Sorted by property; the order of the claims stays within each."""
    found: dict[str, list[ClaimModel]] = {}
    for claim in claims:
        found.setdefault(claim.property_name, []).append(ClaimModel.of(claim))
    return dict(sorted(found.items()))


def _link_to(place: Place | None, start: int | None, end: int | None) -> str | None:
    if place is None:
        return None
    start, end = (place.start, place.end) if start is None or end is None else (start, end)
    return links.to_document(place.document_id, version=place.document_version, start=start, end=end)


def _in_document(place: Place | None, offset: int | None) -> int | None:
    return None if place is None or place.start is None or offset is None else place.start + offset
