"""The storage of originals: a folder or a bucket.

Our own threads call the storage library synchronously. Its async calls call back into Python from library threads, and a
callback during interpreter shutdown ends the process with SIGABRT.
"""

import asyncio
import hashlib
import os
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit
from urllib.request import url2pathname

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError
from obstore.store import LocalStore, ObjectStore, from_url

from whence.errors import NotFound, SettingsError, StorageUnavailable

if TYPE_CHECKING:
    from obstore import GetOptions
    from obstore.store import RetryConfig

T = TypeVar("T")

MARKER = "whence-storage.json"
"""Key of the object that names the storage's database. Listings leave it out."""

_THREADS = 8
_READ = 64 * 1024  # with the library's default of 10 MB, parts would wait in memory for slow readers
_PARTS = 2  # concurrent parts of a large upload, 5 MB each

# Times out while the caller still waits, not after the default of three minutes. All other options come from the environment variables of
# the bucket's service, which the library ignores if options are passed here.
_RETRIES: "RetryConfig" = {
    "max_retries": 3,
    "retry_timeout": timedelta(seconds=20),
    "backoff": {"init_backoff": timedelta(seconds=0.2), "max_backoff": timedelta(seconds=2), "base": 2},
}


class Originals:
    """Stores bytes by key. Whence makes the keys (`<project id>/<document id>/<version>`), never a user."""

    def __init__(self, store: ObjectStore, folder: Path | None = None, *, location: str = "") -> None:
        self._store = store
        self._folder = folder
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="originals")
        self.location = location or str(folder)

    @classmethod
    def open(cls, url: str | None, data_dir: Path) -> "Originals":
        if url is None:
            return cls._open_folder(data_dir / "originals")
        try:
            if url.startswith("file:"):
                return cls._open_folder(Path(url2pathname(urlsplit(url).path)), location=url)
            # The location without credentials.
            return cls(from_url(url, retry_config=_RETRIES), location=re.sub(r"(?<=://)[^/]*@|\?.*", "", url))
        except (BaseError, ValueError) as exc:
            raise SettingsError(
                "WHENCE_STORAGE_URL is not a storage URL that Whence can open (s3://, gs://, az://, file:///…).",
                details={"setting": "WHENCE_STORAGE_URL"},
            ) from exc

    @classmethod
    def _open_folder(cls, folder: Path, location: str = "") -> "Originals":
        return cls(LocalStore(folder, mkdir=True, automatic_cleanup=True), folder, location=location)

    async def put(self, key: str, content: bytes | Iterator[bytes] | IO[bytes] | Path) -> None:
        """Store the bytes durably: once this returns, they survive a crash of the machine."""
        with _translate_errors(key):
            if self._folder is None:
                await self._do(partial(obstore.put, self._store, key, content, max_concurrency=_PARTS))
            else:
                await self._do(partial(self._put_file, self._folder, key, content))

    def _put_file(self, folder: Path, key: str, content: bytes | Iterator[bytes] | IO[bytes] | Path) -> None:
        target = folder / key
        made = _make_parents(target, folder)
        if not (isinstance(content, Path) and _try_link(content, target)):
            obstore.put(self._store, key, content)
        _sync(target, target.parent, *(path.parent for path in made))

    async def put_new(self, key: str, content: bytes) -> bool:
        """Create the object. Returns False if the key exists; of two concurrent writers one gets False."""
        with _translate_errors(key):
            try:
                await self._do(partial(obstore.put, self._store, key, content, mode="create"))
            except AlreadyExistsError:
                return False
            if self._folder is not None:
                await self._do(partial(_sync, self._folder / key, self._folder))
            return True

    async def move(self, key: str, target: str) -> None:
        """Raises `NotFound` if the key does not exist. Safe to repeat after a kill at any point."""
        with _translate_errors(key):
            if self._folder is None:
                await self._do(partial(obstore.rename, self._store, key, target))
            else:
                await self._do(partial(_move_file, self._folder, key, target))

    async def _do(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def get(self, key: str, *, span: tuple[int, int] | None = None) -> AsyncGenerator[bytes, None]:
        """Yields parts of about `_READ` bytes, of all or from `span`: start and end. Closing it early closes the file."""
        with _translate_errors(key):
            opened = _OpenFile(self._store, key, span)
            try:
                while (part := await self._do(opened.read)) is not None:
                    yield part
            finally:
                opened.close()

    async def head(self, key: str, size: int) -> bytes:
        parts = bytearray()
        async with aclosing(self.get(key)) as read:
            async for part in read:
                parts += part
                if len(parts) >= size:
                    break
        return bytes(parts[:size])

    @asynccontextmanager
    async def as_file(self, key: str) -> AsyncIterator[Path]:
        if self._folder is not None:
            with _translate_errors(key):
                await self._do(partial(obstore.head, self._store, key))
            yield self._folder / key
            return
        with NamedTemporaryFile(prefix="whence-original-") as copy:
            async for part in self.get(key):
                await asyncio.to_thread(copy.write, part)
            copy.flush()
            yield Path(copy.name)

    async def delete(self, key: str) -> None:
        """Delete the object. A missing key is no error, because a kill may have prevented the write."""
        with _translate_errors(key), suppress(FileNotFoundError, NotFoundError):
            if self._folder is not None:
                await self._do(partial(_remove_unfinished, self._folder / key))
            await self._do(partial(obstore.delete, self._store, key))

    async def size(self, key: str) -> int:
        """Raises `NotFound` if the key does not exist."""
        with _translate_errors(key):
            return int((await self._do(partial(obstore.head, self._store, key)))["size"])

    async def exists(self, key: str) -> bool:
        try:
            await self.size(key)
        except NotFound:
            return False
        return True

    async def require_size(self, key: str, size: int) -> None:
        """Raises `NotFound` if the original is missing or has another size."""
        found = await self.size(key)
        if found != size:
            message = f"The original is damaged: {found} bytes instead of {size}; send the same file again"
            raise NotFound(message, details={"key": key})

    async def matches(self, key: str, *, size: int, sha256: bytes) -> bool:
        """Whether the original is there with this content. In a bucket only the size is compared: reading would cost a transfer."""
        try:
            await self.require_size(key, size)
        except NotFound:
            return False
        return self._folder is None or await self._do(partial(_hash, self._folder / key)) == sha256

    async def keys(self) -> list[str]:

        def listed() -> list[str]:
            return [item["path"] for batch in obstore.list(self._store) for item in batch]

        with _translate_errors():
            return [key for key in await self._do(listed) if key != MARKER]

    async def check(self) -> None:
        """Raises `StorageUnavailable` if the storage does not answer."""
        with _translate_errors():
            await self._do(partial(next, iter(obstore.list(self._store)), None))


class _OpenFile:
    """Reads parts. `close` drops the library's stream: the traceback of a cancelled read would keep it, and its file."""

    def __init__(self, store: ObjectStore, key: str, span: tuple[int, int] | None) -> None:
        self._parts = self._stream(store, key, {} if span is None else {"range": span})

    @staticmethod
    def _stream(store: ObjectStore, key: str, options: "GetOptions") -> Iterator[bytes]:
        yield from map(bytes, obstore.get(store, key, options=options).stream(min_chunk_size=_READ))

    def read(self) -> bytes | None:
        """None at the end."""
        return next(self._parts, None)

    def close(self) -> None:
        self._parts = iter(())


def _hash(path: Path) -> bytes | None:
    """None if the file was removed meanwhile."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except FileNotFoundError:
        return None


def _make_parents(target: Path, top: Path) -> list[Path]:
    missing = []
    folder = target.parent
    while folder != top and not folder.exists():
        missing.append(folder)
        folder = folder.parent
    target.parent.mkdir(parents=True, exist_ok=True)
    return missing


def _try_link(path: Path, target: Path) -> bool:
    """Try to make a hard link, which saves the copy within one file system."""
    try:
        os.link(path, target)
    except OSError:  # another file system, or one without links: the caller copies
        return False
    return True


def _move_file(folder: Path, key: str, target: str) -> None:
    source, goal = folder / key, folder / target
    made = _make_parents(goal, folder)
    try:
        source.replace(goal)
    finally:
        _remove_unfinished(source)
        for empty in (*source.parents, *goal.parents):
            with suppress(OSError):  # not empty, or missing
                if folder in empty.parents:
                    empty.rmdir()
    _sync(goal.parent, *(path.parent for path in made))


def _remove_unfinished(path: Path) -> None:
    """Remove the library's temporary files `<name>#<number>`, which a kill leaves behind and listings omit."""
    if path.parent.is_dir():
        for left in path.parent.glob(f"{path.name}#*"):
            left.unlink(missing_ok=True)


def _sync(*paths: Path) -> None:
    for path in dict.fromkeys(paths):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _translate_errors(key: str = "") -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, NotFoundError) as exc:  # a folder raises FileNotFoundError
        raise NotFound("The original is not in the storage", details={"key": key}) from exc
    except OSError as exc:
        raise StorageUnavailable from exc
    except BaseError as exc:
        # For the log, without the service's response, which may repeat parts of the credentials.
        raise StorageUnavailable from OSError(str(exc).split("\n", 1)[0].partition("<")[0].rstrip(" :"))
    except BaseException as exc:
        if type(exc).__name__ == "PanicException":  # a panic in the library is not an `Exception`
            raise StorageUnavailable from exc
        raise
