"""Finds the evidence for spans: their text, their place in the document, and the rectangles on its pages."""

import logging
from collections import OrderedDict, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar
from uuid import UUID

from whence.errors import (
    InvalidParameter,
    NotFound,
    PageImageNotFound,
    PageNotFound,
    StorageUnavailable,
    UnreadableDocument,
)
from whence.evidence.layout import PageLayout, Reason, Rect
from whence.evidence.location import Heading, Location, headings_of, locate, needs_text, pages_of, trail
from whence.models import Document, Page
from whence.parse import Parser, Refused, is_code
from whence.parse.detect import IMAGES, PDF
from whence.parse.shown import LARGEST, ShownPage
from whence.store import Store
from whence.store.evidence import PagedDocument, StoredLayout, TextSpan
from whence.store.originals import Originals

log = logging.getLogger("whence.evidence")
T = TypeVar("T")
KnownText = tuple[str | None, tuple[Heading, ...]]
"""A text, unless it is long, and its headings."""
Size = tuple[float, float, int]
"""Width, height, rotation."""

SHOWN = IMAGES | {PDF}
"""Formats whose pages have sizes and pictures."""
MAX_SPAN = 100_000
"""Characters."""
CONTEXT = 160
"""Characters before and after a span."""
_IMAGES = 32 << 20
"""Bytes of pictures that are kept."""
_SIZES = 100_000
"""Sizes of pages that are kept."""
_TEXTS = 8 << 20
"""Characters of texts that are kept."""
_LONG = _TEXTS // 4
"""Characters of a text that is not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRects:
    """The part of a span on one page."""

    page: int
    width: float | None
    """In points, of the page as it is shown; None if it was not measured, as are height and rotation."""
    height: float | None
    rotation: int | None
    start: int
    end: int
    rects: tuple[Rect, ...] | None
    reason: Reason | None
    """Why there are no rectangles."""
    confidence: float | None
    """From 0 to 1, of a page whose text was recognised (OCR)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSpan:
    document_id: UUID
    document_name: str
    file_type: str
    version: int
    start: int
    end: int
    text: str
    pages: tuple[PageRects, ...]
    location: Location
    headings: tuple[str, ...]
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSize:
    page: int
    start: int
    end: int
    width: float | None
    height: float | None
    rotation: int | None
    image: bool
    """Whether there is a picture of it."""
    reason: Reason | None
    confidence: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedLine:
    start: int
    end: int
    text: str
    rect: Rect


class Kept(Generic[T]):
    """Keeps the values used last, up to a total weight."""

    def __init__(self, most: int) -> None:
        self._most, self._weight = most, 0
        self._values: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()

    def get(self, key: Hashable) -> T | None:
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key][0]

    def put(self, key: Hashable, value: T, weight: int) -> None:
        if key not in self._values and weight <= self._most:
            self._values[key] = value, weight
            self._weight += weight
            while self._weight > self._most:
                self._weight -= self._values.popitem(last=False)[1][1]


