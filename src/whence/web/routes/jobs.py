"""Jobs: how far they are, and what may be done about it."""

from collections.abc import AsyncIterator
from time import monotonic
from typing import Any
from uuid import UUID

from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from whence.errors import Conflict, InvalidParameter, InvalidUUID, JobNotFound, ProjectNotFound, WhenceError
from whence.types import JOB_STATUSES, JOB_TYPES, OPEN, OUTCOMES, Job
from whence.web.access import Access, reader, writer
from whence.web.answer import encode, page, success
from whence.web.errors import answer_to
from whence.web.graph_models import ReadingModel
from whence.web.inputs import (
    choice,
    declared_query,
    given,
    limit_and_offset,
    path_id,
    path_uuid,
    query_parameters,
)
from whence.web.models import JobModel, Page, Success
from whence.web.routes import Direct, api_router, documented
from whence.web.telling import reading_as_json
from whence.web.values import FLAG_SCHEMA, parse_flag
from whence.web.waiting import changes

router = api_router("jobs", route_class=Direct)

BREATH = 15.0
"""Between two signs of life to a client that waits, and to what stands between."""
_COUNTED = ("extracted", "empty", "failed", "rejected", "prompt_tokens", "completion_tokens")


@router.get(
    "/jobs",
    summary="The jobs of a project, the newest first",
    response_model=Success[Page[JobModel]],
    responses=documented(InvalidParameter, InvalidUUID, ProjectNotFound),
    openapi_extra=declared_query(
        paged=True,
        project_id={"type": "string", "format": "uuid"},
        status={"type": "string", "enum": list(JOB_STATUSES)},
        job_type={"type": "string", "enum": list(JOB_TYPES)},
        document_id={"type": "string", "format": "uuid"},
    ),
)
async def list_jobs(request: Request) -> Response:
    access = await reader(request)
    sent = query_parameters(request)
    limit, offset = limit_and_offset(request)
    status = choice(sent, "status", JOB_STATUSES)
    job_type = choice(sent, "job_type", JOB_TYPES)
    said = given(sent, "document_id", "documentId")
    document_id = None if said is None else UUID(path_uuid("document_id", said))
    project_id = await access.project_of(document_id, given(sent, "project_id", "projectId"))
    await access.store.projects.get(project_id)
    found, total = await access.store.jobs.page(
        project_id, limit=limit, offset=offset, status=status, job_type=job_type, document_id=document_id
    )
    return page([job_view(job) for job in found], total=total, limit=limit, offset=offset)


@router.get(
    "/jobs/{job_id}",
    summary="One job",
    response_model=Success[JobModel],
    responses=documented(InvalidUUID, JobNotFound),
    openapi_extra=declared_query("job_id"),
)
async def get_job(request: Request) -> Response:
    access = await reader(request)
    return success(job_view(await _job(access, request)))


