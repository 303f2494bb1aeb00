"""`whence search`: finds the chunks that are relevant to a query."""

from typing import TYPE_CHECKING

import click

from whence.cli.metadata_option import meta_option, metadata_of
from whence.cli.output import counted, json_option, print_json, with_app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whence.app import App
    from whence.search import Hit, SearchResult

_BEFORE, _SHOWN = 80, 320

_WEAK = {"hybrid": 0.5, "vector": 0.5, "text": 0.4}
"""A hit below this share of the best score is weak. By measurement, few such hits are relevant (docs/search.md)."""


@click.command()
@click.argument("query")
@click.option("--project", default="default", show_default=True, help="A project's name or id.")
@click.option(
    "--mode",
    type=click.Choice(("hybrid", "vector", "text")),
    default="hybrid",
    show_default=True,
    help="Words and vectors, or one of them.",
)
@click.option("--limit", type=int, default=10, show_default=True, help="How many hits at most, 1 to 100.")
@click.option("--type", "types", multiple=True, metavar="TYPE", help="Only such files: pdf, text/plain.")
@click.option("--document", "documents", multiple=True, metavar="ID", help="Only in this document.")
@meta_option("Only documents of which this was said.")
@click.option("--no-floor", is_flag=True, help="Show what is nearest, whether or not it has to do with it.")
@click.option("--all", "every", is_flag=True, help="Also the hits that are far weaker than the best.")
@json_option
def search(
    query: str,
    *,
    project: str,
    mode: str,
    limit: int,
    types: tuple[str, ...],
    documents: tuple[str, ...],
    meta: tuple[str, ...],
    no_floor: bool,
    every: bool,
    as_json: bool,
) -> None:
    """Find the chunks that have to do with QUERY. Words in quotes must be there as they stand.

    It needs no running server, and does not mind one.
    """
    from whence.api.reading import read
    from whence.api.search import FoundHits, HitModel, SearchRequest
    from whence.errors import BadInput

    filters = {
        "fileTypes": list(types),
        "documentIds": list(documents) or None,
        "metadata": metadata_of(meta),
    }
    asked = {"query": query, "mode": mode, "limit": limit, "filters": filters, "floor": not no_floor}
    try:
        question = read(SearchRequest, asked).question()
    except BadInput as exc:
        raise click.UsageError(exc.message) from exc

    async def work(app: "App") -> "SearchResult":
        from whence.cli.projects import find

        return await app.search.find((await find(app, project)).id, question)

    found = with_app(work, connections=4)
    if as_json:
        print_json(FoundHits(items=[HitModel.of(hit) for hit in found.hits], notes=list(found.notes)))
        return
    for note in found.notes:
        click.secho(note, err=True, fg="yellow")
    shown = found.hits if every or no_floor else strong(found.hits, _WEAK[mode])
    for hit in shown:
        _print(hit)
    if not found.hits:
        click.echo("Nothing found.")
    if weak := len(found.hits) - len(shown):
        click.echo(f"{counted(weak, 'weaker hit')} left out; see --all.", err=True)


def strong(hits: "Sequence[Hit]", share: float) -> "Sequence[Hit]":
    """The hits with at least this share of the best score."""
    return [hit for hit in hits if hit.score >= share * hits[0].score]


def _print(hit: "Hit") -> None:
    from whence.cli.output import printable

    page = "" if hit.found.page is None else f", page {hit.found.page}"
    name = click.style(printable(hit.found.document_name), bold=True)
    click.echo(f"{name}{page}  {hit.score:.2f}  {hit.chunk['id']}")
    click.echo(f"  {_passage(hit)}")


def _passage(hit: "Hit") -> str:
    """A line of the chunk around the first highlight, with all highlights in colour."""
    from whence.cli.output import printable

    content: str = hit.chunk["content"]
    first = hit.highlights[0][0] if hit.highlights else 0
    start = max(first - _BEFORE, 0) if len(content) > _SHOWN else 0
    end = start + _SHOWN
    parts, at = ["…" if start else ""], start
    for low, high in hit.highlights:
        if low >= start and high <= end:
            parts += [
                printable(content[at:low]),
                click.style(printable(content[low:high]), fg="green", bold=True),
            ]
            at = high
    parts += [printable(content[at:end]), "…" if end < len(content) else ""]
    return "".join(parts).strip()
