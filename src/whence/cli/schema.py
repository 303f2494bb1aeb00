"""`whence schema`: shows, sets and compares the extraction schema of a project."""

from pathlib import Path
from typing import Any

import click

from whence.cli import options
from whence.cli.command import Api, on_api
from whence.cli.output import print_json, print_result, print_rows
from whence.errors import BadInput

_ALL = 2**31


@click.group()
def schema() -> None:
    """Show, set and compare the extraction schema of a project."""


@schema.command()
@options.project
@click.option("--version", help="An older version, such as v2.")
@on_api
async def show(api: Api, *, project: str, version: str | None) -> None:
    """Print the schema as JSON, in the form that `set` reads."""
    from whence.api.schemas import SchemaModel

    path = f"{await api.project_path(project)}/schema"
    print_json((await api.get(path, SchemaModel, version=version)).body)


@schema.command("set")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@options.project
@options.json
@on_api
async def set_schema(api: Api, *, file: Path, project: str) -> None:
    """Make FILE (JSON) the next version of the schema. `-` reads standard input."""
    import orjson

    from whence.api.projects import ProjectModel
    from whence.api.schemas import SchemaPut

    with click.open_file(str(file), "rb") as opened:
        text = opened.read()
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError as exc:
        raise BadInput(f"{file} is not JSON: {exc.msg}") from exc
    path = await api.project_path(project)
    made = api.read(SchemaPut, await api.client.request("PUT", f"{path}/schema", content=text))
    name = (await api.get(path, ProjectModel)).name
    print_result(
        {"project": name, "version": made.version, "sha256": made.sha256, "created": made.created},
        f"The schema of project {name} is {made.version} {'now' if made.created else 'already'}.",
    )


@schema.command()
@options.project
@options.json
@on_api
async def versions(api: Api, *, project: str) -> None:
    """List all versions, newest first."""
    from whence.api.schemas import SchemaModel

    path = f"{await api.project_path(project)}/schema/versions"
    models, _ = await api.page(path, SchemaModel, limit=_ALL)
    found = [{"version": one.version, "sha256": one.sha256, "created_at": one.created_at} for one in models]
    rows = [(one.version, one.sha256[:12], f"{one.created_at:%Y-%m-%d %H:%M}") for one in models]
    print_rows(found, ("VERSION", "SHA256", "CREATED"), rows)


@schema.command("diff")
@click.argument("old")
@click.argument("new")
@options.project
@options.json
@on_api
async def diff_versions(api: Api, *, old: str, new: str, project: str) -> None:
    """Show the changes from version OLD to version NEW."""
    from whence.api.schemas import SchemaDiff

    path = f"{await api.project_path(project)}/schema/diff"
    found = await api.get(path, SchemaDiff, **{"from": old, "to": new})
    versions = {"old", "new", "needs_model"}
    changes = found.model_dump(mode="json", exclude=versions, exclude_defaults=True, by_alias=True)
    lines = [_describe(how, element) for how, elements in changes.items() for element in elements]
    print_result(changes, "\n".join(lines) or "Nothing changed.")


def _describe(how: str, element: dict[str, Any]) -> str:
    name = ".".join(filter(None, (element.get("type"), element["name"])))
    was = f" (was {element['was']})" if "was" in element else ""
    return f"{how:<8} {element['kind'].replace('_', ' ')} {name}{was}"
