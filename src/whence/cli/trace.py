"""`whence trace`: the sources of an object's properties, or the claims of a chunk or a document."""

import sys
from collections.abc import Sized
from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING, Any
from uuid import UUID

import click

from whence.cli import options
from whence.cli.command import Api, on_api
from whence.cli.graph import describe_place, describe_relationship, describe_word
from whence.cli.output import on_one_line, page_suffix, printable, printed_json

if TYPE_CHECKING:
    from rich.tree import Tree

    from whence.api.claims import StatedClaim
    from whence.api.graph import TracedObject

_MOST_CLAIMS = 10_000
_FILE_WIDTH = 10_000  # no line breaks in a file


@click.command()
@click.argument("object")
@click.option("--property", "property_name", metavar="NAME", help="Only this property.")
@options.project
@options.json
@on_api
async def trace(api: Api, *, object: str, property_name: str | None, project: str) -> None:  # noqa: A002 - the name in the usage
    """Show the sources of OBJECT, an id or a name: each property with its values and the quotes that support them.

    With the id of a chunk or a document: the claims that it makes.
    """
    answer = await _load(api, object, property_name, project)
    claims = answer if isinstance(answer, list) else answer.sources
    _require_claims(claims, property_name)
    if not printed_json(answer):
        _print_tree(_draw_stated(answer) if isinstance(answer, list) else _draw_tree(answer))


async def _load(
    api: Api, which: str, property_name: str | None, project: str
) -> "TracedObject | list[StatedClaim]":
    """The object, or the claims of a chunk or a document."""
    from whence.api.claims import ClaimModel, StatedClaim
    from whence.api.graph import TracedObject
    from whence.errors import ObjectNotFound
    from whence_client import NotFound

    of: dict[str, Any] = {"limit": _MOST_CLAIMS, "property": property_name}
    try:
        path = await api.object_path(project, which)
    except (ObjectNotFound, NotFound):
        for kind in ("chunks", "documents"):
            with suppress(NotFound, ValueError):
                return (await api.page(f"/{kind}/{UUID(which)}/claims", StatedClaim, **of))[0]
        raise
    sources: dict[str, list[ClaimModel]] = {}
    for claim in (await api.page(f"{path}/provenance", ClaimModel, **of))[0]:
        sources.setdefault(claim.property_name, []).append(claim)
    found = await api.client.request("GET", path)
    return api.read(TracedObject, {**found, "sources": dict(sorted(sources.items()))})


def _require_claims(found: Sized, property_name: str | None) -> None:
    if property_name is not None and not found:
        raise click.ClickException(f"No claim is about {printable(property_name)!r}")


def _print_tree(tree: "Tree") -> None:
    from rich.console import Console

    width = None if sys.stdout.isatty() else _FILE_WIDTH
    Console(highlight=False, markup=False, width=width).print(tree)


def _draw_tree(found: "TracedObject") -> "Tree":
    """Prints a tree: object, property, value, chunk; below each chunk the quote and the schema version."""
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
                    leaf.add(Text(describe_word(claim)))
                    continue
                chunk = leaf.add(Text(f"{describe_place(claim)}  {claim.chunk_id}"))
                if claim.rejected:
                    chunk.add(Text(describe_word(claim)))
                if claim.quote is not None:
                    span = f"{claim.start_offset}-{claim.end_offset}"
                    chunk.add(Text.assemble("“", (printable(claim.quote), "italic"), f"” at {span}"))
                chunk.add(Text(f"schema {claim.schema_version}, {claim.read_at:%Y-%m-%d %H:%M}"))
    return tree


def _draw_stated(claims: "list[StatedClaim]") -> "Tree":
    """Prints document, chunk and claims in reading order; below each claim its quote."""
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
    return describe_relationship(claim.relationship)
