"""Extraction on request: of a document, and again where the schema changed."""

from typing import Annotated
from uuid import UUID

from fastapi import Query, Response

from whence.api.base import Success
from whence.api.extraction import ExtractionOrdered, ExtractRequest, ReextractionAnswer, ReextractRequest
from whence.api.values import Flag
from whence.errors import (
    BadInput,
    Conflict,
    DocumentNotFound,
    InvalidParameter,
    InvalidUUID,
    PayloadTooLarge,
    ProjectNotFound,
)
from whence.models import Document
from whence.web.access import Access, Writer
from whence.web.connection import Connected
from whence.web.job_wait import deadline, ended
from whence.web.parameters import PathId, WaitFlag
from whence.web.responses import success
from whence.web.routes import api_router, documented

router = api_router("extraction")

DryRunFlag = Annotated[
    bool | None,
    Query(
        alias="dryRun", description="Only say what it would cost; the same field in the body does the same."
    ),
    Flag(),
]


@router.post(
    "/documents/{document_id}/extract",
    summary="Extract objects and relationships from a document",
    status_code=202,
    response_model=Success[ExtractionOrdered],
    responses={
        **documented(BadInput, InvalidParameter, InvalidUUID, DocumentNotFound, Conflict, PayloadTooLarge),
        200: {"model": Success[ExtractionOrdered], "description": "With `wait`: the job has ended."},
    },
)
async def extract_document(
    access: Writer,
    document_id: PathId,
    connection: Connected,
    body: ExtractRequest | None = None,
    wait: WaitFlag = None,
) -> Response:
    """The body may be left out. An order that is already waiting is answered again.

    409 `CONFLICT` when the embeddings are not complete, the document could not be ingested, or a model is wanted and none is
    configured.
    """
    wanted = body or ExtractRequest()
    job = await access.app.orders.document(await _find_document(access, document_id), scope=wanted.scope)
    if not _either(wanted.wait, wait):
        return success(ExtractionOrdered.of(job), 202)
    return success(ExtractionOrdered.of(await ended(access.app, job.id, connection, deadline())))


@router.post(
    "/documents/{document_id}/reextract",
    summary="Extract a document again under the current schema",
    status_code=202,
    response_model=Success[ReextractionAnswer],
    responses={
        **documented(BadInput, InvalidParameter, InvalidUUID, DocumentNotFound, Conflict, PayloadTooLarge),
        200: {"model": Success[ReextractionAnswer], "description": "With `dryRun`: nothing was ordered."},
    },
)
async def reextract_document(
    access: Writer,
    document_id: PathId,
    body: ReextractRequest | None = None,
    dry_run: DryRunFlag = None,
) -> Response:
    wanted = body or ReextractRequest()
    document = await _find_document(access, document_id)
    reextraction = access.app.reextraction
    plan = await reextraction.plan(document.project_id, scope=wanted.scope, document_id=document.id)
    if _either(wanted.dry_run, dry_run):
        return success(ReextractionAnswer.of(plan, None))
    jobs = [await access.app.orders.document(document, scope=wanted.scope)]
    return success(ReextractionAnswer.of(plan, jobs), 202)


@router.post(
    "/projects/{project_id}/reextract",
    summary="Extract all documents of a project again under the current schema",
    status_code=202,
    response_model=Success[ReextractionAnswer],
    responses={
        **documented(BadInput, InvalidParameter, InvalidUUID, ProjectNotFound, Conflict, PayloadTooLarge),
        200: {"model": Success[ReextractionAnswer], "description": "With `dryRun`: nothing was ordered."},
    },
)
async def reextract_project(
    access: Writer,
    project_id: PathId,
    body: ReextractRequest | None = None,
    dry_run: DryRunFlag = None,
) -> Response:
    wanted = body or ReextractRequest()
    access.only_own(project_id)
    reextraction = access.app.reextraction
    plan = await reextraction.plan(project_id, scope=wanted.scope)
    if _either(wanted.dry_run, dry_run):
        return success(ReextractionAnswer.of(plan, None))
    jobs = await reextraction.project(project_id, scope=wanted.scope)
    return success(ReextractionAnswer.of(plan, jobs), 202)


def _either(in_body: bool | None, in_query: bool | None) -> bool:
    """The body goes before the query."""
    return bool(in_query if in_body is None else in_body)


async def _find_document(access: Access, document_id: UUID) -> Document:
    return await access.store.documents.get(document_id, project_id=access.project_id)
