"""`whence objects` and `whence trace`: the objects of the graph, and the sources of their properties."""

import sys
from collections.abc import Sized
from contextlib import suppress
from itertools import groupby
from typing import IO, TYPE_CHECKING
from uuid import UUID

import click

from whence.cli import options
from whence.cli.command import App, find_project, on_app, take_only
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
    wants_json,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.tree import Tree

    from whence.api.graph import ClaimModel, StatedClaim, TracedObject
    from whence.api.jobs import ReadingModel
    from whence.models import GraphObject
    from whence.store.graph.curation import Curation
    from whence.store.graph.merges import Merge

_WIDEST = 60
_ALL = 2**31
_MOST_CLAIMS = 10_000
_FILE_WIDTH = 10_000  # no line breaks in a file
_MERGED = "{dropped} is {kept} now. To undo: whence objects unmerge {id}"

_object = click.argument("object")
_reason = click.option("--reason", help="Why.")
_author = click.option("--author", default="local", show_default=True, help="Who says so.")


@click.group()
def objects() -> None:
    """List, show, correct, merge and export the objects of the graph. OBJECT is an id or a name."""


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
    """Show each property of an object, with its value and its source."""
    from whence.api.graph import ObjectAnswer

    found = await ObjectAnswer.load(app.store, await _find_object(app, project, object))
    if printed_json(found):
        return
    print_title(found.name, found.id, kind=f"{printable(found.type)} ")
    rows = [
        (
            printable(name),
            shorten(on_one_line(newest.value), _WIDEST),
            _describe_place(newest),
            newest.schema_version,
        )
        for name, (newest, *_) in found.sources.items()
    ]
    print_table(("PROPERTY", "VALUE", "FROM", "SCHEMA"), rows)
    if found.aliases:
        click.echo(f"Also called {printable(', '.join(found.aliases))}.")
    for merge in found.merges:
        click.echo(f"Has in it {printable(merge.dropped_name)} (merge {merge.id}).")


@objects.command()
@click.argument("keep")
@click.argument("drop")
@options.project
@options.json
@on_app
async def merge(app: App, *, keep: str, drop: str, project: str) -> None:
    """Merge two objects of one type: present and future claims about DROP belong to KEEP."""
    kept = await _find_object(app, project, keep)
    dropped = await _find_object(app, project, drop)
    done = await app.store.graph.merges.merge(kept.project_id, keep_id=kept.id, drop_id=dropped.id)
    _show_merge(done, _MERGED)


@objects.command()
@click.argument("merge", type=click.UUID)
@options.json
@on_app
async def unmerge(app: App, *, merge: UUID) -> None:
    """Undo MERGE, an id that `whence objects show` prints: each object gets its own claims back."""
    merges = app.store.graph.merges
    undone = await merges.undo((await merges.get(merge)).project_id, merge)
    _show_merge(undone, "{dropped} and {kept} are two again.")


@objects.command("set")
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

    found = await _find_object(app, project, object)
    given = options.read_pairs("A value", values, nested=True)
    made = await app.curator.set(found, given, Word(author=author, reason=reason))
    _show_curations(made, "To undo: whence objects restore ID")


@objects.command()
@_object
@click.option("--property", "property_name", metavar="NAME", help="Only the claims about this property.")
@click.option(
    "--claim", type=click.UUID, metavar="ID", help="Only this claim; `whence trace --json` has its id."
)
@_reason
@_author
@options.project
@options.json
@on_app
async def reject(
    app: App,
    *,
    object: str,  # noqa: A002 - the name in the usage
    property_name: str | None,
    claim: UUID | None,
    reason: str | None,
    author: str,
    project: str,
) -> None:
    """Reject OBJECT, or claims about it. They do not come back when the same text is read again."""
    from whence.models import Word

    if property_name is not None and claim is not None:
        raise click.UsageError("--property and --claim exclude each other")
    found, curations = await _find_object(app, project, object), app.store.graph.curations
    about, by = (found.project_id, found.id), Word(author=author, reason=reason)
    if claim is not None:
        rejected = curations.reject_claim(*about, claim, by)
    elif property_name is not None:
        rejected = curations.reject_property(*about, property_name, by)
    else:
        rejected = curations.reject_object(*about, by)
    made = await app.curator.done(found.project_id, rejected)
    _show_curations([made], "To undo: whence objects restore ID")


