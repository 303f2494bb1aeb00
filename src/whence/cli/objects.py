"""`whence objects`: the objects of the graph."""

from typing import IO, TYPE_CHECKING, Any
from uuid import UUID

import click

from whence.cli import corrections, options, suggesting
from whence.cli.command import App, Remote, find_project, is_remote, named_project, on_either
from whence.cli.graph import WIDEST, describe_place, describe_relationship, find_object
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
@on_either
async def list_objects(
    base: App | Remote,
    *,
    project: str,
    object_type: str | None,
    name: str | None,
    document: UUID | None,
    limit: int,
) -> None:
    """List the objects of a project, oldest first."""
    from whence.api.graph import ObjectModel

    if is_remote(base):
        of = {"project_id": await base.project_id(project), "type": object_type, "name": name}
        models, total = await base.page("/objects", ObjectModel, limit=limit, document_id=document, **of)
    else:
        project_id = (await find_project(base, project)).id
        found, total = await base.store.graph.objects.page(
            project_id, limit=limit, offset=0, object_type=object_type, name=name, document_id=document
        )
        models = [ObjectModel.of(one) for one in found]
    rows = [(one.id, printable(one.type), printable(one.name), len(one.properties)) for one in models]
    print_rows(models, ("ID", "TYPE", "NAME", "PROPERTIES"), rows, total=total)


@objects.command()
@_object
@options.project
@options.json
@on_either
async def show(base: App | Remote, *, object: str, project: str) -> None:  # noqa: A002 - the name in the usage
    """Show each property of an object, with its value and its source, and its relationships."""
    found = await _load(base, project, object)
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
        for name, (newest, *_) in found.sources.items()
    ]
    print_table(("PROPERTY", "VALUE", "FROM", "SCHEMA"), rows)
    if found.aliases:
        click.echo(f"Also called {printable(', '.join(found.aliases))}.")
    for merge in found.merges:
        click.echo(f"Has in it {printable(merge.dropped_name)} (merge {merge.id}).")
    edges, total = await _load_relationships(base, found)
    for edge in edges:
        click.echo(f"{printable(f'{edge.source_name} {edge.type} {edge.target_name}')}  {edge.id}")
    if total > len(edges):
        click.echo(f"and {total - len(edges)} more relationships")


async def _load(base: App | Remote, project: str, which: str) -> "ObjectAnswer":
    from whence.api.graph import ObjectAnswer

    if is_remote(base):
        one = await base.client.find_object(which, project=named_project(project))
        return await base.get(f"/objects/{one['id']}", ObjectAnswer)
    return await ObjectAnswer.load(base.store, await find_object(base, project, which))


async def _load_relationships(
    base: App | Remote, found: "ObjectAnswer"
) -> "tuple[list[RelationshipModel], int]":
    from whence.api.graph import RelationshipModel

    of: dict[str, Any] = {"project_id": found.project_id, "object_id": found.id}
    if is_remote(base):
        return await base.page("/relationships", RelationshipModel, limit=_SHOWN_RELATIONSHIPS, **of)
    edges, total = await base.store.graph.relationships.page(**of, limit=_SHOWN_RELATIONSHIPS, offset=0)
    return [RelationshipModel.of(edge) for edge in edges], total


@objects.command()
@click.argument("keep")
@click.argument("drop")
@options.project
@options.json
@on_either
async def merge(base: App | Remote, *, keep: str, drop: str, project: str) -> None:
    """Merge two objects of one type: present and future claims about DROP belong to KEEP."""
    from whence.api.graph import MergeModel

    if is_remote(base):
        of = {"project": named_project(project)}
        kept_id, dropped_id = [(await base.client.find_object(one, **of))["id"] for one in (keep, drop)]
        done = await base.send(
            "POST", "/objects/merge", MergeModel, {"keepId": kept_id, "dropId": dropped_id}
        )
    else:
        kept = await find_object(base, project, keep)
        dropped = await find_object(base, project, drop)
        merges = base.store.graph.merges
        done = MergeModel.of(await merges.merge(kept.project_id, keep_id=kept.id, drop_id=dropped.id))
    _show_merge(done, _MERGED)


@objects.command()
@click.argument("merge", type=click.UUID)
@options.json
@on_either
async def unmerge(base: App | Remote, *, merge: UUID) -> None:
    """Undo MERGE, an id that `whence objects show` prints: each object gets its own claims back."""
    from whence.api.graph import MergeModel

    if is_remote(base):
        undone = await base.send("POST", f"/objects/merges/{merge}/undo", MergeModel)
    else:
        merges = base.store.graph.merges
        project_id = (await merges.get(merge)).project_id
        undone = MergeModel.of(await base.curator.done(project_id, merges.undo(project_id, merge)))
    _show_merge(undone, "{dropped} and {kept} are two again.")


