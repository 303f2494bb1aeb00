"""`whence objects`: the objects of the graph."""

from typing import IO, TYPE_CHECKING, Any
from uuid import UUID

import click

from whence.cli import corrections, options
from whence.cli.command import Api, on_api
from whence.cli.graph import WIDEST, describe_place, describe_relationship
from whence.cli.output import (
    on_one_line,
    page_suffix,
    print_result,
    print_rows,
    print_table,
    print_title,
    printable,
    printed_json,
    shorten,
)

if TYPE_CHECKING:
    from whence.api.graph import ConflictModel, MergeModel, ObjectAnswer, RelationshipModel
    from whence.api.jobs import ReadingModel

_ALL = 2**31
_IN_MEMORY = 2**24
_MERGED = "{dropped} is {kept} now. To undo: whence objects unmerge {id}"
_SHOWN_RELATIONSHIPS = 20

_object = click.argument("object")


@click.group()
def objects() -> None:
    """List, show, correct, merge and export the objects of the graph. OBJECT is an id or a name."""


for _command in (corrections.set_values, corrections.reject, corrections.restore, corrections.history):
    objects.add_command(_command)


@objects.command("list")
@options.project
@click.option("--type", "object_type", help="Only objects of this type.")
@options.name
@click.option(
    "--document", type=click.UUID, metavar="ID", help="Only objects with a source in this document."
)
@options.limit
@options.json
@on_api
async def list_objects(
    api: Api,
    *,
    project: str,
    object_type: str | None,
    name: str | None,
    document: UUID | None,
    limit: int,
) -> None:
    """List the objects of a project, oldest first."""
    from whence.api.graph import ObjectModel

    of = {"project_id": await api.project_id(project), "type": object_type, "name": name}
    models, total = await api.page("/objects", ObjectModel, limit=limit, document_id=document, **of)
    rows = [(one.id, printable(one.type), printable(one.name), len(one.properties)) for one in models]
    print_rows(models, ("ID", "TYPE", "NAME", "PROPERTIES"), rows, total=total)


@objects.command()
@_object
@options.project
@options.json
@on_api
async def show(api: Api, *, object: str, project: str) -> None:  # noqa: A002 - the name in the usage
    """Show each property of an object, with its value and its source, and its relationships."""
    from whence.api.graph import ObjectAnswer

    found = await api.get(await api.object_path(project, object), ObjectAnswer)
    if printed_json(found):
        return
    print_title(found.name, found.id, kind=f"{printable(found.type)} ")
    rows = [
        (
            printable(name),
            shorten(on_one_line(newest.value), WIDEST),
            describe_place(newest),
            newest.schema_version,
        )
        for name, claims in found.sources.items()
        for newest in [claim for claim in claims if not claim.rejected][:1]
    ]
    print_table(("PROPERTY", "VALUE", "FROM", "SCHEMA"), rows)
    if found.aliases:
        click.echo(f"Also called {printable(', '.join(found.aliases))}.")
    for merge in found.merges:
        click.echo(f"Merged with {printable(merge.dropped_name)} (merge {merge.id}).")
    edges, total = await _load_relationships(api, found)
    for edge in edges:
        click.echo(f"{printable(f'{edge.source_name} {edge.type} {edge.target_name}')}  {edge.id}")
    if total > len(edges):
        click.echo(f"and {total - len(edges)} more relationships")


async def _load_relationships(api: Api, found: "ObjectAnswer") -> "tuple[list[RelationshipModel], int]":
    from whence.api.graph import RelationshipModel

    of: dict[str, Any] = {"project_id": found.project_id, "object_id": found.id}
    return await api.page("/relationships", RelationshipModel, limit=_SHOWN_RELATIONSHIPS, **of)


@objects.command()
@click.argument("keep")
@click.argument("drop")
@options.project
@options.json
@on_api
async def merge(api: Api, *, keep: str, drop: str, project: str) -> None:
    """Merge two objects of one type: present and future claims about DROP belong to KEEP."""
    from whence.api.graph import MergeModel

    of = {"keepId": await api.object_id(project, keep), "dropId": await api.object_id(project, drop)}
    _show_merge(await api.send("POST", "/objects/merge", MergeModel, of), _MERGED)


@objects.command()
@click.argument("merge", type=click.UUID)
@options.json
@on_api
async def unmerge(api: Api, *, merge: UUID) -> None:
    """Undo MERGE, an id that `whence objects show` prints: each object gets its own claims back."""
    from whence.api.graph import MergeModel

    undone = await api.send("POST", f"/objects/merges/{merge}/undo", MergeModel)
    _show_merge(undone, "{dropped} and {kept} are two objects again.")


