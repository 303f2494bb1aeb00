"""Jobs: progress, retry, cancel, delete."""

from collections.abc import AsyncGenerator
from typing import Annotated
from uuid import UUID

from fastapi import Query, Response
from fastapi.responses import StreamingResponse

from whence.api.base import Listing
from whence.api.jobs import JobModel, ReadingModel
from whence.api.values import Flag, Ident
from whence.chunk_findings import Outcome
from whence.errors import Conflict, JobNotFound
from whence.models import OPEN, Job, JobStatus, JobType
from whence.web.access import Access, Reader, Writer
from whence.web.events import ClientConnection, Connected, changes, event, streamed
from whence.web.parameters import PagedByCursor, PathId, ProjectFilter
from whence.web.responses import Enveloped, listed, success
from whence.web.routes import TEXT, answered, api_router, documented
from whence.web.routes.chat import EVENT_STREAM

router = api_router("jobs")

StatusFilter = Annotated[JobStatus | None, Query(description="Only jobs with this status.")]
JobTypeFilter = Annotated[JobType | None, Query(description="Only jobs of this type.")]
OfDocument = Annotated[Ident | None, Query(description="Only jobs of this document.")]
OutcomeFilter = Annotated[Outcome | None, Query(description="Only chunks with this outcome.")]
RejectedOnly = Annotated[Flag, Query(description="Only chunks with rejected proposals.")]


@router.get("/jobs")
async def list_jobs(
    access: Reader,
    *,
    project_id: ProjectFilter = None,
    status: StatusFilter = None,
    job_type: JobTypeFilter = None,
    document_id: OfDocument = None,
    page: PagedByCursor,
) -> Enveloped[Listing[JobModel]]:
    """List the jobs of a project, newest first."""
    project = await access.existing_project(project_id, document_id=document_id)
    found, total = await access.store.jobs.page(
        project,
        limit=page.fetched,
        offset=page.offset,
        after=page.after,
        status=status,
        job_type=job_type,
        document_id=document_id,
    )
    return listed(JobModel, found, total, page)


@router.get("/jobs/{job_id}")
async def get_job(access: Reader, job_id: PathId) -> Enveloped[JobModel]:
    """Get a job, or the extractions that were ordered together as one."""
    jobs = access.store.jobs
    try:
        return success(JobModel.of(await _find_job(access, job_id)))
    except JobNotFound:
        return success(JobModel.of_parent(await jobs.parent(job_id, project_id=access.project_id)))


@router.get(
    "/jobs/{job_id}/events",
    response_class=StreamingResponse,
    responses=answered(
        "An event `progress` for each change, the last one `end`; the data is the job.", EVENT_STREAM, TEXT
    ),
)
async def watch_job(access: Reader, job_id: PathId, connection: Connected) -> Response:
    """Watch a job's progress (server-sent events).

    An event `progress` for each change and `end` when the job has ended; the data is the job.

    `deleted` means that the job was deleted. Between changes, a comment is sent every 15 seconds. If a stream ends without `end`
    or `deleted`, open it again.
    """
    job = await _find_job(access, job_id)
    return await streamed(connection, _stream_events(access, job.id, connection), lambda part: [part])


@router.get("/jobs/{job_id}/readings")
async def list_readings(
    access: Reader,
    *,
    job_id: PathId,
    outcome: OutcomeFilter = None,
    rejected: RejectedOnly = False,
    page: PagedByCursor,
) -> Enveloped[Listing[ReadingModel]]:
    """List an extraction's result for each chunk, with rejected proposals, in reading order.

    `after` is the id of a chunk.
    """
    job = await _find_job(access, job_id)
    found, total = await access.store.graph.ledger.readings(
        job.project_id,
        job.id,
        outcome=outcome,
        rejected=rejected,
        limit=page.fetched,
        offset=page.offset,
        after=page.after,
    )
    return listed(ReadingModel, found, total, page)


@router.post("/jobs/{job_id}/retry", status_code=202, responses=documented(Conflict))
async def retry_job(access: Writer, job_id: PathId) -> Enveloped[JobModel]:
    """Run a failed or cancelled job again, from its last finished step.

    409 `CONFLICT` when the job neither failed nor was cancelled, or when a newer job replaced it.
    """
    job = await access.app.retry(await _find_job(access, job_id))
    return success(JobModel.of(job), 202)


@router.post("/jobs/{job_id}/cancel", responses=documented(Conflict))
async def cancel_job(access: Writer, job_id: PathId) -> Enveloped[JobModel]:
    """Cancel a job, or all extractions that were ordered together; the documents keep their stored version.

    409 `CONFLICT` when the job has already ended.
    """
    jobs = access.store.jobs
    try:
        return success(JobModel.of(await access.app.cancel(await _find_job(access, job_id))))
    except JobNotFound:
        parent = await jobs.parent(job_id, project_id=access.project_id)
        return success(JobModel.of_parent(await jobs.cancel_parent(parent)))


@router.delete("/jobs/{job_id}")
async def delete_job(access: Writer, job_id: PathId) -> Enveloped[JobModel]:
    """Delete a job and the chunks it made; claims of an extraction stay in the graph.

    The document and its original stay. The document returns to the state of an earlier job, or has no chunks until it is ingested
    again.

    `data` is the job as it was.
    """
    job = await _find_job(access, job_id)
    await access.app.remover.job(job)
    return success(JobModel.of(job))


async def _find_job(access: Access, job_id: UUID) -> Job:
    return await access.store.jobs.get(job_id, project_id=access.project_id)


async def _stream_events(
    access: Access, job_id: UUID, connection: ClientConnection
) -> AsyncGenerator[bytes, None]:
    try:
        async for job in changes(access.app, job_id, connection):
            yield event("progress" if job.status in OPEN else "end", JobModel.of(job))
    except JobNotFound:
        yield b"event: deleted\ndata: {}\n\n"
