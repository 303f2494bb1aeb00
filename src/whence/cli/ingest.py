"""`whence ingest`: turns files, folders, URLs and standard input into documents."""

from typing import TYPE_CHECKING

import click

from whence.cli.chunk_options import by_option
from whence.cli.metadata_option import meta_option, metadata_of
from whence.cli.output import json_option, print_json, with_app
from whence.errors import InvalidParameter

if TYPE_CHECKING:
    from whence.app import App
    from whence.cli.ingest_run import FileOutcome

EXIT_SOME_FAILED = 1


@click.command()
@click.argument("sources", nargs=-1, required=True)
@click.option("--project", default="default", show_default=True, help="A project's name or id.")
@click.option("--strategy", help="How to cut: character, sentence or paragraph.  [character]")
@click.option("--max", "max_size", type=int, help="Longest chunk, in characters.  [1200]")
@click.option("--min", "min_size", type=int, help="Shorter ones join a neighbour.  [100]")
@click.option("--include", multiple=True, metavar="PATTERN", help="Take only these of a folder (*.md).")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave these out, as .gitignore would.")
@click.option("--name", help="What standard input is called; its ending says what it is.  [stdin.txt]")
@meta_option("Say this of the documents, for searches to ask for; null takes it back.")
@click.option("--watch", is_flag=True, help="Stay, and take in files as they change.")
@json_option
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
    meta: tuple[str, ...],
    watch: bool,
    as_json: bool,
) -> None:
    """Ingest SOURCES: files, folders, http(s) URLs, or `-` for standard input.

    Of a folder everything is taken but hidden files and what .gitignore and .whenceignore leave out. A file that was
    ingested before and has changed becomes a new version of the same document; one that has not costs nothing.

    A running server does the work; without one, this command does. It ends with 1 if anything could not be ingested,
    and with --watch by Ctrl-C.
    """
    from whence.cli.ingest_run import Feed, IngestRequest, print_report

    try:
        wanted = IngestRequest.of(
            sources,
            include=include,
            exclude=exclude,
            stdin_name=name or "stdin.txt",
            strategy=strategy,
            max_size=max_size,
            min_size=min_size,
            metadata=metadata_of(meta),
        )
    except InvalidParameter as exc:
        raise click.UsageError(by_option(exc.message)) from exc

    async def work(app: "App") -> "list[FileOutcome] | None":
        from whence.cli.projects import find

        feed = Feed(app, await find(app, project), wanted, as_json=as_json)
        return await (feed.watch() if watch else feed.once())

    outcomes = with_app(work, connections=10)
    if outcomes is None:
        return
    if as_json:
        print_json({"items": [outcome.as_json() for outcome in outcomes]})
    else:
        print_report(outcomes)
    if any(outcome.failed for outcome in outcomes):
        raise click.exceptions.Exit(EXIT_SOME_FAILED)