@objects.command()
@click.argument("correction")
@_reason
@_author
@options.project
@options.json
@on_app
async def restore(app: App, *, correction: str, reason: str | None, author: str, project: str) -> None:
    """Undo CORRECTION: an id of `whence objects history`, or a name whose last correction is meant."""
    from whence.models import Word

    entry = await _find_correction(app, project, correction)
    undone = app.store.graph.curations.undo(entry.project_id, entry.id, Word(author=author, reason=reason))
    _show_curations([await app.curator.done(entry.project_id, undone)])


@objects.command()
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
        found = await _find_object(app, project, object)
        project_id, object_id = found.project_id, found.id
    entries, total = await app.store.graph.curations.page(
        project_id, object_id=object_id, limit=limit, offset=0
    )
    _show_curations(entries, total=total)


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
    object_id = (await _find_object(app, project, which)).id if which else None
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
            f"{printable(one.object_type)} {printable(one.object_name)}" if claim.current else "",
            printable(one.property_name) if claim.current else "",
            shorten(on_one_line(claim.value), _WIDEST),
            _describe_place(claim),
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
@options.limit
@options.json
@on_app
async def suggestions(
    app: App, *, project: str, object_type: str | None, accept: UUID | None, dismiss: UUID | None, limit: int
) -> None:
    """List pairs of objects that may be one; accept or dismiss one of them."""
    from whence.api.graph import SuggestionModel

    graph, project_id = app.store.graph, (await find_project(app, project)).id
    if accept:
        found = await graph.suggestions.get(project_id, accept)
        merge = await graph.merges.merge(project_id, keep_id=found.keep.id, drop_id=found.drop.id)
        _show_merge(merge, _MERGED)
    elif dismiss:
        found = await graph.suggestions.get(project_id, dismiss)
        await graph.suggestions.dismiss(project_id, found)
        both = f"{printable(found.keep.name)} and {printable(found.drop.name)}"
        print_result(SuggestionModel.of(found), f"{both} are not suggested again.")
    else:
        some, total = await graph.suggestions.page(project_id, object_type=object_type, limit=limit, offset=0)
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


@click.command()
@_object
@click.option("--property", "property_name", metavar="NAME", help="Only this property.")
@options.project
@options.json
@on_app
async def trace(app: App, *, object: str, property_name: str | None, project: str) -> None:  # noqa: A002 - the name in the usage
    """Show the sources of OBJECT, an id or a name: each property, its values and the words that support them.

    With the id of a chunk or a document: the claims that it makes.
    """
    from whence.api.graph import StatedClaim, TracedObject
    from whence.errors import ObjectNotFound

    provenance = app.store.graph.provenance
    try:
        found = await _find_object(app, project, object)
    except ObjectNotFound:
        if (project_id := await _find_source(app, object)) is None:
            raise
        stated, _ = await provenance.stated(
            project_id, UUID(object), property_name=property_name, limit=_MOST_CLAIMS, offset=0
        )
        shown = await StatedClaim.load(app.store, project_id, stated)
        _require_claims(shown, property_name)
        if not printed_json(shown):
            _print_tree(_draw_stated(shown))
        return
    claims, _ = await provenance.of_object(
        found.project_id, found.id, property_name=property_name, limit=_MOST_CLAIMS, offset=0
    )
    answer = TracedObject.traced(found, claims)
    _require_claims(answer.sources, property_name)
    if not printed_json(answer):
        _print_tree(_draw_tree(answer))


def _require_claims(found: Sized, property_name: str | None) -> None:
    if property_name is not None and not found:
        raise click.ClickException(f"Nothing was said of {printable(property_name)!r}")


def _print_tree(tree: "Tree") -> None:
    from rich.console import Console

    width = None if sys.stdout.isatty() else _FILE_WIDTH
    Console(highlight=False, markup=False, width=width).print(tree)


