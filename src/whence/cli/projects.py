"""`whence projects`: lists, shows, creates, changes and deletes projects."""

from typing import TYPE_CHECKING, Any

import click

from whence.cli import options
from whence.cli.command import Api, App, find_project, on_api, on_app, works_remotely
from whence.cli.output import (
    confirm,
    on_one_line,
    print_result,
    print_rows,
    print_title,
    printable,
    printed_json,
)

if TYPE_CHECKING:
    from whence.api.projects import ProjectModel
    from whence.models import Project

_ALL = 2**31
_NO_CHOICE = "default"

_project = click.argument("project")
_name = click.argument("name")
_CHOICES = (
    click.option("--description", help="The purpose of the project."),
    click.option(
        "--language",
        help="The language of its documents: english (the default), german, … or simple for any other.",
    ),
    click.option(
        "--extraction",
        type=click.Choice(("auto", "manual", _NO_CHOICE)),
        help="Extract documents after ingest, or on request only.",
    ),
    click.option(
        "--extractor", metavar="NAME", help="The extractor: model, rules, an installed one or default."
    ),
    click.option(
        "--grounding",
        type=click.Choice(("strict", "lenient", _NO_CHOICE)),
        help="Reject specific values that the chunk does not state (strict, the default), or keep and mark them.",
    ),
    click.option(
        "--strategy", help="How documents are cut by default: character, sentence, paragraph or default."
    ),
    click.option("--max", "max_size", type=int, help="With --strategy: maximum size of a chunk. [1200]"),
    click.option(
        "--min", "min_size", type=int, help="With --strategy: minimum size; shorter chunks join. [100]"
    ),
)


def _add_choices(command: options.Command) -> options.Command:
    """Adds the options of `create` and `set`."""
    for option in reversed(_CHOICES):
        command = option(command)
    return command


@click.group()
def projects() -> None:
    """List, show, create, change and delete projects. PROJECT is a name or an id."""


@projects.command("list")
@options.json
@on_api
async def list_projects(api: Api) -> None:
    """List all projects."""
    from whence.api.projects import ProjectModel

    models, _ = await api.page("/projects", ProjectModel, limit=_ALL)
    rows = [(p.id, p.name, p.description, f"{p.created_at:%Y-%m-%d}") for p in models]
    print_rows(models, ("ID", "NAME", "DESCRIPTION", "CREATED"), rows)


@projects.command()
@_project
@options.json
@on_api
async def show(api: Api, *, project: str) -> None:
    """Show a project: its language, and how its documents are extracted."""
    found = await _find(api, project)
    if printed_json(found):
        return
    print_title(found.name, found.id)
    chosen = _list_options(api.app, await find_project(api.app, project)) if api.app else _list_chosen(found)
    for name, value in [("description", found.description or ""), *chosen]:
        click.echo(f"{name:<11} {printable(value)}".rstrip())


@projects.command()
@_name
@_add_choices
@options.json
@on_api
async def create(api: Api, /, *, name: str, **given: Any) -> None:
    """Create a project. Options that are not given follow the settings."""
    from whence.api.projects import ProjectCreate, ProjectModel
    from whence.api.reading import read

    fields = {"name": name, **_read_fields(given)}
    read(ProjectCreate, fields)
    _print_report(await api.send("POST", "/projects", ProjectModel, fields), "Created")


@projects.command()
@_project
@_name
@options.json
@on_api
async def rename(api: Api, *, project: str, name: str) -> None:
    """Rename a project; its id stays."""
    await _change(api, project, {"name": name}, "Renamed")


@projects.command("set")
@_project
@_add_choices
@click.option(
    "--context",
    multiple=True,
    metavar="NAME=VALUE",
    help="Context of an extraction: positionalCount, semanticChunkCount, relatedObjectCount or "
    "objectSimilarityThreshold. Repeatable.",
)
@options.json
@on_api
async def set_project(api: Api, /, *, project: str, context: tuple[str, ...], **given: Any) -> None:
    """Change the given options; the others stay. `default` resets an option to the settings.

    A new language rebuilds the text index.
    """
    shown = _NO_CHOICE if context == (_NO_CHOICE,) else _reset(options.read_pairs("--context", context))
    fields = _read_fields(given, context=shown)
    if not fields:
        raise click.UsageError("Nothing to change: give at least one option")
    await _change(api, project, fields, "Changed")


