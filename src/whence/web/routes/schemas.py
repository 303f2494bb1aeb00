"""Schemas: what is looked for in a project's documents, in versions that are never changed."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from fastapi import Request, Response

from whence.errors import (
    BadInput,
    InvalidParameter,
    InvalidSchema,
    InvalidUUID,
    PayloadTooLarge,
    ProjectNotFound,
    SchemaNotFound,
)
from whence.extract import DEFAULT_SCHEMA, needs_model, read_schema, version_number
from whence.extract.changes import changes_between
from whence.extract.schema_text import require_single_names
from whence.types import SchemaVersion
from whence.web.access import Access, reader, writer
from whence.web.answer import page, success
from whence.web.extraction_models import SchemaDiff, SchemaModel, SchemaPut
from whence.web.inputs import declared_query, json_content, limit_and_offset, path_id, query_parameters
from whence.web.models import Page, Success
from whence.web.routes import Direct, api_router, documented

router = api_router("schemas", prefix="/projects/{project_id}/schema", route_class=Direct)

_EXAMPLE = {
    "object_types": {
        "Requirement": {"properties": {"priority": {"type": "string", "enum": ["low", "high"]}}}
    },
    "relationship_types": {"depends_on": {"from": ["Requirement"], "to": ["Requirement"]}},
}
_BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "properties": {
                    "object_types": {"type": "object", "minProperties": 1, "maxProperties": 100},
                    "relationship_types": {"type": ["object", "null"], "maxProperties": 100},
                },
                "required": ["object_types"],
                "additionalProperties": False,
            },
            "example": _EXAMPLE,
        }
    },
}
_VERSION = {"type": "string", "pattern": "^v?[1-9][0-9]{0,8}$", "example": "v1"}
_FROM_TO = {
    "parameters": [
        *declared_query("project_id")["parameters"],
        *({"in": "query", "name": name, "required": True, "schema": _VERSION} for name in ("from", "to")),
    ]
}


@router.get(
    "",
    summary="The current schema, or the default one where the project has none of its own; or the version that is asked for",
    response_model=Success[SchemaModel],
    responses=documented(InvalidParameter, InvalidUUID, ProjectNotFound, SchemaNotFound),
    openapi_extra=declared_query("project_id", version=_VERSION),
)
async def get_schema(request: Request) -> Response:
    access = await reader(request)
    sent = query_parameters(request)
    number = _version(sent, "version") if "version" in sent else None
    project_id = await _project(access, request)
    schemas = access.store.schemas
    asked = await (schemas.current(project_id) if number is None else schemas.get(project_id, number))
    return success(_view(project_id, asked))


@router.put(
    "",
    summary="The next version of the schema; none where it is the same as the current one",
    response_model=Success[SchemaPut],
    responses=documented(BadInput, InvalidSchema, InvalidUUID, ProjectNotFound, PayloadTooLarge),
    openapi_extra={"requestBody": _BODY, **declared_query("project_id")},
)
async def put_schema(request: Request) -> Response:
    access = await writer(request)
    project_id = await _project(access, request)
    body = await json_content(request)
    require_single_names(await request.body())
    schema = read_schema(body)
    version, created = await access.store.schemas.put(
        project_id, body=body, sha256=bytes.fromhex(schema.sha256)
    )
    return success({**_view(project_id, version), "created": created})


@router.get(
    "/versions",
    summary="All versions of the schema, the newest first",
    response_model=Success[Page[SchemaModel]],
    responses=documented(InvalidParameter, InvalidUUID, ProjectNotFound),
    openapi_extra=declared_query("project_id", paged=True),
)
async def list_versions(request: Request) -> Response:
    access = await reader(request)
    limit, offset = limit_and_offset(request)
    project_id = await _project(access, request)
    found, total = await access.store.schemas.page(project_id, limit=limit, offset=offset)
    views = [_view(project_id, version) for version in found]
    return page(views, total=total, limit=limit, offset=offset)


@router.get(
    "/diff",
    summary="What changed from one version to another",
    response_model=Success[SchemaDiff],
    responses=documented(InvalidParameter, InvalidUUID, ProjectNotFound, SchemaNotFound),
    openapi_extra=_FROM_TO,
)
async def diff_versions(request: Request) -> Response:
    access = await reader(request)
    sent = query_parameters(request)
    old, new = _version(sent, "from"), _version(sent, "to")
    project_id = await _project(access, request)
    change = await changes_between(access.store, project_id, old, new)
    return success({"from": f"v{old}", "to": f"v{new}", **change.body(), "needs_model": needs_model(change)})


async def _project(access: Access, request: Request) -> UUID:
    project_id = UUID(path_id(request, "project_id"))
    access.only_own(project_id)
    return (await access.store.projects.get(project_id)).id


def _version(sent: Mapping[str, str], name: str) -> int:
    if name not in sent:
        raise InvalidParameter.of(name, provided=None, expected="a schema version such as v2")
    try:
        return version_number(sent[name])
    except InvalidParameter as exc:
        raise InvalidParameter.of(name, provided=sent[name], expected="a schema version such as v2") from exc


def _view(project_id: UUID, version: SchemaVersion | None) -> dict[str, Any]:
    """As it was sent; or the default one."""
    return {
        "project_id": project_id,
        "version": None if version is None else version.version,
        "number": None if version is None else version.number,
        "sha256": DEFAULT_SCHEMA.sha256 if version is None else version.sha256.hex(),
        "schema": DEFAULT_SCHEMA.body if version is None else version.body,
        "created_at": None if version is None else version.created_at,
    }
