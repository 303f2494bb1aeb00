"""The graph: relationships, the neighbours of an object, a part to look at, and all of it as a file."""

from collections.abc import AsyncIterator
from typing import Annotated
from uuid import UUID

from fastapi import Query, Response
from fastapi.responses import StreamingResponse

from whence.api.base import Listing, Success
from whence.api.graph import GraphAnswer, RelationshipAnswer, RelationshipModel, WholeGraphAnswer
from whence.api.graph_export import FORMATS, Format, exported
from whence.api.values import Choice, Ident, Whole
from whence.errors import InvalidParameter, InvalidUUID, ObjectNotFound, ProjectNotFound, RelationshipNotFound
from whence.store.graph.relationships import MAX_DEPTH
from whence.web.access import Reader
from whence.web.parameters import (
    DocumentFilter,
    Limit,
    NameFilter,
    Offset,
    PathId,
    ProjectFilter,
    TypeFilter,
)
from whence.web.responses import success
from whence.web.routes import api_router, documented
from whence.web.routes.objects import find_object

router = api_router("graph")

MAX_NODES = 1000

FromObject = Annotated[UUID | None, Query(description="Only from this object."), Ident()]
ToObject = Annotated[UUID | None, Query(description="Only to this object."), Ident()]
OfObject = Annotated[UUID | None, Query(description="Only from or to this object."), Ident()]
Depth = Annotated[
    int, Query(description="Maximum number of steps from the object."), Whole(1, MAX_DEPTH, in_query=True)
]
NodeLimit = Annotated[int, Query(description="Maximum number of nodes."), Whole(1, MAX_NODES, in_query=True)]
FormatChoice = Annotated[
    Format, Query(alias="format", description="The kind of file."), Choice(tuple(FORMATS))
]


@router.get(
    "/relationships",
    summary="List the relationships of a project, the oldest first",
    response_model=Success[Listing[RelationshipModel]],
    responses=documented(InvalidParameter, InvalidUUID, ProjectNotFound),
)
async def list_relationships(
    access: Reader,
    *,
    project_id: ProjectFilter = None,
    relationship_type: TypeFilter = None,
    source_id: FromObject = None,
    target_id: ToObject = None,
    object_id: OfObject = None,
    document_id: DocumentFilter = None,
    limit: Limit = 20,
    offset: Offset = 0,
) -> Response:
    project = await access.project_of(document_id, project_id)
    await access.store.projects.get(project)
    found, total = await access.store.graph.relationships.page(
        project,
        limit=limit,
        offset=offset,
        relationship_type=relationship_type,
        source_id=source_id,
        target_id=target_id,
        object_id=object_id,
        document_id=document_id,
    )
    items = [RelationshipModel.of(one) for one in found]
    return success(Listing[RelationshipModel].of(items, total=total, limit=limit, offset=offset))


@router.get(
    "/relationships/{relationship_id}",
    summary="Get a relationship and its claims",
    response_model=Success[RelationshipAnswer],
    responses=documented(InvalidUUID, RelationshipNotFound),
)
async def get_relationship(access: Reader, relationship_id: PathId) -> Response:
    found = await access.store.graph.relationships.get(relationship_id, project_id=access.project_id)
    return success(await RelationshipAnswer.load(access.store, found))


@router.get(
    "/objects/{object_id}/neighbours",
    name="get_neighbours",
    summary="Get an object and what it is connected to",
    response_model=Success[GraphAnswer],
    responses=documented(InvalidParameter, InvalidUUID, ObjectNotFound),
)
async def neighbours(access: Reader, object_id: PathId, depth: Depth = 1, limit: NodeLimit = 100) -> Response:
    """The near before the far."""
    found = await find_object(access, object_id)
    part = await access.store.graph.views.neighbours(found.project_id, [found.id], depth=depth, limit=limit)
    return success(GraphAnswer.of(part))


@router.get(
    "/graph",
    summary="Get a part of the graph: objects, and the relationships between them",
    response_model=Success[WholeGraphAnswer],
    responses=documented(InvalidParameter, InvalidUUID, ProjectNotFound),
)
async def get_graph(
    access: Reader,
    *,
    project_id: ProjectFilter = None,
    object_type: TypeFilter = None,
    name: NameFilter = None,
    document_id: DocumentFilter = None,
    limit: NodeLimit = 200,
) -> Response:
    """The first objects that match, and at most four times as many relationships."""
    project = await access.project_of(document_id, project_id)
    await access.store.projects.get(project)
    part = await access.store.graph.views.part(
        project, object_type=object_type, name=name, document_id=document_id, limit=limit
    )
    types = await access.store.graph.objects.types(project)
    return success(WholeGraphAnswer.of(part, types=types))


@router.get(
    "/graph/export",
    summary="Export the whole graph as a file",
    response_class=StreamingResponse,
    responses={
        **documented(InvalidParameter, InvalidUUID, ProjectNotFound),
        200: {
            "description": "JSON Lines, or GraphML.",
            "content": {media: {"schema": {"type": "string"}} for media in FORMATS.values()},
        },
    },
)
async def export_graph(
    access: Reader, project_id: ProjectFilter = None, file_format: FormatChoice = "jsonl"
) -> Response:
    project = access.project(project_id)
    await access.store.projects.get(project)
    parts = exported(access.store, project, file_format)
    first = await anext(parts, b"")  # a database error is answered before the body begins

    async def content() -> AsyncIterator[bytes]:
        yield first
        async for part in parts:
            yield part

    headers = {
        "Content-Type": FORMATS[file_format],
        "Content-Disposition": f'attachment; filename="graph.{file_format}"',
        "X-Content-Type-Options": "nosniff",
    }
    return StreamingResponse(content(), headers=headers)
