"""Matches files to documents after files were moved, swapped or overwritten. Pure.

No two documents of a project have the same bytes, so a document follows its bytes to their new origin. Only bytes that no
document has make a new version. A displaced document takes the origin that became free.
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
    """Hash of its current bytes, or of the bytes an open job will give it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    moves: Mapping[UUID, str | None]
    """New origin of each document that moves; None if its file was overwritten and no origin became free for it."""
    there: frozenset[str]
    """Files whose document has the same bytes after the moves."""
    copies: Mapping[str, str]
    """Duplicate files, each with the file that has the same bytes and takes precedence."""


def settled(
    files: Mapping[str, bytes], elsewhere: Mapping[str, bytes | None], documents: Sequence[Placed]
) -> Places:
    """Decide which documents move. Both mappings give content hashes by origin.

    `files` are the files handed in. `elsewhere` holds the other origins of documents, with None for a missing file.
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
    """Follow the moves from a freed origin and return the document displaced at the end of the chain, if any."""
    document: Placed | None = at[left]
    while document is not None and (place := moves.get(document.id)) is not None:
        document = at.get(place)
    return document


def _copies(files: Mapping[str, bytes], before_others: Sequence[str]) -> dict[str, str]:
    first: dict[bytes, str] = {}
    for origin in (*before_others, *files):
        first.setdefault(files[origin], origin)
    return {origin: first[content] for origin, content in files.items() if first[content] != origin}
