"""`whence trace`: shows the sources of an object's properties."""

import sys
from itertools import groupby
from typing import TYPE_CHECKING

import click

from whence.cli.objects import find_object, project_option, shown, where
from whence.cli.output import json_option, print_json, printable, with_app

if TYPE_CHECKING:
    from rich.tree import Tree

    from whence.api.graph import ClaimModel, TracedObject
    from whence.app import App
    from whence.models import Claim, GraphObject

_MOST = 10_000
_FILE_WIDTH = 10_000  # no line breaks in a file


@click.command()
@click.argument("object")
@click.option("--property", "property_name", metavar="NAME", help="Only this property.")
@project_option
@json_option
def trace(object: str, *, property_name: str | None, project: str, as_json: bool) -> None:  # noqa: A002 - the name in the usage
    """Show of OBJECT, an id or a name, each property, its values, and the words that each stands on."""

    async def work(app: "App") -> "tuple[GraphObject, list[Claim]]":
        found = await find_object(app, project, object)
        claims, _ = await app.store.graph.provenance.of_object(
            found.project_id, found.id, property_name=property_name, limit=_MOST, offset=0
        )
        return found, claims

    found, claims = with_app(work)
    from whence.api.graph import TracedObject

    traced = TracedObject.traced(found, claims)
    if property_name is not None and not traced.sources:
        raise click.ClickException(f"Nothing was said of {printable(property_name)!r}")
    if as_json:
        print_json(traced)
        return
    from rich.console import Console

    width = None if sys.stdout.isatty() else _FILE_WIDTH
    Console(highlight=False, markup=False, width=width).print(tree_of(traced))


def tree_of(found: "TracedObject") -> "Tree":
    """Object, property, value, chunk; below each chunk the words and the schema."""
    from rich.text import Text
    from rich.tree import Tree

    tree = Tree(Text.assemble(f"{printable(found.type)} ", (printable(found.name), "bold"), f"  {found.id}"))
    for name, claims in found.sources.items():
        branch = tree.add(Text(printable(name), style="cyan"))
        for value, of_value in groupby(claims, key=lambda claim: shown(claim.value)):
            group = list(of_value)
            style = "green" if group[0].current else "dim"
            label = value if group[0].current else f"{value} (older)"
            leaf = branch.add(Text(label, style=style))
            for claim in group:
                _add_chunk(leaf, claim)
    return tree


def _add_chunk(leaf: "Tree", claim: "ClaimModel") -> None:
    from rich.text import Text

    chunk = leaf.add(Text(f"{where(claim)}  {claim.chunk_id}"))
    if claim.quote is not None:
        span = f"{claim.start_offset}-{claim.end_offset}"
        chunk.add(Text.assemble("“", (printable(claim.quote), "italic"), f"” at {span}"))
    chunk.add(Text(f"schema {claim.schema_version}, {claim.read_at:%Y-%m-%d %H:%M}"))
