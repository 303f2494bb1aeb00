"""Provenance: which chunk said what, of which object, under which schema."""

from uuid import UUID

from fastapi import Request, Response

from whence.errors import ChunkNotFound, InvalidParameter, InvalidUUID, ObjectNotFound, ProjectNotFound
from whence.web.access import reader
from whence.web.answer import page, paged, success
from whence.web.graph_models import ClaimModel, EventModel, MentionedObject, MentionModel, StaleAnswer
from whence.web.inputs import declared_query, limit_and_offset, path_id, query_parameters, searchable
from whence.web.models import Page, Success
from whence.web.routes import Direct, api_router, documented
from whence.web.routes.objects import object_of
from whence.web.telling import (
    claim_as_json,
    event_as_json,
    mention_as_json,
    object_as_json,
    stale_as_json,
)

router = api_router("provenance", route_class=Direct)

_OF_OBJECT = documented(InvalidParameter, InvalidUUID, ObjectNotFound)


@router.get(
    "/objects/{object_id}/provenance",
    summary="Every claim about an object, or about one property; the newest first",
    response_model=Success[Page[ClaimModel]],
    responses=_OF_OBJECT,
    openapi_extra=declared_query(
        "object_id", paged=True, property={"type": "string", "description": "Only of this property."}
    ),
)
async def object_provenance(request: Request) -> Response:
    access = await reader(request)
    limit, offset = limit_and_offset(request)
    property_name = searchable(query_parameters(request), "property")
    found = await object_of(access, request)
    claims, total = await access.store.graph.provenance.of_object(
        found.project_id, found.id, property_name=property_name, limit=limit, offset=offset
    )
    return page([claim_as_json(claim) for claim in claims], total=total, limit=limit, offset=offset)


@router.get(
    "/objects/{object_id}/chunks",
    summary="The chunks that speak of an object, document by document in reading order",
    response_model=Success[Page[MentionModel]],
    responses=_OF_OBJECT,
    openapi_extra=declared_query("object_id", paged=True),
)
async def object_chunks(request: Request) -> Response:
    access = await reader(request)
    limit, offset = limit_and_offset(request)
    found = await object_of(access, request)
    mentions, total = await access.store.graph.provenance.chunks_of_object(
        found.project_id, found.id, limit=limit, offset=offset
    )
    ids = [str(mention.place.chunk_id) for mention in mentions]
    views = await access.store.chunks.bulk(ids, project_id=found.project_id)
    chunks = {view["id"]: view for view in views}
    items = [
        mention_as_json(one, chunks[key]) for key, one in zip(ids, mentions, strict=True) if key in chunks
    ]
    return page(items, total=total, limit=limit, offset=offset)


@router.get(
    "/objects/{object_id}/history",
    summary="What made an object what it is, the oldest first",
    response_model=Success[Page[EventModel]],
    responses=_OF_OBJECT,
    openapi_extra=declared_query("object_id", paged=True),
)
async def object_history(request: Request) -> Response:
    access = await reader(request)
    limit, offset = limit_and_offset(request)
    found = await object_of(access, request)
    events, total = await access.store.graph.provenance.history(
        found.project_id, found.id, limit=limit, offset=offset
    )
    return page([event_as_json(event) for event in events], total=total, limit=limit, offset=offset)


@router.get(
    "/chunks/{chunk_id}/objects",
    summary="The objects that a chunk speaks of",
    response_model=Success[Page[MentionedObject]],
    responses=documented(InvalidParameter, InvalidUUID, ChunkNotFound),
    openapi_extra=declared_query("chunk_id", paged=True),
)
async def chunk_objects(request: Request) -> Response:
    access = await reader(request)
    chunk_id = path_id(request, "chunk_id")
    limit, offset = limit_and_offset(request)
    project_id, _ = await access.store.hits.one(chunk_id, project_id=access.project_id)
    found, total = await access.store.graph.provenance.objects_of_chunk(
        project_id, UUID(chunk_id), limit=limit, offset=offset
    )
    items = [{**object_as_json(one), "property_names": list(names)} for one, names in found]
    return page(items, total=total, limit=limit, offset=offset)


@router.get(
    "/projects/{project_id}/provenance/stale",
    summary="The properties that come from older schemas, and the chunks to read again",
    response_model=Success[StaleAnswer],
    responses=documented(InvalidParameter, InvalidUUID, ProjectNotFound),
    openapi_extra=declared_query("project_id", paged=True),
)
async def stale(request: Request) -> Response:
    access = await reader(request)
    limit, offset = limit_and_offset(request)
    project_id = access.project(path_id(request, "project_id"), parameter="project_id")
    await access.store.projects.get(project_id)
    schema = await access.store.schemas.current(project_id)
    number = schema.number if schema else 0
    graph = access.store.graph
    claims, claim_total = await graph.provenance.older(project_id, number, limit=limit, offset=offset)
    chunks, chunk_total = await graph.ledger.stale(project_id, number, limit=limit, offset=offset)
    return success(
        {
            "schema_version": schema.version if schema else None,
            **paged([claim_as_json(one) for one in claims], total=claim_total, limit=limit, offset=offset),
            "chunks": paged(
                [stale_as_json(one) for one in chunks], total=chunk_total, limit=limit, offset=offset
            ),
        }
    )
