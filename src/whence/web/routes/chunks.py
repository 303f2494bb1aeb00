"""Chunks: one, a job's, and many by id; deleting one."""

from uuid import UUID

from fastapi import HTTPException, Request, Response

from whence.errors import (
    BadInput,
    ChunkNotFound,
    InvalidParameter,
    InvalidUUID,
    JobNotFound,
    MethodNotAllowed,
    PayloadTooLarge,
    WhenceError,
)
from whence.store.chunks import ChunkView
from whence.web.access import Access, reader, writer
from whence.web.answer import page, success
from whence.web.impact import chunk_deletion_impact
from whence.web.inputs import (
    ChunkQuery,
    declared,
    declared_body,
    declared_query,
    json_body,
    limit_and_offset,
    path_id,
)
from whence.web.models import BulkAnswer, BulkRequest, ChunkDeletionImpact, ChunkModel, Page, Success
from whence.web.routes import Direct, api_router, documented

router = api_router("chunks", route_class=Direct)


@router.get(
    "/jobs/{job_id}/chunks/{chunk_id}",
    summary="One chunk of a job",
    response_model=Success[ChunkModel],
    responses=documented(InvalidParameter, InvalidUUID, ChunkNotFound, JobNotFound, WhenceError),
    openapi_extra=declared("job_id", "chunk_id"),
)
async def get_job_chunk(request: Request) -> Response:
    return await _one(request, job_id=path_id(request, "job_id"))


@router.delete("/chunks/bulk", include_in_schema=False)
@router.get("/chunks/bulk", include_in_schema=False)
async def not_bulk(_request: Request) -> Response:
    """Else `bulk` would be taken for a chunk's id."""
    raise HTTPException(MethodNotAllowed.status)


@router.get(
    "/chunks/{chunk_id}",
    summary="One chunk",
    response_model=Success[ChunkModel],
    responses=documented(InvalidParameter, InvalidUUID, ChunkNotFound, JobNotFound, WhenceError),
    openapi_extra=declared("chunk_id"),
)
async def get_chunk(request: Request) -> Response:
    return await _one(request)


async def _one(request: Request, job_id: str | None = None) -> Response:
    access = await reader(request)
    chunk_id, query = path_id(request, "chunk_id"), ChunkQuery.of(request)
    with failing_as("Failed to retrieve chunk", source=query.source):
        chunk = await access.store.chunks.get(
            chunk_id,
            project_id=access.project_id,
            job_id=job_id,
            source=query.source,
            embedding=query.embedding,
        )
    return success(chunk)


@router.get(
    "/chunks/{chunk_id}/deletion-impact",
    summary="What deleting the chunk would take along",
    response_model=Success[ChunkDeletionImpact],
    responses=documented(InvalidUUID, ChunkNotFound, WhenceError),
    openapi_extra=declared_query("chunk_id"),
)
async def get_chunk_deletion_impact(request: Request) -> Response:
    access = await reader(request)
    chunk_id = path_id(request, "chunk_id")
    with failing_as("Failed to retrieve chunk", source=False):
        project_id, chunk = await _chunk(access, chunk_id)
        return success(await chunk_deletion_impact(access.store, project_id, chunk))


@router.delete(
    "/chunks/{chunk_id}",
    summary="Delete a chunk; its document and the text of it stay",
    response_model=Success[ChunkModel],
    responses=documented(InvalidUUID, ChunkNotFound, WhenceError),
    openapi_extra=declared_query("chunk_id"),
)
async def delete_chunk(request: Request) -> Response:
    access = await writer(request)
    chunk_id = path_id(request, "chunk_id")
    with failing_as("Failed to delete chunk", source=False):
        project_id, chunk = await _chunk(access, chunk_id)
        document_id = UUID(chunk["document_id"])
        return success(await access.app.remover.chunk(project_id, document_id, UUID(chunk["id"])))


async def _chunk(access: Access, chunk_id: str) -> tuple[UUID, ChunkView]:
    return await access.store.hits.one(chunk_id, project_id=access.project_id)


@router.get(
    "/jobs/{job_id}/chunks",
    summary="The chunks of a job, in reading order",
    response_model=Success[Page[ChunkModel]],
    responses=documented(InvalidParameter, InvalidUUID, JobNotFound, WhenceError),
    openapi_extra=declared("job_id", paged=True),
)
async def list_job_chunks(request: Request) -> Response:
    access = await reader(request)
    job_id, query = path_id(request, "job_id"), ChunkQuery.of(request)
    limit, offset = limit_and_offset(request)
    with failing_as("Failed to retrieve chunks", source=query.source):
        chunks, total = await access.store.chunks.of_job(
            job_id,
            project_id=access.project_id,
            limit=limit,
            offset=offset,
            source=query.source,
            embedding=query.embedding,
        )
    return page(chunks, total=total, limit=limit, offset=offset)


@router.post(
    "/chunks/bulk",
    summary="Up to 100 chunks by id",
    response_model=Success[BulkAnswer],
    responses=documented(BadInput, InvalidParameter, InvalidUUID, PayloadTooLarge, WhenceError),
    openapi_extra=declared_body(BulkRequest),
)
async def bulk(request: Request) -> Response:
    access = await reader(request)
    wanted = await json_body(request, BulkRequest)
    ids = dict.fromkeys(wanted.chunk_ids)
    with failing_as("Failed to retrieve chunks", source=wanted.include_source):
        chunks = await access.store.chunks.bulk(
            ids,
            project_id=access.project_id,
            source=wanted.include_source,
            embedding=wanted.include_embeddings,
        )
    found = {chunk["id"] for chunk in chunks}
    return success(
        {
            "chunks": chunks,
            "found_count": len(chunks),
            "requested_count": len(ids),
            "not_found": [chunk_id for chunk_id in ids if chunk_id not in found],
        }
    )


class failing_as:  # noqa: N801 - reads as what it does: `with failing_as("…"):`
    """A failing statement, or a fault of ours, is a 500 that names the operation; the cause goes to the log.

    A database that does not answer stays a 503.
    """

    __slots__ = ("_message",)

    def __init__(self, message: str, *, source: bool) -> None:
        self._message = "Failed to include source context" if source else message

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, exc: BaseException | None, _trace: object) -> None:
        if not isinstance(exc, Exception):
            return
        if isinstance(exc, WhenceError) and type(exc) is not WhenceError:
            return
        raise WhenceError(self._message) from exc
