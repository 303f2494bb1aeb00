"""`whence objects`: the objects of the graph."""

from typing import IO, TYPE_CHECKING
from uuid import UUID

import click

from whence.cli import corrections, options
from whence.cli.command import App, find_project, on_app
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
    from whence.api.graph import ConflictModel
    from whence.api.jobs import ReadingModel
    from whence.store.graph.merges import Merge

_ALL = 2**31
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
@on_app
async def list_objects(
    app: App, *, project: str, object_type: str | None, name: str | None, document: UUID | None, limit: int
) -> None:
    """List the objects of a project, oldest first."""
    from whence.api.graph import ObjectModel

    project_id = (await find_project(app, project)).id
    found, total = await app.store.graph.objects.page(
        project_id, limit=limit, offset=0, object_type=object_type, name=name, document_id=document
    )
    rows = [(one.id, printable(one.type), printable(one.name), len(one.properties)) for one in found]
    models = [ObjectModel.of(one) for one in found]
    print_rows(models, ("ID", "TYPE", "NAME", "PROPERTIES"), rows, total=total)


@objects.command()
@_object
@options.project
@options.json
@on_app
async def show(app: App, *, object: str, project: str) -> None:  # noqa: A002 - the name in the usage
    """Show each property of an object, with its value and its source, and its relationships."""
    from whence.api.claims import RelationshipRef
    from whence.api.graph import ObjectAnswer

    one = await find_object(app, project, object)
    found = await ObjectAnswer.load(app.store, one)
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
    edges, total = await app.store.graph.relationships.page(
        one.project_id, object_id=one.id, limit=_SHOWN_RELATIONSHIPS, offset=0
    )
    for edge in edges:
        click.echo(f"{describe_relationship(RelationshipRef.of(edge))}  {edge.id}")
    if total > len(edges):
        click.echo(f"and {total - len(edges)} more relationships")


@objects.command()
@click.argument("keep")
@click.argument("drop")
@options.project
@options.json
@on_app
async def merge(app: App, *, keep: str, drop: str, project: str) -> None:
    """Merge two objects of one type: present and future claims about DROP belong to KEEP."""
    kept = await find_object(app, project, keep)
    dropped = await find_object(app, project, drop)
    done = await app.store.graph.merges.merge(kept.project_id, keep_id=kept.id, drop_id=dropped.id)
    _show_merge(done, _MERGED)


@objects.command()
@click.argument("merge", type=click.UUID)
@options.json
@on_app
async def unmerge(app: App, *, merge: UUID) -> None:
    """Undo MERGE, an id that `whence objects show` prints: each object gets its own claims back."""
    merges = app.store.graph.merges
    project_id = (await merges.get(merge)).project_id
    undone = await app.curator.done(project_id, merges.undo(project_id, merge))
    _show_merge(undone, "{dropped} and {kept} are two again.")


@objects.command()
@options.project
@click.option("--object", "which", metavar="OBJECT", help="Only of this object.")
@click.option("--type", "object_type", help="Only of objects of this type.")
@click.option("--property", "property_name", metavar="NAME", help="Only of this property.")
@options.limit
@options.json
@on_app
async def conflicts(
    app: App,
    *,
    project: str,
    which: str | None,
    object_type: str | None,
    property_name: str | None,
    limit: int,
) -> None:
    """List the properties about which documents differ, each with its values and their sources."""
    from whence.api.graph import ConflictModel

    project_id = (await find_project(app, project)).id
    object_id = (await find_object(app, project, which)).id if which else None
    found, total = await app.store.graph.conflicts.page(
        project_id,
        object_id=object_id,
        object_type=object_type,
        property_name=property_name,
        limit=limit,
        offset=0,
    )
    models = [ConflictModel.of(one) for one in found]
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
@click.option("--dismissed", is_flag=True, help="List what was dismissed.")
@options.limit
@options.json
@on_app
async def suggestions(
    app: App,
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
    from whence.api.graph import SuggestionModel

    graph, project_id = app.store.graph, (await find_project(app, project)).id
    if accept:
        found = await graph.suggestions.get(project_id, accept)
        merge = await graph.merges.merge(project_id, keep_id=found.keep.id, drop_id=found.drop.id)
        _show_merge(merge, _MERGED)
    elif which := dismiss or undo:
        found = await graph.suggestions.get(project_id, which)
        await (graph.suggestions.dismiss if dismiss else graph.suggestions.restore)(project_id, found)
        both = f"{printable(found.keep.name)} and {printable(found.drop.name)}"
        print_result(SuggestionModel.of(found), f"{both} are {'not ' if dismiss else ''}suggested again.")
    else:
        some, total = await graph.suggestions.page(
            project_id, object_type=object_type, dismissed=dismissed, limit=limit, offset=0
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
        print_rows([SuggestionModel.of(one) for one in some], columns, rows, total=total)


@objects.command()
@click.argument("job", type=click.UUID)
@options.json
@on_app
async def rejected(app: App, *, job: UUID) -> None:
    """List the proposals that JOB rejected, an extraction whose id `whence extract` prints."""
    from whence.api.jobs import ReadingModel

    found = await app.store.jobs.get(job)
    rows, _ = await app.store.graph.ledger.readings(
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
@on_app
async def export(app: App, *, project: str, output: IO[bytes], include_ungrounded: bool) -> None:
    """Write the whole graph of a project as JSON Lines, each value with its sources."""
    from whence.api.graph_export import exported

    found = await find_project(app, project)
    async for part in exported(app.store, found.id, include_ungrounded=include_ungrounded):
        output.write(part)


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


def _show_merge(merge: "Merge", sentence: str) -> None:
    from whence.api.graph import MergeModel

    kept, dropped = printable(merge.kept_name), printable(merge.dropped_name)
    text = sentence.format(kept=kept, dropped=dropped, id=merge.id)
    print_result(MergeModel.of(merge), text)
