"""Provenance: which chunk said what about which object, under which schema."""

from typing import Annotated

from fastapi import Query, Response

from whence.api.base import Listing, Success, pagination_of
from whence.api.graph import (
    ClaimModel,
    EventModel,
    MentionedObject,
    MentionModel,
    StaleAnswer,
    StaleChunkModel,
)
from whence.api.values import SearchText
from whence.errors import ChunkNotFound, InvalidParameter, InvalidUUID, ObjectNotFound, ProjectNotFound
from whence.web.access import Reader
from whence.web.parameters import Limit, Offset, PathId
from whence.web.responses import success
from whence.web.routes import api_router, documented
from whence.web.routes.objects import find_object

router = api_router("provenance")

_OF_OBJECT = documented(InvalidParameter, InvalidUUID, ObjectNotFound)

PropertyName = Annotated[
    str | None, Query(alias="property", description="Only of this property."), SearchText()
]


@router.get(
    "/objects/{object_id}/provenance",
    name="list_claims",
    summary="List every claim about an object, or about one property; the newest first",
    response_model=Success[Listing[ClaimModel]],
    responses=_OF_OBJECT,
)
async def object_provenance(
    access: Reader,
    object_id: PathId,
    property_name: PropertyName = None,
    limit: Limit = 20,
    offset: Offset = 0,
) -> Response:
    found = await find_object(access, object_id)
    claims, total = await access.store.graph.provenance.of_object(
        found.project_id, found.id, property_name=property_name, limit=limit, offset=offset
    )
    items = [ClaimModel.of(claim) for claim in claims]
    return success(Listing[ClaimModel].of(items, total=total, limit=limit, offset=offset))


@router.get(
    "/objects/{object_id}/chunks",
    name="list_object_chunks",
    summary="List the chunks that mention an object, document by document in reading order",
    response_model=Success[Listing[MentionModel]],
    responses=_OF_OBJECT,
)
async def object_chunks(access: Reader, object_id: PathId, limit: Limit = 20, offset: Offset = 0) -> Response:
    found = await find_object(access, object_id)
    mentions, total = await access.store.graph.provenance.chunks_of_object(
        found.project_id, found.id, limit=limit, offset=offset
    )
    ids = [str(mention.place.chunk_id) for mention in mentions]
    views = await access.store.chunks.bulk(ids, project_id=found.project_id)
    chunks = {view["id"]: view for view in views}
    items = [
        MentionModel.of(one, chunks[key]) for key, one in zip(ids, mentions, strict=True) if key in chunks
    ]
    return success(Listing[MentionModel].of(items, total=total, limit=limit, offset=offset))


@router.get(
    "/objects/{object_id}/history",
    name="list_object_history",
    summary="List the changes of an object, the oldest first",
    response_model=Success[Listing[EventModel]],
    responses=_OF_OBJECT,
)
async def object_history(
    access: Reader, object_id: PathId, limit: Limit = 20, offset: Offset = 0
) -> Response:
    """Claims whose chunk is gone are not in it."""
    found = await find_object(access, object_id)
    events, total = await access.store.graph.provenance.history(
        found.project_id, found.id, limit=limit, offset=offset
    )
    items = [EventModel.of(event) for event in events]
    return success(Listing[EventModel].of(items, total=total, limit=limit, offset=offset))


@router.get(
    "/chunks/{chunk_id}/objects",
    name="list_chunk_objects",
    summary="List the objects that a chunk mentions",
    response_model=Success[Listing[MentionedObject]],
    responses=documented(InvalidParameter, InvalidUUID, ChunkNotFound),
)
async def chunk_objects(access: Reader, chunk_id: PathId, limit: Limit = 20, offset: Offset = 0) -> Response:
    project_id, _ = await access.store.hits.one(str(chunk_id), project_id=access.project_id)
    found, total = await access.store.graph.provenance.objects_of_chunk(
        project_id, chunk_id, limit=limit, offset=offset
    )
    items = [MentionedObject.of(one, property_names=list(names)) for one, names in found]
    return success(Listing[MentionedObject].of(items, total=total, limit=limit, offset=offset))


@router.get(
    "/projects/{project_id}/provenance/stale",
    name="list_stale",
    summary="List the properties that come from older schemas, and the chunks to read again",
    response_model=Success[StaleAnswer],
    responses=documented(InvalidParameter, InvalidUUID, ProjectNotFound),
)
async def stale(access: Reader, project_id: PathId, limit: Limit = 20, offset: Offset = 0) -> Response:
    """`items` are claims under older schemas; `chunks` were last read under an older schema, failed, or were never read.

    `limit` and `offset` count for both.
    """
    access.only_own(project_id)
    await access.store.projects.get(project_id)
    schema = await access.store.schemas.current(project_id)
    number = schema.number if schema else 0
    graph = access.store.graph
    claims, claim_total = await graph.provenance.older(project_id, number, limit=limit, offset=offset)
    chunks, chunk_total = await graph.ledger.stale(project_id, number, limit=limit, offset=offset)
    stale_chunks = [StaleChunkModel.of(one) for one in chunks]
    return success(
        StaleAnswer(
            schema_version=schema.version if schema else None,
            items=[ClaimModel.of(one) for one in claims],
            pagination=pagination_of(claims, total=claim_total, limit=limit, offset=offset),
            chunks=Listing[StaleChunkModel].of(stale_chunks, total=chunk_total, limit=limit, offset=offset),
        )
    )
