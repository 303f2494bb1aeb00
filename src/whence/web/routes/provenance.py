"""Provenance: which chunk claimed what about which object, under which schema version."""

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query

from whence.api.base import Listing
from whence.api.claims import ClaimModel, StatedClaim, add_rects, add_texts
from whence.api.evidence import INCLUDE_RECTS
from whence.api.graph import (
    ConflictModel,
    EventModel,
    MentionedObject,
    MentionModel,
    StaleAnswer,
    StaleChunkModel,
)
from whence.api.values import Flag, Ident, SearchText
from whence.errors import ObjectNotFound
from whence.web.access import Access, Reader
from whence.web.parameters import CursorRequest, Paged, PagedByCursor, PathId, TypeFilter
from whence.web.responses import Enveloped, listed, one_page, success
from whence.web.routes import api_router, documented

router = api_router("provenance")

_OF_OBJECT = documented(ObjectNotFound)

PropertyName = Annotated[SearchText, Query(alias="property", description="Only claims about this property.")]
IncludeRects = Annotated[Flag, Query(alias="includeRects", description=INCLUDE_RECTS)]
IncludeText = Annotated[Flag, Query(alias="includeText", description="Add the text of each claim's chunk.")]
Current = Annotated[Flag | None, Query(description="true: only current claims; false: only others.")]
OfObject = Annotated[Ident | None, Query(alias="object", description="Only conflicts of this object.")]


@router.get("/objects/{object_id}/provenance", responses=_OF_OBJECT)
async def list_claims(
    access: Reader,
    object_id: PathId,
    page: PagedByCursor,
    *,
    property_name: PropertyName = None,
    include_text: IncludeText = False,
    include_rects: IncludeRects = False,
) -> Enveloped[Listing[ClaimModel]]:
    """List every claim about an object, or about one property; the newest first.

    Values that a person set and claims that a person rejected come first.
    """
    found = await access.graph_object(object_id)
    claims, total = await access.store.graph.provenance.of_object(
        found.project_id,
        found.id,
        property_name=property_name,
        limit=page.fetched,
        offset=page.offset,
        after=page.after,
    )
    items = [ClaimModel.of(claim) for claim in claims]
    if include_text:
        items = await add_texts(access.store, found.project_id, items)
    if include_rects:
        items = await add_rects(access.app.evidence, found.project_id, items)
    return one_page(items, total, page)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stated:
    """Filters of the claims of a chunk or a document."""

    property_name: PropertyName = None
    of_type: TypeFilter = None
    current: Current = None
    include_text: IncludeText = False
    include_rects: IncludeRects = False

    async def listed(
        self, access: Access, project_id: UUID, ident: UUID, page: CursorRequest
    ) -> Enveloped[Listing[StatedClaim]]:
        claims, total = await access.store.graph.provenance.stated(
            project_id,
            ident,
            property_name=self.property_name,
            of_type=self.of_type,
            current=self.current,
            limit=page.fetched,
            offset=page.offset,
            after=page.after,
        )
        items = await StatedClaim.load(access.store, project_id, claims)
        if self.include_text:
            items = await add_texts(access.store, project_id, items)
        if self.include_rects:
            items = await add_rects(access.app.evidence, project_id, items)
        return one_page(items, total, page)


Stated = Annotated[_Stated, Depends()]


@router.get("/chunks/{chunk_id}/claims")
async def list_chunk_claims(
    access: Reader, chunk_id: PathId, stated: Stated, page: PagedByCursor
) -> Enveloped[Listing[StatedClaim]]:
    """List the claims of a chunk about objects and relationships, in reading order.

    `type` is that of the object or the relationship.
    """
    project_id, _ = await access.store.hits.one(str(chunk_id), project_id=access.project_id)
    return await stated.listed(access, project_id, chunk_id, page)


@router.get("/documents/{document_id}/claims")
async def list_document_claims(
    access: Reader, document_id: PathId, stated: Stated, page: PagedByCursor
) -> Enveloped[Listing[StatedClaim]]:
    """List the claims of a document about objects and relationships, in reading order.

    `document_start` and `document_end` are the span of the quote in the document's text. `type` is that of the object
    or the relationship.
    """
    document = await access.document(document_id)
    return await stated.listed(access, document.project_id, document_id, page)


