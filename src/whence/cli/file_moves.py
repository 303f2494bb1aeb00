"""Matches local files to their documents by path, or by content after a move. Finds documents whose files are gone."""

import asyncio
import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import unquote_to_bytes
from uuid import UUID

from whence.app import App
from whence.cli.files import FoundFile, replace_bad_bytes
from whence.ingest.file_identity import Placed, Places, settled

_SCHEME = "file://"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The result of `settle`. Files are identified by their origins."""

    files: Sequence[FoundFile] = ()
    """The files, each with the name and the path that its document has or gets."""
    places: Places = field(default_factory=lambda: Places(moves={}, there=frozenset()))
    known: frozenset[str] = frozenset()
    """Files that a document already came from."""
    left: frozenset[str] = frozenset()
    """Files that were moved and whose document moves with them."""

    def kind(self, file: FoundFile) -> str:
        """The state of the file: `new`, `changed`, `renamed` or `unchanged`."""
        origin = origin_of(file.path)
        if origin in self.places.there:
            return "renamed" if origin in self.places.moves.values() else "unchanged"
        return "changed" if origin in self.known or origin in self.places.moves.values() else "new"


async def settle(app: App, project_id: UUID, files: Sequence[FoundFile], *, apply: bool = True) -> Settled:
    """Moves documents to the files that now have their bytes. Reads no file if no document came from a file."""
    documents = await _read_placed(app, project_id)
    if not documents:
        return Settled(files=files)
    limit = app.inbox.limit
    files = await asyncio.to_thread(_name_files, files, documents)
    handed_in: dict[str, bytes] = {}
    for file in files:
        if content := await asyncio.to_thread(_hash_file, file.path, limit):
            handed_in[origin_of(file.path)] = content
    hashes = set(handed_in.values())
    elsewhere = {
        document.origin: await asyncio.to_thread(_hash_origin, document, limit)
        for document in documents
        if document.origin not in handed_in and document.sha256 in hashes
    }
    places = settled(handed_in, elsewhere, documents)
    if places.moves and apply:
        names = {document.origin: document.name for document in documents}
        names |= {origin_of(file.path): file.name for file in files}
        await app.receiver.move(project_id, places.moves, names=names)
    known = frozenset(document.origin for document in documents)
    left = frozenset(document.origin for document in documents if document.id in places.moves)
    return Settled(files=files, places=places, known=known, left=left)


async def gone(app: App, project_id: UUID, folders: Sequence[Path]) -> list[Placed]:
    """The documents whose files were in these folders and no longer exist. A folder that is gone itself is ignored."""
    inside = tuple(f"{folder.absolute()}/" for folder in folders if folder.is_dir())
    documents = await _read_placed(app, project_id) if inside else []
    return await asyncio.to_thread(
        lambda: [one for one in documents if str(_path_of(one)).startswith(inside) and is_gone(_path_of(one))]
    )


def origin_of(path: Path) -> str:
    return path.absolute().as_uri()


async def _read_placed(app: App, project_id: UUID) -> list[Placed]:
    rows = await app.store.documents.from_files(project_id)
    return [Placed(id=row[0], name=row[1], origin=row[2], sha256=row[3]) for row in rows]


def _path_of(document: Placed) -> Path:
    return Path(os.fsdecode(unquote_to_bytes(document.origin.removeprefix(_SCHEME))))


def _name_files(files: Sequence[FoundFile], documents: Sequence[Placed]) -> list[FoundFile]:
    """Names files. A known file keeps its document's name. A new one is named relative to the same folder as its neighbours."""
    names = {document.origin: document.name for document in documents}
    routes = dict(_find_routes([file for file in files if origin_of(file.path) not in names], documents))
    above: dict[Path, str] = {}
    found = []
    for file in files:
        path = routes.get(file.path, file.path)
        name = names.get(origin_of(path))
        if name is None:
            given = file.path.absolute().parents[file.name.count("/")]
            if given not in above:
                above[given] = _find_prefix(given, documents)
            name = above[given] + file.name
        found.append(replace(file, path=path, name=name))
    return found


def _find_routes(files: Sequence[FoundFile], documents: Sequence[Placed]) -> Iterator[tuple[Path, Path]]:
    """Files that a document knows by another path, for example through a link to their folder."""
    wanted = {file.path.name for file in files}
    known: dict[tuple[int, int], Path] = {}
    for document in documents:
        path = _path_of(document)
        with suppress(OSError):
            if path.name in wanted:
                status = path.stat()
                known.setdefault((status.st_dev, status.st_ino), path)
    for file in files:
        with suppress(OSError):
            status = file.path.stat()
            if (status.st_dev, status.st_ino) in known:
                yield file.path, known[status.st_dev, status.st_ino]


def _find_prefix(given: Path, documents: Sequence[Placed]) -> str:
    """The prefix `sub/` of names if documents in the given folder are named relative to a folder above it; else empty."""
    folder = replace_bad_bytes(f"{given}/")
    for document in documents:
        path = replace_bad_bytes(str(_path_of(document)))
        root = path.removesuffix(document.name)
        if path.startswith(folder) and path != root and root.endswith("/") and folder.startswith(root):
            return folder.removeprefix(root)
    return ""


def _hash_origin(document: Placed, limit: int) -> bytes | None:
    """Hash of the file that the document came from; an unreadable file counts as unchanged, None if it is gone."""
    path = _path_of(document)
    if is_gone(path):
        return None
    return _hash_file(path, limit) or document.sha256


def is_gone(path: Path) -> bool:
    """Whether the file does not exist. False if that cannot be determined."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return not path.is_file()


def _hash_file(path: Path, limit: int) -> bytes | None:
    """Hash of the file; None if it is too large or unreadable, so that it cannot be ingested."""
    try:
        if path.stat().st_size > limit:
            return None
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError:
        return None
