"""Claims of chunks and people about objects and relationships, with their sources."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Literal, Self, TypeVar
from uuid import UUID

from pydantic import Field

from whence import links
from whence.api.base import AnswerShape
from whence.api.evidence import PageRectsModel
from whence.evidence import Evidence
from whence.models import Claim, Operation, OrderedBy, Place, Relationship, RelationshipClaim
from whence.store import Store
from whence.store.evidence import TextSpan


class Grounds(AnswerShape):
    """The quote, chunk, document and schema version behind a claim."""

    schema_version: str = Field(examples=["v2"])
    extracted_at: datetime = Field(
        description="Time of the first extraction. Extracting the chunk again does not change it."
    )
    read_at: datetime = Field(description="Time of the last extraction under this schema version.")
    quote: str | None = Field(description="The words of the chunk; null where they were not found.")
    start_offset: int | None = Field(description="The quote in the chunk's content, in code points.")
    end_offset: int | None
    chunk_id: UUID | None = Field(description="Like the next fields, null if a person set the value.")
    chunk_index: int | None
    document_id: UUID | None
    document_name: str | None
    page: int | None
    document_start: int | None = Field(
        description="Start of the quote in the document's text, in code points."
    )
    document_end: int | None
    as_of: datetime | None = Field(description="The time that orders claims: the newest one is current.")
    ordered_by: OrderedBy | None = Field(
        description="Whether that is the document's own date or the time of its version."
    )
    document_version: int | None
    url: str | None = Field(description="A lasting link to the quote; without one, to the chunk.")
    text: str = Field(default="", description="The chunk's text, if requested.")
    pages: list[PageRectsModel] = Field(default=[], description="The rectangles of the quote, if requested.")

    @classmethod
    def of(cls, claim: Claim | RelationshipClaim, /, **more: Any) -> Self:
        place = claim.origin if isinstance(claim, Claim) else claim.place
        names = ("chunk_id", "chunk_index", "document_id", "document_name", "page", "as_of", "ordered_by")
        named = {name: getattr(place, name, None) for name in (*names, "document_version")}
        start, end = (
            _shift_to_document(place, claim.start_offset),
            _shift_to_document(place, claim.end_offset),
        )
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
        description="`confirmed`: the chunk repeats a known value. `imported`: from another system, with a `quote` where the chunk states it. `set`: by a person."
    )
    elements: list[ElementModel] | None = Field(description="For a list: the source of each element.")
    ungrounded: bool = Field(description="The chunk does not state the value; the project is lenient.")
    current: bool = Field(description="Whether the object has this value now; for a list, its elements.")
    rejected: bool = Field(default=False, description="Whether a person rejected the claim.")
    author: str | None = Field(
        default=None, description="The person who set the value or rejected the claim."
    )
    reason: str | None = None
    curation_id: UUID | None = Field(
        default=None, description="The id of the correction, which can be undone."
    )

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
    value: Any = Field(description="The value of the property; for a relationship its properties.")
    operation: Operation
    ungrounded: bool = Field(description="The chunk does not state it; the project is lenient.")
    current: bool = Field(
        description="Whether it is the newest claim about the property or the relationship."
    )

    @classmethod
    async def load(
        cls, store: Store, project_id: UUID, found: Sequence[tuple[Claim | RelationshipClaim, bool]]
    ) -> list[Self]:
        """Loads the objects and relationships of the claims. Claims about deleted ones are left out."""
        graph, claims = store.graph, [claim for claim, _ in found]
        objects = {claim.object_id for claim in claims if isinstance(claim, Claim)}
        related = {claim.relationship_id for claim in claims if isinstance(claim, RelationshipClaim)}
        about: dict[UUID, ObjectRef | RelationshipRef] = {}
        for one in await graph.objects.many(project_id, objects):
            about[one.id] = ObjectRef.of(one)
        for edge in await graph.relationships.many(project_id, related):
            about[edge.id] = RelationshipRef.of(edge)
        return [
            cls._build_about(about[ident], claim, current)
            for claim, current in found
            if (ident := claim.object_id if isinstance(claim, Claim) else claim.relationship_id) in about
        ]

    @classmethod
    def _build_about(
        cls, ref: ObjectRef | RelationshipRef, claim: Claim | RelationshipClaim, current: bool
    ) -> Self:
        more: dict[str, Any] = {"current": current, "ungrounded": not claim.is_grounded}
        if isinstance(claim, Claim):
            return cls.of(claim, kind="property", object=ref, relationship=None, **more)
        more |= {"property_name": None, "value": claim.properties}
        return cls.of(claim, kind="relationship", object=None, relationship=ref, **more)


class RelationshipClaimModel(Grounds):
    id: UUID
    relationship_id: UUID
    properties: dict[str, Any]
    operation: Operation = Field(description="`confirmed`: the chunk repeats a known relationship.")
    ungrounded: bool = Field(description="The chunk does not mention both ends; the project is lenient.")

    @classmethod
    def of(cls, claim: Claim | RelationshipClaim, /, **more: Any) -> Self:
        return super().of(claim, ungrounded=not claim.is_grounded, **more)


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
    """Groups claims by property, in their order."""
    found: dict[str, list[ClaimModel]] = {}
    for claim in claims:
        found.setdefault(claim.property_name, []).append(ClaimModel.of(claim))
    return dict(sorted(found.items()))


def _link_to(place: Place | None, start: int | None, end: int | None) -> str | None:
    if place is None:
        return None
    start, end = (place.start, place.end) if start is None or end is None else (start, end)
    return links.to_document(place.document_id, version=place.document_version, start=start, end=end)


def _shift_to_document(place: Place | None, offset: int | None) -> int | None:
    return None if place is None or place.start is None or offset is None else place.start + offset
