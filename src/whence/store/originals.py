"""The files as they were given, kept beside the database: a directory, or a bucket named by a URL."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import obstore
from obstore.exceptions import BaseError, NotFoundError
from obstore.store import LocalStore, ObjectStore, from_url

from whence.errors import NotFound, SettingsError, StorageUnavailable


class Originals:
    """Bytes by key. Keys are made by us (`<project id>/<document id>`), never by users."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    @classmethod
    def open(cls, url: str | None, data_dir: Path) -> "Originals":
        if url is None:
            return cls(LocalStore(data_dir / "originals", mkdir=True))
        try:
            return cls(from_url(url))
        except (BaseError, ValueError) as exc:
            raise SettingsError(
                "WHENCE_STORAGE_URL is not a storage URL that Whence can open (s3://, gs://, az://, file:///…).",
                details={"setting": "WHENCE_STORAGE_URL"},
            ) from exc

    async def put(self, key: str, content: bytes | Iterator[bytes]) -> None:
        with _translated(key):
            await obstore.put_async(self._store, key, content)

    async def get(self, key: str) -> AsyncIterator[bytes]:
        with _translated(key):
            found = await obstore.get_async(self._store, key)
            async for part in found.stream():
                yield bytes(part)

    async def delete(self, key: str) -> None:
        with _translated(key):
            await obstore.delete_async(self._store, key)

    async def keys(self) -> AsyncIterator[tuple[str, int]]:
        """Every key with its size."""
        with _translated():
            async for batch in obstore.list(self._store):
                for item in batch:
                    yield item["path"], item["size"]

    async def check(self) -> None:
        """Raises when the storage does not answer."""
        async for _ in self.keys():
            return


@contextmanager
def _translated(key: str = "") -> Iterator[None]:
    try:
        yield
    except NotFoundError as exc:
        raise NotFound("The original is not there", details={"key": key}) from exc
    except BaseError as exc:  # its text may tell of credentials and goes to the log only
        raise StorageUnavailable from exc
