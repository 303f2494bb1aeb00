"""Originals in a bucket: kept, found, listed and deleted as in a directory, and nothing told when it is away."""

import os
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.s3 import KEY_ID, PAGE, SECRET, Bucket, Trouble, forbidden, half, hang_up, slow, unavailable

from whence.errors import NotFound, StorageUnavailable
from whence.store.originals import Originals

MEGABYTE = 1024 * 1024


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    with Bucket() as opened:
        for name, value in opened.environment.items():
            monkeypatch.setenv(name, value)
        yield opened


@pytest.fixture
def originals(bucket: Bucket, tmp_path: Path) -> Originals:
    return Originals.open(bucket.environment["WHENCE_STORAGE_URL"], tmp_path)


async def content(originals: Originals, key: str) -> bytes:
    return b"".join([part async for part in originals.get(key)])


async def test_kept_found_and_deleted(bucket: Bucket, originals: Originals, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"The heron waits.")
    await originals.put("project/document/1", tmp_path / "file")
    assert bucket.objects == {"whence/project/document/1": b"The heron waits."}
    assert await content(originals, "project/document/1") == b"The heron waits."
    assert await originals.head("project/document/1", 9) == b"The heron"
    async with originals.as_file("project/document/1") as path:
        assert path.read_bytes() == b"The heron waits."
    await originals.delete("project/document/1")
    await originals.delete("project/document/1")
    assert bucket.objects == {}
    with pytest.raises(NotFound):
        await content(originals, "project/document/1")
    with pytest.raises(NotFound):
        async with originals.as_file("project/document/1"):
            pass


async def test_a_large_one_comes_and_goes_in_parts(
    bucket: Bucket, originals: Originals, tmp_path: Path
) -> None:
    whole = os.urandom(12 * MEGABYTE)
    (tmp_path / "file").write_bytes(whole)
    await originals.put("large", tmp_path / "file")
    assert bucket.objects["whence/large"] == whole
    assert max(request.size for request in bucket.requests) < 6 * MEGABYTE
    parts = [part async for part in originals.get("large")]
    assert b"".join(parts) == whole
    assert max(map(len, parts)) < len(whole)
    span = MEGABYTE, 9 * MEGABYTE
    assert b"".join([part async for part in originals.get("large", span=span)]) == whole[slice(*span)]


async def test_a_list_of_many_pages(bucket: Bucket, originals: Originals) -> None:
    for number in range(3 * PAGE + 1):
        await originals.put(f"one/{number}", b"x" * number)
    await originals.put("other/1", b"")
    bucket.objects["elsewhere/1"] = b"of somebody else"
    assert await originals.keys() == [*(f"one/{number}" for number in range(3 * PAGE + 1)), "other/1"]


@pytest.mark.parametrize("trouble", [unavailable, forbidden, hang_up], ids=lambda one: one.__name__)
async def test_a_bucket_in_trouble(
    bucket: Bucket, originals: Originals, trouble: Trouble, tmp_path: Path
) -> None:
    """It is told of soon, without what the service said; and when it is back everything is as before."""
    await originals.put("old", b"There before.")
    (tmp_path / "large").write_bytes(bytes(6 * MEGABYTE))
    bucket.trouble = trouble

    async def read() -> None:
        await content(originals, "old")

    async def listed() -> None:
        await originals.check()

    for attempt in (
        read,
        listed,
        lambda: originals.put("new", b"New."),
        lambda: originals.put("large", tmp_path / "large"),
        lambda: originals.delete("old"),
    ):
        with pytest.raises(StorageUnavailable) as error:
            await attempt()
        told = "".join(traceback.format_exception(error.value))
        for secret in (KEY_ID, SECRET, "Signature"):
            assert secret not in told
    assert bucket.objects == {"whence/old": b"There before."}
    bucket.trouble = None
    assert await content(originals, "old") == b"There before."


async def test_a_connection_that_is_lost_in_the_middle(bucket: Bucket, originals: Originals) -> None:
    """Half of an original is never taken for all of it."""
    await originals.put("old", bytes(3 * MEGABYTE))
    bucket.trouble = half
    with pytest.raises(StorageUnavailable):
        await content(originals, "old")
    bucket.trouble = slow(0.2)
    assert await content(originals, "old") == bytes(3 * MEGABYTE)
