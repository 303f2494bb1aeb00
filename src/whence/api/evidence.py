"""Evidence: the position of a span, a chunk or a claim in its document and on its pages."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import AliasChoices, ConfigDict, Field, model_validator

from whence import links
from whence.api.base import AnswerShape, RequestShape
from whence.api.values import Flag, Ident, text, whole, wrong
from whence.errors import BadInput
from whence.evidence import Evidence, FoundSpan, Reason
from whence.evidence.location import LocationKind
from whence.evidence.service import MAX_SPAN
from whence.store import Store
from whence.store.evidence import QuotedSpan, TextSpan

MAX_ITEMS = 100
MAX_OFFSET = 2**31 - 1
INCLUDE_RECTS = "Add `pages`: the rectangles of the quote on the pages of a PDF."
REASON = (
    "Why there are no rectangles: `no_layout` (neither a PDF nor a picture), `text_differs` (the page's characters are not those of the stored text), "
    "`text_overlaps` (other characters lie over them), `unreadable`, `no_original`."
)
CONFIDENCE = "Confidence of the OCR, from 0 to 1; null if the page's text was not recognised by OCR."
NotThere = Literal["not_found", "no_quote", "text_changed"]
Offset = Annotated[int, whole(0, MAX_OFFSET)]


class RectModel(AnswerShape):
    x0: float
    y0: float
    x1: float
    y1: float


class PageRectsModel(AnswerShape):
    page: int
    width: float | None = Field(description="In points, of the page as displayed.")
    height: float | None
    rotation: int | None = Field(
        description="In degrees. It is already applied to width, height and rectangles."
    )
    start: int = Field(description="Start of the part of the span on this page.")
    end: int
    rects: list[RectModel] | None = Field(
        description="One rectangle per line. Coordinates are shares of the page as displayed, from 0 to 1, from the top left corner."
    )
    reason: Reason | None = Field(description=REASON)
    confidence: float | None = Field(description=CONFIDENCE)


class LocationModel(AnswerShape):
    """The place as text, and the fields of its kind; others are null."""

    kind: LocationKind
    label: str = Field(examples=["page 3"])
    page: int | None = Field(description="The first page or slide.")
    last_page: int | None
    sheet: str | None
    row: int | None = Field(description="From 1, which is the row of column names.")
    last_row: int | None
    part: str | None = Field(description="For an e-mail: `headers` or `body`.")


class SpanModel(AnswerShape):
    document_id: UUID
    document_name: str
    file_type: str
    version: int = Field(description="The document's version.")
    start: int
    end: int
    text: str
    pages: list[PageRectsModel] = Field(description="Empty if the format has no pages.")
    location: LocationModel
    headings: list[str] = Field(description="The headings above the span, outermost first.")
    before: str = Field(description="Up to 160 characters before the span.")
    after: str
    url: str | None = Field(description="A lasting link to the span.")

    @classmethod
    def of(cls, found: FoundSpan, /, **more: Any) -> Self:
        url = links.to_document(found.document_id, version=found.version, start=found.start, end=found.end)
        return super().of(found, url=url, **more)


class PageModel(AnswerShape):
    page: int
    start: int = Field(description="The span of the page in the document's text.")
    end: int
    width: float | None = Field(description="In points, of the page as displayed.")
    height: float | None
    rotation: int | None
    image: bool = Field(description="Whether the page can be shown as a picture.")
    reason: Reason | None = Field(description=REASON)
    confidence: float | None = Field(description=CONFIDENCE)


class LineModel(AnswerShape):
    start: int = Field(description="In the document's text.")
    end: int
    text: str
    rect: RectModel


class PageLines(AnswerShape):
    lines: list[LineModel] = Field(
        description="In reading order. Lines without a known position are left out."
    )


class EvidenceItem(RequestShape):
    """A chunk, a claim, or a span of a document, such as that of a citation."""

    chunk_id: Ident | None = None
    claim_id: Ident | None = None
    document_id: Ident | None = None
    start: Offset | None = Field(
        default=None, validation_alias=AliasChoices("start", "startOffset", "start_offset")
    )
    end: Offset | None = Field(default=None, validation_alias=AliasChoices("end", "endOffset", "end_offset"))
    quote: Annotated[str, text(MAX_SPAN)] | None = Field(
        default=None, description="The expected words. If the span has other words now, it is not found."
    )

    @model_validator(mode="after")
    def _require_one(self) -> Self:
        spans = (self.document_id, self.start, self.end)
        kinds = [self.chunk_id is not None, self.claim_id is not None, None not in spans]
        if sum(kinds) != 1 or (not kinds[2] and spans != (None, None, None)):
            expected = "chunkId, or claimId, or documentId with start and end"
            raise BadInput(f"An item has {expected}", details={"field": "items", "expected": expected})
        if self.start is not None and self.end is not None and self.end <= self.start:
            raise wrong(f"an integer above start, which is {self.start}", inside=".end", provided=self.end)
        return self


class EvidenceRequest(RequestShape):
    model_config = ConfigDict(
        json_schema_extra={"example": {"items": [{"chunkId": "6ba7b810-9dad-11d1-80b4-00c04fd430c8"}]}}
    )

    project_id: Ident | None = Field(
        default=None, description="Default: the key's project, or the default one."
    )
    items: list[EvidenceItem] = Field(min_length=1, max_length=MAX_ITEMS)
    include_rects: Flag = Field(default=True, description="If false, `pages` is empty.")


class EvidenceFound(AnswerShape):
    """The evidence for one item."""

    found: bool
    reason: NotThere | None = Field(
        description="The reason if nothing was found. `no_quote`: the claim or the chunk has no position in its document."
    )
    chunk_id: UUID | None
    claim_id: UUID | None
    quote: str | None
    span: SpanModel | None


class EvidenceAnswer(AnswerShape):
    items: list[EvidenceFound] = Field(description="In the order of the request.")

    @classmethod
    async def load(cls, store: Store, evidence: Evidence, project_id: UUID, asked: EvidenceRequest) -> Self:
        """Looks up all items with a few statements."""
        chunk_ids = [item.chunk_id for item in asked.items if item.chunk_id]
        claim_ids = [item.claim_id for item in asked.items if item.claim_id]
        quoted = await store.evidence.of_chunks(project_id, chunk_ids) if chunk_ids else {}
        quoted |= await store.evidence.of_claims(project_id, claim_ids) if claim_ids else {}
        places = [_find_place(item, quoted) for item in asked.items]
        wanted = [place.span for place in places if place and place.span]
        spans = await evidence.spans(project_id, wanted, rects=asked.include_rects)
        found = dict(zip(wanted, spans, strict=True))
        return cls(
            items=[_build_found(item, place, found) for item, place in zip(asked.items, places, strict=True)]
        )


def _find_place(item: EvidenceItem, quoted: Mapping[UUID, QuotedSpan]) -> QuotedSpan | None:
    """The span of the item; None if the project has no such chunk or claim."""
    if span := TextSpan.of(item.document_id, item.start, item.end):
        return QuotedSpan(span, None)
    ident = item.chunk_id or item.claim_id
    return None if ident is None else quoted.get(ident)


def _build_found(
    item: EvidenceItem,
    place: QuotedSpan | None,
    spans: Mapping[TextSpan, FoundSpan | None],
) -> EvidenceFound:
    span = spans[place.span] if place and place.span else None
    reason: NotThere | None = None
    if span is None:
        reason = "no_quote" if place and not place.span else "not_found"
    elif item.quote not in (None, span.text):
        reason = "text_changed"
    return EvidenceFound(
        found=reason is None,
        reason=reason,
        chunk_id=place.chunk_id if place else item.chunk_id,
        claim_id=item.claim_id,
        quote=span.text if span and reason is None else item.quote,
        span=SpanModel.of(span) if span and reason is None else None,
    )
