"""Documents: what there is, what it was made from, what it became; changing it in place and deleting it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import quote
from uuid import UUID

from fastapi import Request, Response
from fastapi.responses import PlainTextResponse, StreamingResponse

from whence.errors import (
    BadInput,
    Conflict,
    DocumentNotFound,
    InvalidParameter,
    InvalidUUID,
    NotFound,
    PayloadTooLarge,
    ProjectNotFound,
    StorageUnavailable,
)
from whence.ingest import IncomingFile, base_name, clean_name
from whence.types import JOB_STATUSES, VISIBLE, Document
from whence.web.access import Access, reader, writer
from whence.web.answer import page, success
from whence.web.chunking import SCHEMA, chunking_of, names_chunking
from whence.web.file_types import DESCRIPTION, wanted_types
from whence.web.impact import deletion_impact
from whence.web.inputs import (
    ChunkQuery,
    choice,
    declared,
    declared_query,
    given,
    limit_and_offset,
    path_id,
    query_parameters,
    searchable,
)
from whence.web.metadata import METADATA_SCHEMA, metadata_of
from whence.web.models import ChunkModel, DeletionImpact, DocumentModel, DocumentText, Ingested, Page, Success
from whence.web.routes import Direct, api_router, documented
from whence.web.routes.ingest import (
    FORM_FIELDS,
    WAIT_FIELD,
    answer,
    encoded,
    optional_text,
    required,
    sent_object,
    waits,
)
from whence.web.uploads import is_form, uploaded
from whence.web.values import FLAG_SCHEMA

router = api_router("documents", route_class=Direct)

_ABSENT = (InvalidUUID, DocumentNotFound)
_FILE = {"type": "string", "format": "binary"}
_NAME = {"type": "string", "description": "A new name."}
_UPDATE_BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "properties": {
                    "text": {"type": ["string", "null"], "pattern": VISIBLE, "description": "A new content."},
                    "name": _NAME,
                    **SCHEMA,
                    "metadata": METADATA_SCHEMA,
                    "wait": WAIT_FIELD,
                },
                "anyOf": [
                    {"required": [name]}
                    for name in ("text", "name", "chunkingStrategy", "chunkingOptions", "metadata")
                ],
            },
            "example": {"chunkingStrategy": "paragraph"},
        },
        "multipart/form-data": {
            "schema": {"type": "object", "properties": {"file": _FILE, "name": _NAME, **FORM_FIELDS}},
        },
    },
}
_DESCRIBE_BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "properties": {"metadata": {**METADATA_SCHEMA, "type": "object"}},
                "required": ["metadata"],
            },
            "example": {"metadata": {"team": "travel"}},
        }
    },
}


@router.get(
    "/documents",
    summary="The documents of a project, the newest first",
    response_model=Success[Page[DocumentModel]],
    responses=documented(InvalidParameter, InvalidUUID, ProjectNotFound),
    openapi_extra=declared_query(
        paged=True,
        project_id={"type": "string", "format": "uuid"},
        status={"type": "string", "enum": list(JOB_STATUSES)},
        file_type={"type": "string", "description": DESCRIPTION},
        name={"type": "string", "description": "Any part of the name, in any case."},
    ),
)
async def list_documents(request: Request) -> Response:
    access = await reader(request)
    sent = query_parameters(request)
    limit, offset = limit_and_offset(request)
    project_id = access.project(given(sent, "project_id", "projectId"), parameter="project_id")
    status = choice(sent, "status", JOB_STATUSES)
    file_type = searchable(sent, "file_type")
    mimes, extensions = wanted_types([] if file_type is None else [file_type])
    await access.store.projects.get(project_id)
    found, total = await access.store.documents.page(
        project_id,
        limit=limit,
        offset=offset,
        status=status,
        mimes=mimes,
        extensions=extensions,
        name=searchable(sent, "name"),
    )
    return page(found, total=total, limit=limit, offset=offset)


@router.get(
    "/documents/{document_id}",
    summary="One document",
    response_model=Success[DocumentModel],
    responses=documented(*_ABSENT),
    openapi_extra=declared_query("document_id"),
)
async def get_document(request: Request) -> Response:
    access = await reader(request)
    document_id = UUID(path_id(request, "document_id"))
    return success(await access.store.documents.view(document_id, project_id=access.project_id))


@router.head("/documents/{document_id}/file", include_in_schema=False)
@router.get(
    "/documents/{document_id}/file",
    summary="The original, byte for byte",
    response_class=StreamingResponse,
    responses={
        **documented(*_ABSENT, NotFound, StorageUnavailable),
        200: {"description": "The file as it was given.", "content": {"*/*": {"schema": _FILE}}},
    },
    openapi_extra=declared_query("document_id"),
)
async def get_file(request: Request) -> Response:
    access = await reader(request)
    document = await _document(access, request)
    if document.original_key is None:
        raise NotFound("The original was not kept", details={"document_id": str(document.id)})
    headers = {
        "Content-Type": document.mime,  # alone: in which letters a text is written, only its bytes know
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(document.name, safe='')}",
        "Content-Length": str(document.size),
        "ETag": f'"{document.sha256.hex()}"',
        "X-Content-Type-Options": "nosniff",  # a page that somebody uploaded must not run as one of ours
    }
    if request.method == "HEAD":
        await access.app.originals.head(document.original_key, 1)  # that it can be read
        return Response(headers=headers)
    parts = access.app.originals.get(document.original_key)
    first = await anext(parts, b"")  # what is wrong with the storage is said before an answer has begun

    async def content() -> AsyncIterator[bytes]:
        yield first
        async for part in parts:
            yield part

    return StreamingResponse(content(), headers=headers)


@router.get(
    "/documents/{document_id}/text",
    summary="The text that the chunks are spans of",
    response_model=Success[DocumentText],
    responses={
        **documented(*_ABSENT, NotFound),
        200: {
            "description": "As JSON, or as it is with `Accept: text/plain`.",
            "model": Success[DocumentText],
            "content": {"text/plain": {"schema": {"type": "string"}}},
        },
    },
    openapi_extra=declared_query("document_id"),
)
async def get_text(request: Request) -> Response:
    access = await reader(request)
    document_id = UUID(path_id(request, "document_id"))
    text, pages = await access.store.documents.content(document_id, project_id=access.project_id)
    if text is None:
        raise NotFound(
            "The document has no text: it waits to be read, or could not be; its `status` says which",
            details={"document_id": str(document_id)},
        )
    if request.headers.get("accept", "").lower().startswith("text/plain"):
        return PlainTextResponse(text)
    return success({"document_id": document_id, "text": text, "characters": len(text), "pages": pages})


@router.get(
    "/documents/{document_id}/chunks",
    summary="The chunks of a document, in reading order",
    response_model=Success[Page[ChunkModel]],
    responses=documented(*_ABSENT, InvalidParameter),
    openapi_extra=declared("document_id", paged=True),
)
async def list_document_chunks(request: Request) -> Response:
    access = await reader(request)
    query = ChunkQuery.of(request)
    limit, offset = limit_and_offset(request)
    document = await _document(access, request)
    chunks, total = await access.store.chunks.of_document(
        document.project_id,
        document.id,
        limit=limit,
        offset=offset,
        source=query.source,
        embedding=query.embedding,
    )
    return page(chunks, total=total, limit=limit, offset=offset)


@router.get(
    "/documents/{document_id}/deletion-impact",
    summary="What deleting the document would take along",
    response_model=Success[DeletionImpact],
    responses=documented(*_ABSENT),
    openapi_extra=declared_query("document_id"),
)
async def get_deletion_impact(request: Request) -> Response:
    access = await reader(request)
    return success(await deletion_impact(access.store, await _document(access, request)))


@router.put(
    "/documents/{document_id}",
    summary="New content for a document, or another way to cut it; its id stays",
    status_code=202,
    response_model=Success[Ingested],
    responses={
        **documented(BadInput, InvalidParameter, *_ABSENT, Conflict, PayloadTooLarge, StorageUnavailable),
        200: {"model": Success[Ingested], "description": "With `wait`: the job has ended."},
    },
    openapi_extra={"requestBody": _UPDATE_BODY, **declared_query("document_id", wait=FLAG_SCHEMA)},
)
async def update_document(request: Request) -> Response:
    access = await writer(request)
    document = await _document(access, request)
    async with AsyncExitStack() as stack:
        file, name, fields = await _new_content(access, request, stack)
        wait = waits(request, fields)
        metadata = metadata_of(fields)
        if file is None and name is None and metadata is None and not names_chunking(fields):
            expected = "file, text, name, chunkingStrategy or metadata"
            raise BadInput("Nothing to change", details={"expected": expected})
        receipt = await access.app.receiver.update(
            document,
            file=file,
            name=name,
            chunking=chunking_of(fields, unnamed=await access.app.receiver.chunking(document)),
            metadata=metadata,
        )
    return success(await answer(access, request, receipt, wait=wait), status=200 if wait else 202)


@router.patch(
    "/documents/{document_id}",
    summary="What is to be known of a document, at once and without a job",
    response_model=Success[DocumentModel],
    responses=documented(BadInput, InvalidParameter, *_ABSENT, PayloadTooLarge),
    openapi_extra={"requestBody": _DESCRIBE_BODY, **declared_query("document_id")},
)
async def describe_document(request: Request) -> Response:
    access = await writer(request)
    document = await _document(access, request)
    metadata = metadata_of(await sent_object(request))
    if metadata is None:
        raise BadInput("Nothing to change", details={"expected": "metadata"})
    await access.store.documents.describe(document.project_id, document.id, metadata)
    return success(await access.store.documents.view(document.id, project_id=document.project_id))


@router.delete(
    "/documents/{document_id}",
    summary="Delete a document with its chunks, its jobs and its original",
    response_model=Success[DocumentModel],
    responses=documented(*_ABSENT, StorageUnavailable),
    openapi_extra=declared_query("document_id"),
)
async def delete_document(request: Request) -> Response:
    access = await writer(request)
    document = await _document(access, request)
    view = await access.store.documents.view(document.id, project_id=document.project_id)
    await access.app.remover.document(document)
    return success(view)


async def _document(access: Access, request: Request) -> Document:
    document_id = UUID(path_id(request, "document_id"))
    return await access.store.documents.get(document_id, project_id=access.project_id)


async def _new_content(
    access: Access, request: Request, stack: AsyncExitStack
) -> tuple[IncomingFile | None, str | None, Mapping[str, Any]]:
    """The file, where there is one, its name and the other fields."""
    if is_form(request):
        form = await stack.enter_async_context(uploaded(request, access.app.inbox))
        if len(form.files) > 1:
            raise BadInput("A document has one file", details={"field": "file", "provided": len(form.files)})
        named = _name(form.fields)
        files = [upload for upload in form.files if upload.name or upload.file.size]
        if not files:
            return None, named, form.fields
        return files[0].file, named or base_name(files[0].name) or None, form.fields
    fields = await sent_object(request)
    name = _name(fields)
    if fields.get("text") is None:
        return None, name, fields
    text = required(fields, "text")
    file = stack.enter_context(access.app.inbox.file())
    await file.write(encoded(text, "text"))
    await file.finish()
    return file, name, fields


def _name(fields: Mapping[str, Any]) -> str | None:
    """A new one; to have none at all is not possible."""
    name = optional_text(fields, "name", "fileName", "file_name")
    return None if name is None else clean_name(name)
