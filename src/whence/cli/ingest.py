"""`whence ingest`: turns files, folders, URLs and standard input into documents."""

from typing import TYPE_CHECKING, Any

import click

from whence.cli import options
from whence.cli.command import (
    EXIT_FAILED,
    Api,
    App,
    find_project,
    named_project,
    with_api,
    with_app,
    works_remotely,
)
from whence.cli.output import confirm, counted, print_json, printable, wants_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whence.cli.files import Skipped
    from whence.cli.ingest_run import FileOutcome, IngestRequest
    from whence.cli.remote_ingest import RemoteFeed
    from whence.cli.watching import Snapshot
    from whence.ingest.file_identity import Placed

_SHOWN = 20


@click.command()
@click.argument("sources", nargs=-1, required=True)
@options.project
@options.chunking
@click.option(
    "--include", multiple=True, metavar="PATTERN", help="Only these files of a folder, such as *.md."
)
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Skip these files, in .gitignore syntax.")
@click.option("--name", help="File name of standard input; its ending decides the type.  [stdin.txt]")
@options.metadata(
    "Metadata of the documents, for filters of searches; the value null removes it. Repeatable."
)
@click.option("--watch", is_flag=True, help="Keep running and ingest files as they change.")
@click.option(
    "--prune", is_flag=True, help="Then delete the documents of files that no longer exist in the folders."
)
@options.dry_run
@options.yes
@options.json
@works_remotely
def ingest(
    sources: tuple[str, ...],
    *,
    project: str,
    strategy: str | None,
    max_size: int | None,
    min_size: int | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    name: str | None,
    meta: dict[str, Any] | None,
    watch: bool,
    prune: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    """Ingest SOURCES: files, folders, http(s) URLs, or `-` for standard input.

    In a folder, hidden files and those in .gitignore and .whenceignore are skipped. A changed file becomes a new version
    of its document; an unchanged one costs nothing. The document of a deleted file stays, unless --prune is given.

    With --server, files are uploaded there, under the same names. Otherwise a running server processes them; without one, this
    command does. The exit code is 1 if anything could not be ingested. Ctrl-C ends --watch.
    """
    from whence.api.documents import DocumentDescription
    from whence.api.reading import read
    from whence.cli.ingest_run import IngestRequest

    if watch and (prune or dry_run):
        raise click.UsageError("--watch takes neither --prune nor --dry-run")
    wanted = IngestRequest(
        sources=sources,
        include=include,
        exclude=exclude,
        stdin_name=name or "stdin.txt",
        chunking_fields=options.read_chunking(strategy, max_size, min_size),
        metadata=read(DocumentDescription, {"metadata": meta}).metadata if meta else None,
    )
    if watch:
        with_app(lambda app: _watch(app, project, wanted), "--watch")
    elif dry_run:
        if with_api(lambda api: _show_plan(api, project, wanted)):
            raise click.exceptions.Exit(EXIT_FAILED)
    else:
        _ingest(project, wanted, prune=prune, yes=yes)


def _ingest(project: str, wanted: "IngestRequest", *, prune: bool, yes: bool) -> None:
    from whence.cli.ingest_run import print_report

    outcomes, left = with_api(lambda api: _run(api, project, wanted))
    if not wants_json():
        print_report(outcomes)
        _print_left(left, "" if prune else " Delete with --prune.")
    if prune and left:
        confirm(f"Delete {counted(len(left), 'document')}?", yes=yes)
        with_api(lambda api: _remove(api, left))
    if wants_json():
        items = [outcome.as_json() for outcome in outcomes]
        print_json({"items": items, "gone": _encode_documents(left), "deleted": len(left) if prune else 0})
    elif prune and left:
        click.echo(f"Deleted {counted(len(left), 'document')}.")
    if any(outcome.failed for outcome in outcomes):
        raise click.exceptions.Exit(EXIT_FAILED)


async def _watch(app: App, project: str, wanted: "IngestRequest") -> None:
    from whence.cli.ingest_run import Feed

    await Feed(app, await find_project(app, project), wanted, as_json=wants_json()).watch()


async def _run(api: Api, project: str, wanted: "IngestRequest") -> "tuple[list[FileOutcome], list[Placed]]":
    """The outcomes, and the documents whose files are gone."""
    if api.app is None:
        feed = _feed(api, project, wanted)
        return await feed.once(), await feed.gone()

    from whence.cli.file_moves import gone
    from whence.cli.ingest_run import Feed

    app = api.app
    found = await find_project(app, project)
    outcomes = await Feed(app, found, wanted, as_json=wants_json()).once()
    return outcomes, await gone(app, found.id, wanted.selection.paths)


def _feed(api: Api, project: str, wanted: "IngestRequest") -> "RemoteFeed":
    from whence.cli.remote_ingest import RemoteFeed

    return RemoteFeed(api=api, project=named_project(project), wanted=wanted, as_json=wants_json())


async def _remove(api: Api, documents: "list[Placed]") -> None:
    from contextlib import suppress

    from whence_client import NotFound

    for one in documents:
        with suppress(NotFound):  # deleted by another process meanwhile
            await api.client.delete_document(str(one.id))


async def _show_plan(api: Api, project: str, wanted: "IngestRequest") -> "Sequence[Skipped]":
    """Shows what would be ingested and deleted, and returns what cannot be read. URLs and standard input are not read."""
    import asyncio

    from whence.cli.watching import look

    snapshot = await asyncio.to_thread(look, wanted.selection)
    if api.app is None:
        feed = _feed(api, project, wanted)
        kinds, left = await feed.kinds(snapshot.found), await feed.gone()
    else:
        kinds, left = await _make_plan(api.app, project, wanted, snapshot)
    _print_plan(kinds, left, snapshot.skipped)
    return snapshot.skipped


async def _make_plan(
    app: App, project: str, wanted: "IngestRequest", snapshot: "Snapshot"
) -> "tuple[dict[str, str], list[Placed]]":
    from whence.cli.file_moves import gone, settle

    project_id = (await find_project(app, project)).id
    settled = await settle(app, project_id, snapshot.found, apply=False)
    kinds = {file.name: settled.kind(file) for file in settled.files}
    left = [
        one
        for one in await gone(app, project_id, wanted.selection.paths)
        if one.id not in settled.places.moves
    ]
    return kinds, left


def _print_plan(kinds: dict[str, str], left: "list[Placed]", skipped: "Sequence[Skipped]") -> None:
    from collections import Counter

    if wants_json():
        items = [{"source": source, "status": kind} for source, kind in kinds.items()]
        items += [{"source": str(one.path), "status": "failed", "error": one.reason} for one in skipped]
        print_json({"items": items, "gone": _encode_documents(left), "deleted": 0})
        return
    for source, kind in kinds.items():
        if kind != "unchanged":
            click.echo(f"{kind:<9} {printable(source)}")
    for one in skipped:
        click.echo(f"failed    {printable(str(one.path))}: {one.reason}")
    counts = Counter([*kinds.values(), *["failed" for _ in skipped]])
    found = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    click.echo(f"{found or 'No files'}; nothing was changed.")
    _print_left(left, " --prune would delete it." if len(left) == 1 else " --prune would delete them.")


def _print_left(left: "list[Placed]", then: str) -> None:
    """Lists documents whose files are gone, the first of many."""
    for one in left[:_SHOWN]:
        click.echo(f"gone      {printable(one.name)}")
    if len(left) > _SHOWN:
        click.echo(f"… and {len(left) - _SHOWN} more")
    if left:
        stay = counted(len(left), "document has no file", "documents have no file")
        click.echo(f"{stay} any more.{then}")


def _encode_documents(documents: "list[Placed]") -> list[dict[str, Any]]:
    return [{"documentId": one.id, "name": one.name, "origin": one.origin} for one in documents]
