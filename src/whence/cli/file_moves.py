"""Files of this machine find their documents again: those that were moved, exchanged or written over."""

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
from whence.ingest import Placed, settled

_SCHEME = "file://"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What became of it; files are named by their origins."""

    names: Mapping[str, str] = field(default_factory=dict)
    there: frozenset[str] = frozenset()
    """Whose bytes their document has."""
    copies: Mapping[str, str] = field(default_factory=dict)
    """Whose bytes another has, which goes before."""
    entered: frozenset[str] = frozenset()
    """Whose document was somewhere else."""
    left: frozenset[str] = frozenset()
    """Whose document is somewhere else now."""


async def settle(app: App, project_id: UUID, files: Sequence[FoundFile]) -> Settled:
    """Documents go to where their bytes are now. Where none came from a file yet, no file is read for it."""
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
        if content := await asyncio.to_thread(_content, file.path, limit):
            handed_in[origin_of(file.path)] = content
    hashes = set(handed_in.values())
    elsewhere = {
        document.origin: await asyncio.to_thread(_now, document, limit)
        for document in documents
        if document.origin not in handed_in and document.sha256 in hashes
    }
    places = settled(handed_in, elsewhere, documents)
    if places.moves:
        await app.receiver.move(project_id, places.moves, names=names)
    return Settled(
        names=names,
        there=places.there,
        copies=places.copies,
        entered=frozenset(place for place in places.moves.values() if place is not None),
        left=frozenset(document.origin for document in documents if document.id in places.moves),
    )


def origin_of(path: Path) -> str:
    return path.absolute().as_uri()


def _path_of(origin: str) -> Path:
    return Path(os.fsdecode(unquote_to_bytes(origin.removeprefix(_SCHEME))))


def _now(document: Placed, limit: int) -> bytes | None:
    """What there is where the document came from; what cannot be read is taken to be as it was."""
    path = _path_of(document.origin)
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return document.sha256
    return (_content(path, limit) or document.sha256) if path.is_file() else None


def _content(path: Path, limit: int) -> bytes | None:
    """The hash of what is in it; None for what could not be handed in anyway."""
    try:
        if path.stat().st_size > limit:
            return None
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError:
        return None
