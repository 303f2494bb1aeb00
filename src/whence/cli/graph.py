"""Describes claims and relationships, for the commands about the graph."""

from typing import TYPE_CHECKING

from whence.cli.output import page_suffix, printable

if TYPE_CHECKING:
    from whence.api.claims import ClaimModel, RelationshipRef

WIDEST = 60
"""Characters of a value in a table."""


def describe_place(claim: "ClaimModel") -> str:
    """The document, page and chunk of a claim, or the person who made it."""
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
