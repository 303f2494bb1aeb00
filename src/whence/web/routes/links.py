"""Links and their targets."""

from typing import Annotated
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

from fastapi import Header, Query

from whence import errors, links
from whence.api.links import LinkAnswer, LinkSpan
from whence.api.values import Ident, SearchText, canonical_uuid
from whence.errors import BadInput, InvalidParameter, InvalidUUID
from whence.link_target import LinkTarget, Span, follow, read_link, read_span
from whence.parse import page_at
from whence.store.documents import DocumentView
from whence.web.access import Access, Reader
from whence.web.responses import Enveloped, success
from whence.web.routes import api_router, documented

router = api_router("links", prefix="/links")

Url = Annotated[SearchText, Query(description="A link of this server, with or without its address.")]
DocumentId = Annotated[
    Ident | None, Query(alias="document", description="Instead of `url`: the id of the document.")
]
SpanText = Annotated[SearchText, Query(description="The span in the document, such as `120-240`.")]
Version = Annotated[
    SearchText, Query(alias="v", description="The document's version; default: the current one.")
]


@router.get(
    "/resolve",
    responses=documented(
        errors.InvalidUUID,
        errors.BadInput,
        errors.NotFound,
        errors.DocumentNotFound,
        errors.ObjectNotFound,
        errors.AnswerNotFound,
        errors.ConversationNotFound,
    ),
)
async def resolve_link(
    access: Reader,
    *,
    url: Url = None,
    document: DocumentId = None,
    span: SpanText = None,
    v: Version = None,
    host: Annotated[str | None, Header(include_in_schema=False)] = None,
) -> Enveloped[LinkAnswer]:
    """Follow a link, also one made under an older version of its document.

    A chunk whose text did not change is found by its id. Other text is found by its words, the nearest occurrence first. If the
    words are gone, `quote` still has them: the last 20 versions of a document are kept.
    """
    if (url is None) == (document is None):
        raise BadInput("A link is needed: url or document", details={"expected": "url, or document"})
    if url is None:
        return success(await _resolve_document(access, _parse_uuid(document), span, v))
    public = urlsplit(links.base.get() or "").netloc
    kind, ident, query = read_link(url, own=list(filter(None, (public, host))))
    if kind == "d":
        said = parse_qs(query)
        return success(
            await _resolve_document(
                access, _parse_uuid(ident), *(said.get(name, [None])[-1] for name in ("span", "v"))
            )
        )
    return success(await _resolve_other(access, kind, _parse_uuid(ident)))


async def _resolve_other(access: Access, kind: str, ident: UUID) -> LinkAnswer:
    if kind == "o":
        found = await access.graph_object(ident)
        return LinkAnswer(kind="object", id=found.id, url=links.to_object(found.id))
    if kind == "a":
        answer = await access.store.answers.get(ident, access.caller)
        return LinkAnswer(kind="answer", id=answer.id, url=links.to_answer(answer.id))
    conversation = await access.store.conversations.get(ident, access.caller)
    return LinkAnswer(kind="conversation", id=conversation.id, url=links.to_conversation(conversation.id))


async def _resolve_document(access: Access, ident: UUID, span: str | None, v: str | None) -> LinkAnswer:
    view = await access.store.documents.view(ident, project_id=access.project_id)
    current: int = view["version"]
    if v is not None and not v.isdecimal():
        raise InvalidParameter.of("v", provided=v, expected=f"a version from 1 to {current}")
    wanted = None if span is None else read_span(span)
    version = current if v is None else int(v[:10])
    found = await follow(
        access.store, UUID(view["project_id"]), ident, span=wanted, version=version, current=current
    )
    return _build_answer(view, found, wanted, version)


def _build_answer(view: DocumentView, found: LinkTarget, wanted: Span | None, version: int) -> LinkAnswer:
    start, end = found.span or (None, None)
    current = view["version"]
    return LinkAnswer.of(
        {
            "kind": "document",
            "id": view["id"],
            "url": links.to_document(view["id"], version=current, start=start, end=end),
            "name": view["name"],
            "version": version,
            "current_version": current,
            "is_current": version == current,
            "status": found.status,
            "span": found.span and LinkSpan(start=found.span[0], end=found.span[1]),
            "old_span": wanted and LinkSpan(start=wanted[0], end=wanted[1]),
            "quote": found.quote,
            "chunk_id": found.chunk_id,
            "page": None if start is None else page_at(found.pages, start),
        }
    )


def _parse_uuid(given: UUID | str | None) -> UUID:
    ident = canonical_uuid(str(given))
    if ident is None:
        raise InvalidUUID(details={"parameter": "url", "provided": given})
    return UUID(ident)
