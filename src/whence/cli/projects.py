"""`whence projects`: lists, shows, creates, changes and deletes projects."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from whence.cli import options
from whence.cli.command import App, find_project, on_app
from whence.cli.output import confirm, print_result, print_rows, print_title, printable, printed_json
from whence.errors import InvalidParameter

if TYPE_CHECKING:
    from whence.models import Project

_ALL = 2**31
_NO_CHOICE = "default"

_project = click.argument("project")
_description = click.option("--description", help="The purpose of the project.")
_extraction = click.option(
    "--extraction",
    type=click.Choice(("auto", "manual", _NO_CHOICE)),
    help="Extract documents after ingest, or on request only.",
)
_extractor = click.option(
    "--extractor", metavar="NAME", help="The extractor: model, rules, an installed one or default."
)


def _check_name(_context: click.Context, _argument: click.Parameter, name: str) -> str:
    from whence.models import project_name

    try:
        return project_name(name)
    except ValueError as exc:
        raise InvalidParameter.of("name", provided=name, expected=str(exc)) from exc


def _check_language(_context: click.Context, _option: click.Parameter, language: str | None) -> str | None:
    from whence.text.lexer import lexer

    return None if language is None else lexer(language).language


_name = click.argument("name", callback=_check_name)
_language = click.option(
    "--language",
    callback=_check_language,
    help="The language of its documents: english (the default), german, … or simple for any other.",
)


@click.group()
def projects() -> None:
    """List, show, create, change and delete projects. PROJECT is a name or an id."""


@projects.command("list")
@options.json
@on_app
async def list_projects(app: App) -> None:
    """List all projects."""
    from whence.api.projects import ProjectModel

    found, _ = await app.store.projects.page(limit=_ALL, offset=0)
    rows = [(p.id, p.name, p.description, f"{p.created_at:%Y-%m-%d}") for p in found]
    models = [ProjectModel.of(project) for project in found]
    print_rows(models, ("ID", "NAME", "DESCRIPTION", "CREATED"), rows)


@projects.command()
@_project
@options.json
@on_app
async def show(app: App, *, project: str) -> None:
    """Show a project: its language, and how its documents are extracted."""
    from whence.api.projects import ProjectModel

    found = await find_project(app, project)
    if printed_json(ProjectModel.of(found)):
        return
    print_title(found.name, found.id)
    for name, value in [("description", found.description or ""), *_list_options(app, found)]:
        click.echo(f"{name:<11} {printable(value)}".rstrip())


@projects.command()
@_name
@_description
@_language
@_extraction
@_extractor
@options.json
@on_app
async def create(
    app: App,
    *,
    name: str,
    description: str | None,
    language: str | None,
    extraction: str | None,
    extractor: str | None,
) -> None:
    """Create a project. Options that are not given follow the settings."""
    config = _read_choices(app, extraction=extraction, extractor=extractor)
    made = await app.store.projects.create(
        name=name,
        description=description,
        language=language,
        config={choice: value for choice, value in config.items() if value},
    )
    _report(made, "Created")


@projects.command()
@_project
@_name
@options.json
@on_app
async def rename(app: App, *, project: str, name: str) -> None:
    """Rename a project; its id stays."""
    found = await find_project(app, project)
    _report(await app.store.projects.update(replace(found, name=name)), "Renamed")


@projects.command("set")
@_project
@_description
@_language
@_extraction
@_extractor
@click.option(
    "--context",
    multiple=True,
    metavar="NAME=VALUE",
    help="Context of an extraction: positionalCount, semanticChunkCount, relatedObjectCount or "
    "objectSimilarityThreshold. Repeatable.",
)
@options.json
@on_app
async def set_project(
    app: App,
    *,
    project: str,
    description: str | None,
    language: str | None,
    extraction: str | None,
    extractor: str | None,
    context: tuple[str, ...],
) -> None:
    """Change the options that are given; the others stay. `default` resets one to the settings.

    A new language rebuilds the text index.
    """
    from whence.extract.context import ContextOptions, amended
    from whence.search.index import reindex

    chosen: dict[str, Any] = _read_choices(app, extraction=extraction, extractor=extractor)
    if context:
        chosen["context"] = _read_context(context)
    if description is None and language is None and not chosen:
        raise click.UsageError("Nothing to change: give one of the options")
    found = await find_project(app, project)
    about = found.description if description is None else description or None
    config = amended(found.config, chosen)
    ContextOptions.chosen(config)
    await app.store.projects.update(replace(found, description=about, config=config))
    if language is not None:
        await reindex(app.store, found.id, language=language)
    _report(await app.store.projects.get(found.id), "Changed")


@projects.command()
@_project
@click.argument("language", callback=_check_language)
@options.json
def language(project: str, language: str) -> None:
    """Set the language of the documents: german, french, … or simple. Rebuilds the text index."""
    _reindex(project, language)


@projects.command()
@_project
@options.json
def reindex(project: str) -> None:
    """Rebuild the text index of a project from its chunks. Searches use the old one meanwhile."""
    _reindex(project, None)


@on_app
async def _reindex(app: App, project: str, language: str | None) -> None:
    from whence.search.index import reindex

    found = await find_project(app, project)
    await reindex(app.store, found.id, language=language)
    _report(await app.store.projects.get(found.id), "Made the text index anew of")


@projects.command()
@_project
@options.yes
@options.json
def delete(project: str, *, yes: bool) -> None:
    """Delete a project with all its documents, its graph and its keys."""
    confirm(f"Delete project {project} and everything in it?", yes=yes)
    _delete(project)


@on_app
async def _delete(app: App, project: str) -> None:
    found = await find_project(app, project)
    await app.remover.project(found.id)
    _report(found, "Deleted")


def _read_choices(app: App, *, extraction: str | None, extractor: str | None) -> dict[str, str | None]:
    """The given choices; None for those that are reset to the settings."""
    given = {"extraction": extraction, "extractor": extractor}
    chosen = {name: None if value == _NO_CHOICE else value for name, value in given.items() if value}
    app.extractors.require_known(chosen.get("extractor"))
    return chosen


def _read_context(given: tuple[str, ...]) -> dict[str, int | float | None] | None:
    """The options given as `NAME=VALUE`; None to reset all of them to the settings."""
    from whence.extract.context import OPTION_NAMES

    if given == (_NO_CHOICE,):
        return None
    chosen: dict[str, int | float | None] = {}
    for name, _, value in (each.partition("=") for each in given):
        if name not in OPTION_NAMES:
            raise InvalidParameter.of("context", provided=name, expected=f"one of {', '.join(OPTION_NAMES)}")
        try:
            chosen[name] = None if value == _NO_CHOICE else int(value) if value.isdigit() else float(value)
        except ValueError as exc:
            raise InvalidParameter.of(name, provided=value, expected="a number") from exc
    return chosen


def _list_options(app: App, project: "Project") -> list[tuple[str, str]]:
    """The effective options of the project; defaults are marked as such."""
    from whence.extract.context import ContextOptions
    from whence.text.lexer import DEFAULT_LANGUAGE

    chosen = project.config
    context = ContextOptions.chosen(chosen).told()
    options = {
        "language": chosen.get("language") or DEFAULT_LANGUAGE,
        "extraction": app.orders.switch(project),
        "extractor": chosen.get("extractor") or app.orders.extractor(project),
        "context": ", ".join(f"{name} {value}" for name, value in context.items()),
    }
    return [(name, value if chosen.get(name) else f"{value} (by default)") for name, value in options.items()]


def _report(project: "Project", done: str) -> None:
    from whence.api.projects import ProjectModel

    text = f"{done} project {project.name} ({project.id})."
    print_result(ProjectModel.of(project), text)
