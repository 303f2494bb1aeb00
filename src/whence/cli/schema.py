"""`whence schema`: shows, sets and compares the extraction schema of a project."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whence.cli.output import json_option, print_json, print_table, with_app
from whence.errors import BadInput

if TYPE_CHECKING:
    from whence.app import App

_ALL = 2**31
_project = click.option("--project", default="default", show_default=True, help="A project's name or id.")


@click.group()
def schema() -> None:
    """Show, set and compare the extraction schema of a project."""


@schema.command()
@_project
@click.option("--version", help="An older one, such as v2.")
def show(project: str, version: str | None) -> None:
    """Print the schema as JSON, as `set` takes it."""

    async def work(app: "App") -> dict[str, Any]:
        from whence.cli.projects import find
        from whence.extract.default_schema import DEFAULT_SCHEMA
        from whence.extract.schema import version_number

        found = await find(app, project)
        if version is not None:
            return (await app.store.schemas.get(found.id, version_number(version))).body
        current = await app.store.schemas.current(found.id)
        return DEFAULT_SCHEMA.body if current is None else current.body

    print_json(with_app(work))


@schema.command("set")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@_project
@json_option
def set_schema(file: Path, project: str, *, as_json: bool) -> None:
    """Make FILE, which is JSON, the next version of the schema. `-` reads standard input."""
    import orjson

    from whence.extract.schema_reading import read_schema, require_single_names

    with click.open_file(str(file), "rb") as opened:
        text = opened.read()
    try:
        body = orjson.loads(text)
    except orjson.JSONDecodeError as exc:
        raise BadInput(f"{file} is not JSON: {exc.msg}") from exc
    require_single_names(text)
    wanted = read_schema(body)

    async def work(app: "App") -> dict[str, Any]:
        from whence.cli.projects import find

        found = await find(app, project)
        made, is_new = await app.store.schemas.put(found.id, body=body, sha256=bytes.fromhex(wanted.sha256))
        return {"project": found.name, "version": made.version, "sha256": wanted.sha256, "created": is_new}

    report = with_app(work)
    if as_json:
        print_json(report)
    elif report["created"]:
        click.echo(f"The schema of project {report['project']} is {report['version']} now.")
    else:
        click.echo(f"The schema of project {report['project']} is {report['version']} already.")


@schema.command()
@_project
@json_option
def versions(project: str, *, as_json: bool) -> None:
    """All versions, the newest first."""

    async def work(app: "App") -> list[dict[str, Any]]:
        from whence.cli.projects import find

        found = await find(app, project)
        made, _ = await app.store.schemas.page(found.id, limit=_ALL, offset=0)
        return [
            {"version": one.version, "sha256": one.sha256.hex(), "created_at": one.created_at} for one in made
        ]

    found = with_app(work)
    if as_json:
        print_json(found)
    else:
        rows = [(one["version"], one["sha256"][:12], f"{one['created_at']:%Y-%m-%d %H:%M}") for one in found]
        print_table(("VERSION", "SHA256", "CREATED"), rows)


@schema.command("diff")
@click.argument("old")
@click.argument("new")
@_project
@json_option
def diff_versions(old: str, new: str, project: str, *, as_json: bool) -> None:
    """What changed from version OLD to version NEW."""

    async def work(app: "App") -> dict[str, Any]:
        from whence.cli.projects import find
        from whence.extract.schema import version_number
        from whence.extract.schema_migration import changes_between

        found = await find(app, project)
        change = await changes_between(app.store, found.id, version_number(old), version_number(new))
        return change.body()

    change = with_app(work)
    if as_json:
        print_json(change)
        return
    lines = [_line(how, element) for how, elements in change.items() for element in elements]
    click.echo("\n".join(lines) if lines else "Nothing changed.")


def _line(how: str, element: dict[str, Any]) -> str:
    name = ".".join(filter(None, (element.get("type"), element["name"])))
    was = f" (was {element['was']})" if "was" in element else ""
    return f"{how:<8} {element['kind'].replace('_', ' ')} {name}{was}"
