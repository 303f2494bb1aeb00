"""Matches files to documents after files were moved, swapped or overwritten. Pure.

A document belongs to its file's path. It follows its bytes to another path where these tell which file it is. A
displaced document takes the origin that became free.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A document that came from a file."""

    id: UUID
    name: str
    origin: str
    sha256: bytes
    """Hash of its current bytes, or of the bytes an open job will give it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    moves: Mapping[UUID, str | None]
    """New origin of each document that moves; None if its file was overwritten and no origin became free for it."""
    there: frozenset[str]
    """Files whose document has the same bytes after the moves."""


def settled(
    files: Mapping[str, bytes], elsewhere: Mapping[str, bytes | None], documents: Sequence[Placed]
) -> Places:
    """Decide which documents move. Both mappings give content hashes by origin.

    `files` are the files handed in. `elsewhere` holds the other origins of documents, with None for a missing file.
    """
    at = {document.origin: document for document in reversed(documents)}
    disk = {**elsewhere, **files}
    stay = {
        document.id
        for document in documents
        if at[document.origin] is document and disk.get(document.origin) == document.sha256
    }
    free = _free(files, disk, [document for document in documents if document.id not in stay], documents)
    comes: dict[str, Placed] = {}
    for origin, content in files.items():
        if free[content] and not (origin in at and at[origin].id in stay):
            comes[origin] = _take(free[content], origin)
    moves: dict[UUID, str | None] = {document.id: origin for origin, document in comes.items()}
    for left in [document.origin for document in comes.values()]:
        if left not in comes and (homeless := _homeless(left, at, moves)):
            moves[homeless.id] = left if disk.get(left) else None
    held = {moves.get(document.id, document.origin): document.sha256 for document in reversed(documents)}
    there = {origin for origin, content in files.items() if held.get(origin) == content}
    return Places(moves=moves, there=frozenset(there))


def _free(
    files: Mapping[str, bytes],
    disk: Mapping[str, bytes | None],
    movable: Sequence[Placed],
    documents: Sequence[Placed],
) -> dict[bytes, list[Placed]]:
    """The documents that may move, by their bytes.

    Bytes that several files or documents have do not tell which is which: then only a document whose file is gone moves.
    """
    of_documents, of_files = Counter(one.sha256 for one in documents), Counter(files.values())
    free: dict[bytes, list[Placed]] = defaultdict(list)
    for document in movable:
        is_gone = document.origin in disk and disk[document.origin] is None
        if is_gone or of_documents[document.sha256] == of_files[document.sha256] == 1:
            free[document.sha256].append(document)
    return free


def _take(candidates: list[Placed], origin: str) -> Placed:
    """Remove and return the candidate whose path shares the longest end with this one, the first of several."""
    found = max(candidates, key=lambda one: _count_common_end(one.origin, origin))
    candidates.remove(found)
    return found


def _count_common_end(one: str, other: str) -> int:
    """Number of equal parts at the end of both paths."""
    pairs = zip(reversed(one.split("/")), reversed(other.split("/")), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _homeless(left: str, at: Mapping[str, Placed], moves: Mapping[UUID, str | None]) -> Placed | None:
    """Follow the moves from a freed origin and return the document displaced at the end of the chain, if any."""
    document: Placed | None = at[left]
    while document is not None and (place := moves.get(document.id)) is not None:
        document = at.get(place)
    return document
