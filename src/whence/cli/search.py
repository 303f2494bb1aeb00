"""`whence search`: finds the chunks that are relevant to a query."""

from typing import TYPE_CHECKING, Any

import click

from whence.cli import options
from whence.cli.command import Api, find_project, named_project, on_api
from whence.cli.output import counted, page_suffix, print_notes, printable, printed_json

if TYPE_CHECKING:
    from whence.api.search import HitModel

_BEFORE, _SHOWN = 80, 320

_WEAK = {"hybrid": 0.5, "vector": 0.5, "text": 0.4}
"""A hit below this share of the best score is weak. Few such hits are relevant (measured in docs/search.md)."""


@click.command()
@click.argument("query")
@options.project
@click.option(
    "--mode",
    type=click.Choice(("hybrid", "vector", "text")),
    default="hybrid",
    show_default=True,
    help="Search by words and vectors, or by one of them.",
)
@click.option("--limit", type=int, default=10, show_default=True, help="Maximum number of hits, 1 to 100.")
@options.file_type
@click.option(
    "--document", "documents", multiple=True, metavar="ID", help="Only in this document. Repeatable."
)
@options.metadata("Only documents with this metadata. Repeatable.")
@click.option("--no-floor", is_flag=True, help="Show the nearest chunks, even if they are unrelated.")
@click.option("--all", "every", is_flag=True, help="Also show hits far weaker than the best.")
@options.json
@on_api
async def search(
    api: Api,
    *,
    query: str,
    project: str,
    mode: str,
    limit: int,
    types: tuple[str, ...],
    documents: tuple[str, ...],
    meta: dict[str, Any] | None,
    no_floor: bool,
    every: bool,
) -> None:
    """Find chunks that are relevant to QUERY. Words in quotes must occur exactly.

    Works with and without a running server.
    """
    from whence.api.search import SearchRequest

    filters = {"fileTypes": list(types), "documentIds": list(documents) or None, "metadata": meta}
    asked = {"query": query, "mode": mode, "limit": limit, "filters": filters, "floor": not no_floor}
    options.read_usage(SearchRequest, asked)
    hits, notes = await _find(api, project, asked)
    if printed_json({"items": hits, "notes": notes}):
        return
    print_notes(notes)
    is_cut = not (every or no_floor)
    shown = [hit for hit in hits if not is_cut or hit.score >= _WEAK[mode] * hits[0].score]
    for hit in shown:
        name = click.style(printable(hit.document.name), bold=True)
        click.echo(f"{name}{page_suffix(hit.page)}  {hit.score:.2f}  {hit.chunk.id}")
        click.echo(f"  {_make_excerpt(hit)}")
    if not hits:
        click.echo("Nothing found.")
    if weak := len(hits) - len(shown):
        click.echo(f"{counted(weak, 'weaker hit')} left out; see --all.", err=True)


async def _find(api: Api, project: str, asked: dict[str, Any]) -> "tuple[list[HitModel], list[str]]":
    from whence.api.search import HitModel, SearchAnswer, SearchRequest

    if api.app is None:
        body = {**asked, "project": named_project(project)}
        answer = await api.send("POST", "/search", SearchAnswer, body)
        return answer.items, answer.notes
    question = options.read_usage(SearchRequest, asked).question()
    found = await api.app.search.find((await find_project(api.app, project)).id, question)
    return [HitModel.of(hit) for hit in found.hits], list(found.notes)


def _make_excerpt(hit: "HitModel") -> str:
    """One line of the chunk around the first highlight, with highlights in colour."""
    content = hit.chunk.content
    first = hit.highlights[0].start if hit.highlights else 0
    start = max(first - _BEFORE, 0) if len(content) > _SHOWN else 0
    end = start + _SHOWN
    parts, at = ["…" if start else ""], start
    for low, high in ((one.start, one.end) for one in hit.highlights):
        if low >= start and high <= end:
            highlight = click.style(printable(content[low:high]), fg="green", bold=True)
            parts += [printable(content[at:low]), highlight]
            at = high
    parts += [printable(content[at:end]), "…" if end < len(content) else ""]
    return "".join(parts).strip()