@objects.command()
@options.project
@click.option("--object", "which", metavar="OBJECT", help="Only of this object.")
@click.option("--type", "object_type", help="Only of objects of this type.")
@click.option("--property", "property_name", metavar="NAME", help="Only of this property.")
@options.limit
@options.json
@on_either
async def conflicts(
    base: App | Remote,
    *,
    project: str,
    which: str | None,
    object_type: str | None,
    property_name: str | None,
    limit: int,
) -> None:
    """List the properties about which documents differ, each with its values and their sources."""
    models, total = await _load_conflicts(
        base, project, which, object_type=object_type, property_name=property_name, limit=limit
    )
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


async def _load_conflicts(
    base: App | Remote,
    project: str,
    which: str | None,
    *,
    object_type: str | None,
    property_name: str | None,
    limit: int,
) -> "tuple[list[ConflictModel], int]":
    from whence.api.graph import ConflictModel

    if is_remote(base):
        of = {"type": object_type, "property": property_name}
        if which:
            of["object"] = (await base.client.find_object(which, project=named_project(project)))["id"]
        path = f"{await base.project_path(project)}/conflicts"
        return await base.page(path, ConflictModel, limit=limit, **of)
    project_id = (await find_project(base, project)).id
    object_id = (await find_object(base, project, which)).id if which else None
    found, total = await base.store.graph.conflicts.page(
        project_id,
        object_id=object_id,
        object_type=object_type,
        property_name=property_name,
        limit=limit,
        offset=0,
    )
    return [ConflictModel.of(one) for one in found], total


@objects.command()
@options.project
@click.option("--type", "object_type", help="Only objects of this type.")
@click.option("--accept", type=click.UUID, metavar="ID", help="Merge the two objects of this suggestion.")
@click.option("--dismiss", type=click.UUID, metavar="ID", help="Do not suggest these two again.")
@click.option("--undo", type=click.UUID, metavar="ID", help="Suggest these two again after --dismiss.")
@click.option("--dismissed", is_flag=True, help="List what was dismissed.")
@options.limit
@options.json
@on_either
async def suggestions(
    base: App | Remote,
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
    if accept:
        _show_merge(await suggesting.accept(base, project, accept), _MERGED)
    elif which := dismiss or undo:
        found = await suggesting.settle(base, project, which, "dismiss" if dismiss else "undo")
        both = f"{printable(found.keep.name)} and {printable(found.drop.name)}"
        print_result(found, f"{both} are {'not ' if dismiss else ''}suggested again.")
    else:
        some, total = await suggesting.page(
            base, project, object_type=object_type, dismissed=dismissed, limit=limit
        )
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
@on_either
async def rejected(base: App | Remote, *, job: UUID) -> None:
    """List the proposals that JOB rejected, an extraction whose id `whence extract` prints."""
    from whence.api.jobs import ReadingModel

    if is_remote(base):
        readings, _ = await base.page(f"/jobs/{job}/readings", ReadingModel, limit=_ALL, rejected=True)
    else:
        found = await base.store.jobs.get(job)
        rows, _ = await base.store.graph.ledger.readings(
            found.project_id, found.id, rejected=True, limit=_ALL, offset=0
        )
        readings = [ReadingModel.of(row) for row in rows]
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
@click.option("--include-ungrounded", is_flag=True, help="Also values that no chunk states.")
@on_either
async def export(base: App | Remote, *, project: str, output: IO[bytes], include_ungrounded: bool) -> None:
    """Write the whole graph of a project as JSON Lines, each value with its sources."""
    from shutil import copyfileobj
    from tempfile import SpooledTemporaryFile

    from whence.api.graph_export import exported

    if is_remote(base):
        of = {"project_id": await base.project_id(project), "includeUngrounded": include_ungrounded}
        given = {name: value for name, value in of.items() if value is not None}
        parts = base.client.stream_bytes("GET", "/graph/export", params=given)
    else:
        found = await find_project(base, project)
        parts = exported(base.store, found.id, include_ungrounded=include_ungrounded)
    with SpooledTemporaryFile(_IN_MEMORY) as whole:
        async for part in parts:
            whole.write(part)
        whole.seek(0)
        copyfileobj(whole, output)  # which opens the file: one that is there stays if the export breaks


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
