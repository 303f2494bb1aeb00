"""Schemas: what is extracted from a project's documents, in versions that never change."""

from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from fastapi import Body, Query, Response

from whence.api.base import Listing, Success
from whence.api.schemas import EXAMPLE_SCHEMA, SchemaBody, SchemaDiff, SchemaModel, SchemaPut
from whence.api.values import JSONSchema, Value, wrong
from whence.errors import (
    BadInput,
    InvalidParameter,
    InvalidSchema,
    InvalidUUID,
    PayloadTooLarge,
    ProjectNotFound,
    SchemaNotFound,
)
from whence.extract.schema import version_number
from whence.extract.schema_diff import needs_model
from whence.extract.schema_migration import changes_between
from whence.extract.schema_reading import read_schema, require_single_names
from whence.web.access import Access, Reader, Writer
from whence.web.bodies import RawBody
from whence.web.parameters import Limit, Offset, PathId
from whence.web.responses import success
from whence.web.routes import api_router, documented

router = api_router("schemas", prefix="/projects/{project_id}/schema")


@dataclass(frozen=True, slots=True)
class VersionNumber(Value):
    """`v2` or `2`."""

    def read(self, value: Any) -> int:
        try:
            return version_number(value)
        except InvalidParameter as exc:
            raise wrong("a schema version such as v2") from exc

    def schema(self) -> JSONSchema:
        return {"type": "string", "pattern": "^v?[1-9][0-9]{0,8}$", "example": "v1"}


Version = Annotated[int | None, Query(description="Default: the current version."), VersionNumber()]
OldVersion = Annotated[int, Query(alias="from", description="The older version."), VersionNumber()]
NewVersion = Annotated[int, Query(alias="to", description="The newer version."), VersionNumber()]


@router.get(
    "",
    summary="Get the schema: the current one, the default one where the project has none, or a given version",
    response_model=Success[SchemaModel],
    responses=documented(InvalidParameter, InvalidUUID, ProjectNotFound, SchemaNotFound),
)
async def get_schema(access: Reader, project_id: PathId, version: Version = None) -> Response:
    """The default schema has no version; the first extraction makes it `v1`."""
    await _require_project(access, project_id)
    schemas = access.store.schemas
    found = await (schemas.current(project_id) if version is None else schemas.get(project_id, version))
    return success(SchemaModel.of(project_id, found))


@router.put(
    "",
    summary="Set the next version of the schema; the same schema again makes no new version",
    response_model=Success[SchemaPut],
    responses=documented(BadInput, InvalidSchema, InvalidUUID, ProjectNotFound, PayloadTooLarge),
)
async def put_schema(
    access: Writer,
    project_id: PathId,
    body: Annotated[SchemaBody, Body(examples=[EXAMPLE_SCHEMA])],
    raw: RawBody,
) -> Response:
    """The body is the [schema](extraction.md#the-schema). `sha256` is that of its meaning, however it is written.

    400 `INVALID_SCHEMA` has the `path`, what was `provided` and what was `expected`.
    """
    await _require_project(access, project_id)
    require_single_names(raw)
    schema = read_schema(body)
    version, created = await access.store.schemas.put(
        project_id, body=body, sha256=bytes.fromhex(schema.sha256)
    )
    return success(SchemaPut.of(project_id, version, created=created))


@router.get(
    "/versions",
    name="list_schema_versions",
    summary="List all versions of the schema, the newest first",
    response_model=Success[Listing[SchemaModel]],
    responses=documented(InvalidParameter, InvalidUUID, ProjectNotFound),
)
async def list_versions(
    access: Reader, project_id: PathId, limit: Limit = 20, offset: Offset = 0
) -> Response:
    await _require_project(access, project_id)
    found, total = await access.store.schemas.page(project_id, limit=limit, offset=offset)
    items = [SchemaModel.of(project_id, version) for version in found]
    return success(Listing[SchemaModel].of(items, total=total, limit=limit, offset=offset))


@router.get(
    "/diff",
    name="diff_schema_versions",
    summary="Compare two versions of the schema",
    response_model=Success[SchemaDiff],
    responses=documented(InvalidParameter, InvalidUUID, ProjectNotFound, SchemaNotFound),
)
async def diff_versions(access: Reader, project_id: PathId, old: OldVersion, new: NewVersion) -> Response:
    await _require_project(access, project_id)
    change = await changes_between(access.store, project_id, old, new)
    return success(SchemaDiff.of(old, new, change.body(), needs_model=needs_model(change)))


async def _require_project(access: Access, project_id: UUID) -> None:
    access.only_own(project_id)
    await access.store.projects.get(project_id)
