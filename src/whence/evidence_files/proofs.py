"""Gathers the content of an evidence file: statements, the quotes behind each, and their places."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from whence.api.chat import ChatCitation
from whence.api.claims import ClaimModel
from whence.api.conversations import AnswerModel, StaleReason
from whence.api.graph import ObjectAnswer
from whence.chat.citing.restyle import Numbers, Restyled
from whence.chat.sources import Source
from whence.errors import WhenceError
from whence.evidence import Evidence, FoundSpan, PageRects
from whence.store import Store
from whence.store.evidence import TextSpan

IMAGE_WIDTH = 900
_MOST_IMAGES = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A quote that supports a statement."""

    number: int
    quote: str
    document_id: UUID
    document_name: str
    version: int | None
    start: int | None
    end: int | None
    page: int | None
    url: str | None
    facts: dict[str, str]
    """Further facts by name: level of support, schema version."""
    span: FoundSpan | None = None
    """Its place; None if the document has changed since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenStatement:
    """A sentence of an answer, or a property with its value."""

    text: str
    proofs: tuple[Proof, ...]
    word: str = ""
    """The person who set the value, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceFile:
    kind: str
    id: UUID
    title: str
    text: str
    """The whole answer; empty for an object."""
    made_at: datetime
    authors: tuple[str, ...]
    """The models or extractors that made it."""
    people: tuple[str, ...] = ()
    """Those who set a value."""
    url: str | None
    statements: tuple[ProvenStatement, ...]
    notes: tuple[str, ...] = ()
    images: dict[tuple[UUID, int], bytes] = field(default_factory=dict)
    """Pictures of pages, as PNG."""


async def of_answer(store: Store, evidence: Evidence, answer: AnswerModel) -> EvidenceFile:
    """The evidence of a stored answer. Pages of documents that have changed since are not shown."""
    numbers = Numbers()
    names = {one.id: one.source for one in answer.sources}
    cited = [Source(id=one.id, text="", name=one.source) for one in answer.sources]
    text = Restyled(cited, lambda one: f"[{numbers(one.id)}]")
    written = text.feed(answer.response) + text.close()
    spans = [TextSpan.of(one.document_id, one.start_offset, one.end_offset) for one in answer.citations]
    places = await _places(
        evidence, answer.project_id, spans, [one.document_version for one in answer.citations]
    )
    sentences: dict[tuple[int, int], list[Proof]] = {}
    for one, place in zip(answer.citations, places, strict=True):
        proofs = sentences.setdefault((text.at(one.response_start), text.at(one.response_end)), [])
        if proof := _proof_of_citation(one, place, numbers, names):
            proofs.append(proof)
    stale = [_since(reason) for reason in answer.stale_reasons]
    statements = [
        ProvenStatement(text=written[start:end].strip(), proofs=tuple(proofs))
        for (start, end), proofs in sorted(sentences.items())
    ]
    return EvidenceFile(
        kind="answer",
        id=answer.id,
        title=answer.question,
        text=written,
        made_at=answer.created_at,
        authors=(answer.model,),
        url=answer.url,
        statements=tuple(statements),
        notes=(*answer.notes, *dict.fromkeys(stale)),
        images=await _images(store, evidence, answer.project_id, statements),
    )


def _proof_of_citation(
    one: ChatCitation, place: FoundSpan | None, numbers: Numbers, names: Mapping[str | None, str]
) -> Proof | None:
    if one.chunk_id is None or one.document_id is None or one.quote is None:
        return None
    facts = {"support": f"{one.support_level} ({one.support:.2f})"}
    if one.judgement is not None:
        facts["judgement"] = f"{one.judgement}, by {one.judged_by}"
    return Proof(
        number=numbers(str(one.chunk_id)),
        quote=one.quote,
        document_id=one.document_id,
        document_name=names.get(str(one.chunk_id), ""),
        version=one.document_version,
        start=one.start_offset,
        end=one.end_offset,
        page=one.page,
        url=one.url,
        facts=facts,
        span=place,
    )


def _since(reason: StaleReason) -> str:
    name = reason.document_name
    if reason.reason == "rejected":
        return f"A claim about words of {name} was rejected since"
    if reason.current_version is None:
        return f"{name} was deleted since"
    if reason.quote_still_there:
        return f"{name} has changed since; the quoted words are still there"
    nearest = f"; most similar is now: “{reason.new_text}”" if reason.new_text else ""
    return f"{name} has changed since and does not have the quoted words any more{nearest}"


class _Quote(NamedTuple):
    """The words behind a claim, or behind one element of a list, and their span in the document."""

    claim: ClaimModel
    text: str
    start: int | None
    end: int | None