@objects.command()
@options.project
@click.option("--object", "which", metavar="OBJECT", help="Only conflicts of this object.")
@click.option("--type", "object_type", help="Only conflicts of objects of this type.")
@click.option("--property", "property_name", metavar="NAME", help="Only conflicts about this property.")
@options.limit
@options.json
@on_api
async def conflicts(
    api: Api,
    *,
    project: str,
    which: str | None,
    object_type: str | None,
    property_name: str | None,
    limit: int,
) -> None:
    """List the properties about which documents differ, each with its values and their sources."""
    from whence.api.graph import ConflictModel

    of = {"type": object_type, "property": property_name}
    if which:
        of["object"] = await api.object_id(project, which)
    path = f"{await api.project_path(project)}/conflicts"
    models, total = await api.page(path, ConflictModel, limit=limit, **of)
    rows = [
        (
            _describe_conflicting(one) if claim.current else "",
            printable(one.property_name) if claim.current else "",
            shorten(on_one_line(claim.value), WIDEST),
            describe_place(claim),
            "current" if claim.current else "",
        )
        for one in models
        for claim in one.claims
    ]
    if printed_json(models):
        return
    print_table(("OBJECT", "PROPERTY", "VALUE", "FROM", ""), rows)
    if total > len(models):
        click.echo(f"{len(models)} of {total} conflicts; see --limit.", err=True)


@objects.command()
@options.project
@click.option("--type", "object_type", help="Only objects of this type.")
@click.option("--accept", type=click.UUID, metavar="ID", help="Merge the two objects of this suggestion.")
@click.option("--dismiss", type=click.UUID, metavar="ID", help="Do not suggest these two again.")
@click.option("--undo", type=click.UUID, metavar="ID", help="Suggest these two again after --dismiss.")
@click.option("--dismissed", is_flag=True, help="List dismissed suggestions.")
@options.limit
@options.json
@on_api
async def suggestions(
    api: Api,
    *,
    project: str,
    object_type: str | None,
    accept: UUID | None,
    dismiss: UUID | None,
    undo: UUID | None,
    dismissed: bool,
    limit: int,
) -> None:
    """List pairs of objects that may be one; accept or dismiss one of them."""
    from whence.api.graph import MergeModel, SuggestionModel

    path = f"{await api.project_path(project)}/merge-suggestions"
    if accept:
        _show_merge(await api.send("POST", f"{path}/{accept}/accept", MergeModel), _MERGED)
    elif which := dismiss or undo:
        how = "dismiss" if dismiss else "undo"
        found = await api.send("POST", f"{path}/{which}/{how}", SuggestionModel)
        both = f"{printable(found.keep.name)} and {printable(found.drop.name)}"
        print_result(found, f"{both} are {'not ' if dismiss else ''}suggested again.")
    else:
        of = {"type": object_type, "dismissed": dismissed}
        some, total = await api.page(path, SuggestionModel, limit=limit, **of)
        rows = [
            (
                one.id,
                printable(one.type),
                printable(one.keep.name),
                printable(one.drop.name),
                f"{one.score:.2f}",
                ", ".join(one.reasons),
            )
            for one in some
        ]
        columns = ("ID", "TYPE", "KEEP", "DROP", "SCORE", "REASONS")
        print_rows(some, columns, rows, total=total)


@objects.command()
@click.argument("job", type=click.UUID)
@options.json
@on_api
async def rejected(api: Api, *, job: UUID) -> None:
    """List the proposals that JOB rejected, an extraction whose id `whence extract` prints."""
    from whence.api.jobs import ReadingModel

    readings, _ = await api.page(f"/jobs/{job}/readings", ReadingModel, limit=_ALL, rejected=True)
    if printed_json(readings):
        return
    for reading in readings:
        _print_rejections(reading)
    if not readings:
        click.echo("Nothing was rejected.")


@objects.command()
@options.project
@click.option(
    "--output", type=click.File("wb", atomic=True), default="-", help="A file; by default standard output."
)
@click.option("--include-ungrounded", is_flag=True, help="Also ungrounded values, which no chunk states.")
@on_api
async def export(api: Api, *, project: str, output: IO[bytes], include_ungrounded: bool) -> None:
    """Write the whole graph of a project as JSON Lines, each value with its sources."""
    from shutil import copyfileobj
    from tempfile import SpooledTemporaryFile

    of = {"project_id": await api.project_id(project), "includeUngrounded": include_ungrounded}
    given = {name: value for name, value in of.items() if value is not None}
    parts = api.client.stream_bytes("GET", "/graph/export", params=given)
    with SpooledTemporaryFile(_IN_MEMORY) as whole:
        async for part in parts:
            whole.write(part)
        whole.seek(0)
        copyfileobj(
            whole, output
        )  # the first write opens the file, so that an existing file survives a failed export


def _describe_conflicting(one: "ConflictModel") -> str:
    if one.relationship is not None:
        return describe_relationship(one.relationship)
    return printable(f"{one.object_type} {one.object_name}")


def _print_rejections(reading: "ReadingModel") -> None:
    click.secho(f"chunk {reading.chunk_index}{page_suffix(reading.page)}  {reading.chunk_id}", bold=True)
    for each in reading.rejections:
        click.echo(f"  {printable(each.where)}  {each.reason}: {printable(each.message)}")
        if each.proposed is not None:
            click.echo(f"    {printable(each.proposed)}")
    if reading.rejected > len(reading.rejections):
        click.echo(f"  and {reading.rejected - len(reading.rejections)} more")


def _show_merge(merge: "MergeModel", sentence: str) -> None:
    kept, dropped = printable(merge.object_name), printable(merge.dropped_name)
    print_result(merge, sentence.format(kept=kept, dropped=dropped, id=merge.id))