async def _find_source(app: App, which: str) -> UUID | None:
    """The project of the chunk or document with this id."""
    from whence.errors import ChunkNotFound, DocumentNotFound

    with suppress(ValueError, ChunkNotFound):
        return (await app.store.hits.one(str(UUID(which)), project_id=None))[0]
    with suppress(ValueError, DocumentNotFound):
        return (await app.store.documents.get(UUID(which))).project_id
    return None


async def _find_object(app: App, project: str, which: str) -> "GraphObject":
    """By id, or by name or else alias if only one object has it."""
    from whence.errors import ObjectNotFound
    from whence.text.names import name_key

    try:
        return await app.store.graph.objects.get(UUID(which))
    except ValueError:
        project_id = (await find_project(app, project)).id
    named = await app.store.graph.objects.named(project_id, [name_key(which)])
    return take_only(
        [one for one in named if one.name_key == name_key(which)] or named,
        ObjectNotFound,
        kind="object",
        name=which,
        label=lambda one: f"{one.id} ({printable(one.type)})",
    )


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
            shorten(_describe_correction(one), _WIDEST),
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


def _describe_place(claim: "ClaimModel") -> str:
    if claim.document_name is None:
        return _describe_word(claim)
    return f"{printable(claim.document_name)}{page_suffix(claim.page)}, chunk {claim.chunk_index}"


def _describe_word(claim: "ClaimModel") -> str:
    """Who set or rejected it, when and why."""
    verb = "rejected" if claim.rejected else "set"
    why = f": {printable(claim.reason)}" if claim.reason else ""
    return f"{verb} by {printable(claim.author or '')}{why} (correction {claim.curation_id})"


def _draw_tree(found: "TracedObject") -> "Tree":
    """Object, property, value, chunk; below each chunk the words and the schema."""
    from rich.text import Text
    from rich.tree import Tree

    tree = Tree(Text.assemble(f"{printable(found.type)} ", (printable(found.name), "bold"), f"  {found.id}"))
    for name, claims in found.sources.items():
        branch = tree.add(Text(printable(name), style="cyan"))
        for (value, _), group in groupby(
            claims, key=lambda claim: (on_one_line(claim.value), claim.rejected)
        ):
            first, *others = group
            mark = "rejected" if first.rejected else "older"
            leaf = branch.add(
                Text(value, style="green") if first.current else Text(f"{value} ({mark})", style="dim")
            )
            for claim in (first, *others):
                if claim.chunk_id is None:
                    leaf.add(Text(_describe_word(claim)))
                    continue
                chunk = leaf.add(Text(f"{_describe_place(claim)}  {claim.chunk_id}"))
                if claim.rejected:
                    chunk.add(Text(_describe_word(claim)))
                if claim.quote is not None:
                    span = f"{claim.start_offset}-{claim.end_offset}"
                    chunk.add(Text.assemble("“", (printable(claim.quote), "italic"), f"” at {span}"))
                chunk.add(Text(f"schema {claim.schema_version}, {claim.read_at:%Y-%m-%d %H:%M}"))
    return tree


def _draw_stated(claims: "list[StatedClaim]") -> "Tree":
    """Document, chunk, claims in reading order; below each claim the words."""
    from rich.text import Text
    from rich.tree import Tree

    tree = Tree(Text(printable(claims[0].document_name or "") if claims else "No claims.", style="bold"))
    for _, group in groupby(claims, key=lambda claim: claim.chunk_id):
        said = list(group)
        chunk = tree.add(Text(f"chunk {said[0].chunk_index}{page_suffix(said[0].page)}  {said[0].chunk_id}"))
        for claim in said:
            value = "" if claim.value == {} else f": {on_one_line(claim.value)}"
            older = "" if claim.current else " (older)"
            leaf = chunk.add(
                Text(f"{_describe_subject(claim)}{value}{older}", style="" if claim.current else "dim")
            )
            if claim.quote is not None:
                span = f"{claim.start_offset}-{claim.end_offset}"
                leaf.add(Text.assemble("“", (printable(claim.quote), "italic"), f"” at {span}"))
    return tree


def _describe_subject(claim: "StatedClaim") -> str:
    if claim.object is not None:
        return printable(f"{claim.object.type} {claim.object.name}, {claim.property_name}")
    assert claim.relationship is not None
    edge = claim.relationship
    return printable(f"{edge.source.name} {edge.type} {edge.target.name}")


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
