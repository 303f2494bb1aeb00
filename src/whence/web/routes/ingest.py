"""Documents come in: as files, from a URL, as text. Answered when they are safe, not when they are read."""

from collections.abc import Mapping
from typing import Any

from fastapi import Request, Response

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
from whence.types import is_blank
from whence.web.access import Access, writer
from whence.web.answer import printable, shown, success
from whence.web.chunking import SCHEMA, chunking_of, names_chunking
from whence.web.inputs import given, json_content, query_parameters
from whence.web.metadata import METADATA_FORM_SCHEMA, METADATA_SCHEMA, metadata_of
from whence.web.models import Ingested, IngestedMany, Success
from whence.web.routes import Direct, api_router, documented
from whence.web.uploads import Form, Upload, is_form, uploaded
from whence.web.values import FLAG_PATTERN, FLAG_SCHEMA, parse_flag
from whence.web.waiting import deadline, ended

router = api_router("ingest", route_class=Direct)
short = api_router("ingest", root="", route_class=Direct)
"""The same without /api/v1."""

_PROJECT = {"type": ["string", "null"], "format": "uuid", "description": "By default the default project."}
_WAIT = {**FLAG_SCHEMA, "description": "Answer when the document has been ingested, or could not be."}
WAIT_FIELD = {**_WAIT, "anyOf": [*FLAG_SCHEMA["anyOf"], {"type": "null"}]}
_COMMON = {"projectId": _PROJECT, **SCHEMA, "metadata": METADATA_SCHEMA, "wait": WAIT_FIELD}
FORM_FIELDS = {
    "chunkingStrategy": {"type": "string", "enum": ["character", "sentence", "paragraph"]},
    "chunkingOptions": {
        "type": "string",
        "contentMediaType": "application/json",
        "description": "The options as JSON text.",
        "examples": ['{"maxChunkSize": 600}'],
    },
    "metadata": METADATA_FORM_SCHEMA,
    "wait": {"type": "string", "pattern": FLAG_PATTERN, "description": _WAIT["description"]},
}
_FILE = {"type": "string", "format": "binary"}
_FILES = {"type": "array", "items": _FILE, "minItems": 1}
_UPLOAD_BODY = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "properties": {
                    "file": _FILES,
                    "projectId": {"type": "string", "format": "uuid"},
                    **FORM_FIELDS,
                },
                "required": ["file"],
            }
        }
    },
}
_WAIT_PARAMETER = {
    "parameters": [
        {
            "in": "query",
            "name": "wait",
            "required": False,
            "schema": FLAG_SCHEMA,
            "description": _WAIT["description"],
        }
    ]
}


def _body(required: str, schema: dict[str, Any], example: str, **more: Any) -> dict[str, Any]:
    properties = {required: schema, **more, **_COMMON}
    content = {
        "schema": {"type": "object", "properties": properties, "required": [required]},
        "example": {required: example},
    }
    return {"requestBody": {"required": True, "content": {"application/json": content}}, **_WAIT_PARAMETER}


_ERRORS = (
    BadInput,
    InvalidParameter,
    InvalidUUID,
    ProjectNotFound,
    PayloadTooLarge,
    StorageUnavailable,
    Conflict,
)
_DONE: dict[int | str, dict[str, Any]] = {
    200: {"description": "With `wait`: the job has ended."},
    202: {"description": "Kept, and in the queue."},
}


@router.post(
    "/ingest/upload",
    summary="Ingest one or many files",
    status_code=202,
    response_model=Success[IngestedMany],
    responses={**documented(*_ERRORS), 200: {"model": Success[IngestedMany], **_DONE[200]}},
    openapi_extra={"requestBody": _UPLOAD_BODY, **_WAIT_PARAMETER},
)
@short.post("/ingest/upload", include_in_schema=False, openapi_extra=_WAIT_PARAMETER)
async def upload(request: Request) -> Response:
    access = await writer(request)
    if not is_form(request):
        raise BadInput(
            "Send the files as a form",
            details={"field": "Content-Type", "expected": "multipart/form-data with a part named file"},
        )
    async with uploaded(request, access.app.inbox) as form:
        wait = waits(request, form.fields)
        receipts = await _received(access, form)
    until = deadline()
    answers = [await answer(access, request, receipt, wait=wait, until=until) for receipt in receipts]
    return success({"items": answers}, status=200 if wait else 202)


@router.post(
    "/ingest/url",
    summary="Ingest what a URL answers with",
    status_code=202,
    response_model=Success[Ingested],
    responses={
        **documented(*_ERRORS, URLRefused, FetchFailed, FetchTimeout),
        200: {"model": Success[Ingested], **_DONE[200]},
    },
    openapi_extra=_body("url", {"type": "string", "format": "uri"}, "https://example.com/handbook.pdf"),
)
@short.post("/ingest/url", include_in_schema=False, openapi_extra=_WAIT_PARAMETER)
async def url(request: Request) -> Response:
    access = await writer(request)
    fields = await sent_object(request)
    wait = waits(request, fields)
    target = required(fields, "url")
    project_id = access.project(given(fields, "projectId", "project_id"))
    chunking = None
    if names_chunking(fields):
        known = await access.app.visitor.known(target, project_id=project_id)
        chunking = chunking_of(fields, unnamed=await access.app.receiver.chunking(known))
    receipt = await access.app.visitor.visit(
        target, project_id=project_id, chunking=chunking, metadata=metadata_of(fields)
    )
    return success(await answer(access, request, receipt, wait=wait), status=200 if wait else 202)


