"""Which document is that of which file, after files were moved, exchanged or written over: pure.

No two documents of a project have the same bytes. So a document goes with its bytes to wherever they are now, and only
bytes that no document has make a new version. Whoever loses its place to another gets the one that became free.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A document that came from a file."""

    id: UUID
    origin: str
    sha256: bytes
    """Of the bytes that it has, or is about to have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    moves: Mapping[UUID, str | None]
    """Where documents go that are somewhere else; None for one whose file was written over and has no place any more."""
    there: frozenset[str]
    """The files whose bytes their document has then."""
    copies: Mapping[str, str]
    """The files whose bytes another of the files has, which goes before."""


def settled(
    files: Mapping[str, bytes], elsewhere: Mapping[str, bytes | None], documents: Sequence[Placed]
) -> Places:
    """`files` are those that are handed in, with the hash of their bytes, by origin.

    `elsewhere` is what there is now at other origins of documents: the hash, or None for nothing.
    """
    at = {document.origin: document for document in reversed(documents)}
    stay = {
        document.id
        for document in documents
        if at[document.origin] is document
        and files.get(document.origin, elsewhere.get(document.origin)) == document.sha256
    }
    free = {document.sha256: document for document in documents if document.id not in stay}
    taken = {document.sha256 for document in documents if document.id in stay}
    comes = {}
    for origin, content in files.items():
        if content in free and content not in taken:
            comes[origin] = free[content]
            taken.add(content)
    moves: dict[UUID, str | None] = {document.id: origin for origin, document in comes.items()}
    for left in [document.origin for document in comes.values()]:
        if left not in comes and (homeless := _homeless(left, at, moves)):
            moves[homeless.id] = left if left in files or elsewhere.get(left) else None
    there = {origin for origin in files if origin in comes or (origin in at and at[origin].id in stay)}
    held = {moves.get(document.id, document.origin) for document in documents}
    return Places(moves=moves, there=frozenset(there), copies=_copies(files, [*there, *files.keys() & held]))


def _homeless(left: str, at: Mapping[str, Placed], moves: Mapping[UUID, str | None]) -> Placed | None:
    """From a place that became free, from each place to the next: who was at the last one, if anybody was."""
    document: Placed | None = at[left]
    while document is not None and (place := moves.get(document.id)) is not None:
        document = at.get(place)
    return document


def _copies(files: Mapping[str, bytes], before_others: Sequence[str]) -> dict[str, str]:
    first: dict[bytes, str] = {}
    for origin in (*before_others, *files):
        first.setdefault(files[origin], origin)
    return {origin: first[content] for origin, content in files.items() if first[content] != origin}
