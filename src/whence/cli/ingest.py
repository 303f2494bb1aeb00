"""`whence ingest`: turns files, folders, URLs and standard input into documents."""

from typing import Any

import click

from whence.cli import options
from whence.cli.command import EXIT_FAILED, App, find_project, on_app
from whence.cli.output import printed_json, wants_json


@click.command()
@click.argument("sources", nargs=-1, required=True)
@options.project
@click.option("--strategy", help="The chunking strategy: character, sentence or paragraph.  [character]")
@click.option("--max", "max_size", type=int, help="Longest chunk, in characters.  [1200]")
@click.option("--min", "min_size", type=int, help="Shorter chunks join a neighbour.  [100]")
@click.option(
    "--include", multiple=True, metavar="PATTERN", help="Only these files of a folder, such as *.md."
)
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Skip these files, in .gitignore syntax.")
@click.option("--name", help="File name of standard input; its ending decides the type.  [stdin.txt]")
@options.metadata(
    "Metadata of the documents, for filters of searches; the value null removes it. Repeatable."
)
@click.option("--watch", is_flag=True, help="Keep running and ingest files as they change.")
@options.json
@on_app
async def ingest(
    app: App,
    *,
    sources: tuple[str, ...],
    project: str,
    strategy: str | None,
    max_size: int | None,
    min_size: int | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    name: str | None,
    meta: dict[str, Any] | None,
    watch: bool,
) -> None:
    """Ingest SOURCES: files, folders, http(s) URLs, or `-` for standard input.

    In a folder, hidden files and those in .gitignore and .whenceignore are skipped. A changed file becomes a new version
    of its document; an unchanged one costs nothing.

    A running server does the work; without one, this command does. The exit code is 1 if anything could not be ingested.
    Ctrl-C ends --watch.
    """
    from whence.api.documents import DocumentDescription
    from whence.api.reading import read
    from whence.cli.ingest_run import Feed, IngestRequest

    metadata = read(DocumentDescription, {"metadata": meta}).metadata if meta else None
    wanted = IngestRequest(
        sources=sources,
        include=include,
        exclude=exclude,
        stdin_name=name or "stdin.txt",
        chunking_fields=options.read_chunking(strategy, max_size, min_size),
        metadata=metadata,
    )
    feed = Feed(app, await find_project(app, project), wanted, as_json=wants_json())
    if watch:
        await feed.watch()
        return
    outcomes = await feed.once()
    if not printed_json({"items": [outcome.as_json() for outcome in outcomes]}):
        feed.report(outcomes)
    if any(outcome.failed for outcome in outcomes):
        raise click.exceptions.Exit(EXIT_FAILED)
