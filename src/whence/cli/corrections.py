"""`whence objects set, reject, restore, history`: corrections by a person."""

from typing import TYPE_CHECKING
from uuid import UUID

import click

from whence.cli import options
from whence.cli.command import Api, on_api
from whence.cli.graph import WIDEST
from whence.cli.output import on_one_line, print_rows, printable, shorten, wants_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whence.api.curations import CurationModel

_ALL = 2**31
_UNDO = "To undo: whence objects restore ID"

_object = click.argument("object")
_reason = click.option("--reason", help="The reason, stored with the correction.")
_author = click.option("--author", default="local", show_default=True, help="The author of the correction.")


@click.command("set")
@_object
@click.argument("values", nargs=-1, required=True, metavar="NAME=VALUE...")
@_reason
@_author
@options.project
@options.json
@on_api
async def set_values(
    api: Api,
    *,
    object: str,  # noqa: A002 - the name in the usage
    values: tuple[str, ...],
    reason: str | None,
    author: str,
    project: str,
) -> None:
    """Set properties of OBJECT. They take precedence over extracted values."""
    from whence.api.curations import CorrectedObject

    given = options.read_pairs("A value", values, nested=True)
    body = {"set": given, "reason": reason, "author": author}
    path = await api.object_path(project, object)
    _show_curations((await api.send("PATCH", path, CorrectedObject, body)).curations, _UNDO)


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
@on_api
async def reject(
    api: Api,
    *,
    object: str | None,  # noqa: A002 - the name in the usage
    property_name: str | None,
    claim: UUID | None,
    relationship: UUID | None,
    reason: str | None,
    author: str,
    project: str,
) -> None:
    """Reject OBJECT, claims about it, or a relationship. Extracting the same text again does not restore them."""
    from whence.api.curations import CurationModel

    if sum(one is not None for one in (property_name, claim, relationship)) > 1:
        raise click.UsageError("--property, --claim and --relationship exclude each other")
    if (object is None) == (relationship is None):
        raise click.UsageError("give an OBJECT, or --relationship alone")
    path = f"/relationships/{relationship}" if object is None else await api.object_path(project, object)
    if claim is not None or property_name is not None:
        path += "/claims" if claim is None else f"/claims/{claim}"
    why = {"reason": reason, "author": author, "property": property_name}
    _show_curations([await api.send("DELETE", path, CurationModel, None, **why)], _UNDO)


@click.command()
@click.argument("correction")
@_reason
@_author
@options.project
@options.json
@on_api
async def restore(api: Api, *, correction: str, reason: str | None, author: str, project: str) -> None:
    """Undo CORRECTION: an id of `whence objects history`, or the name or an alias of an object for its last one."""
    from whence.api.curations import CurationModel

    ident = await _find_correction(api, project, correction)
    why = {"reason": reason, "author": author}
    _show_curations([await api.send("POST", f"/curations/{ident}/undo", CurationModel, why)])


@click.command()
@click.argument("object", required=False)
@options.project
@options.limit
@options.json
@on_api
async def history(api: Api, *, object: str | None, project: str, limit: int) -> None:  # noqa: A002 - the name in the usage
    """List the corrections of a project, or only of OBJECT, newest first."""
    from whence.api.curations import CurationModel

    about = await (api.object_path(project, object) if object else api.project_path(project))
    models, total = await api.page(f"{about}/curations", CurationModel, limit=limit)
    _show_curations(models, total=total)


async def _find_correction(api: Api, project: str, which: str) -> UUID:
    """Finds a correction by id, or the last effective one of an object by name or alias."""
    from whence.api.curations import CurationModel
    from whence.errors import CurationNotFound
    from whence.text.names import name_key

    try:
        return UUID(which)
    except ValueError:
        path = f"{await api.project_path(project)}/curations"
    entries, _ = await api.page(path, CurationModel, limit=_ALL, name=which)
    entries = [entry for entry in entries if name_key(entry.object_name) == name_key(which)] or entries
    if not entries:
        path = f"{await api.object_path(project, which)}/curations"
        entries, _ = await api.page(path, CurationModel, limit=_ALL)
    for entry in entries:
        if entry.action != "undo" and entry.state != "undone":
            return entry.id
    raise CurationNotFound(f"There is no correction of {printable(which)!r} to undo")


def _show_curations(entries: "Sequence[CurationModel]", hint: str | None = None, *, total: int = 0) -> None:
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
    print_rows(entries, columns, rows, total=total)
    if hint and not wants_json():
        click.echo(hint)


def _describe_correction(one: "CurationModel") -> str:
    """`reject Solar Harbour capacity: 40 kW`, in one line."""
    about = [one.action, one.object_name, one.relationship_type, one.target_name, one.property_name]
    value = "" if one.value is None else f": {on_one_line(one.value)}"
    return printable(" ".join(filter(None, about))) + value
