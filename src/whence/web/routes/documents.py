"""Documents: list, get, update in place, delete; their originals, texts and chunks."""

from contextlib import AsyncExitStack
from typing import Annotated
from urllib.parse import quote

from fastapi import Depends, Query, Response
from fastapi.responses import StreamingResponse

from whence.api.base import Listing, Success
from whence.api.chunks import ChunkModel
from whence.api.documents import (
    DeletionImpact,
    DocumentDescription,
    DocumentModel,
    DocumentText,
)
from whence.api.file_types import FILE_TYPE, wanted_types
from whence.api.ingest import DocumentUpdate, Ingested, UpdateForm
from whence.api.values import SearchText
from whence.errors import (
    BadInput,
    Conflict,
    InvalidParameter,
    NotFound,
    RangeNotSatisfiable,
    StorageUnavailable,
)
from whence.ingest import IncomingFile, base_name, clean_name
from whence.logs import escaped
from whence.models import JobStatus
from whence.store.documents import DocumentOrder
from whence.web.access import Access, Reader, Writer
from whence.web.bodies import FILE_SCHEMA, Sent, SentBody, declared_body
from whence.web.events import Connected, file_response
from whence.web.parameters import (
    ChunkFlags,
    Direction,
    NameFilter,
    PagedByCursor,
    PathId,
    ProjectFilter,
    TextPosition,
    WaitFlag,
    chunk_flags,
    first_of,
)
from whence.web.ranges import ByteSpan
from whence.web.responses import Enveloped, listed, plain_page, success
from whence.web.routes import ENDED, TEXT, answered, api_router, documented
from whence.web.routes.ingest import answer_receipt
from whence.web.texts import text_as_it_is, text_as_json

router = api_router("documents")

_BYTES = "application/octet-stream"

StatusFilter = Annotated[
    JobStatus | None, Query(description="Only documents whose newest job has this status.")
]
FileTypeFilter = Annotated[SearchText, Query(description=FILE_TYPE)]
Sort = Annotated[DocumentOrder, Query(description="Field to sort by.")]


@router.get("/documents")
async def list_documents(
    access: Reader,
    *,
    project_id: ProjectFilter = None,
    status: StatusFilter = None,
    file_type: FileTypeFilter = None,
    name: NameFilter = None,
    sort: Sort = "created",
    direction: Direction = "desc",
    page: PagedByCursor,
) -> Enveloped[Listing[DocumentModel]]:
    """List the documents of a project, by default the newest first.

    `after` continues the list after a document. It needs this order.
    """
    if page.after is not None and (sort, direction) != ("created", "desc"):
        raise InvalidParameter.of(
            "after", provided=str(page.after), expected="absent when `sort` or `direction` is given"
        )
    project = await access.existing_project(project_id)
    mimes, extensions = wanted_types([] if file_type is None else [file_type])
    found, total = await access.store.documents.page(
        project,
        limit=page.fetched,
        offset=page.offset,
        after=page.after,
        status=status,
        mimes=mimes,
        extensions=extensions,
        name=name,
        sort=sort,
        descending=direction == "desc",
    )
    return listed(DocumentModel, found, total, page)


@router.get("/documents/{document_id}")
async def get_document(access: Reader, document_id: PathId) -> Enveloped[DocumentModel]:
    """Get a document."""
    view = await access.store.documents.view(document_id, project_id=access.project_id)
    return success(DocumentModel.of(view))


@router.head("/documents/{document_id}/file", include_in_schema=False)
@router.get(
    "/documents/{document_id}/file",
    response_class=StreamingResponse,
    responses=documented(
        NotFound,
        RangeNotSatisfiable,
        StorageUnavailable,
        also={
            **answered("The file as it was sent, with its own type.", _BYTES, FILE_SCHEMA),
            **answered("The bytes that `Range` asks for.", _BYTES, FILE_SCHEMA, status=206),
        },
    ),
)
async def get_document_file(access: Reader, document_id: PathId, connection: Connected) -> Response:
    """Get the original file, byte for byte, or the bytes that `Range` requests.

    There is no envelope. `HEAD` works, too. During an update it is the old file. If the `ETag` in `If-Range` is outdated, the whole file is sent.
    """
    document = await access.document(document_id)
    if document.original_key is None:
        raise NotFound("The original was not kept", details={"document_id": str(document.id)})
    etag = f'"{document.sha256.hex()}"'
    sent = {} if connection.is_head else connection.request.headers
    span = ByteSpan.asked(sent, size=document.size, etag=etag)
    headers = {
        "Content-Type": document.mime,  # without a charset, which only the bytes reveal
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(escaped(document.name), safe='')}",
        **span.headers(etag),
    }
    originals = access.app.originals
    await originals.require_size(document.original_key, document.size)  # the headers promise it
    if connection.is_head:
        await originals.head(document.original_key, 1)  # raises if it cannot be read
        return Response(headers=headers)
    parts = originals.get(document.original_key, span=(span.first, span.end) if span.is_part else None)
    return await file_response(parts, headers, status=span.status)


