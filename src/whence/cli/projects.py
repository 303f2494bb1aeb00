"""`whence projects`: lists, shows, creates, changes and deletes projects."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

import click

from whence.cli.output import json_option, print_json, print_table, printable, with_app
from whence.errors import InvalidParameter

if TYPE_CHECKING:
    from whence.app import App
    from whence.models import Project

_ALL = 2**31
_NO_CHOICE = "default"


@click.group()
def projects() -> None:
    """List, show, create, change and delete projects. PROJECT is a name or an id."""


@projects.command("list")
@json_option
def list_projects(*, as_json: bool) -> None:
    """All projects."""

    async def work(app: "App") -> "list[Project]":
        return (await app.store.projects.page(limit=_ALL, offset=0))[0]

    found = with_app(work)
    if as_json:
        from whence.api.projects import ProjectModel

        print_json([ProjectModel.of(project) for project in found])
    else:
        rows = [(p.id, p.name, p.description, f"{p.created_at:%Y-%m-%d}") for p in found]
        print_table(("ID", "NAME", "DESCRIPTION", "CREATED"), rows)


@projects.command()
@click.argument("project")
@json_option
def show(project: str, *, as_json: bool) -> None:
    """One project: its language, and how its documents are extracted."""

    async def work(app: "App") -> "tuple[Project, list[tuple[str, str]]]":
        found = await find(app, project)
        return found, _choices(app, found)

    found, choices = with_app(work)
    if as_json:
        from whence.api.projects import ProjectModel

        print_json(ProjectModel.of(found))
        return
    click.echo(f"{click.style(printable(found.name), bold=True)}  {found.id}")
    for name, value in [("description", found.description or ""), *choices]:
        click.echo(f"{name:<11} {printable(value)}".rstrip())


@projects.command()
@click.argument("name")
@click.option("--description", help="What it is for.")
@click.option("--language", help="Of its texts: german, french, … or simple for any other.  [english]")
@click.option(
    "--extraction",
    type=click.Choice(("auto", "manual")),
    help="Whether documents are extracted when they have been ingested.",
)
@click.option("--extractor", metavar="NAME", help="Who extracts: model, rules or an installed one.")
@json_option
def create(
    name: str,
    description: str | None,
    *,
    language: str | None,
    extraction: str | None,
    extractor: str | None,
    as_json: bool,
) -> None:
    """Make a project. What is not chosen is left to the settings."""
    given = {"extraction": extraction, "extractor": extractor}
    config = {choice: value for choice, value in given.items() if value}

    async def work(app: "App") -> "Project":
        app.extractors.require_known(extractor)
        return await app.store.projects.create(
            name=name, description=description, language=language, config=config
        )

    name, language = _checked(name), _known(language)
    _show(with_app(work), "Created", as_json=as_json)


@projects.command()
@click.argument("project")
@click.argument("name")
@json_option
def rename(project: str, name: str, *, as_json: bool) -> None:
    """Give a project another name; its id stays."""

    async def work(app: "App") -> "Project":
        return await app.store.projects.update(replace(await find(app, project), name=name))

    name = _checked(name)
    _show(with_app(work), "Renamed", as_json=as_json)


@projects.command("set")
@click.argument("project")
@click.option("--description", help="What it is for.")
@click.option("--language", help="Of its texts: german, french, … or simple. Their index is made anew.")
@click.option(
    "--extraction",
    type=click.Choice(("auto", "manual", _NO_CHOICE)),
    help="Whether documents are extracted when they have been ingested.",
)
@click.option("--extractor", metavar="NAME", help="Who extracts: model, rules, an installed one or default.")
@click.option(
    "--context",
    multiple=True,
    metavar="NAME=VALUE",
    help="What is shown to who extracts: positionalCount, semanticChunkCount, relatedObjectCount or "
    "objectSimilarityThreshold. May be given several times.",
)
@json_option
def set_project(
    project: str,
    *,
    description: str | None,
    language: str | None,
    extraction: str | None,
    extractor: str | None,
    context: tuple[str, ...],
    as_json: bool,
) -> None:
    """Change what is chosen for a project; what is not named stays. `default` leaves it to the settings."""
    given = {"extraction": extraction, "extractor": extractor}
    chosen: dict[str, Any] = {
        name: None if value == _NO_CHOICE else value for name, value in given.items() if value
    }
    if context:
        chosen["context"] = _context(context)
    if description is None and language is None and not chosen:
        raise click.UsageError("Nothing to change: give one of the options")

    async def work(app: "App") -> "Project":
        from whence.extract.context import ContextOptions, amended
        from whence.search.index import reindex

        app.extractors.require_known(chosen.get("extractor"))
        found = await find(app, project)
        about = found.description if description is None else description or None
        config = amended(found.config, chosen)
        ContextOptions.chosen(config)
        await app.store.projects.update(replace(found, description=about, config=config))
        if language is not None:
            await reindex(app.store, found.id, language=language)
        return await app.store.projects.get(found.id)

    _known(language)
    _show(with_app(work), "Changed", as_json=as_json)


@projects.command()
@click.argument("project")
@click.argument("language")
@json_option
def language(project: str, language: str, *, as_json: bool) -> None:
    """Say which language the texts are in: german, french, … or simple. Their index is made anew."""

    async def work(app: "App") -> "Project":
        from whence.search.index import reindex

        found = await find(app, project)
        await reindex(app.store, found.id, language=language)
        return await app.store.projects.get(found.id)

    _known(language)
    _show(with_app(work), "Made the text index anew of", as_json=as_json)


@projects.command()
@click.argument("project")
@json_option
def reindex(project: str, *, as_json: bool) -> None:
    """Make the text index of a project anew from its chunks. Searches find the old one until then."""

    async def work(app: "App") -> "Project":
        from whence.search.index import reindex

        found = await find(app, project)
        await reindex(app.store, found.id)
        return found

    _show(with_app(work), "Made the text index anew of", as_json=as_json)


@projects.command()
@click.argument("project")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def delete(project: str, *, yes: bool, as_json: bool) -> None:
    """Delete a project with all its documents, its graph and its keys."""
    if not yes:
        click.confirm(f"Delete project {project} and everything in it?", abort=True)

    async def work(app: "App") -> "Project":
        found = await find(app, project)
        await app.remover.project(found.id)
        return found

    _show(with_app(work), "Deleted", as_json=as_json)


def _context(given: tuple[str, ...]) -> dict[str, int | float | None] | None:
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


def _checked(name: str) -> str:
    from whence.models import project_name

    try:
        return project_name(name)
    except ValueError as exc:
        raise InvalidParameter.of("name", provided=name, expected=str(exc)) from exc


def _known(language: str | None) -> str | None:
    from whence.text.lexer import lexer

    return None if language is None else lexer(language).language


async def find(app: "App", project: str) -> "Project":
    """By id, or by name."""
    try:
        ident = UUID(project)
    except ValueError:
        return await app.store.projects.named(project)
    return await app.store.projects.get(ident)


def _choices(app: "App", project: "Project") -> list[tuple[str, str]]:
    """The effective options of the project; defaults are marked as such."""
    from whence.extract.context import ContextOptions
    from whence.text.lexer import DEFAULT_LANGUAGE

    chosen = project.config
    context = ContextOptions.chosen(chosen).told()
    holds = {
        "language": chosen.get("language") or DEFAULT_LANGUAGE,
        "extraction": app.orders.switch(project),
        "extractor": chosen.get("extractor") or app.orders.extractor(project),
        "context": ", ".join(f"{name} {value}" for name, value in context.items()),
    }
    return [(name, value if chosen.get(name) else f"{value} (by default)") for name, value in holds.items()]


def _show(project: "Project", done: str, *, as_json: bool) -> None:
    if as_json:
        from whence.api.projects import ProjectModel

        print_json(ProjectModel.of(project))
    else:
        click.echo(f"{done} project {project.name} ({project.id}).")