async def of_object(store: Store, evidence: Evidence, found: ObjectAnswer) -> EvidenceFile:
    """The current claims of each property."""
    claims = [(name, claim) for name, all_of in found.sources.items() for claim in all_of if claim.current]
    read = await store.evidence.readers(
        found.project_id, [one.chunk_id for _, one in claims if one.chunk_id is not None]
    )
    readers = {claim.id: _reader(claim, read) for _, claim in claims}
    quotes = [quote for _, claim in claims for quote in _quotes(claim)]
    spans = [TextSpan.of(one.claim.document_id, one.start, one.end) for one in quotes]
    versions = [one.claim.document_version for one in quotes]
    places = await _places(evidence, found.project_id, spans, versions)
    proofs: dict[UUID, list[Proof]] = {}
    for number, (quote, place) in enumerate(zip(quotes, places, strict=True), 1):
        facts = _facts(quote.claim, readers[quote.claim.id], read)
        proofs.setdefault(quote.claim.id, []).append(_proof_of_claim(number, quote, place, facts))
    by_property: dict[str, list[ClaimModel]] = {}
    for name, claim in claims:
        by_property.setdefault(f"{name}: {_show(claim.value)}", []).append(claim)
    statements = [
        ProvenStatement(
            text=text,
            proofs=tuple(proof for claim in stated for proof in proofs.get(claim.id, ())),
            word=next((_describe_word(claim) for claim in stated if claim.operation == "set"), ""),
        )
        for text, stated in by_property.items()
    ]
    people = {claim.author for _, claim in claims if claim.operation == "set" and claim.author is not None}
    return EvidenceFile(
        kind="object",
        id=found.id,
        title=f"{found.name} ({found.type})",
        text="",
        made_at=found.updated_at,
        authors=tuple(sorted({reader for reader in readers.values() if reader is not None})) or ("Whence",),
        people=tuple(sorted(people)),
        url=found.url,
        statements=tuple(statements),
        images=await _images(store, evidence, found.project_id, statements),
    )


def _reader(claim: ClaimModel, readers: Mapping[tuple[UUID, datetime], str]) -> str | None:
    """The model or extractor that first made the claim. None if that is not known, or if a person or the text itself made it.

    Several readings may have added to a list: then it is known only if one extractor made all of them.
    """
    if claim.chunk_id is None or claim.operation == "confirmed":
        return None
    if claim.elements:
        several = {reader for (chunk_id, _), reader in readers.items() if chunk_id == claim.chunk_id}
        return several.pop() if len(several) == 1 else None
    return readers.get((claim.chunk_id, claim.extracted_at))


def _quotes(claim: ClaimModel) -> list[_Quote]:
    """Of a list, one for each element that the chunk has."""
    if claim.document_id is None or claim.quote is None:
        return []
    whole = _Quote(claim, claim.quote, claim.document_start, claim.document_end)
    if claim.document_start is None or claim.start_offset is None:
        return [whole]
    chunk = claim.document_start - claim.start_offset
    elements = [
        _Quote(claim, one.quote, chunk + one.start_offset, chunk + one.end_offset)
        for one in claim.elements or ()
        if one.quote is not None and one.start_offset is not None and one.end_offset is not None
    ]
    return elements or [whole]


def _facts(
    claim: ClaimModel, reader: str | None, readers: Mapping[tuple[UUID, datetime], str]
) -> dict[str, str]:
    found = "confirmed" if claim.operation == "confirmed" else "extracted"
    facts = {"schema": claim.schema_version, found: _time(claim.extracted_at)}
    if reader is not None:
        facts["extractor"] = reader
    if claim.chunk_id is not None and claim.read_at != claim.extracted_at:
        again = readers.get((claim.chunk_id, claim.read_at))
        facts["reread"] = _time(claim.read_at) + (f" by {again}" if again else "")
    return facts


def _describe_word(claim: ClaimModel) -> str:
    """The person behind a value."""
    reason = f": {claim.reason}" if claim.reason else ""
    return f"Set by {claim.author} on {_time(claim.extracted_at)}{reason}"


def _show(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _proof_of_claim(number: int, quote: _Quote, place: FoundSpan | None, facts: dict[str, str]) -> Proof:
    claim = quote.claim
    assert claim.document_id is not None, "claims without a document have no quotes"
    return Proof(
        number=number,
        quote=quote.text,
        document_id=claim.document_id,
        document_name=claim.document_name or "",
        version=claim.document_version,
        start=quote.start,
        end=quote.end,
        page=claim.page if place is None or place.location.page is None else place.location.page,
        url=claim.url,
        facts=facts,
        span=place,
    )


async def _places(
    evidence: Evidence,
    project_id: UUID,
    spans: Sequence[TextSpan | None],
    versions: Sequence[int | None],
) -> list[FoundSpan | None]:
    """Only of documents that still have the version that was cited."""
    wanted = [span for span in spans if span is not None]
    found = dict(zip(wanted, await evidence.spans(project_id, wanted), strict=True))
    places = [None if span is None else found[span] for span in spans]
    return [
        place if place is not None and place.version == version else None
        for place, version in zip(places, versions, strict=True)
    ]


def shown_pages(statements: Sequence[ProvenStatement]) -> list[tuple[UUID, PageRects]]:
    return [
        (proof.document_id, page)
        for statement in statements
        for proof in statement.proofs
        if proof.span is not None
        for page in proof.span.pages
        if page.rects
    ]


async def _images(
    store: Store, evidence: Evidence, project_id: UUID, statements: Sequence[ProvenStatement]
) -> dict[tuple[UUID, int], bytes]:
    """Pages without a picture are left out: the quote is there in any case."""
    images: dict[tuple[UUID, int], bytes] = {}
    for document_id, page in shown_pages(statements):
        key = (document_id, page.page)
        if key in images or len(images) >= _MOST_IMAGES:
            continue
        try:
            document = await store.documents.get(document_id, project_id=project_id)
            images[key] = await evidence.image(document, page.page, IMAGE_WIDTH)
        except WhenceError:
            continue
    return images
