"""Ingests files, URLs and texts. Answers once they are stored durably, before they are parsed."""

from typing import Any

from whence import errors
from whence.api.ingest import Ingested, IngestedMany, TextIngest, UploadForm, URLIngest
from whence.ingest import Receipt, base_name
from whence.web.access import Access, Writer
from whence.web.bodies import FILE_SCHEMA, Sent, Upload, declared_body
from whence.web.events import ClientConnection, Connected, deadline, ended
from whence.web.parameters import WaitFlag, first_of
from whence.web.responses import Enveloped, error_body, printable, success
from whence.web.routes import ENDED, api_router, documented

router = api_router("ingest")

Refused = tuple[Upload, errors.WhenceError]
"""A file that could not be stored, and the error."""

_FILES: dict[str, Any] = {
    "type": "array",
    "items": FILE_SCHEMA,
    "minItems": 1,
    "required": True,
    "description": "One part per file.",
}
_ERRORS = (errors.InvalidUUID, errors.ProjectNotFound, errors.StorageUnavailable, errors.Conflict)


@router.post(
    "/ingest/upload",
    status_code=202,
    responses=documented(*_ERRORS, also=ENDED),
    openapi_extra=declared_body(form=UploadForm, file=_FILES),
)
async def ingest_files(
    access: Writer, sent: Sent, connection: Connected, wait: WaitFlag = None
) -> Enveloped[IngestedMany]:
    """Ingest one or many files.

    Up to 1,000 files. `data.items` has one entry per file, in the same order.

    A file that cannot be stored does not affect the others; if none can be stored, the answer is the error. Every part with a
    file name counts as a file, whatever its field is called. All files together have at most `WHENCE_MAX_UPLOAD_MB`.
    """
    if not sent.is_form:
        raise errors.BadInput(
            "Send the files as a form",
            details={"field": "Content-Type", "expected": "multipart/form-data with a part named file"},
        )
    async with sent.form(access.app.inbox) as form:
        if not form.chosen:
            raise errors.BadInput(
                "file is required", details={"field": "file", "expected": "one file or more"}
            )
        fields = form.read(UploadForm)
        receipts = await _receive_all(access, form.chosen, fields)
    waits, until = first_of(wait, fields.wait), deadline()
    items = [await _describe(access, connection, one, wait=waits, until=until) for one in receipts]
    return success(IngestedMany(items=items), 200 if waits else 202)


@router.post(
    "/ingest/url",
    status_code=202,
    responses=documented(*_ERRORS, errors.URLRefused, errors.FetchFailed, errors.FetchTimeout, also=ENDED),
)
async def ingest_url(
    access: Writer, body: URLIngest, connection: Connected, wait: WaitFlag = None
) -> Enveloped[Ingested]:
    """Ingest the content of a URL.

    The URL is [fetched](fetching.md) before the answer. The same URL again makes a new version of the same document.

    If the content did not change, by its `ETag`, `Last-Modified` or bytes, `alreadyExists` is true.
    """
    project_id = access.project(body.project_id)
    chunking = None
    if body.says_chunking:
        known = await access.app.visitor.known(body.url, project_id=project_id)
        default = await access.default_chunking(project_id)
        chunking = body.chunking(await access.app.receiver.chunking(known, default))
    receipt = await access.app.visitor.visit(
        body.url, project_id=project_id, chunking=chunking, metadata=body.metadata
    )
    return await answer_receipt(access, connection, receipt, wait=first_of(wait, body.wait))


@router.post("/ingest/text", status_code=202, responses=documented(*_ERRORS, also=ENDED))
async def ingest_text(
    access: Writer, body: TextIngest, connection: Connected, wait: WaitFlag = None
) -> Enveloped[Ingested]:
    """Ingest a text.

    The JSON has at most 16 MB. Without a `name` the server generates one.
    """
    project_id = access.project(body.project_id)
    async with access.app.inbox.text(body.text) as file:
        receipt = await access.app.receiver.receive(
            file,
            name=f"text-{file.sha256.hex()[:12]}.txt" if body.name is None else body.name,
            project_id=project_id,
            chunking=body.chunking(await access.default_chunking(project_id)),
            metadata=body.metadata,
        )
    return await answer_receipt(access, connection, receipt, wait=first_of(wait, body.wait))


async def _receive_all(access: Access, files: list[Upload], fields: UploadForm) -> list[Receipt | Refused]:
    """One entry per file. A file that cannot be stored does not affect the others; if none can be, raises the first error."""
    project_id = access.project(fields.project_id)
    chunking = fields.chunking(await access.default_chunking(project_id))
    folder = (fields.folder or "").strip("/")
    found: list[Receipt | Refused] = []
    for upload in files:
        try:
            receipt = await access.app.receiver.receive(
                upload.file,
                name="/".join(filter(None, (folder, base_name(upload.name)))),
                project_id=project_id,
                chunking=chunking,
                metadata=fields.metadata,
                origin=fields.origin if len(files) == 1 else None,
            )
            found.append(receipt)
        except errors.WhenceError as exc:
            found.append((upload, exc))
    failures = [item[1] for item in found if isinstance(item, tuple)]
    if len(failures) == len(found):
        raise failures[0]
    return found


async def _describe(
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


async def answer_receipt(
    access: Access, connection: ClientConnection, receipt: Receipt, *, wait: bool
) -> Enveloped[Ingested]:
    return success(await _describe(access, connection, receipt, wait=wait), 200 if wait else 202)