@router.get("/projects/{project_id}/conflicts")
async def list_conflicts(
    access: Reader,
    project_id: PathId,
    page: Paged,
    *,
    object_id: OfObject = None,
    object_type: TypeFilter = None,
    property_name: PropertyName = None,
) -> Enveloped[Listing[ConflictModel]]:
    """List properties of objects and relationships with conflicting claims.

    Values that differ only in case, white space, dashes or quotes are equal. Lists accumulate and do not conflict.
    """
    await access.existing_project(project_id)
    found, total = await access.store.graph.conflicts.page(
        project_id,
        object_id=object_id,
        object_type=object_type,
        property_name=property_name,
        limit=page.limit,
        offset=page.offset,
    )
    return listed(ConflictModel, found, total, page)


@router.get("/objects/{object_id}/chunks", responses=_OF_OBJECT)
async def list_object_chunks(
    access: Reader, object_id: PathId, page: PagedByCursor
) -> Enveloped[Listing[MentionModel]]:
    """List the chunks that mention an object, document by document in reading order."""
    found = await access.graph_object(object_id)
    mentions, total = await access.store.graph.mentions.of_object(
        found.project_id, found.id, limit=page.fetched, offset=page.offset, after=page.after
    )
    ids = [str(mention.place.chunk_id) for mention in mentions]
    views = await access.store.chunks.bulk(ids, project_id=found.project_id)
    chunks = {view["id"]: view for view in views}
    items = [
        MentionModel.in_chunk(one, chunks[key])
        for key, one in zip(ids, mentions, strict=True)
        if key in chunks
    ]
    return one_page(items, total, page)


@router.get("/objects/{object_id}/history", responses=_OF_OBJECT)
async def list_object_history(
    access: Reader, object_id: PathId, page: PagedByCursor
) -> Enveloped[Listing[EventModel]]:
    """List the changes of an object, oldest first; also of a rejected object.

    Claims of deleted chunks are left out.
    """
    project_id, ident = await access.corrected_object(object_id)
    events, total = await access.store.graph.provenance.history(
        project_id, ident, limit=page.fetched, offset=page.offset, after=page.after
    )
    return listed(EventModel, events, total, page)


@router.get("/chunks/{chunk_id}/objects")
async def list_chunk_objects(
    access: Reader, chunk_id: PathId, page: PagedByCursor
) -> Enveloped[Listing[MentionedObject]]:
    """List the objects that a chunk mentions."""
    project_id, _ = await access.store.hits.one(str(chunk_id), project_id=access.project_id)
    found, total = await access.store.graph.mentions.of_chunk(
        project_id, chunk_id, limit=page.fetched, offset=page.offset, after=page.after
    )
    items = [MentionedObject.of(one, property_names=list(names)) for one, names in found]
    return one_page(items, total, page)


@router.get("/projects/{project_id}/provenance/stale")
async def list_stale(access: Reader, project_id: PathId, page: Paged) -> Enveloped[StaleAnswer]:
    """List claims under older schemas, and the chunks to extract again.

    `items` are claims under older schemas whose chunk was not extracted again since; `chunks` were last extracted under an older
    schema, failed, or were never extracted.

    `limit` and `offset` apply to both.
    """
    await access.existing_project(project_id)
    schema = await access.store.schemas.current(project_id)
    number = schema.number if schema else 0
    graph = access.store.graph
    claims, total = await graph.provenance.older(project_id, number, limit=page.limit, offset=page.offset)
    older = Listing.page([ClaimModel.of(one) for one in claims], total, page.limit, page.offset)
    chunks, total = await graph.ledger.stale(project_id, number, limit=page.limit, offset=page.offset)
    unread = Listing.page([StaleChunkModel.of(one) for one in chunks], total, page.limit, page.offset)
    version = schema.version if schema else None
    return success(StaleAnswer.of(older, schema_version=version, chunks=unread))
