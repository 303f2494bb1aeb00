"""Extraction, ordered by hand: of a document, and again where the schema changed."""

from typing import Any
from uuid import UUID

from fastapi import Request, Response

from whence.errors import (
    BadInput,
    Conflict,
    DocumentNotFound,
    InvalidParameter,
    InvalidUUID,
    PayloadTooLarge,
    ProjectNotFound,
)
from whence.extract.order import SCOPES
from whence.extract.reextract import Plan
from whence.types import Document, Job
from whence.web.access import Access, writer
from whence.web.answer import success
from whence.web.extraction_models import ExtractionOrdered, Reextraction
from whence.web.fields import Fields
from whence.web.inputs import declared_query, json_content, path_id, query_parameters
from whence.web.models import Success
from whence.web.routes import Direct, api_router, documented
from whence.web.values import FLAG_SCHEMA, parse_flag, snake
from whence.web.waiting import deadline, ended

router = api_router("extraction", route_class=Direct)

_SCOPE = {
    "type": ["string", "null"],
    "enum": [*SCOPES, None],
    "default": "stale",
    "description": "Chunks that were not yet read under the current schema, or all.",
}
_WAIT = {**FLAG_SCHEMA, "description": "Answer when the job has ended."}
_DRY_RUN = {**FLAG_SCHEMA, "description": "Only say what it would take."}


def _body(**properties: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {"requestBody": {"required": False, "content": {"application/json": {"schema": schema}}}}


@router.post(
    "/documents/{document_id}/extract",
    summary="Read a document for objects and relationships",
    status_code=202,
    response_model=Success[ExtractionOrdered],
    responses={
        **documented(BadInput, InvalidParameter, InvalidUUID, DocumentNotFound, Conflict, PayloadTooLarge),
        200: {"model": Success[ExtractionOrdered], "description": "With `wait`: the job has ended."},
    },
    openapi_extra={**_body(scope=_SCOPE, wait=_WAIT), **declared_query("document_id", wait=FLAG_SCHEMA)},
)
async def extract_document(request: Request) -> Response:
    access = await writer(request)
    fields = await _fields(request, "scope", "wait")
    document = await _document(access, request)
    scope = fields.choice("scope", SCOPES, "stale")
    wait = _flag(request, fields, "wait")
    job = await access.app.orders.document(document, scope=scope)
    if wait:
        job = await ended(access.app, job.id, request, deadline())
    return success(_ordered(job), status=200 if wait else 202)


@router.post(
    "/documents/{document_id}/reextract",
    summary="Read a document again under the current schema",
    status_code=202,
    response_model=Success[Reextraction],
    responses={
        **documented(BadInput, InvalidParameter, InvalidUUID, DocumentNotFound, Conflict, PayloadTooLarge),
        200: {"model": Success[Reextraction], "description": "With `dryRun`: nothing was ordered."},
    },
    openapi_extra={
        **_body(scope=_SCOPE, dryRun=_DRY_RUN),
        **declared_query("document_id", dryRun=FLAG_SCHEMA),
    },
)
async def reextract_document(request: Request) -> Response:
    access = await writer(request)
    fields = await _fields(request, "scope", "dryRun")
    document = await _document(access, request)
    scope = fields.choice("scope", SCOPES, "stale")
    again = access.app.reextraction
    plan = await again.plan(document.project_id, scope=scope, document_id=document.id)
    if _flag(request, fields, "dryRun"):
        return success(_planned(plan, None))
    return success(_planned(plan, await again.document(document, scope=scope)), status=202)


@router.post(
    "/projects/{project_id}/reextract",
    summary="Read all documents of a project again under the current schema",
    status_code=202,
    response_model=Success[Reextraction],
    responses={
        **documented(BadInput, InvalidParameter, InvalidUUID, ProjectNotFound, Conflict, PayloadTooLarge),
        200: {"model": Success[Reextraction], "description": "With `dryRun`: nothing was ordered."},
    },
    openapi_extra={
        **_body(scope=_SCOPE, dryRun=_DRY_RUN),
        **declared_query("project_id", dryRun=FLAG_SCHEMA),
    },
)
async def reextract_project(request: Request) -> Response:
    access = await writer(request)
    fields = await _fields(request, "scope", "dryRun")
    project_id = UUID(path_id(request, "project_id"))
    access.only_own(project_id)
    scope = fields.choice("scope", SCOPES, "stale")
    again = access.app.reextraction
    plan = await again.plan(project_id, scope=scope)
    if _flag(request, fields, "dryRun"):
        return success(_planned(plan, None))
    return success(_planned(plan, await again.project(project_id, scope=scope)), status=202)


async def _fields(request: Request, *names: str) -> Fields:
    """A body may be left out. What is misspelt could cost money."""
    fields = Fields(await json_content(request) if await request.body() else {})
    fields.require_known(*names)
    return fields


def _flag(request: Request, fields: Fields, name: str) -> bool:
    """In the body, or in the query."""
    said = fields.value(name)
    return parse_flag(name, query_parameters(request).get(snake(name), "false") if said is None else said)


async def _document(access: Access, request: Request) -> Document:
    document_id = UUID(path_id(request, "document_id"))
    return await access.store.documents.get(document_id, project_id=access.project_id)


def _ordered(job: Job) -> dict[str, Any]:
    return {
        "documentId": job.document_id,
        "jobId": job.id,
        "status": job.status,
        "scope": job.config["scope"],
        "error": job.error_details,
    }


def _planned(plan: Plan, jobs: list[Job] | None) -> dict[str, Any]:
    return {
        "dryRun": jobs is None,
        "scope": plan.scope,
        "schemaVersion": plan.schema_version,
        "documents": plan.estimate.documents,
        "chunks": plan.estimate.chunks,
        "carriedOver": plan.estimate.carried_over,
        "extractor": plan.extractor,
        "promptTokens": plan.estimate.prompt_tokens,
        "completionTokens": plan.estimate.completion_tokens,
        "cost": plan.estimate.cost,
        "jobs": [{"documentId": job.document_id, "jobId": job.id} for job in jobs or ()],
    }
