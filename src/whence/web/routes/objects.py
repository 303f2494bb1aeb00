"""Objects: the nodes of the graph, each property with the words it stands on; and making two into one."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import orjson
from fastapi import HTTPException, Request, Response

from whence.errors import (
    BadInput,
    Conflict,
    InvalidParameter,
    InvalidUUID,
    MergeNotFound,
    MethodNotAllowed,
    ObjectNotFound,
    PayloadTooLarge,
    ProjectNotFound,
)
from whence.types import GraphObject
from whence.web.access import Access, reader, writer
from whence.web.answer import page, success
from whence.web.fields import Fields
from whence.web.graph_models import MergeModel, ObjectAnswer, ObjectModel
from whence.web.inputs import (
    declared_query,
    given,
    json_content,
    limit_and_offset,
    path_id,
    path_uuid,
    query_parameters,
    searchable,
)
from whence.web.models import Page, Success
from whence.web.routes import Direct, api_router, documented
from whence.web.telling import merge_as_json, object_as_json, object_with_sources

router = api_router("objects", route_class=Direct)

MAX_NESTED = 20

_UUID = {"type": "string", "format": "uuid"}
_PROPERTIES = {
    "in": "query",
    "name": "properties",
    "required": False,
    "description": "A JSON object: only objects that have these properties with these values.",
    "content": {"application/json": {"schema": {"type": "object"}}},
}
_MERGE_BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "properties": {"keepId": _UUID, "dropId": _UUID},
                "required": ["keepId", "dropId"],
            }
        }
    },
}


@router.get(
    "/objects",
    summary="The objects of a project, the oldest first",
    response_model=Success[Page[ObjectModel]],
    responses=documented(InvalidParameter, InvalidUUID, ProjectNotFound),
    openapi_extra={
        "parameters": [
            *declared_query(
                paged=True,
                project_id=_UUID,
                type={"type": "string", "description": "Only of this type."},
                name={"type": "string", "description": "Any part of the name, in any case."},
                document_id={**_UUID, "description": "Only those that this document speaks of."},
            )["parameters"],
            _PROPERTIES,
        ]
    },
)
async def list_objects(request: Request) -> Response:
    access = await reader(request)
    sent = query_parameters(request)
    limit, offset = limit_and_offset(request)
    object_type, name = searchable(sent, "type"), searchable(sent, "name")
    properties = _properties(sent)
    document_id = optional_id(sent, "document_id", "documentId")
    project_id = await access.project_of(document_id, given(sent, "project_id", "projectId"))
    await access.store.projects.get(project_id)
    found, total = await access.store.graph.objects.page(
        project_id,
        limit=limit,
        offset=offset,
        object_type=object_type,
        name=name,
        properties=properties,
        document_id=document_id,
    )
    return page([object_as_json(one) for one in found], total=total, limit=limit, offset=offset)


@router.get(
    "/objects/merges",
    summary="The merges that stand, the newest first",
    response_model=Success[Page[MergeModel]],
    responses=documented(InvalidParameter, InvalidUUID, ProjectNotFound),
    openapi_extra=declared_query(
        paged=True,
        project_id=_UUID,
        object_id={**_UUID, "description": "Only what became part of this object."},
    ),
)
async def list_merges(request: Request) -> Response:
    access = await reader(request)
    sent = query_parameters(request)
    limit, offset = limit_and_offset(request)
    project_id = access.project(given(sent, "project_id", "projectId"), parameter="project_id")
    object_id = optional_id(sent, "object_id", "objectId")
    await access.store.projects.get(project_id)
    found, total = await access.store.graph.merges.page(
        project_id, object_id=object_id, limit=limit, offset=offset
    )
    return page([merge_as_json(one) for one in found], total=total, limit=limit, offset=offset)


@router.get("/objects/merge", include_in_schema=False)
async def not_merge(_request: Request) -> Response:
    """Else `merge` would be taken for an object's id."""
    raise HTTPException(MethodNotAllowed.status)


@router.post(
    "/objects/merge",
    summary="Make two objects one: all that is said of either is said of the kept one",
    response_model=Success[MergeModel],
    responses=documented(BadInput, InvalidUUID, ObjectNotFound, Conflict, PayloadTooLarge),
    openapi_extra={"requestBody": _MERGE_BODY},
)
async def merge_objects(request: Request) -> Response:
    access = await writer(request)
    fields = Fields(await json_content(request))
    keep_id, drop_id = _required_id(fields, "keepId"), _required_id(fields, "dropId")
    kept = await access.store.graph.objects.get(keep_id, project_id=access.project_id)
    dropped = await access.store.graph.objects.get(drop_id, project_id=kept.project_id)
    if keep_id != drop_id and kept.id == dropped.id:
        raise Conflict("The two are one object already", details={"object_id": str(kept.id)})
    merge = await access.store.graph.merges.merge(kept.project_id, keep_id=kept.id, drop_id=dropped.id)
    return success(merge_as_json(merge))


@router.post(
    "/objects/merges/{merge_id}/undo",
    summary="Make one object two again: each has what was said of it",
    response_model=Success[MergeModel],
    responses=documented(InvalidUUID, MergeNotFound, Conflict),
    openapi_extra=declared_query("merge_id"),
)
async def undo_merge(request: Request) -> Response:
    access = await writer(request)
    merge_id = UUID(path_id(request, "merge_id"))
    merge = await access.store.graph.merges.get(merge_id, project_id=access.project_id)
    return success(merge_as_json(await access.store.graph.merges.undo(merge.project_id, merge.id)))


@router.get(
    "/objects/{object_id}",
    summary="One object, and for each of its properties where it came from",
    response_model=Success[ObjectAnswer],
    responses=documented(InvalidUUID, ObjectNotFound),
    openapi_extra=declared_query("object_id"),
)
async def get_object(request: Request) -> Response:
    access = await reader(request)
    return success(await object_with_sources(access.store, await object_of(access, request)))


async def object_of(access: Access, request: Request) -> GraphObject:
    object_id = UUID(path_id(request, "object_id"))
    return await access.store.graph.objects.get(object_id, project_id=access.project_id)


def optional_id(sent: Mapping[str, str], *names: str) -> UUID | None:
    value = given(sent, *names)
    return None if value is None else UUID(path_uuid(names[0], value))


def _properties(sent: Mapping[str, str]) -> dict[str, Any] | None:
    text = searchable(sent, "properties")
    if text is None:
        return None
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError as exc:
        raise InvalidParameter.of("properties", provided=text, expected="a JSON object") from exc
    if not _is_shallow(found, MAX_NESTED):
        expected = f"a JSON object, nested at most {MAX_NESTED} deep"
        raise InvalidParameter.of("properties", provided=text, expected=expected)
    return Fields({"properties": found}).mapping("properties")


def _is_shallow(value: Any, room: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return room >= 0 and all(_is_shallow(one, room - 1) for one in inner)


def _required_id(fields: Fields, name: str) -> UUID:
    value = fields.value(name)
    if value is None:
        raise BadInput(f"{name} is required", details={"field": name, "expected": "an object's id"})
    return UUID(path_uuid(name, value))