@router.get(
    "/documents/{document_id}/text",
    response_model=Success[DocumentText],
    responses={
        **documented(NotFound, RangeNotSatisfiable),
        200: {
            "description": "As JSON, or as plain text with `Accept: text/plain` or `Range`.",
            "model": Success[DocumentText],
            "content": {"text/plain": {"schema": {"type": "string"}}},
        },
        **answered("The bytes that `Range` requests.", "text/plain", TEXT, status=206),
    },
)
async def get_document_text(
    access: Reader,
    document_id: PathId,
    connection: Connected,
    *,
    start: TextPosition = 0,
    end: TextPosition | None = None,
) -> Response:
    """Get the text that the chunks are spans of, or the span from `start` to `end`, in code points.

    It is streamed in parts. `Range` requests bytes of the plain text, unless `Accept` excludes it. If the document changes
    while a text of more than 500,000 characters is sent, the stream ends early.
    """
    if end is not None and end < start:
        await access.document(document_id)  # an unknown document is 404 for any span
        raise InvalidParameter.of("end", provided=end, expected=f"at least start ({start})")
    store = access.store
    span = await store.texts.span(document_id, project_id=access.project_id, start=start, end=end)
    if span is None:
        raise NotFound(
            "The document has no text: it was not read yet, or could not be read; its `status` says which",
            details={"document_id": str(document_id)},
        )
    if connection.prefers("text/plain") or (connection.is_for_a_range and connection.allows("text/plain")):
        return text_as_it_is(store, span, connection.request.headers)
    return text_as_json(store, span)


@router.get("/documents/{document_id}/chunks")
async def list_document_chunks(
    access: Reader,
    document_id: PathId,
    flags: Annotated[ChunkFlags, Depends(chunk_flags)],
    page: PagedByCursor,
) -> Enveloped[Listing[ChunkModel]]:
    """List the chunks of a document, in reading order."""
    document = await access.document(document_id)
    chunks, total = await access.store.chunks.of_document(
        document.project_id,
        document.id,
        limit=page.fetched,
        offset=page.offset,
        after=page.after,
        source=flags.source,
        embedding=flags.embedding,
    )
    return plain_page(chunks, total, page)


@router.get("/documents/{document_id}/deletion-impact")
async def get_deletion_impact(access: Reader, document_id: PathId) -> Enveloped[DeletionImpact]:
    """Show what would be deleted together with a document.

    Nothing is deleted. `properties` of other objects fall back to the value of another chunk, or are removed.
    """
    document = await access.document(document_id)
    return success(await DeletionImpact.load(access.store, document))


@router.put(
    "/documents/{document_id}",
    status_code=202,
    responses=documented(Conflict, StorageUnavailable, also=ENDED),
    openapi_extra=declared_body(DocumentUpdate, UpdateForm, file=FILE_SCHEMA),
)
async def update_document(
    access: Writer, document_id: PathId, sent: Sent, connection: Connected, wait: WaitFlag = None
) -> Enveloped[Ingested]:
    """Update a document: new content, another name or other chunking; its id stays.

    Chunks whose text did not change keep their id and their vector.

    Readers see the old document until the job is done, and keep it if the job fails. A job that still runs on the document is
    cancelled. Absent fields (name, chunking, metadata) stay as they are. `metadata` changes at once. If nothing changes,
    `alreadyExists` is true.
    """
    document = await access.document(document_id)
    async with AsyncExitStack() as stack:
        file, name, fields = await _read_content(access, sent, stack)
        if file is None and name is None and fields.metadata is None and not fields.says_chunking:
            expected = "file, text, name, chunkingStrategy or metadata"
            raise BadInput("Nothing to change", details={"expected": expected})
        receipt = await access.app.receiver.update(
            document,
            file=file,
            name=name,
            chunking=fields.chunking(await access.app.receiver.chunking(document)),
            metadata=fields.metadata,
        )
    return await answer_receipt(access, connection, receipt, wait=first_of(wait, fields.wait))


@router.patch("/documents/{document_id}")
async def describe_document(
    access: Writer, document_id: PathId, body: DocumentDescription
) -> Enveloped[DocumentModel]:
    """Change the metadata of a document, at once and without a job."""
    document = await access.document(document_id)
    await access.store.documents.describe(document.project_id, document.id, body.metadata)
    view = await access.store.documents.view(document.id, project_id=document.project_id)
    return success(DocumentModel.of(view))


@router.delete("/documents/{document_id}", responses=documented(StorageUnavailable))
async def delete_document(access: Writer, document_id: PathId) -> Enveloped[DocumentModel]:
    """Delete a document with its chunks, its jobs and its original.

    This cannot be undone. `data` is the document as it was.

    503 `STORAGE_UNAVAILABLE`: the document is deleted, its original will be removed later.
    """
    document = await access.document(document_id)
    view = await access.store.documents.view(document.id, project_id=document.project_id)
    await access.app.remover.document(document)
    return success(DocumentModel.of(view))


async def _read_content(
    access: Access, sent: SentBody, stack: AsyncExitStack
) -> tuple[IncomingFile | None, str | None, DocumentUpdate | UpdateForm]:
    """The file, if there is one, its name, and the other fields."""
    if not sent.is_form:
        fields = await sent.read(DocumentUpdate)
        file = None
        if fields.text is not None:
            file = await stack.enter_async_context(access.app.inbox.text(fields.text))
        return file, _clean_name(fields.name), fields
    form = await stack.enter_async_context(sent.form(access.app.inbox))
    if len(form.files) > 1:
        raise BadInput(
            "A document has exactly one file", details={"field": "file", "provided": len(form.files)}
        )
    beside = form.read(UpdateForm)
    named = _clean_name(beside.name)
    if not form.chosen:
        return None, named, beside
    (upload,) = form.chosen
    return upload.file, named or base_name(upload.name) or None, beside


def _clean_name(name: str | None) -> str | None:
    return None if name is None else clean_name(name)