class Evidence:
    def __init__(self, store: Store, originals: Originals, parser: Parser) -> None:
        """`parser` has a process of its own for pages, so that they do not wait for documents that are parsed."""
        self._store, self._originals, self._parser = store, originals, parser
        self._images = Kept[bytes](_IMAGES)
        self._texts = Kept[KnownText](_TEXTS)
        self._sizes_kept = Kept[Mapping[int, Size]](_SIZES)

    async def span(self, document: Document, start: int, end: int) -> FoundSpan:
        """Raises `InvalidParameter` if the text does not have the span, and `NotFound` if there is no text."""
        span = TextSpan(document.id, start, end)
        found = await self._store.evidence.documents(document.project_id, [document.id])
        if document.id not in found:
            raise NotFound("The document has no text", details={"document_id": str(document.id)})
        length = found[document.id].length
        if start >= length:
            raise InvalidParameter.of(
                "start", provided=start, expected=f"less than {length}, the text's length"
            )
        if not start < end <= min(length, start + MAX_SPAN):
            expected = f"from {start + 1} to {min(length, start + MAX_SPAN)}"
            raise InvalidParameter.of("end", provided=end, expected=expected)
        (answer,) = await self._spans(found, [span], rects=True)
        return answer

    async def spans(
        self, project_id: UUID, wanted: Sequence[TextSpan], *, rects: bool = True
    ) -> list[FoundSpan | None]:
        """None for a span that no document of the project has."""
        found = await self._store.evidence.documents(project_id, list({span.document_id for span in wanted}))
        there = [span for span in wanted if _has(found.get(span.document_id), span)]
        answers = dict(zip(there, await self._spans(found, there, rects=rects), strict=True))
        return [answers.get(span) for span in wanted]

    async def rects(
        self, project_id: UUID, wanted: Sequence[TextSpan]
    ) -> dict[TextSpan, tuple[PageRects, ...]]:
        """The rectangles of each span that a document of the project has."""
        found = await self._store.evidence.documents(project_id, list({span.document_id for span in wanted}))
        return await self._rects(found, [span for span in wanted if _has(found.get(span.document_id), span)])

    async def _spans(
        self, found: Mapping[UUID, PagedDocument], wanted: Sequence[TextSpan], *, rects: bool
    ) -> list[FoundSpan]:
        if not wanted:
            return []
        documents = [found[span.document_id] for span in wanted]
        project_id = documents[0].project_id
        around = [
            _around(span, whole=needs_text(one.mime)) for span, one in zip(wanted, documents, strict=True)
        ]
        texts = {one.id: await self._text(one) for one in documents}
        pieces = await self._pieces(project_id, around, texts)
        placed = await self._rects(found, wanted) if rects else {}
        answers = []
        for span, document, piece, wider in zip(wanted, documents, pieces, around, strict=True):
            at = span.start - wider.start
            text, before = piece[at : at + span.end - span.start], piece[:at]
            headings = trail(texts[document.id][1], span.start)
            answers.append(
                FoundSpan(
                    document_id=document.id,
                    document_name=document.name,
                    file_type=document.mime,
                    version=document.version,
                    start=span.start,
                    end=span.end,
                    text=text,
                    pages=placed.get(span, ()),
                    location=locate(
                        document.mime, document.pages, headings, before, (span.start, span.end, text)
                    ),
                    headings=headings,
                    before=before[-CONTEXT:],
                    after=piece[at + span.end - span.start :],
                )
            )
        return answers

    async def _text(self, document: PagedDocument) -> KnownText:
        key = document.id, document.version
        known = self._texts.get(key)
        if known is None:
            text, _ = await self._store.documents.content(document.id, project_id=document.project_id)
            outline = () if is_code(document.mime) else headings_of(text or "")
            kept = text if text and len(text) <= _LONG else None
            known = kept, outline
            self._texts.put(key, known, len(kept or "") + len(outline) + 1)
        return known

    async def _pieces(
        self,
        project_id: UUID,
        spans: Sequence[TextSpan],
        texts: Mapping[UUID, KnownText],
    ) -> list[str]:
        long = [span for span in spans if texts[span.document_id][0] is None]
        read = iter(await self._store.evidence.pieces(project_id, long) if long else ())
        whole = [texts[span.document_id][0] for span in spans]
        return [
            next(read) if text is None else text[span.start : span.end]
            for span, text in zip(spans, whole, strict=True)
        ]

    async def _rects(
        self, found: Mapping[UUID, PagedDocument], wanted: Sequence[TextSpan]
    ) -> dict[TextSpan, tuple[PageRects, ...]]:
        on = {span: pages_of(found[span.document_id].pages, span.start, span.end) for span in wanted}
        needed: defaultdict[UUID, dict[int, Page]] = defaultdict(dict)
        for span, pages in on.items():
            needed[span.document_id] |= {page.number: page for page in pages}
        layouts = {ident: await self._layouts(found[ident], pages) for ident, pages in needed.items()}
        return {
            span: tuple(_on_page(page, layouts[span.document_id][page.number], span) for page in pages)
            for span, pages in on.items()
        }

    async def _layouts(
        self, document: PagedDocument, pages: Mapping[int, Page]
    ) -> dict[int, PageLayout | Reason]:
        """The layout of each page, from the cache or from the original; or the reason why there is none."""
        if not pages:
            return {}
        if document.mime not in SHOWN:
            return dict.fromkeys(pages, "no_layout")
        stored = await self._store.evidence.layouts(document, list(pages))
        found: dict[int, PageLayout | Reason] = {one.page: PageLayout.unpacked(*one[1:]) for one in stored}
        missing = {number: page for number, page in pages.items() if number not in found}
        return found | await self._measured(document, missing) if missing else found

    async def _measured(
        self, document: PagedDocument, pages: Mapping[int, Page]
    ) -> dict[int, PageLayout | Reason]:
        if document.original_key is None:
            return dict.fromkeys(pages, "no_original")
        spans = [TextSpan(document.id, page.start, page.end) for page in pages.values()]
        texts = await self._store.evidence.pieces(document.project_id, spans)
        try:
            async with self._originals.as_file(document.original_key) as path:
                shown = await self._read_pages(path, document.mime, pages)
        except (Refused, NotFound, StorageUnavailable) as exc:
            log.warning("No layout of the pages of %s: %s", document.id, exc)
            return dict.fromkeys(pages, "no_original" if isinstance(exc, NotFound) else "unreadable")
        found: dict[int, PageLayout | Reason] = dict.fromkeys(pages, "unreadable")
        for number, text in zip(pages, texts, strict=True):
            if number in shown:
                layout = PageLayout.aligned(shown[number], text)
                size = layout.width, layout.height, layout.rotation
                await self._store.evidence.put_layout(document, StoredLayout(number, *size, layout.packed()))
                found[number] = layout
        return found

    async def _read_pages(self, path: Path, mime: str, pages: Mapping[int, Page]) -> dict[int, ShownPage]:
        """The pages as they are shown; those whose text was recognised are recognised again."""
        own = [number for number, page in pages.items() if page.confidence is None]
        found = await self._parser.shown(path, own) if own and mime == PDF else {}
        for number, page in pages.items():
            if page.confidence is not None:
                found[number], _, _ = await self._parser.scan(path, number, mime=mime)
        return found

    async def pages(self, document: Document) -> list[PageSize]:
        """Every page of the document; none if its format has no pages, or if it has no text yet."""
        paged = await self._paged(document)
        if paged is None or not paged.pages:
            return []
        sizes, reason = await self._sizes(paged)
        return [_page_size(page, sizes.get(page.number), reason) for page in paged.pages]

    async def lines(self, document: Document, number: int) -> list[PrintedLine]:
        """The printed lines of a page; none if the page has no layout. Raises `PageNotFound`."""
        paged = await self._paged(document)
        if paged is None:
            raise PageNotFound(details={"document_id": str(document.id), "page": number, "pages": 0})
        page = _page(paged, number)
        layout = (await self._layouts(paged, {number: page}))[number]
        if not isinstance(layout, PageLayout):
            return []
        span = TextSpan(document.id, page.start, page.end)
        (text,) = await self._store.evidence.pieces(document.project_id, [span])
        return [
            PrintedLine(start=page.start + start, end=page.start + end, text=text[start:end], rect=rect)
            for start, end, rect in layout.printed_lines()
        ]

    async def image(self, document: Document, number: int, width: int) -> bytes:
        """The page as PNG. Raises `PageNotFound`, `PageImageNotFound` and `UnreadableDocument`."""
        paged = await self._paged(document)
        details = {"document_id": str(document.id), "page": number}
        if paged is None or paged.mime not in SHOWN or paged.original_key is None:
            raise PageImageNotFound(details=details)
        _page(paged, number)
        key = document.id, paged.version, number, width
        image = self._images.get(key)
        if image is None:
            try:
                async with self._originals.as_file(paged.original_key) as path:
                    image = await self._parser.image(path, number, width, mime=paged.mime)
            except Refused as exc:
                raise UnreadableDocument(exc.message, details={**details, "reason": exc.reason}) from exc
            self._images.put(key, image, len(image))
        return image

    async def _paged(self, document: Document) -> PagedDocument | None:
        found = await self._store.evidence.documents(document.project_id, [document.id])
        return found.get(document.id)

    async def _sizes(self, document: PagedDocument) -> tuple[Mapping[int, Size], Reason | None]:
        """Width, height and rotation of each page, or the reason why they are not known."""
        if document.mime not in SHOWN or document.original_key is None:
            return {}, "no_original" if document.mime in SHOWN else "no_layout"
        key = document.id, document.version
        sizes = self._sizes_kept.get(key)
        if sizes is None:
            try:
                async with self._originals.as_file(document.original_key) as path:
                    sizes = dict(enumerate(await self._parser.sizes(path, mime=document.mime), 1))
            except (Refused, NotFound, StorageUnavailable) as exc:
                log.warning("No sizes of the pages of %s: %s", document.id, exc)
                return {}, "no_original" if isinstance(exc, NotFound) else "unreadable"
            self._sizes_kept.put(key, sizes, len(sizes))
        return sizes, None


