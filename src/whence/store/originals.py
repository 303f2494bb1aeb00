"""The files as they were given, kept beside the database: a directory, or a bucket named by a URL.

The storage library is asked from threads of our own. Awaited, its own threads would come back to Python to say that they
are done, and one that does so while the interpreter ends takes the process down with SIGABRT.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, TypeVar

import obstore
from obstore.exceptions import BaseError, NotFoundError
from obstore.store import LocalStore, ObjectStore, from_url

from whence.errors import NotFound, SettingsError, StorageUnavailable

if TYPE_CHECKING:
    from obstore.store import RetryConfig

T = TypeVar("T")

_THREADS = 8
_PARTS = 2  # of a large file on their way at the same time, five megabytes each

# A bucket that is away is said to be so while somebody still waits for the answer, not after three minutes. Everything
# else about it comes from the environment that its service knows: options given here would make it be ignored.
_RETRIES: "RetryConfig" = {
    "max_retries": 3,
    "retry_timeout": timedelta(seconds=20),
    "backoff": {"init_backoff": timedelta(seconds=0.2), "max_backoff": timedelta(seconds=2), "base": 2},
}


class Originals:
    """Bytes by key. Keys are made by us (`<project id>/<document id>/<version>`), never by users."""

    def __init__(self, store: ObjectStore, folder: Path | None = None) -> None:
        self._store = store
        self._folder = folder
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="originals")

    @classmethod
    def open(cls, url: str | None, data_dir: Path) -> "Originals":
        if url is None:
            folder = data_dir / "originals"
            return cls(LocalStore(folder, mkdir=True, automatic_cleanup=True), folder)
        try:
            if url.startswith("file:"):
                return cls(from_url(url))
            return cls(from_url(url, retry_config=_RETRIES))
        except (BaseError, ValueError) as exc:
            raise SettingsError(
                "WHENCE_STORAGE_URL is not a storage URL that Whence can open (s3://, gs://, az://, file:///…).",
                details={"setting": "WHENCE_STORAGE_URL"},
            ) from exc

    async def put(self, key: str, content: bytes | Iterator[bytes] | Path) -> None:
        """When this returns, the bytes are where a crash of the machine does not reach them."""
        with _translated(key):
            if isinstance(content, Path) and await self._link(content, key):
                return
            await self._do(partial(obstore.put, self._store, key, content, max_concurrency=_PARTS))
            if self._folder is not None:
                await self._do(partial(_sync, self._folder / key))

    async def _link(self, path: Path, key: str) -> bool:
        return self._folder is not None and await self._do(partial(_linked, path, self._folder / key))

    async def _do(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def _each(self, items: Iterator[T]) -> AsyncIterator[T]:
        while (item := await self._do(partial(next, items, None))) is not None:
            yield item

    async def get(self, key: str) -> AsyncIterator[bytes]:
        with _translated(key):
            found = await self._do(partial(obstore.get, self._store, key))
            async for part in self._each(iter(found.stream())):
                yield bytes(part)

    async def head(self, key: str, size: int) -> bytes:
        """How it begins."""
        parts = bytearray()
        async for part in self.get(key):
            parts += part
            if len(parts) >= size:
                break
        return bytes(parts[:size])

    @asynccontextmanager
    async def as_file(self, key: str) -> AsyncIterator[Path]:
        """The original as a file of this machine, for as long as the block lasts."""
        if self._folder is not None:
            with _translated(key):
                await self._do(partial(obstore.head, self._store, key))
            yield self._folder / key
            return
        with NamedTemporaryFile(prefix="whence-original-") as copy:
            async for part in self.get(key):
                await asyncio.to_thread(copy.write, part)
            copy.flush()
            yield Path(copy.name)

    async def delete(self, key: str) -> None:
        """One that is not there is no error: it may have been on its way when something was killed."""
        with _translated(key), suppress(FileNotFoundError, NotFoundError):
            await self._do(partial(obstore.delete, self._store, key))

    async def keys(self, prefix: str | None = None) -> AsyncIterator[tuple[str, int]]:
        """Every key with its size."""
        async for key, size, _ in self.entries(prefix):
            yield key, size

    async def entries(self, prefix: str | None = None) -> AsyncIterator[tuple[str, int, datetime]]:
        """Every key with its size and when it was put there."""
        with _translated():
            async for batch in self._each(iter(obstore.list(self._store, prefix))):
                for item in batch:
                    yield item["path"], item["size"], item["last_modified"]

    async def check(self) -> None:
        """Raises when the storage does not answer."""
        async for _ in self.keys():
            return


def _linked(path: Path, target: Path) -> bool:
    """On one file system a file need not be copied to be in two places."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        os.link(path, target)
    except OSError:  # another file system, or one that has no links: then it is copied, or says why not
        return False
    _sync(target)
    return True


def _sync(path: Path) -> None:
    for place in (path, path.parent):
        descriptor = os.open(place, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _translated(key: str = "") -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, NotFoundError) as exc:  # the first is what a directory says
        raise NotFound("The original is not there", details={"key": key}) from exc
    except OSError as exc:
        raise StorageUnavailable from exc
    except BaseError as exc:
        raise StorageUnavailable from _reason(exc)
    except BaseException as exc:
        if type(exc).__name__ == "PanicException":  # the library's own accidents are no `Exception`
            raise StorageUnavailable from exc
        raise


def _reason(exc: BaseError) -> OSError:
    """For the log: what happened, without what the service answered, which may repeat parts of the credentials."""
    said = str(exc).split("\n", 1)[0]
    return OSError(said.partition("<")[0].rstrip(" :"))
