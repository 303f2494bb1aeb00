"""Temporary files for uploads. Bytes are counted and hashed while they are written to disk, so that no upload is in memory as a
whole.
"""

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp
from typing import Any

from whence.errors import PayloadTooLarge, StorageUnavailable
from whence.fetch import Fetched

_BUFFER = 1024 * 1024
_ABANDONED_SECONDS = 24 * 3600


class IncomingFile:
    """A file being received: call `write` for each part, then `finish`.

    The file is not kept open: a form may have more files than the process may have open.
    """

    def __init__(self, path: Path, *, limit: int) -> None:
        self.path = path
        self._limit = limit
        self._hash = hashlib.sha256()
        self._buffer = bytearray()
        self._known: bytes | None = None
        self.size = 0
        self.declared: str | None = None
        """Content type declared by the server that it was fetched from."""
        self.fetched: dict[str, Any] | None = None
        """HTTP validators for the next fetch."""

    @property
    def sha256(self) -> bytes:
        return self._known or self._hash.digest()

    def fetched_as(self, found: Fetched) -> None:
        self.size, self._known = found.size, found.sha256
        self.fetched = {"etag": found.etag, "last_modified": found.last_modified}
        self.declared = found.content_type

    async def write(self, part: bytes) -> None:
        self.size += len(part)
        if self.size > self._limit:
            most = f"{self._limit / 1024 / 1024:g} MB"
            raise PayloadTooLarge(
                f"The file is larger than {most} (WHENCE_MAX_UPLOAD_MB)", details={"max_bytes": self._limit}
            )
        self._buffer += part
        if len(self._buffer) >= _BUFFER:
            await self.finish()

    async def finish(self) -> None:
        await asyncio.to_thread(self._flush)

    def head(self, size: int) -> bytes:
        try:
            with self.path.open("rb") as file:
                return file.read(size)
        except OSError as exc:
            raise _make_storage_error(exc) from exc

    def _flush(self) -> None:
        part, self._buffer = self._buffer, bytearray()
        try:
            self._hash.update(part)
            with self.path.open("ab") as file:
                file.write(part)
        except OSError as exc:
            raise _make_storage_error(exc) from exc


class Inbox:
    """A folder for incoming files. `tidy` removes leftovers of killed processes after a day."""

    def __init__(self, folder: Path, *, limit: int) -> None:
        self._folder = folder
        self.limit = limit

    @contextmanager
    def file(self, limit: int | None = None) -> Iterator[IncomingFile]:
        """Create an empty file and delete it when the block ends."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            descriptor, name = mkstemp(dir=self._folder, prefix="incoming-")
            os.close(descriptor)
            path = Path(name)
        except OSError as exc:
            raise _make_storage_error(exc) from exc
        try:
            yield IncomingFile(path, limit=self.limit if limit is None else limit)
        finally:
            with suppress(OSError):  # the file may be gone
                path.unlink()

    @asynccontextmanager
    async def text(self, text: str) -> AsyncIterator[IncomingFile]:
        with self.file() as file:
            await file.write(text.encode())
            await file.finish()
            yield file

    def tidy(self) -> None:
        if not self._folder.is_dir():
            return
        for path in self._folder.iterdir():
            with suppress(FileNotFoundError):  # another process may tidy at the same time
                if time.time() - path.stat().st_mtime > _ABANDONED_SECONDS:
                    path.unlink()


def _make_storage_error(exc: OSError) -> StorageUnavailable:
    return StorageUnavailable(f"The file cannot be kept: {exc.strerror}")