def _has(document: PagedDocument | None, span: TextSpan) -> bool:
    return document is not None and 0 <= span.start < span.end <= min(document.length, span.start + MAX_SPAN)


def _page(document: PagedDocument, number: int) -> Page:
    for page in document.pages:
        if page.number == number:
            return page
    pages = len(document.pages)
    raise PageNotFound(details={"document_id": str(document.id), "page": number, "pages": pages})


def _around(span: TextSpan, *, whole: bool) -> TextSpan:
    """The span with its context, or with all text before it."""
    return TextSpan(span.document_id, 0 if whole else max(span.start - CONTEXT, 0), span.end + CONTEXT)


def _on_page(page: Page, layout: PageLayout | Reason, span: TextSpan) -> PageRects:
    start, end = max(span.start, page.start), min(span.end, page.end)
    known = layout if isinstance(layout, PageLayout) else None
    is_recognised = page.confidence is not None
    found = known.rects(start - page.start, end - page.start, whole_words=is_recognised) if known else layout
    return PageRects(
        page=page.number,
        width=known.width if known else None,
        height=known.height if known else None,
        rotation=known.rotation if known else None,
        start=start,
        end=end,
        rects=found if isinstance(found, tuple) else None,
        reason=found if isinstance(found, str) else None,
        confidence=page.confidence,
    )


def _page_size(page: Page, size: Size | None, reason: Reason | None) -> PageSize:
    width, height, rotation = size or (None, None, None)
    return PageSize(
        page=page.number,
        start=page.start,
        end=page.end,
        width=width,
        height=height,
        rotation=rotation,
        image=width is not None and height is not None and max(width, height) <= LARGEST,
        reason=reason,
        confidence=page.confidence,
    )