@router.post(
    "/ingest/text",
    summary="Ingest a text",
    status_code=202,
    response_model=Success[Ingested],
    responses={**documented(*_ERRORS), 200: {"model": Success[Ingested], **_DONE[200]}},
    openapi_extra=_body(
        "text",
        {"type": "string", "minLength": 1},
        "# Leave\n\nEveryone has 30 days a year.",
        name={
            "type": ["string", "null"],
            "description": "A file name; its ending says what kind of text it is.",
        },
    ),
)
@short.post("/ingest/text", include_in_schema=False, openapi_extra=_WAIT_PARAMETER)
async def text(request: Request) -> Response:
    access = await writer(request)
    fields = await sent_object(request)
    wait = waits(request, fields)
    content = encoded(required(fields, "text"), "text")
    project_id = access.project(given(fields, "projectId", "project_id"))
    name = optional_text(fields, "name", "fileName", "file_name")
    with access.app.inbox.file() as file:
        await file.write(content)
        await file.finish()
        receipt = await access.app.receiver.receive(
            file,
            name=f"text-{file.sha256.hex()[:12]}.txt" if name is None else name,
            project_id=project_id,
            chunking=chunking_of(fields),
            metadata=metadata_of(fields),
        )
    return success(await answer(access, request, receipt, wait=wait), status=200 if wait else 202)


async def _received(access: Access, form: Form) -> list[Receipt | tuple[Upload, WhenceError]]:
    """One for each file. One that cannot be kept harms no other; where none can, that is the answer."""
    files = [upload for upload in form.files if upload.name or upload.file.size]
    if not files:
        raise BadInput("file is required", details={"field": "file", "expected": "one file or more"})
    project_id = access.project(given(form.fields, "projectId", "project_id"))
    chunking, metadata = chunking_of(form.fields), metadata_of(form.fields)
    found: list[Receipt | tuple[Upload, WhenceError]] = []
    for upload in files:
        try:
            found.append(
                await access.app.receiver.receive(
                    upload.file,
                    name=base_name(upload.name),
                    project_id=project_id,
                    chunking=chunking,
                    metadata=metadata,
                )
            )
        except WhenceError as exc:
            found.append((upload, exc))
    failures = [item[1] for item in found if isinstance(item, tuple)]
    if len(failures) == len(found):
        raise failures[0]
    return found


async def answer(
    access: Access,
    request: Request,
    receipt: Receipt | tuple[Upload, WhenceError],
    *,
    wait: bool,
    until: float | None = None,
) -> dict[str, Any]:
    if isinstance(receipt, tuple):
        upload, error = receipt
        return _item(
            printable(upload.name), None, None, "failed", error=error_body(error), chunks=0 if wait else None
        )
    status, error_details, chunks = receipt.status, receipt.error, None
    if wait and receipt.job_id is not None:
        job = await ended(access.app, receipt.job_id, request, until or deadline())
        status, error_details = job.status, job.error_details
        chunks = await access.store.chunks.count(job.project_id, job.document_id)
    return _item(
        receipt.file_name,
        str(receipt.document_id),
        None if receipt.job_id is None else str(receipt.job_id),
        status,
        already=receipt.already_exists,
        error=error_details,
        chunks=chunks,
    )


def _item(
    name: str,
    document_id: str | None,
    job_id: str | None,
    status: str,
    *,
    already: bool = False,
    error: Mapping[str, Any] | None = None,
    chunks: int | None = None,
) -> dict[str, Any]:
    item = {
        "fileName": name,
        "documentId": document_id,
        "jobId": job_id,
        "status": status,
        "alreadyExists": already,
        "error": error,
    }
    return item if chunks is None else {**item, "chunkCount": chunks}


def error_body(error: WhenceError) -> dict[str, Any]:
    details = {key: shown(value) for key, value in error.details.items()}
    return {"code": error.code, "message": printable(error.message), "details": details}


def encoded(value: str, field: str) -> bytes:
    if "\x00" in value:  # in bytes it would be the mark of something that is no text
        raise BadInput(
            f"{field} must not hold NUL characters",
            details={"field": field, "expected": "text without NUL characters"},
        )
    try:
        return value.encode()
    except UnicodeEncodeError as exc:
        raise BadInput(
            f"{field} must be valid Unicode", details={"field": field, "expected": "valid Unicode text"}
        ) from exc


async def sent_object(request: Request) -> Mapping[str, Any]:
    body = await json_content(request)
    if not isinstance(body, Mapping):
        raise BadInput("The request body must be a JSON object", details={"provided": body})
    return body


def required(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if isinstance(value, str) and not is_blank(value):
        return value
    wrong = "is required" if value is None else "must be a text that is not blank"
    details = {"field": name, "provided": value, "expected": "a text that is not blank"}
    raise BadInput(f"{name} {wrong}", details=details)


def optional_text(fields: Mapping[str, Any], *names: str) -> str | None:
    value = given(fields, *names)
    if not (value is None or isinstance(value, str)):
        raise BadInput(
            f"{names[0]} must be a string",
            details={"field": names[0], "provided": value, "expected": "a string"},
        )
    return value


def waits(request: Request, fields: Mapping[str, Any]) -> bool:
    """The parameter goes before the field; both have to be right."""
    sent = (query_parameters(request).get("wait"), given(fields, "wait"))
    asked = [parse_flag("wait", value) for value in sent if value is not None]
    return asked[0] if asked else False
