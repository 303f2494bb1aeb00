"""Chunks: get one, list those of a job, get many by id, delete one.

These are the hot routes. They read the request by hand and encode rows without models (docs/decisions/0004).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from fastapi import Depends, HTTPException, Request, Response

from whence.api.base import Listing
from whence.api.chunks import BulkAnswer, BulkRequest, ChunkModel
from whence.api.documents import ChunkDeletionImpact
from whence.errors import InvalidUUID, JobNotFound, MethodNotAllowed, WhenceError
from whence.web.access import reader, writer
from whence.web.bodies import declared_body, read_json
from whence.web.parameters import ChunkFlags, CursorRequest, PathId, chunk_flags, page_of, path_id
from whence.web.responses import Enveloped, plain_page, plain_success, success
from whence.web.routes import Direct, api_router, documented

router = api_router("chunks", route_class=Direct)


@dataclass(frozen=True, slots=True)
class _JobId:
    job_id: PathId


@dataclass(frozen=True, slots=True)
class _ChunkId:
    chunk_id: PathId


_JOB, _CHUNK, _FLAGS = Depends(_JobId), Depends(_ChunkId), Depends(chunk_flags)
"""These dependencies only document the parameters."""


@router.get("/jobs/{job_id}/chunks/{chunk_id}", dependencies=[_JOB, _CHUNK, _FLAGS])
async def get_job_chunk(request: Request) -> Enveloped[ChunkModel]:
    """Get a chunk of a job.

    404 `JOB_NOT_FOUND` when there is no such job, 404 `CHUNK_NOT_FOUND` when the job has no such chunk.
    """
    return await _get_one(request, job_id=path_id(request, "job_id"))


@router.delete("/chunks/bulk", include_in_schema=False)
@router.get("/chunks/bulk", include_in_schema=False)
async def not_bulk(_request: Request) -> Response:
    """Without this route `bulk` would count as a chunk's id."""
    raise HTTPException(MethodNotAllowed.status)


@router.get("/chunks/{chunk_id}", responses=documented(JobNotFound), dependencies=[_CHUNK, _FLAGS])
async def get_chunk(request: Request) -> Enveloped[ChunkModel]:
    """Get a chunk.

    404 `JOB_NOT_FOUND` "Source job not found" when the job was deleted between two reads.
    """
    return await _get_one(request)


async def _get_one(request: Request, job_id: str | None = None) -> Enveloped[ChunkModel]:
    access = await reader(request)
    chunk_id, query = path_id(request, "chunk_id"), ChunkFlags.of(request)
    with _translate_failures("Failed to retrieve chunk", source=query.source):
        chunk = await access.store.chunks.get(
            chunk_id,
            project_id=access.project_id,
            job_id=job_id,
            source=query.source,
            embedding=query.embedding,
        )
    return plain_success(chunk)


@router.get("/chunks/{chunk_id}/deletion-impact", dependencies=[_CHUNK])
async def get_chunk_deletion_impact(request: Request) -> Enveloped[ChunkDeletionImpact]:
    """Show what would be deleted together with a chunk."""
    access = await reader(request)
    chunk_id = path_id(request, "chunk_id")
    with _translate_failures("Failed to retrieve chunk"):
        project_id, chunk = await access.store.hits.one(chunk_id, project_id=access.project_id)
        return success(await ChunkDeletionImpact.load(access.store, project_id, chunk))


@router.delete("/chunks/{chunk_id}", dependencies=[_CHUNK])
async def delete_chunk(request: Request) -> Enveloped[ChunkModel]:
    """Delete a chunk; its document and the document's text stay.

    Deletes the chunk with its vectors, index entries and claims in one transaction.

    The other chunks keep their ids and their `chunk_index`. Ingesting the document's content again restores the chunk under
    another id. `data` is the chunk as it was.
    """
    access = await writer(request)
    chunk_id = path_id(request, "chunk_id")
    with _translate_failures("Failed to delete chunk"):
        project_id, chunk = await access.store.hits.one(chunk_id, project_id=access.project_id)
        document_id = UUID(chunk["document_id"])
        return plain_success(await access.app.remover.chunk(project_id, document_id, UUID(chunk["id"])))


@router.get("/jobs/{job_id}/chunks", dependencies=[_JOB, _FLAGS, Depends(CursorRequest)])
async def list_job_chunks(request: Request) -> Enveloped[Listing[ChunkModel]]:
    """List the chunks of a job, in reading order."""
    access = await reader(request)
    job_id, query, page = path_id(request, "job_id"), ChunkFlags.of(request), page_of(request)
    with _translate_failures("Failed to retrieve chunks", source=query.source):
        chunks, total = await access.store.chunks.of_job(
            job_id,
            project_id=access.project_id,
            limit=page.fetched,
            offset=page.offset,
            after=page.after,
            source=query.source,
            embedding=query.embedding,
        )
    return plain_page(chunks, total, page)


@router.post("/chunks/bulk", responses=documented(InvalidUUID), openapi_extra=declared_body(BulkRequest))
async def get_chunks(request: Request) -> Enveloped[BulkAnswer]:
    """Get up to 100 chunks by id.

    Repeated ids count once, but the limit of 100 applies to the array as sent. The chunks are ordered by id.

    An id that does not exist, or that the key may not read, is in `not_found`; the status is 200, also when no chunk was found.
    `found_count` plus the length of `not_found` is `requested_count`. Wrong ids: 400 `INVALID_UUID` "Invalid UUID format at
    index N".
    """
    access = await reader(request)
    wanted = await read_json(request, BulkRequest)
    ids = dict.fromkeys(wanted.chunk_ids)
    with _translate_failures("Failed to retrieve chunks", source=wanted.include_source):
        chunks = await access.store.chunks.bulk(
            ids,
            project_id=access.project_id,
            source=wanted.include_source,
            embedding=wanted.include_embeddings,
        )
    found = {chunk["id"] for chunk in chunks}
    return plain_success(
        {
            "chunks": chunks,
            "found_count": len(chunks),
            "requested_count": len(ids),
            "not_found": [chunk_id for chunk_id in ids if chunk_id not in found],
        }
    )


@contextmanager
def _translate_failures(message: str, *, source: bool = False) -> Iterator[None]:
    """Turns a failing statement or a bug into a 500 that names the operation, and logs the cause.

    A database that does not answer stays a 503.
    """
    try:
        yield
    except Exception as exc:
        if isinstance(exc, WhenceError) and type(exc) is not WhenceError:
            raise
        raise WhenceError("Failed to include source context" if source else message) from exc
