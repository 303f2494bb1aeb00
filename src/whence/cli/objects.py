"""`whence objects`: lists, shows, merges and exports the objects of the graph."""

from typing import IO, TYPE_CHECKING, Any
from uuid import UUID

import click

from whence.cli.output import json_option, print_json, print_table, printable, with_app

if TYPE_CHECKING:
    from whence.api.graph import ClaimModel, ObjectAnswer
    from whence.api.graph_export import Format
    from whence.app import App
    from whence.models import GraphObject, Merge
    from whence.store.graph import ChunkReading

project_option = click.option(
    "--project", default="default", show_default=True, help="A project's name or id."
)

_FORMATS = ("jsonl", "graphml")
_WIDEST = 60
_ALL = 2**31


@click.group()
def objects() -> None:
    """List, show, merge and export the objects of the graph. OBJECT is an id or a name."""


@objects.command("list")
@project_option
@click.option("--type", "object_type", help="Only of this type.")
@click.option("--name", help="Any part of the name, in any case.")
@click.option("--document", type=click.UUID, metavar="ID", help="Only those that this document speaks of.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="How many.")
@json_option
def list_objects(
    *,
    project: str,
    object_type: str | None,
    name: str | None,
    document: UUID | None,
    limit: int,
    as_json: bool,
) -> None:
    """The objects of a project, the oldest first."""

    async def work(app: "App") -> "tuple[list[GraphObject], int]":
        from whence.cli.projects import find

        project_id = (await find(app, project)).id
        return await app.store.graph.objects.page(
            project_id, limit=limit, offset=0, object_type=object_type, name=name, document_id=document
        )

    found, total = with_app(work)
    if as_json:
        from whence.api.graph import ObjectModel

        print_json([ObjectModel.of(one) for one in found])
        return
    rows = [(one.id, printable(one.type), printable(one.name), len(one.properties)) for one in found]
    print_table(("ID", "TYPE", "NAME", "PROPERTIES"), rows)
    if total > len(found):
        click.echo(f"{len(found)} of {total}; see --limit.", err=True)


@objects.command()
@click.argument("object")
@project_option
@json_option
def show(object: str, *, project: str, as_json: bool) -> None:  # noqa: A002 - the name in the usage
    """One object: each property with its value and where it came from."""

    async def work(app: "App") -> "ObjectAnswer":
        from whence.api.graph import ObjectAnswer

        return await ObjectAnswer.load(app.store, await find_object(app, project, object))

    found = with_app(work)
    if as_json:
        print_json(found)
        return
    click.echo(f"{printable(found.type)} {click.style(printable(found.name), bold=True)}  {found.id}")
    rows = [
        (printable(name), short(claims[0].value), where(claims[0]), claims[0].schema_version)
        for name, claims in found.sources.items()
    ]
    print_table(("PROPERTY", "VALUE", "FROM", "SCHEMA"), rows)
    for merge in found.merges:
        click.echo(f"Has in it {printable(merge.dropped_name)} (merge {merge.id}).")


@objects.command()
@click.argument("keep")
@click.argument("drop")
@project_option
@json_option
def merge(keep: str, drop: str, *, project: str, as_json: bool) -> None:
    """Make two objects one: all that is said of DROP is said of KEEP, now and later."""

    async def work(app: "App") -> "Merge":
        kept = await find_object(app, project, keep)
        dropped = await find_object(app, project, drop)
        return await app.store.graph.merges.merge(kept.project_id, keep_id=kept.id, drop_id=dropped.id)

    _show_merge(
        with_app(work), "{dropped} is {kept} now. To undo: whence objects unmerge {id}", as_json=as_json
    )


@objects.command()
@click.argument("merge", type=click.UUID)
@json_option
def unmerge(merge: UUID, *, as_json: bool) -> None:
    """Undo MERGE, which `whence objects show` names: each object has again what was said of it."""

    async def work(app: "App") -> "Merge":
        found = await app.store.graph.merges.get(merge)
        return await app.store.graph.merges.undo(found.project_id, found.id)

    _show_merge(with_app(work), "{dropped} and {kept} are two again.", as_json=as_json)


@objects.command()
@click.argument("job", type=click.UUID)
@json_option
def rejected(job: UUID, *, as_json: bool) -> None:
    """What JOB, an extraction that `whence extract` names, did not take over of what was proposed."""

    async def work(app: "App") -> "list[ChunkReading]":
        found = await app.store.jobs.get(job)
        ledger = app.store.graph.ledger
        readings, _ = await ledger.readings(found.project_id, found.id, rejected=True, limit=_ALL, offset=0)
        return readings

    readings = with_app(work)
    if as_json:
        from whence.api.jobs import ReadingModel

        print_json([ReadingModel.of(reading) for reading in readings])
    elif readings:
        for reading in readings:
            _print_rejections(reading)
    else:
        click.echo("Nothing was rejected.")


@objects.command()
@project_option
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    default="jsonl",
    show_default=True,
    help="Lines of JSON with their sources, or GraphML for other programs.",
)
@click.option(
    "--output", type=click.File("wb", atomic=True), default="-", help="A file; by default standard output."
)
def export(*, project: str, form: "Format", output: IO[bytes]) -> None:
    """Write the whole graph of a project."""

    async def work(app: "App") -> None:
        from whence.api.graph_export import exported
        from whence.cli.projects import find

        async for part in exported(app.store, (await find(app, project)).id, form):
            output.write(part)

    with_app(work)


async def find_object(app: "App", project: str, which: str) -> "GraphObject":
    """By id, or by name if only one object has it."""
    from whence.cli.projects import find
    from whence.errors import Conflict, ObjectNotFound
    from whence.text.names import name_key

    try:
        return await app.store.graph.objects.get(UUID(which))
    except ValueError:
        found = await app.store.graph.objects.named((await find(app, project)).id, [name_key(which)])
    if not found:
        raise ObjectNotFound(f"There is no object named {printable(which)!r}")
    if len(found) > 1:
        ids = ", ".join(f"{one.id} ({printable(one.type)})" for one in found)
        raise Conflict(f"Several objects are named {printable(which)!r}; say which by its id: {ids}")
    return found[0]


def shown(value: Any) -> str:
    """A value on one line, without terminal control characters."""
    import json

    return printable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def short(value: Any) -> str:
    text = shown(value)
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def where(claim: "ClaimModel") -> str:
    page = "" if claim.page is None else f", page {claim.page}"
    return f"{printable(claim.document_name)}{page}, chunk {claim.chunk_index}"


def _print_rejections(reading: "ChunkReading") -> None:
    page = "" if reading.page is None else f", page {reading.page}"
    click.secho(f"chunk {reading.chunk_index}{page}  {reading.chunk_id}", bold=True)
    for each in reading.rejections:
        click.echo(f"  {printable(each.where)}  {each.reason}: {printable(each.message)}")
        if each.proposed is not None:
            click.echo(f"    {printable(each.proposed)}")
    if reading.rejected > len(reading.rejections):
        click.echo(f"  and {reading.rejected - len(reading.rejections)} more")


def _show_merge(merge: "Merge", sentence: str, *, as_json: bool) -> None:
    if as_json:
        from whence.api.graph import MergeModel

        print_json(MergeModel.of(merge))
        return
    kept, dropped = printable(merge.kept_name), printable(merge.dropped_name)
    click.echo(sentence.format(kept=kept, dropped=dropped, id=merge.id))
