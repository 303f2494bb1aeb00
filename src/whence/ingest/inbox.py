"""Where files arrive: on disk, counted and hashed on the way, so that none is ever whole in memory."""

import asyncio
import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

from whence.errors import PayloadTooLarge, StorageUnavailable

_BUFFER = 1024 * 1024
_ABANDONED_SECONDS = 24 * 3600


class IncomingFile:
    """Bytes are written, then `finish` says that there are no more."""

    def __init__(self, file: IO[bytes], *, limit: int) -> None:
        self._file = file
        self._limit = limit
        self._hash = hashlib.sha256()
        self._buffer = bytearray()
        self._known: bytes | None = None
        self.size = 0

    @property
    def path(self) -> Path:
        return Path(self._file.name)

    @property
    def sha256(self) -> bytes:
        return self._known or self._hash.digest()

    def written(self, *, size: int, sha256: bytes) -> None:
        """Somebody else wrote the file, and counted."""
        self.size, self._known = size, sha256

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
        """How it begins, for telling what it is."""
        with self.path.open("rb") as file:
            return file.read(size)

    def _flush(self) -> None:
        part, self._buffer = self._buffer, bytearray()
        try:
            self._hash.update(part)
            self._file.write(part)
            self._file.flush()
        except OSError as exc:
            raise StorageUnavailable(f"The file cannot be kept: {exc.strerror}") from exc


class Inbox:
    """A folder of the data directory; what a killed process left in it is removed a day later."""

    def __init__(self, folder: Path, *, limit: int) -> None:
        self._folder = folder
        self.limit = limit

    @contextmanager
    def file(self, limit: int | None = None) -> Iterator[IncomingFile]:
        """An empty file, which is gone when the block ends."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            opened = NamedTemporaryFile(dir=self._folder, prefix="incoming-")  # noqa: SIM115 - closed below
        except OSError as exc:
            raise StorageUnavailable(f"The file cannot be kept: {exc.strerror}") from exc
        try:
            yield IncomingFile(opened, limit=self.limit if limit is None else limit)
        finally:
            # It may be gone, or the disk may still be full of what could not be written: that has been said.
            with suppress(OSError):
                opened.close()

    def tidy(self) -> None:
        if not self._folder.is_dir():
            return
        for path in self._folder.iterdir():
            if time.time() - path.stat().st_mtime > _ABANDONED_SECONDS:
                path.unlink(missing_ok=True)
