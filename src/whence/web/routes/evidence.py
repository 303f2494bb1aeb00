"""Evidence: a span's text in its document, its rectangles on the pages, and pictures of the pages."""

from typing import Annotated

from fastapi import Header, Path, Query, Response

from whence.api.base import Listing
from whence.api.evidence import (
    MAX_OFFSET,
    EvidenceAnswer,
    EvidenceRequest,
    LineModel,
    PageLines,
    PageModel,
    SpanModel,
)
from whence.api.values import whole
from whence.errors import (
    InvalidUUID,
    PageImageNotFound,
    PageNotFound,
    ProjectNotFound,
    StorageUnavailable,
    UnreadableDocument,
)
from whence.web.access import Reader
from whence.web.parameters import Paged, PathId
from whence.web.responses import Enveloped, listed, success
from whence.web.routes import answered, api_router, documented

router = api_router("evidence")

_PNG = "image/png"
SpanStart = Annotated[
    int,
    Query(description="First character of the span, in code points."),
    whole(0, MAX_OFFSET, in_query=True),
]
SpanEnd = Annotated[
    int,
    Query(description="End of the span (exclusive), in code points."),
    whole(1, MAX_OFFSET, in_query=True),
]
PageNumber = Annotated[int, Path(description="From 1."), whole(1, MAX_OFFSET, in_query=True)]
Width = Annotated[int, Query(description="In pixels."), whole(16, 2000, in_query=True)]


@router.get("/documents/{document_id}/spans")
async def get_span(
    access: Reader, document_id: PathId, start: SpanStart, end: SpanEnd
) -> Enveloped[SpanModel]:
    """Get a span of a document's text, and where a reader sees it.

    `pages` has the rectangles on each page of a PDF that the span touches. They enclose exactly the span's characters. If that is
    not possible, `rects` is null and `reason` says why.
    """
    document = await access.document(document_id)
    return success(SpanModel.of(await access.app.evidence.span(document, start, end)))


@router.post("/evidence", responses=documented(ProjectNotFound, InvalidUUID))
async def find_evidence(access: Reader, body: EvidenceRequest) -> Enveloped[EvidenceAnswer]:
    """Get the evidence for up to 100 chunks, claims, citations or other spans.

    A citation is sent as its `documentId`, `startOffset` and `endOffset`. Items that do not exist or belong to another project
    have `found` false.
    """
    project_id = await access.existing_project(body.project_id)
    app = access.app
    return success(await EvidenceAnswer.load(app.store, app.evidence, project_id, body))


@router.get("/documents/{document_id}/pages")
async def list_pages(access: Reader, document_id: PathId, page: Paged) -> Enveloped[Listing[PageModel]]:
    """List the pages of a document with their sizes; none where the format has no pages."""
    document = await access.document(document_id)
    pages = await access.app.evidence.pages(document)
    return listed(PageModel, pages[page.offset : page.offset + page.limit], len(pages), page)


@router.get("/documents/{document_id}/pages/{page_number}/lines", responses=documented(PageNotFound))
async def get_page_lines(
    access: Reader, document_id: PathId, page_number: PageNumber
) -> Enveloped[PageLines]:
    """Get the printed lines of a page with their positions: a text layer for its picture."""
    document = await access.document(document_id)
    lines = await access.app.evidence.lines(document, page_number)
    return success(PageLines(lines=[LineModel.of(one) for one in lines]))


@router.get(
    "/documents/{document_id}/pages/{page_number}/image",
    response_class=Response,
    responses=documented(
        PageNotFound,
        PageImageNotFound,
        UnreadableDocument,
        StorageUnavailable,
        also=answered("The page.", _PNG, {"type": "string", "format": "binary"}),
    ),
)
async def get_page_image(
    access: Reader,
    document_id: PathId,
    page_number: PageNumber,
    width: Width = 1000,
    if_none_match: Annotated[str | None, Header(include_in_schema=False)] = None,
) -> Response:
    """Get a picture of a page of a PDF, as PNG.

    The picture is at most 4000 pixels high, so that of a long page is narrower than requested. A page of
    more than 14,400 points (5 m) in width or height is not rendered. There is no envelope.
    """
    document = await access.document(document_id)
    tag = f'"{document.sha256.hex()}-{page_number}-{width}"'
    headers = {"Cache-Control": "private, no-cache", "ETag": tag}
    if if_none_match == tag:
        return Response(status_code=304, headers=headers)
    image = await access.app.evidence.image(document, page_number, width)
    return Response(image, media_type=_PNG, headers=headers)
