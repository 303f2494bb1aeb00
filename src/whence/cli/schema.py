"""`whence schema`: shows, sets and compares the extraction schema of a project."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whence.cli import options
from whence.cli.command import App, Remote, find_project, is_remote, on_either
from whence.cli.output import print_json, print_result, print_rows
from whence.errors import BadInput

if TYPE_CHECKING:
    from whence.api.schemas import SchemaPut

_ALL = 2**31


@click.group()
def schema() -> None:
    """Show, set and compare the extraction schema of a project."""


@schema.command()
@options.project
@click.option("--version", help="An older version, such as v2.")
@on_either
async def show(base: App | Remote, *, project: str, version: str | None) -> None:
    """Print the schema as JSON, in the form that `set` reads."""
    from whence.api.schemas import SchemaModel
    from whence.extract.default_schema import DEFAULT_SCHEMA
    from whence.extract.schema import version_number

    if is_remote(base):
        path = f"{await base.project_path(project)}/schema"
        print_json((await base.get(path, SchemaModel, version=version)).body)
        return
    project_id = (await find_project(base, project)).id
    if version is not None:
        print_json((await base.store.schemas.get(project_id, version_number(version))).body)
    else:
        print_json((await base.store.schemas.current(project_id) or DEFAULT_SCHEMA).body)


@schema.command("set")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@options.project
@options.json
@on_either
async def set_schema(base: App | Remote, *, file: Path, project: str) -> None:
    """Make FILE (JSON) the next version of the schema. `-` reads standard input."""
    import orjson

    with click.open_file(str(file), "rb") as opened:
        text = opened.read()
    try:
        body = orjson.loads(text)
    except orjson.JSONDecodeError as exc:
        raise BadInput(f"{file} is not JSON: {exc.msg}") from exc
    name, made = await (_send(base, project, text) if is_remote(base) else _put(base, project, text, body))
    print_result(
        {"project": name, "version": made.version, "sha256": made.sha256, "created": made.created},
        f"The schema of project {name} is {made.version} {'now' if made.created else 'already'}.",
    )


async def _put(app: App, project: str, text: bytes, body: Any) -> "tuple[str, SchemaPut]":
    from whence.api.schemas import SchemaPut
    from whence.extract.schema_reading import read_schema, require_single_names

    require_single_names(text)
    sha256 = bytes.fromhex(read_schema(body).sha256)
    found = await find_project(app, project)
    made, is_new = await app.store.schemas.put(found.id, body=body, sha256=sha256)
    return found.name, SchemaPut.of(made, created=is_new)


async def _send(remote: Remote, project: str, text: bytes) -> "tuple[str, SchemaPut]":
    """The text as it is: the server finds what is wrong with it."""
    from whence.api.projects import ProjectModel
    from whence.api.schemas import SchemaPut

    path = await remote.project_path(project)
    made = await remote.client.request("PUT", f"{path}/schema", content=text)
    return (await remote.get(path, ProjectModel)).name, remote.read(SchemaPut, made)


@schema.command()
@options.project
@options.json
@on_either
async def versions(base: App | Remote, *, project: str) -> None:
    """List all versions, newest first."""
    from whence.api.schemas import SchemaModel

    if is_remote(base):
        path = f"{await base.project_path(project)}/schema/versions"
        models, _ = await base.page(path, SchemaModel, limit=_ALL)
    else:
        project_id = (await find_project(base, project)).id
        made, _ = await base.store.schemas.page(project_id, limit=_ALL, offset=0)
        models = [SchemaModel.of(one) for one in made]
    found = [{"version": one.version, "sha256": one.sha256, "created_at": one.created_at} for one in models]
    rows = [(one.version, one.sha256[:12], f"{one.created_at:%Y-%m-%d %H:%M}") for one in models]
    print_rows(found, ("VERSION", "SHA256", "CREATED"), rows)


@schema.command("diff")
@click.argument("old")
@click.argument("new")
@options.project
@options.json
@on_either
async def diff_versions(base: App | Remote, *, old: str, new: str, project: str) -> None:
    """Show the changes from version OLD to version NEW."""
    changes = await _changes(base, project, old, new)
    lines = [_describe(how, element) for how, elements in changes.items() for element in elements]
    print_result(changes, "\n".join(lines) or "Nothing changed.")


async def _changes(base: App | Remote, project: str, old: str, new: str) -> dict[str, Any]:
    from whence.api.schemas import SchemaDiff
    from whence.extract.schema import version_number
    from whence.extract.schema_migration import changes_between

    if is_remote(base):
        path = f"{await base.project_path(project)}/schema/diff"
        found = await base.get(path, SchemaDiff, **{"from": old, "to": new})
        return found.model_dump(
            mode="json", exclude={"old", "new", "needs_model"}, exclude_defaults=True, by_alias=True
        )
    project_id = (await find_project(base, project)).id
    change = await changes_between(base.store, project_id, version_number(old), version_number(new))
    return change.body()


def _describe(how: str, element: dict[str, Any]) -> str:
    name = ".".join(filter(None, (element.get("type"), element["name"])))
    was = f" (was {element['was']})" if "was" in element else ""
    return f"{how:<8} {element['kind'].replace('_', ' ')} {name}{was}"