@router.get(
    "/jobs/{job_id}/events",
    summary="A job's progress as it comes (server-sent events)",
    response_class=StreamingResponse,
    responses={
        **documented(InvalidUUID, JobNotFound),
        200: {
            "description": "An event `progress` for each change, the last one `end`; the data is the job.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
    },
    openapi_extra=declared_query("job_id"),
)
async def job_events(request: Request) -> Response:
    access = await reader(request)
    job = await _job(access, request)
    return StreamingResponse(
        _events(access, job.id, request),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


@router.get(
    "/jobs/{job_id}/readings",
    summary="What an extraction made of each chunk, and what it rejected of a model's reply, in reading order",
    response_model=Success[Page[ReadingModel]],
    responses=documented(InvalidParameter, InvalidUUID, JobNotFound),
    openapi_extra=declared_query(
        "job_id",
        paged=True,
        outcome={"type": "string", "enum": list(OUTCOMES)},
        rejected={**FLAG_SCHEMA, "description": "Only chunks that something was rejected of."},
    ),
)
async def job_readings(request: Request) -> Response:
    access = await reader(request)
    sent = query_parameters(request)
    limit, offset = limit_and_offset(request)
    outcome = choice(sent, "outcome", OUTCOMES)
    rejected = parse_flag("rejected", sent.get("rejected", "false"))
    job = await _job(access, request)
    found, total = await access.store.graph.ledger.readings(
        job.project_id, job.id, outcome=outcome, rejected=rejected, limit=limit, offset=offset
    )
    return page([reading_as_json(one) for one in found], total=total, limit=limit, offset=offset)


@router.post(
    "/jobs/{job_id}/retry",
    summary="Run a job again that failed or was cancelled; it goes on from its last finished step",
    status_code=202,
    response_model=Success[JobModel],
    responses=documented(InvalidUUID, JobNotFound, Conflict),
    openapi_extra=declared_query("job_id"),
)
async def retry_job(request: Request) -> Response:
    access = await writer(request)
    job = await access.app.retry(await _job(access, request))
    return success(job_view(job), status=202)


@router.post(
    "/jobs/{job_id}/cancel",
    summary="Stop a job; what is stored of its document stays as it is",
    response_model=Success[JobModel],
    responses=documented(InvalidUUID, JobNotFound, Conflict),
    openapi_extra=declared_query("job_id"),
)
async def cancel_job(request: Request) -> Response:
    access = await writer(request)
    return success(job_view(await access.app.cancel(await _job(access, request))))


@router.delete(
    "/jobs/{job_id}",
    summary="Delete a job and the chunks it made; what an extraction gave the graph stays",
    response_model=Success[JobModel],
    responses=documented(InvalidUUID, JobNotFound),
    openapi_extra=declared_query("job_id"),
)
async def delete_job(request: Request) -> Response:
    access = await writer(request)
    job = await _job(access, request)
    await access.app.remover.job(job)
    return success(job_view(job))


async def _job(access: Access, request: Request) -> Job:
    return await access.store.jobs.get(UUID(path_id(request, "job_id")), project_id=access.project_id)


async def _events(access: Access, job_id: UUID, request: Request) -> AsyncIterator[bytes]:
    breath = monotonic()
    try:
        async for job in changes(access.app, job_id):
            if job is not None:
                breath = monotonic()
                yield _event("progress" if job.status in OPEN else "end", job)
            elif monotonic() - breath > BREATH:
                breath = monotonic()
                yield b": still there\n\n"
            if request.app.state.stopping():
                return
    except JobNotFound:
        yield b"event: deleted\ndata: {}\n\n"
    except WhenceError as exc:  # the status is sent already: the error becomes the last event
        yield b"event: error\ndata: %s\n\n" % bytes(answer_to(request, exc).body)


def _event(name: str, job: Job) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), encode(job_view(job)))


def _extraction(job: Job) -> dict[str, Any]:
    noted = job.config.get("extraction", {})
    return {
        "scope": job.config.get("scope", "all"),
        "schema_version": None if job.schema_number is None else f"v{job.schema_number}",
        "extractor": noted.get("extractor"),
        "model": noted.get("model"),
        **{name: noted.get(name, 0) for name in _COUNTED},
        "cost": noted.get("cost"),
    }


def job_view(job: Job) -> dict[str, Any]:
    """What a client may see of a job: its `config` says how it cuts or extracts, and nothing else of it is told."""
    return {
        "id": job.id,
        "project_id": job.project_id,
        "document_id": job.document_id,
        "job_type": job.type,
        "job_name": job.name,
        "status": job.status,
        "stage": job.stage,
        "done": job.done,
        "total": job.total,
        "attempts": job.attempts,
        "error": job.error_details,
        "chunking": job.config.get("chunking"),
        "extraction": _extraction(job) if job.type == "extraction" else None,
        "file_name": job.file_name,
        "file_type": job.file_type,
        "file_size": job.file_size,
        "created_at": job.created_at,
        "started_at": job.started_at,
        "completed_at": job.completed_at,
    }
