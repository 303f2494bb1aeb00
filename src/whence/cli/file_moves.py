"""Matches local files to their documents: by path, by content after files were moved, and those whose files are gone."""

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
    """With the names that their documents have or get, at the paths that their documents know them by."""
    places: Places = field(default_factory=lambda: Places(moves={}, there=frozenset()))
    known: frozenset[str] = frozenset()
    """Files that a document came from before."""
    left: frozenset[str] = frozenset()
    """Files whose document moved to another path."""

    def kind(self, file: FoundFile) -> str:
        """The state of the file: `new`, `changed`, `renamed` or `unchanged`."""
        origin = origin_of(file.path)
        if origin in self.places.there:
            return "renamed" if origin in self.places.moves.values() else "unchanged"
        return "changed" if origin in self.known or origin in self.places.moves.values() else "new"


async def settle(app: App, project_id: UUID, files: Sequence[FoundFile], *, apply: bool = True) -> Settled:
    """Moves documents to the files that have their bytes now. Reads no file if no document came from a file."""
    documents = await _from_files(app, project_id)
    if not documents:
        return Settled(files=files)
    limit = app.inbox.limit
    files = await asyncio.to_thread(_named, files, documents)
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
    if places.moves and apply:
        names = {document.origin: document.name for document in documents}
        names |= {origin_of(file.path): file.name for file in files}
        await app.receiver.move(project_id, places.moves, names=names)
    known = frozenset(document.origin for document in documents)
    left = frozenset(document.origin for document in documents if document.id in places.moves)
    return Settled(files=files, places=places, known=known, left=left)


async def gone(app: App, project_id: UUID, folders: Sequence[Path]) -> list[Placed]:
    """The documents whose files were in these folders and do not exist any more. A folder that is gone itself does not count."""
    inside = tuple(f"{folder.absolute()}/" for folder in folders if folder.is_dir())
    documents = await _from_files(app, project_id) if inside else []
    return await asyncio.to_thread(
        lambda: [one for one in documents if str(_path(one)).startswith(inside) and is_gone(_path(one))]
    )


def origin_of(path: Path) -> str:
    return path.absolute().as_uri()


async def _from_files(app: App, project_id: UUID) -> list[Placed]:
    rows = await app.store.documents.from_files(project_id)
    return [Placed(id=row[0], name=row[1], origin=row[2], sha256=row[3]) for row in rows]


def _path(document: Placed) -> Path:
    return Path(os.fsdecode(unquote_to_bytes(document.origin.removeprefix(_SCHEME))))


def _named(files: Sequence[FoundFile], documents: Sequence[Placed]) -> list[FoundFile]:
    """A known file keeps the name of its document. A new one is named from the folder that its neighbours are named from."""
    names = {document.origin: document.name for document in documents}
    routes = dict(_routes([file for file in files if origin_of(file.path) not in names], documents))
    above: dict[Path, str] = {}
    found = []
    for file in files:
        path = routes.get(file.path, file.path)
        name = names.get(origin_of(path))
        if name is None:
            given = file.path.absolute().parents[file.name.count("/")]
            if given not in above:
                above[given] = _above(given, documents)
            name = above[given] + file.name
        found.append(replace(file, path=path, name=name))
    return found


def _routes(files: Sequence[FoundFile], documents: Sequence[Placed]) -> Iterator[tuple[Path, Path]]:
    """Files that a document knows by another path, such as one through a link to their folder."""
    wanted = {file.path.name for file in files}
    known: dict[tuple[int, int], Path] = {}
    for document in documents:
        path = _path(document)
        with suppress(OSError):
            if path.name in wanted:
                status = path.stat()
                known.setdefault((status.st_dev, status.st_ino), path)
    for file in files:
        with suppress(OSError):
            status = file.path.stat()
            if (status.st_dev, status.st_ino) in known:
                yield file.path, known[status.st_dev, status.st_ino]


def _above(given: Path, documents: Sequence[Placed]) -> str:
    """The part of names before the given folder, if documents in it are named from a folder above: `sub/`, else nothing."""
    folder = replace_bad_bytes(f"{given}/")
    for document in documents:
        path = replace_bad_bytes(str(_path(document)))
        root = path.removesuffix(document.name)
        if path.startswith(folder) and path != root and root.endswith("/") and folder.startswith(root):
            return folder.removeprefix(root)
    return ""


def _hash_origin(document: Placed, limit: int) -> bytes | None:
    """Hash of the file that the document came from; an unreadable file counts as unchanged, None if it is gone."""
    path = _path(document)
    if is_gone(path):
        return None
    return _hash(path, limit) or document.sha256


def is_gone(path: Path) -> bool:
    """Whether no file is there. One that cannot be looked at may be there."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return not path.is_file()


def _hash(path: Path, limit: int) -> bytes | None:
    """Hash of the file; None if it is too large or unreadable, and so cannot be ingested."""
    try:
        if path.stat().st_size > limit:
            return None
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError:
        return None
