"""The graph: relationships, what is around an object, a part to look at, and all of it as a file."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from whence.errors import InvalidParameter, InvalidUUID, ObjectNotFound, ProjectNotFound, RelationshipNotFound
from whence.store.graph.views import MAX_DEPTH
from whence.web.access import reader
from whence.web.answer import page, success
from whence.web.export import FORMATS, exported
from whence.web.graph_models import GraphAnswer, RelationshipAnswer, RelationshipModel, WholeGraphAnswer
from whence.web.inputs import (
    choice,
    declared_query,
    given,
    limit_and_offset,
    path_id,
    query_parameters,
    searchable,
    whole_number,
)
from whence.web.models import Page, Success
from whence.web.routes import Direct, api_router, documented
from whence.web.routes.objects import object_of, optional_id
from whence.web.telling import relationship_as_json, relationship_claim_as_json, subgraph_as_json

router = api_router("graph", route_class=Direct)

MAX_NODES = 1000
_SHOWN_CLAIMS = 100

_UUID = {"type": "string", "format": "uuid"}
_TYPE = {"type": "string", "description": "Only of this type."}
_DOCUMENT = {**_UUID, "description": "Only what this document speaks of."}
_DEPTH = {"type": "integer", "minimum": 1, "maximum": MAX_DEPTH, "default": 1}

_parse_depth = whole_number("depth", 1, MAX_DEPTH)
_parse_nodes = whole_number("limit", 1, MAX_NODES)


def _nodes(default: int) -> dict[str, Any]:
    text = "How many nodes at most."
    return {"type": "integer", "minimum": 1, "maximum": MAX_NODES, "default": default, "description": text}


@router.get(
    "/relationships",
    summary="The relationships of a project, the oldest first",
    response_model=Success[Page[RelationshipModel]],
    responses=documented(InvalidParameter, InvalidUUID, ProjectNotFound),
    openapi_extra=declared_query(
        paged=True,
        project_id=_UUID,
        type=_TYPE,
        source_id={**_UUID, "description": "Only from this object."},
        target_id={**_UUID, "description": "Only to this object."},
        object_id={**_UUID, "description": "Only from or to this object."},
        document_id=_DOCUMENT,
    ),
)
async def list_relationships(request: Request) -> Response:
    access = await reader(request)
    sent = query_parameters(request)
    limit, offset = limit_and_offset(request)
    wanted = {
        "source_id": optional_id(sent, "source_id", "sourceId"),
        "target_id": optional_id(sent, "target_id", "targetId"),
        "object_id": optional_id(sent, "object_id", "objectId"),
        "document_id": optional_id(sent, "document_id", "documentId"),
    }
    project_id = await access.project_of(wanted["document_id"], given(sent, "project_id", "projectId"))
    await access.store.projects.get(project_id)
    found, total = await access.store.graph.relationships.page(
        project_id, limit=limit, offset=offset, relationship_type=searchable(sent, "type"), **wanted
    )
    return page([relationship_as_json(one) for one in found], total=total, limit=limit, offset=offset)


@router.get(
    "/relationships/{relationship_id}",
    summary="One relationship, and where it came from",
    response_model=Success[RelationshipAnswer],
    responses=documented(InvalidUUID, RelationshipNotFound),
    openapi_extra=declared_query("relationship_id"),
)
async def get_relationship(request: Request) -> Response:
    access = await reader(request)
    relationship_id = UUID(path_id(request, "relationship_id"))
    found = await access.store.graph.relationships.get(relationship_id, project_id=access.project_id)
    claims, total = await access.store.graph.provenance.of_relationships(
        found.project_id, [found.id], limit=_SHOWN_CLAIMS, offset=0
    )
    sources = [relationship_claim_as_json(claim) for claim in claims]
    return success({**relationship_as_json(found), "sources": sources, "claim_count": total})


@router.get(
    "/objects/{object_id}/neighbours",
    summary="An object and what is around it",
    response_model=Success[GraphAnswer],
    responses=documented(InvalidParameter, InvalidUUID, ObjectNotFound),
    openapi_extra=declared_query("object_id", depth=_DEPTH, limit=_nodes(100)),
)
async def neighbours(request: Request) -> Response:
    access = await reader(request)
    sent = query_parameters(request)
    depth, limit = _parse_depth(sent.get("depth", "1")), _parse_nodes(sent.get("limit", "100"))
    found = await object_of(access, request)
    part = await access.store.graph.views.neighbours(found.project_id, [found.id], depth=depth, limit=limit)
    return success(subgraph_as_json(part))


@router.get(
    "/graph",
    summary="A part of the graph to look at: objects, and the relationships between them",
    response_model=Success[WholeGraphAnswer],
    responses=documented(InvalidParameter, InvalidUUID, ProjectNotFound),
    openapi_extra=declared_query(
        project_id=_UUID,
        type=_TYPE,
        name={"type": "string", "description": "Any part of the name, in any case."},
        document_id=_DOCUMENT,
        limit=_nodes(200),
    ),
)
async def get_graph(request: Request) -> Response:
    access = await reader(request)
    sent = query_parameters(request)
    limit = _parse_nodes(sent.get("limit", "200"))
    document_id = optional_id(sent, "document_id", "documentId")
    project_id = await access.project_of(document_id, given(sent, "project_id", "projectId"))
    object_type, name = searchable(sent, "type"), searchable(sent, "name")
    await access.store.projects.get(project_id)
    part = await access.store.graph.views.part(
        project_id, object_type=object_type, name=name, document_id=document_id, limit=limit
    )
    types = await access.store.graph.objects.types(project_id)
    return success({**subgraph_as_json(part), "types": types})


@router.get(
    "/graph/export",
    summary="The whole graph as a file",
    response_class=StreamingResponse,
    responses={
        **documented(InvalidParameter, InvalidUUID, ProjectNotFound),
        200: {
            "description": "Lines of JSON, or GraphML.",
            "content": {media: {"schema": {"type": "string"}} for media in FORMATS.values()},
        },
    },
    openapi_extra=declared_query(
        project_id=_UUID, format={"type": "string", "enum": list(FORMATS), "default": "jsonl"}
    ),
)
async def export_graph(request: Request) -> Response:
    access = await reader(request)
    sent = query_parameters(request)
    project_id = access.project(given(sent, "project_id", "projectId"), parameter="project_id")
    form = choice(sent, "format", tuple(FORMATS)) or "jsonl"
    await access.store.projects.get(project_id)
    parts = exported(access.store, project_id, form)
    first = await anext(parts, b"")  # what is wrong with the database is said before an answer has begun

    async def content() -> AsyncIterator[bytes]:
        yield first
        async for part in parts:
            yield part

    headers = {
        "Content-Type": FORMATS[form],
        "Content-Disposition": f'attachment; filename="graph.{form}"',
        "X-Content-Type-Options": "nosniff",
    }
    return StreamingResponse(content(), headers=headers)
