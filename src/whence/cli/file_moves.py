"""Matches local files to their documents after files were moved, swapped or overwritten."""

import asyncio
import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote_to_bytes
from uuid import UUID

from whence.app import App
from whence.cli.files import FoundFile
from whence.ingest.file_identity import Placed, Places, settled

_SCHEME = "file://"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The result of `settle`. Files are identified by their origins."""

    names: Mapping[str, str] = field(default_factory=dict)
    places: Places = field(default_factory=lambda: Places(moves={}, there=frozenset(), copies={}))
    left: frozenset[str] = frozenset()
    """Files whose document went to another place."""


async def settle(app: App, project_id: UUID, files: Sequence[FoundFile]) -> Settled:
    """Moves documents to the files that have their bytes now. Reads no file if no document came from a file."""
    documents = [
        Placed(id=ident, origin=origin, sha256=content)
        for ident, origin, content in await app.store.documents.from_files(project_id)
    ]
    if not documents:
        return Settled()
    limit = app.inbox.limit
    names = {origin_of(file.path): file.name for file in files}
    handed_in: dict[str, bytes] = {}
    for file in files:
        if content := await asyncio.to_thread(_hash, file.path, limit):
            handed_in[origin_of(file.path)] = content
    hashes = set(handed_in.values())
    elsewhere = {
        document.origin: await asyncio.to_thread(_hash_origin, document, limit)
        for document in documents
        if document.origin not in handed_in and document.sha256 in hashes
    }
    places = settled(handed_in, elsewhere, documents)
    if places.moves:
        await app.receiver.move(project_id, places.moves, names=names)
    left = frozenset(document.origin for document in documents if document.id in places.moves)
    return Settled(names=names, places=places, left=left)


def origin_of(path: Path) -> str:
    return path.absolute().as_uri()


def _hash_origin(document: Placed, limit: int) -> bytes | None:
    """Hash of the file that the document came from; an unreadable file counts as unchanged, None if it is gone."""
    path = Path(os.fsdecode(unquote_to_bytes(document.origin.removeprefix(_SCHEME))))
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return document.sha256
    return (_hash(path, limit) or document.sha256) if path.is_file() else None


def _hash(path: Path, limit: int) -> bytes | None:
    """Hash of the file; None if it is too large or unreadable, and so cannot be ingested."""
    try:
        if path.stat().st_size > limit:
            return None
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError:
        return None
