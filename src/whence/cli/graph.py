"""Shared by the commands about the graph: objects by name, and the places of claims in words."""

from typing import TYPE_CHECKING
from uuid import UUID

from whence.cli.command import App, find_project, take_only
from whence.cli.output import page_suffix, printable

if TYPE_CHECKING:
    from whence.api.claims import ClaimModel, RelationshipRef
    from whence.models import GraphObject

WIDEST = 60
"""Characters of a value in a table."""


async def find_object(app: App, project: str, which: str) -> "GraphObject":
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


def describe_place(claim: "ClaimModel") -> str:
    """The document, page and chunk of a claim, or the person who said so."""
    if claim.document_name is None:
        return describe_word(claim)
    return f"{printable(claim.document_name)}{page_suffix(claim.page)}, chunk {claim.chunk_index}"


def describe_word(claim: "ClaimModel") -> str:
    """Who set or rejected it, when and why."""
    verb = "rejected" if claim.rejected else "set"
    why = f": {printable(claim.reason)}" if claim.reason else ""
    return f"{verb} by {printable(claim.author or '')}{why} (correction {claim.curation_id})"


def describe_relationship(edge: "RelationshipRef") -> str:
    """`Alpha Plant feeds Beta Grid`."""
    return printable(f"{edge.source.name} {edge.type} {edge.target.name}")
