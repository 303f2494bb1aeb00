"""The graph: relationships, an object's neighbours, a part for display, and an export of the whole."""

from typing import Annotated

from fastapi import Query, Response
from fastapi.responses import StreamingResponse

from whence.api.base import Listing
from whence.api.graph import (
    GraphAnswer,
    GraphOutline,
    RelationshipAnswer,
    RelationshipModel,
    WholeGraphAnswer,
)
from whence.api.graph_export import MEDIA_TYPE, exported
from whence.api.values import Ident, whole
from whence.store.graph.relationships import MAX_DEPTH
from whence.web.access import Reader
from whence.web.events import file_response
from whence.web.parameters import (
    DocumentFilter,
    NameFilter,
    PagedByCursor,
    PathId,
    ProjectFilter,
    TypeFilter,
    UngroundedFlag,
)
from whence.web.responses import Enveloped, listed, success
from whence.web.routes import TEXT, answered, api_router

router = api_router("graph")

MAX_NODES = 1000
MAX_OUTLINE = 5000

FromObject = Annotated[Ident | None, Query(description="Only relationships from this object.")]
ToObject = Annotated[Ident | None, Query(description="Only relationships to this object.")]
OfObject = Annotated[Ident | None, Query(description="Only relationships from or to this object.")]
Depth = Annotated[
    int, Query(description="Maximum number of steps from the object."), whole(1, MAX_DEPTH, in_query=True)
]
NodeLimit = Annotated[int, Query(description="Maximum number of nodes."), whole(1, MAX_NODES, in_query=True)]
OutlineLimit = Annotated[
    int, Query(description="Maximum number of nodes."), whole(1, MAX_OUTLINE, in_query=True)
]


@router.get("/relationships")
async def list_relationships(
    access: Reader,
    *,
    project_id: ProjectFilter = None,
    relationship_type: TypeFilter = None,
    source_id: FromObject = None,
    target_id: ToObject = None,
    object_id: OfObject = None,
    document_id: DocumentFilter = None,
    page: PagedByCursor,
) -> Enveloped[Listing[RelationshipModel]]:
    """List the relationships of a project, the oldest first."""
    project = await access.existing_project(project_id, document_id=document_id)
    found, total = await access.store.graph.relationships.page(
        project,
        limit=page.fetched,
        offset=page.offset,
        after=page.after,
        relationship_type=relationship_type,
        source_id=source_id,
        target_id=target_id,
        object_id=object_id,
        document_id=document_id,
    )
    return listed(RelationshipModel, found, total, page)


@router.get("/relationships/{relationship_id}")
async def get_relationship(access: Reader, relationship_id: PathId) -> Enveloped[RelationshipAnswer]:
    """Get a relationship and its claims."""
    found = await access.store.graph.relationships.get(relationship_id, project_id=access.project_id)
    return success(await RelationshipAnswer.load(access.store, found))


@router.get("/objects/{object_id}/neighbours")
async def get_neighbours(
    access: Reader, object_id: PathId, depth: Depth = 1, limit: NodeLimit = 100
) -> Enveloped[GraphAnswer]:
    """Get an object and its neighbours.

    The nearest come first.
    """
    found = await access.graph_object(object_id)
    part = await access.store.graph.views.neighbours(found.project_id, [found.id], depth=depth, limit=limit)
    return success(GraphAnswer.of(part))


@router.get("/graph")
async def get_graph(
    access: Reader,
    *,
    project_id: ProjectFilter = None,
    object_type: TypeFilter = None,
    name: NameFilter = None,
    document_id: DocumentFilter = None,
    limit: NodeLimit = 200,
) -> Enveloped[WholeGraphAnswer]:
    """Get a part of the graph: objects, and the relationships between them.

    The first objects that match, and at most four times as many relationships.
    """
    project = await access.existing_project(project_id, document_id=document_id)
    part = await access.store.graph.views.part(
        project, object_type=object_type, name=name, document_id=document_id, limit=limit
    )
    types = await access.store.graph.objects.types(project)
    return success(WholeGraphAnswer.of(part, types=types))


@router.get("/graph/outline")
async def get_graph_outline(
    access: Reader,
    *,
    project_id: ProjectFilter = None,
    object_type: TypeFilter = None,
    name: NameFilter = None,
    limit: OutlineLimit = MAX_OUTLINE,
) -> Enveloped[GraphOutline]:
    """Get a large part of the graph in compact form, for drawing.

    The first objects that match, and at most four times as many relationships.
    """
    project = await access.existing_project(project_id)
    found = await access.store.graph.views.outline(project, object_type=object_type, name=name, limit=limit)
    return success(GraphOutline.of(found, types=await access.store.graph.objects.types(project)))


@router.get(
    "/graph/export",
    response_class=StreamingResponse,
    responses=answered("JSON Lines.", MEDIA_TYPE, TEXT),
)
async def export_graph(
    access: Reader, project_id: ProjectFilter = None, *, include_ungrounded: UngroundedFlag = False
) -> Response:
    """Export the whole graph as a file."""
    project = await access.existing_project(project_id)
    headers = {
        "Content-Type": MEDIA_TYPE,
        "Content-Disposition": 'attachment; filename="graph.jsonl"',
    }
    lines = exported(access.store, project, include_ungrounded=include_ungrounded)
    return await file_response(lines, headers)
