"""`whence schema`: shows, sets and compares the extraction schema of a project."""

from pathlib import Path
from typing import Any

import click

from whence.cli import options
from whence.cli.command import App, find_project, on_app
from whence.cli.output import print_json, print_result, print_rows
from whence.errors import BadInput

_ALL = 2**31


@click.group()
def schema() -> None:
    """Show, set and compare the extraction schema of a project."""


@schema.command()
@options.project
@click.option("--version", help="An older version, such as v2.")
@on_app
async def show(app: App, *, project: str, version: str | None) -> None:
    """Print the schema as JSON, in the form that `set` reads."""
    from whence.extract.default_schema import DEFAULT_SCHEMA
    from whence.extract.schema import version_number

    project_id = (await find_project(app, project)).id
    if version is not None:
        print_json((await app.store.schemas.get(project_id, version_number(version))).body)
    else:
        print_json((await app.store.schemas.current(project_id) or DEFAULT_SCHEMA).body)


@schema.command("set")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@options.project
@options.json
@on_app
async def set_schema(app: App, *, file: Path, project: str) -> None:
    """Make FILE (JSON) the next version of the schema. `-` reads standard input."""
    import orjson

    from whence.extract.schema_reading import read_schema, require_single_names

    with click.open_file(str(file), "rb") as opened:
        text = opened.read()
    try:
        body = orjson.loads(text)
    except orjson.JSONDecodeError as exc:
        raise BadInput(f"{file} is not JSON: {exc.msg}") from exc
    require_single_names(text)
    sha256 = read_schema(body).sha256
    found = await find_project(app, project)
    made, is_new = await app.store.schemas.put(found.id, body=body, sha256=bytes.fromhex(sha256))
    print_result(
        {"project": found.name, "version": made.version, "sha256": sha256, "created": is_new},
        f"The schema of project {found.name} is {made.version} {'now' if is_new else 'already'}.",
    )


@schema.command()
@options.project
@options.json
@on_app
async def versions(app: App, *, project: str) -> None:
    """List all versions, newest first."""
    made, _ = await app.store.schemas.page((await find_project(app, project)).id, limit=_ALL, offset=0)
    found = [
        {"version": one.version, "sha256": one.sha256.hex(), "created_at": one.created_at} for one in made
    ]
    rows = [(one.version, one.sha256.hex()[:12], f"{one.created_at:%Y-%m-%d %H:%M}") for one in made]
    print_rows(found, ("VERSION", "SHA256", "CREATED"), rows)


@schema.command("diff")
@click.argument("old")
@click.argument("new")
@options.project
@options.json
@on_app
async def diff_versions(app: App, *, old: str, new: str, project: str) -> None:
    """Show the changes from version OLD to version NEW."""
    from whence.extract.schema import version_number
    from whence.extract.schema_migration import changes_between

    project_id = (await find_project(app, project)).id
    found = await changes_between(app.store, project_id, version_number(old), version_number(new))
    changes = found.body()
    lines = [_describe(how, element) for how, elements in changes.items() for element in elements]
    print_result(changes, "\n".join(lines) or "Nothing changed.")


def _describe(how: str, element: dict[str, Any]) -> str:
    name = ".".join(filter(None, (element.get("type"), element["name"])))
    was = f" (was {element['was']})" if "was" in element else ""
    return f"{how:<8} {element['kind'].replace('_', ' ')} {name}{was}"
