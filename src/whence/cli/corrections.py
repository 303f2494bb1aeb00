"""`whence objects set, reject, restore, history`: a person's word about the graph."""

from typing import TYPE_CHECKING
from uuid import UUID

import click

from whence.cli import options
from whence.cli.command import App, Remote, find_project, is_remote, on_either
from whence.cli.graph import WIDEST, find_object
from whence.cli.output import on_one_line, print_rows, printable, shorten, wants_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whence.api.curations import CurationModel
    from whence.models import GraphObject, Word
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
@on_either
async def set_values(
    base: App | Remote,
    *,
    object: str,  # noqa: A002 - the name in the usage
    values: tuple[str, ...],
    reason: str | None,
    author: str,
    project: str,
) -> None:
    """Set properties of OBJECT. They count before everything that is extracted."""
    from whence.api.curations import CorrectedObject, CurationModel
    from whence.models import Word

    given = options.read_pairs("A value", values, nested=True)
    if is_remote(base):
        body = {"set": given, "reason": reason, "author": author}
        path = await base.object_path(project, object)
        made = (await base.send("PATCH", path, CorrectedObject, body)).curations
    else:
        found = await find_object(base, project, object)
        curations = await base.curator.set(found, given, Word(author=author, reason=reason))
        made = [CurationModel.of(one) for one in curations]
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
@on_either
async def reject(
    base: App | Remote,
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
    by = Word(author=author, reason=reason)
    if relationship is not None:
        made = await _reject_relationship(base, relationship, by)
    elif is_remote(base):
        path = await base.object_path(project, object or "")
        if claim is not None or property_name is not None:
            path += "/claims" if claim is None else f"/claims/{claim}"
        made = await _delete(base, path, by, property=property_name)
    else:
        found = await find_object(base, project, object or "")
        made = await _reject(base, found, by, claim=claim, property_name=property_name)
    _show_curations([made], _UNDO)


async def _delete(remote: Remote, path: str, by: "Word", **query: str | None) -> "CurationModel":
    from whence.api.curations import CurationModel

    why = {"reason": by.reason, "author": by.author, **query}
    return await remote.send("DELETE", path, CurationModel, body=None, **why)


async def _reject_relationship(base: App | Remote, relationship: UUID, by: "Word") -> "CurationModel":
    from whence.api.curations import CurationModel

    if is_remote(base):
        return await _delete(base, f"/relationships/{relationship}", by)
    found = await base.store.graph.relationships.get(relationship)
    rejected = base.store.graph.curations.reject_relationship(found.project_id, found.id, by)
    return CurationModel.of(await base.curator.done(found.project_id, rejected))


async def _reject(
    app: App, found: "GraphObject", by: "Word", *, claim: UUID | None, property_name: str | None
) -> "CurationModel":
    from whence.api.curations import CurationModel

    curations, which = app.store.graph.curations, (found.project_id, found.id)
    if claim is not None:
        rejected = curations.reject_claim(*which, claim, by)
    elif property_name is not None:
        rejected = curations.reject_property(*which, property_name, by)
    else:
        rejected = curations.reject_object(*which, by)
    return CurationModel.of(await app.curator.done(found.project_id, rejected))


@click.command()
@click.argument("correction")
@_reason
@_author
@options.project
@options.json
@on_either
async def restore(
    base: App | Remote, *, correction: str, reason: str | None, author: str, project: str
) -> None:
    """Undo CORRECTION: an id of `whence objects history`, or the name of an object for its last one."""
    from whence.api.curations import CurationModel
    from whence.models import Word

    ident = await _find_correction(base, project, correction)
    if is_remote(base):
        why = {"reason": reason, "author": author}
        made = await base.send("POST", f"/curations/{ident}/undo", CurationModel, why)
    else:
        curations = base.store.graph.curations
        project_id = (await curations.get(ident)).project_id
        undone = curations.undo(project_id, ident, Word(author=author, reason=reason))
        made = CurationModel.of(await base.curator.done(project_id, undone))
    _show_curations([made])


@click.command()
@click.argument("object", required=False)
@options.project
@options.limit
@options.json
@on_either
async def history(base: App | Remote, *, object: str | None, project: str, limit: int) -> None:  # noqa: A002 - the name in the usage
    """List what people corrected in a project, or of OBJECT only, the newest first."""
    from whence.api.curations import CurationModel

    if is_remote(base):
        about = await (base.object_path(project, object) if object else base.project_path(project))
        models, total = await base.page(f"{about}/curations", CurationModel, limit=limit)
    else:
        project_id = (await find_project(base, project)).id
        object_id = None
        if object is not None:
            found = await find_object(base, project, object)
            project_id, object_id = found.project_id, found.id
        entries, total = await base.store.graph.curations.page(
            project_id, object_id=object_id, limit=limit, offset=0
        )
        models = [CurationModel.of(one) for one in entries]
    _show_curations(models, total=total)


async def _find_correction(base: App | Remote, project: str, which: str) -> UUID:
    """By id, or the last one of a name that still counts."""
    from whence.errors import CurationNotFound

    try:
        return UUID(which)
    except ValueError:
        entries = await _corrections_of(base, project, which)
    for entry in entries:
        if entry.action != "undo" and entry.state != "undone":
            return entry.id
    raise CurationNotFound(f"There is no correction of {printable(which)!r} to undo")


async def _corrections_of(
    base: App | Remote, project: str, name: str
) -> "Sequence[Curation | CurationModel]":
    from whence.api.curations import CurationModel
    from whence.text.names import name_key

    key = name_key(name)
    if is_remote(base):
        path = f"{await base.project_path(project)}/curations"
        entries, _ = await base.page(path, CurationModel, limit=_ALL)
        return [one for one in entries if name_key(one.object_name) == key]
    project_id = (await find_project(base, project)).id
    found, _ = await base.store.graph.curations.page(project_id, name_key=key, limit=_ALL, offset=0)
    return found


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
