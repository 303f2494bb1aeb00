"""`whence objects set, reject, restore, history`: a person's word about the graph."""

from typing import TYPE_CHECKING
from uuid import UUID

import click

from whence.cli import options
from whence.cli.command import App, find_project, on_app
from whence.cli.graph import WIDEST, find_object
from whence.cli.output import on_one_line, print_rows, printable, shorten, wants_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whence.store.graph.curation import Curation

_ALL = 2**31
_UNDO = "To undo: whence objects restore ID"

_object = click.argument("object")
_reason = click.option("--reason", help="The reason, kept with the correction.")
_author = click.option("--author", default="local", show_default=True, help="Who says so.")


@click.command("set")
@_object
@click.argument("values", nargs=-1, required=True, metavar="NAME=VALUE...")
@_reason
@_author
@options.project
@options.json
@on_app
async def set_values(
    app: App,
    *,
    object: str,  # noqa: A002 - the name in the usage
    values: tuple[str, ...],
    reason: str | None,
    author: str,
    project: str,
) -> None:
    """Set properties of OBJECT. They count before everything that is extracted."""
    from whence.models import Word

    found = await find_object(app, project, object)
    given = options.read_pairs("A value", values, nested=True)
    made = await app.curator.set(found, given, Word(author=author, reason=reason))
    _show_curations(made, _UNDO)


@click.command()
@click.argument("object", required=False)
@click.option("--property", "property_name", metavar="NAME", help="Only the claims about this property.")
@click.option(
    "--claim", type=click.UUID, metavar="ID", help="Only this claim; `whence trace --json` has its id."
)
@click.option(
    "--relationship",
    type=click.UUID,
    metavar="ID",
    help="A relationship, whose id `whence objects show` prints.",
)
@_reason
@_author
@options.project
@options.json
@on_app
async def reject(
    app: App,
    *,
    object: str | None,  # noqa: A002 - the name in the usage
    property_name: str | None,
    claim: UUID | None,
    relationship: UUID | None,
    reason: str | None,
    author: str,
    project: str,
) -> None:
    """Reject OBJECT, claims about it, or a relationship. They do not come back when the same text is read again."""
    from whence.models import Word

    if sum(one is not None for one in (property_name, claim, relationship)) > 1:
        raise click.UsageError("--property, --claim and --relationship exclude each other")
    if (object is None) == (relationship is None):
        raise click.UsageError("give an OBJECT, or --relationship alone")
    graph, by = app.store.graph, Word(author=author, reason=reason)
    about = await (
        graph.relationships.get(relationship) if relationship else find_object(app, project, object or "")
    )
    which = (about.project_id, about.id)
    if relationship is not None:
        rejected = graph.curations.reject_relationship(*which, by)
    elif claim is not None:
        rejected = graph.curations.reject_claim(*which, claim, by)
    elif property_name is not None:
        rejected = graph.curations.reject_property(*which, property_name, by)
    else:
        rejected = graph.curations.reject_object(*which, by)
    made = await app.curator.done(about.project_id, rejected)
    _show_curations([made], _UNDO)


@click.command()
@click.argument("correction")
@_reason
@_author
@options.project
@options.json
@on_app
async def restore(app: App, *, correction: str, reason: str | None, author: str, project: str) -> None:
    """Undo CORRECTION: an id of `whence objects history`, or the name of an object for its last one."""
    from whence.models import Word

    entry = await _find_correction(app, project, correction)
    undone = app.store.graph.curations.undo(entry.project_id, entry.id, Word(author=author, reason=reason))
    _show_curations([await app.curator.done(entry.project_id, undone)])


@click.command()
@click.argument("object", required=False)
@options.project
@options.limit
@options.json
@on_app
async def history(app: App, *, object: str | None, project: str, limit: int) -> None:  # noqa: A002 - the name in the usage
    """List what people corrected in a project, or of OBJECT only, the newest first."""
    project_id = (await find_project(app, project)).id
    object_id = None
    if object is not None:
        found = await find_object(app, project, object)
        project_id, object_id = found.project_id, found.id
    entries, total = await app.store.graph.curations.page(
        project_id, object_id=object_id, limit=limit, offset=0
    )
    _show_curations(entries, total=total)


async def _find_correction(app: App, project: str, which: str) -> "Curation":
    """By id, or the last one of a name that still counts."""
    from whence.errors import CurationNotFound
    from whence.text.names import name_key

    curations = app.store.graph.curations
    try:
        return await curations.get(UUID(which))
    except ValueError:
        project_id = (await find_project(app, project)).id
    entries, _ = await curations.page(project_id, name_key=name_key(which), limit=_ALL, offset=0)
    for entry in entries:
        if entry.action != "undo" and entry.state != "undone":
            return entry
    raise CurationNotFound(f"There is no correction of {printable(which)!r} to undo")


def _show_curations(entries: "Sequence[Curation]", hint: str | None = None, *, total: int = 0) -> None:
    from whence.api.curations import CurationModel

    rows = [
        (
            one.id,
            f"{one.created_at:%Y-%m-%d %H:%M}",
            printable(one.author),
            shorten(_describe_correction(one), WIDEST),
            one.state,
            printable(one.reason or ""),
        )
        for one in entries
    ]
    columns = ("ID", "WHEN", "WHO", "WHAT", "STATE", "WHY")
    print_rows([CurationModel.of(one) for one in entries], columns, rows, total=total)
    if hint and not wants_json():
        click.echo(hint)


def _describe_correction(one: "Curation") -> str:
    """`reject Solar Harbour capacity: 40 kW`, in one line."""
    about = [one.action, one.name, one.relationship_type, one.target_name, one.property_name]
    value = "" if one.value is None else f": {on_one_line(one.value)}"
    return printable(" ".join(filter(None, about))) + value
