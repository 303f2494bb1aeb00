"""Extraction schemas, in immutable versions."""

from typing import Annotated, Any

from fastapi import Body, Query

from whence.api.base import Listing
from whence.api.schemas import (
    EXAMPLE_SCHEMA,
    SchemaBody,
    SchemaCheck,
    SchemaDiff,
    SchemaModel,
    SchemaProblem,
    SchemaPut,
)
from whence.api.values import Value, wrong
from whence.errors import InvalidParameter, InvalidSchema, SchemaNotFound
from whence.extract.schema import version_number
from whence.extract.schema_diff import needs_model
from whence.extract.schema_migration import changes_between, changes_since
from whence.extract.schema_reading import read_schema, require_single_names
from whence.web.access import Reader, Writer
from whence.web.bodies import RawBody
from whence.web.parameters import Paged, PathId
from whence.web.responses import Enveloped, listed, success
from whence.web.routes import api_router, documented

router = api_router("schemas", prefix="/projects/{project_id}/schema")


def _read_version(value: Any) -> int:
    """`v2` or `2`."""
    try:
        return version_number(value)
    except InvalidParameter as exc:
        raise wrong("a schema version such as v2") from exc


_VERSION = {"type": "string", "pattern": "^v?[1-9][0-9]{0,8}$", "example": "v1"}
VersionNumber = Annotated[int, Value(_read_version, _VERSION)]
Version = Annotated[VersionNumber | None, Query(description="Default: the current version.")]
OldVersion = Annotated[VersionNumber, Query(alias="from", description="The older version.")]
ComparedVersion = Annotated[
    VersionNumber | None,
    Query(
        alias="from",
        description="Compare with this version. Default: the current one, or the default schema.",
    ),
]
NewVersion = Annotated[VersionNumber, Query(alias="to", description="The newer version.")]


@router.get("", responses=documented(SchemaNotFound))
async def get_schema(access: Reader, project_id: PathId, version: Version = None) -> Enveloped[SchemaModel]:
    """Get the current schema, a given version, or the default schema if the project has none.

    The default schema has no version; the first extraction makes it `v1`.
    """
    await access.existing_project(project_id)
    schemas = access.store.schemas
    found = await (schemas.current(project_id) if version is None else schemas.get(project_id, version))
    return success(SchemaModel.default(project_id) if found is None else SchemaModel.of(found))


@router.put("", responses=documented(InvalidSchema))
async def put_schema(
    access: Writer,
    project_id: PathId,
    body: Annotated[SchemaBody, Body(examples=[EXAMPLE_SCHEMA])],
    raw: RawBody,
) -> Enveloped[SchemaPut]:
    """Set the next version of the schema; the same schema again makes no new version.

    The body is the [schema](extraction.md#the-schema). `sha256` is the hash of the normalised schema, whatever its formatting.

    400 `INVALID_SCHEMA` has the `path`, the `provided` value and the `expected` one.
    """
    await access.existing_project(project_id)
    require_single_names(raw)
    schema = read_schema(body)
    version, created = await access.store.schemas.put(
        project_id, body=body, sha256=bytes.fromhex(schema.sha256)
    )
    return success(SchemaPut.of(version, created=created))


@router.post("/check", responses=documented(SchemaNotFound))
async def check_schema(
    access: Reader,
    project_id: PathId,
    body: Annotated[SchemaBody, Body(examples=[EXAMPLE_SCHEMA])],
    raw: RawBody,
    old: ComparedVersion = None,
) -> Enveloped[SchemaCheck]:
    """Check a schema without storing it, and compare it with a version."""
    await access.existing_project(project_id)
    try:
        require_single_names(raw)
        schema = read_schema(body)
    except InvalidSchema as exc:
        at = {"path": "", "provided": None, "expected": None, **exc.details}
        problem = SchemaProblem.of(at, message=str(exc))
        return success(SchemaCheck(valid=False, problem=problem, changes=None))
    current = await access.store.schemas.current(project_id)
    last = current.number if current else None
    change = await changes_since(access.store, project_id, old or last, last, schema)
    changes = SchemaDiff.between(old or last, None, change.body(), needs_model=needs_model(change))
    return success(SchemaCheck(valid=True, problem=None, changes=changes))


@router.get("/versions")
async def list_schema_versions(
    access: Reader, project_id: PathId, page: Paged
) -> Enveloped[Listing[SchemaModel]]:
    """List all versions of the schema, newest first."""
    await access.existing_project(project_id)
    found, total = await access.store.schemas.page(project_id, limit=page.limit, offset=page.offset)
    return listed(SchemaModel, found, total, page)


@router.get("/diff", responses=documented(SchemaNotFound))
async def diff_schema_versions(
    access: Reader, project_id: PathId, old: OldVersion, new: NewVersion
) -> Enveloped[SchemaDiff]:
    """Compare two versions of the schema."""
    await access.existing_project(project_id)
    change = await changes_between(access.store, project_id, old, new)
    return success(SchemaDiff.between(old, new, change.body(), needs_model=needs_model(change)))
