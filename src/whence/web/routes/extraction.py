"""Extraction on request: of a document, or again after the schema changed."""

from typing import Annotated

from fastapi import Query

from whence.api.jobs import ExtractionOrdered, ExtractRequest, ReextractionAnswer, ReextractRequest
from whence.api.values import Flag
from whence.errors import Conflict
from whence.web.access import Writer
from whence.web.events import Connected, deadline, ended
from whence.web.parameters import PathId, WaitFlag, first_of
from whence.web.responses import Enveloped, success
from whence.web.routes import ENDED, Responses, api_router, documented

router = api_router("extraction")

_DRY: Responses = {200: {"description": "With `dryRun`: no extraction was queued."}}

DryRunFlag = Annotated[
    Flag | None,
    Query(
        alias="dryRun", description="Only estimate the cost. The body field of the same name does the same."
    ),
]


@router.post("/documents/{document_id}/extract", status_code=202, responses=documented(Conflict, also=ENDED))
async def extract_document(
    access: Writer,
    document_id: PathId,
    connection: Connected,
    body: ExtractRequest | None = None,
    wait: WaitFlag = None,
) -> Enveloped[ExtractionOrdered]:
    """Extract objects and relationships from a document.

    The body may be left out. If an extraction is already waiting, the answer is that job.

    409 `CONFLICT` when the embeddings are not complete, the document could not be ingested, or a model is requested and none is
    configured.
    """
    wanted = body or ExtractRequest()
    job = await access.app.orders.document(await access.document(document_id), scope=wanted.scope)
    if not first_of(wanted.wait, wait):
        return success(ExtractionOrdered.of(job), 202)
    return success(ExtractionOrdered.of(await ended(access.app, job.id, connection, deadline())))


@router.post("/documents/{document_id}/reextract", status_code=202, responses=documented(Conflict, also=_DRY))
async def reextract_document(
    access: Writer, document_id: PathId, body: ReextractRequest | None = None, dry_run: DryRunFlag = None
) -> Enveloped[ReextractionAnswer]:
    """Extract a document again under the current schema."""
    wanted = body or ReextractRequest()
    document = await access.document(document_id)
    plan = await access.app.orders.plan(document.project_id, scope=wanted.scope, document_id=document.id)
    if first_of(wanted.dry_run, dry_run):
        return success(ReextractionAnswer.planned(plan))
    jobs = [await access.app.orders.document(document, scope=wanted.scope)]
    return success(ReextractionAnswer.planned(plan, jobs), 202)


@router.post("/projects/{project_id}/reextract", status_code=202, responses=documented(Conflict, also=_DRY))
async def reextract_project(
    access: Writer, project_id: PathId, body: ReextractRequest | None = None, dry_run: DryRunFlag = None
) -> Enveloped[ReextractionAnswer]:
    """Extract all documents of a project again under the current schema."""
    wanted = body or ReextractRequest()
    access.only_own(project_id)
    plan = await access.app.orders.plan(project_id, scope=wanted.scope)
    if first_of(wanted.dry_run, dry_run):
        return success(ReextractionAnswer.planned(plan))
    jobs = await access.app.orders.project(project_id, scope=wanted.scope)
    return success(ReextractionAnswer.planned(plan, jobs), 202)
