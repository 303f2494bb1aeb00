"""Documents come in: as files, from a URL, as text. Answered when they are safe, not when they are read.

`ingest_files` takes the bare request: it streams files of any size to disk.
"""

from typing import Any

from fastapi import Request, Response

from whence.api.base import Success
from whence.api.ingest import Ingested, IngestedMany, TextIngest, UploadForm, URLIngest
from whence.errors import (
    BadInput,
    Conflict,
    FetchFailed,
    FetchTimeout,
    InvalidParameter,
    InvalidUUID,
    PayloadTooLarge,
    ProjectNotFound,
    StorageUnavailable,
    URLRefused,
    WhenceError,
)
from whence.ingest import Receipt, base_name
from whence.web.access import Access, Writer
from whence.web.bodies import FILE_SCHEMA, declared_body, validate
from whence.web.connection import ClientConnection, Connected
from whence.web.job_wait import deadline, ended
from whence.web.parameters import WaitFlag
from whence.web.responses import error_body, printable, success
from whence.web.routes import api_router, documented
from whence.web.uploads import Upload, is_form, uploaded

router = api_router("ingest")
short = api_router("ingest", root="")
"""The same without /api/v1."""

Refused = tuple[Upload, WhenceError]
"""A file that could not be kept, and why."""

_FILES: dict[str, Any] = {
    "type": "array",
    "items": FILE_SCHEMA,
    "minItems": 1,
    "required": True,
    "description": "One part for each file.",
}
_ERRORS = (
    BadInput,
    InvalidParameter,
    InvalidUUID,
    ProjectNotFound,
    PayloadTooLarge,
    StorageUnavailable,
    Conflict,
)
_ENDED = "With `wait`: the job has ended."


@router.post(
    "/ingest/upload",
    summary="Ingest one or many files",
    status_code=202,
    response_model=Success[IngestedMany],
    responses={**documented(*_ERRORS), 200: {"model": Success[IngestedMany], "description": _ENDED}},
    openapi_extra=declared_body(form=UploadForm, file=_FILES),
)
@short.post("/ingest/upload", include_in_schema=False)
async def ingest_files(
    access: Writer, request: Request, connection: Connected, wait: WaitFlag = None
) -> Response:
    """One file or up to 1,000. `data.items` has one entry for each file, in their order.

    A file that cannot be kept does not harm the others; if none can be kept, the answer is the error. Every part with a file name
    counts as a file, whatever its field is called. All files together have at most `WHENCE_MAX_UPLOAD_MB`.
    """
    if not is_form(request):
        raise BadInput(
            "Send the files as a form",
            details={"field": "Content-Type", "expected": "multipart/form-data with a part named file"},
        )
    async with uploaded(request, access.app.inbox) as form:
        files = [upload for upload in form.files if upload.name or upload.file.size]
        if not files:
            raise BadInput("file is required", details={"field": "file", "expected": "one file or more"})
        fields = validate(form.beside_files(), UploadForm)
        receipts = await _receive_all(access, files, fields)
    waits, until = prefers_waiting(wait, fields.wait), deadline()
    items = [await describe_receipt(access, connection, one, wait=waits, until=until) for one in receipts]
    return success(IngestedMany(items=items), 200 if waits else 202)


@router.post(
    "/ingest/url",
    summary="Ingest what a URL answers with",
    status_code=202,
    response_model=Success[Ingested],
    responses={
        **documented(*_ERRORS, URLRefused, FetchFailed, FetchTimeout),
        200: {"model": Success[Ingested], "description": _ENDED},
    },
)
@short.post("/ingest/url", include_in_schema=False)
async def ingest_url(
    access: Writer, body: URLIngest, connection: Connected, wait: WaitFlag = None
) -> Response:
    """The URL is [fetched](fetching.md) before the answer. The same URL again makes a new version of the same document.

    Content that did not change, by its `ETag`, its `Last-Modified` or its bytes, is `alreadyExists`.
    """
    project_id = access.project(body.project_id)
    chunking = None
    if body.says_chunking:
        known = await access.app.visitor.known(body.url, project_id=project_id)
        chunking = body.chunking(await access.app.receiver.chunking(known))
    receipt = await access.app.visitor.visit(
        body.url, project_id=project_id, chunking=chunking, metadata=body.metadata
    )
    waits = prefers_waiting(wait, body.wait)
    return success(await describe_receipt(access, connection, receipt, wait=waits), 200 if waits else 202)


@router.post(
    "/ingest/text",
    summary="Ingest a text",
    status_code=202,
    response_model=Success[Ingested],
    responses={**documented(*_ERRORS), 200: {"model": Success[Ingested], "description": _ENDED}},
)
@short.post("/ingest/text", include_in_schema=False)
async def ingest_text(
    access: Writer, body: TextIngest, connection: Connected, wait: WaitFlag = None
) -> Response:
    """The JSON has at most 16 MB. Without a `name` the server makes one up."""
    project_id = access.project(body.project_id)
    with access.app.inbox.file() as file:
        await file.write(body.text.encode())
        await file.finish()
        receipt = await access.app.receiver.receive(
            file,
            name=f"text-{file.sha256.hex()[:12]}.txt" if body.name is None else body.name,
            project_id=project_id,
            chunking=body.chunking(),
            metadata=body.metadata,
        )
    waits = prefers_waiting(wait, body.wait)
    return success(await describe_receipt(access, connection, receipt, wait=waits), 200 if waits else 202)


async def _receive_all(access: Access, files: list[Upload], fields: UploadForm) -> list[Receipt | Refused]:
    """One for each file. A file that cannot be kept does not harm the others; if none can, its error is the answer."""
    project_id, chunking = access.project(fields.project_id), fields.chunking()
    found: list[Receipt | Refused] = []
    for upload in files:
        try:
            receipt = await access.app.receiver.receive(
                upload.file,
                name=base_name(upload.name),
                project_id=project_id,
                chunking=chunking,
                metadata=fields.metadata,
            )
            found.append(receipt)
        except WhenceError as exc:
            found.append((upload, exc))
    failures = [item[1] for item in found if isinstance(item, tuple)]
    if len(failures) == len(found):
        raise failures[0]
    return found


async def describe_receipt(
    access: Access,
    connection: ClientConnection,
    receipt: Receipt | Refused,
    *,
    wait: bool,
    until: float | None = None,
) -> Ingested:
    if isinstance(receipt, tuple):
        upload, error = receipt
        counted = {"chunk_count": 0} if wait else {}
        return Ingested.failed(printable(upload.name), error_body(error), **counted)
    if not wait or receipt.job_id is None:
        return Ingested.of(receipt)
    job = await ended(access.app, receipt.job_id, connection, until or deadline())
    chunks = await access.store.chunks.count(job.project_id, job.document_id)
    return Ingested.of(receipt, status=job.status, error=job.error_details, chunk_count=chunks)


def prefers_waiting(in_query: bool | None, in_body: bool | None) -> bool:
    """The query goes before the body."""
    return bool(in_body if in_query is None else in_query)