@projects.command()
@_project
@options.json
@on_app
async def reindex(app: App, project: str) -> None:
    """Rebuild the text index of a project from its chunks. Searches use the old one meanwhile."""
    from whence.api.projects import ProjectModel
    from whence.search.index import reindex

    found = await find_project(app, project)
    await reindex(app.store, found.id, language=None)
    _print_report(ProjectModel.of(found), "Rebuilt the text index of")


@projects.command()
@_project
@options.yes
@options.json
@works_remotely
def delete(project: str, *, yes: bool) -> None:
    """Delete a project with all its documents, its graph and its keys."""
    confirm(f"Delete project {project} and everything in it?", yes=yes)
    _delete(project)


@on_api
async def _delete(api: Api, project: str) -> None:
    found = await _find(api, project)
    await api.client.request("DELETE", f"/projects/{found.id}")
    _print_report(found, "Deleted")


async def _find(api: Api, project: str) -> "ProjectModel":
    from whence.api.projects import ProjectModel

    return await api.get(f"/projects/{await api.find_project_id(project)}", ProjectModel)


async def _change(api: Api, project: str, fields: dict[str, Any], done: str) -> None:
    from whence.api.projects import ProjectChange, ProjectModel
    from whence.api.reading import read

    read(ProjectChange, fields)
    path = f"/projects/{await api.find_project_id(project)}"
    _print_report(await api.send("PATCH", path, ProjectModel, fields), done)


def _read_fields(given: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The options that were given, as fields of the API's requests. The value `default` becomes null."""
    names = ("extraction", "extractor", "grounding")
    chunking = _read_chunking(given["strategy"], given["max_size"], given["min_size"])
    config = _reset({**{name: given[name] for name in names}, **more, "chunking": chunking})
    fields = {
        name: value for name, value in {"language": given["language"], "config": config}.items() if value
    }
    return fields if given["description"] is None else {**fields, "description": given["description"] or None}


def _read_chunking(strategy: str | None, max_size: int | None, min_size: int | None) -> Any:
    """The given default chunking. A wrong value is a usage error."""
    if strategy in (None, _NO_CHOICE):
        if max_size is not None or min_size is not None:
            raise click.UsageError("--max and --min need a --strategy")
        return strategy
    options.read_chunking(strategy, max_size, min_size)
    sizes = {"maxChunkSize": max_size, "minChunkSize": min_size}
    return {"strategy": strategy, **{name: size for name, size in sizes.items() if size is not None}}


def _reset(given: dict[str, Any]) -> dict[str, Any]:
    """The given options, with null for `default`."""
    return {
        name: None if value == _NO_CHOICE else value
        for name, value in given.items()
        if value not in (None, {})
    }


def _list_chosen(project: "ProjectModel") -> list[tuple[str, str]]:
    """The options chosen for the project. The others follow its server's settings."""
    chosen = project.config.model_dump(mode="json", by_alias=True, exclude_none=True)
    shown = {"language": project.language, **chosen}
    return [(name, on_one_line(value)) for name, value in shown.items()]


def _list_options(app: App, project: "Project") -> list[tuple[str, str]]:
    """The effective options of the project; defaults are marked as such."""
    from whence.extract.context import ContextOptions
    from whence.text.lexer import DEFAULT_LANGUAGE

    chosen = project.config
    context = ContextOptions.chosen(chosen).as_config()
    options = {
        "language": chosen.get("language") or DEFAULT_LANGUAGE,
        "extraction": app.orders.switch(project),
        "extractor": chosen.get("extractor") or app.orders.extractor(project),
        "context": ", ".join(f"{name} {value}" for name, value in context.items()),
        "grounding": chosen.get("grounding") or "strict",
        "chunking": _describe_chunking(chosen.get("chunking")),
    }
    return [(name, value if chosen.get(name) else f"{value} (by default)") for name, value in options.items()]


def _describe_chunking(chosen: dict[str, Any] | None) -> str:
    if not chosen:
        return "paragraph by commands, character over HTTP"
    return f"{chosen['strategy']}, at most {chosen.get('maxChunkSize') or 1200} characters"


def _print_report(project: "ProjectModel", done: str) -> None:
    print_result(project, f"{done} project {project.name} ({project.id}).")
