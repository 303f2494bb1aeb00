"""A storage belongs to one database: in a folder and in a bucket, for a first start, an upgrade, and two at once."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import UUID

import orjson
import psycopg
import pytest
from tests.s3 import Bucket, unavailable

from whence.errors import StorageMismatch
from whence.models import DEFAULT_PROJECT_ID
from whence.store import Store, migrations
from whence.store.migrations import upgrade
from whence.store.originals import MARKER, Originals
from whence.store.storage import Storage

DOCUMENT = f"{DEFAULT_PROJECT_ID}/{UUID(int=9)}"


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    with Bucket() as opened:
        for name, value in opened.environment.items():
            monkeypatch.setenv(name, value)
        yield opened


@pytest.fixture(params=["folder", "bucket"])
def originals(request: pytest.FixtureRequest, bucket: Bucket, tmp_path: Path) -> Originals:
    url = bucket.environment["WHENCE_STORAGE_URL"] if request.param == "bucket" else None
    return Originals.open(url, tmp_path)


@pytest.fixture
async def another(empty_dsn: str) -> AsyncIterator[Store]:
    """A second database, which has not started yet."""
    await upgrade(empty_dsn)
    async with Store.open(empty_dsn, size=2) as opened:
        await opened.projects.ensure_default()
        yield opened


async def keys(originals: Originals) -> set[str]:
    return set(await originals.keys())


async def marker(originals: Originals) -> UUID:
    content = b"".join([part async for part in originals.get(MARKER)])
    return UUID(orjson.loads(content)["id"])


async def test_the_first_start_binds_an_empty_storage(store: Store, originals: Originals) -> None:
    storage = Storage(originals, store.inventory)
    assert (await storage.status()).bond == "unbound"
    await storage.ensure_bound()
    status = await storage.status()
    assert (status.bond, status.marker) == ("bound", status.database)
    assert status.database is not None
    assert await marker(originals) == status.database.id
    await Storage(originals, store.inventory).ensure_bound()
    assert await keys(originals) == set(), "the marker is no original"


async def test_another_database_is_refused(store: Store, another: Store, originals: Originals) -> None:
    """This is how the originals of the first were lost: nothing may be touched."""
    await Storage(originals, store.inventory).ensure_bound()
    await store.inventory.note([f"{DOCUMENT}/1"])
    await originals.put(f"{DOCUMENT}/1", b"The heron waits.")
    with pytest.raises(StorageMismatch) as error:
        await Storage(originals, another.inventory).ensure_bound()
    own = await another.inventory.storage_id()
    assert own is not None
    for name in (originals.location, str(await marker(originals)), str(own.id)):
        assert name in error.value.message
    for way in ("whence storage adopt", "WHENCE_STORAGE_URL", "WHENCE_DATA_DIR", "restore the backup"):
        assert way in error.value.message
    assert await keys(originals) == {f"{DOCUMENT}/1"}
    await Storage(originals, store.inventory).ensure_bound()


async def test_adopting_binds_it_anew(store: Store, another: Store, originals: Originals) -> None:
    await Storage(originals, store.inventory).ensure_bound()
    await originals.put(f"{DOCUMENT}/1", b"The heron waits.")
    assert (await Storage(originals, another.inventory).adopt()).bond == "bound"
    await Storage(originals, another.inventory).ensure_bound()
    with pytest.raises(StorageMismatch):
        await Storage(originals, store.inventory).ensure_bound()
    assert await keys(originals) == {f"{DOCUMENT}/1"}


async def test_many_starts_at_once(store: Store, another: Store, originals: Originals) -> None:
    """Of two databases one gets the storage; all processes of that one may use it."""
    starts = [Storage(originals, one.inventory).ensure_bound() for one in [store, another] * 4]
    ended = await asyncio.gather(*starts, return_exceptions=True)
    refused = [isinstance(one, StorageMismatch) for one in ended]
    assert refused in ([False, True] * 4, [True, False] * 4)
    owner = await (another if refused[0] else store).inventory.storage_id()
    assert owner is not None
    assert await marker(originals) == owner.id


async def test_a_storage_without_a_marker_whose_objects_are_known(store: Store, originals: Originals) -> None:
    """After an upgrade."""
    await store.inventory.note([f"{DOCUMENT}/1"])
    await originals.put(f"{DOCUMENT}/1", b"The heron waits.")
    await Storage(originals, store.inventory).ensure_bound()
    assert (await Storage(originals, store.inventory).status()).bond == "bound"


@pytest.mark.parametrize("key", [f"{DOCUMENT}/1", f"{UUID(int=7)}/{UUID(int=8)}/1", ".DS_Store"], ids=str)
async def test_unknown_objects_are_refused(store: Store, originals: Originals, key: str) -> None:
    """The default project has the same id in every database: it proves nothing by itself."""
    await originals.put(key, b"Somebody else's.")
    with pytest.raises(StorageMismatch) as error:
        await Storage(originals, store.inventory).ensure_bound()
    assert f"does not know 1 of its objects: {key}" in error.value.message
    assert "whence storage adopt" in error.value.message
    assert (await Storage(originals, store.inventory).status()).unknown == [key]
    await Storage(originals, store.inventory).adopt()
    await Storage(originals, store.inventory).ensure_bound()
    assert await keys(originals) == {key}


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b'{"id": "x"}', b'{"id": 5, "createdAt": "2026-01-01T00:00:00Z"}', b"\xff"]
)
async def test_a_marker_that_cannot_be_read_is_nobodys(
    store: Store, originals: Originals, content: bytes
) -> None:
    await originals.put(MARKER, content)
    with pytest.raises(StorageMismatch, match="its marker cannot be read"):
        await Storage(originals, store.inventory).ensure_bound()


async def test_the_storage_is_listed_only_without_a_marker(
    store: Store, bucket: Bucket, tmp_path: Path
) -> None:
    """A bucket may hold a million objects."""
    originals = Originals.open(bucket.environment["WHENCE_STORAGE_URL"], tmp_path)
    await Storage(originals, store.inventory).ensure_bound()
    before = len(bucket.requests)
    storage = Storage(originals, store.inventory)
    for _ in range(3):
        await storage.ensure_bound()
    assert [request.key for request in bucket.requests[before:]] == [f"whence/{MARKER}"]


async def test_a_storage_that_is_away_is_checked_before_its_first_use(
    store: Store, another: Store, bucket: Bucket, tmp_path: Path
) -> None:
    """A server starts without it; nothing is written before it has proven to be ours."""
    originals = Originals.open(bucket.environment["WHENCE_STORAGE_URL"], tmp_path)
    await Storage(originals, another.inventory).ensure_bound()
    storage = Storage(originals, store.inventory)
    bucket.trouble = unavailable
    await storage.check()
    bucket.trouble = None
    (tmp_path / "file").write_bytes(b"x")
    before = dict(bucket.objects)
    with pytest.raises(StorageMismatch):
        await storage.put(f"{DOCUMENT}/1", tmp_path / "file")
    with pytest.raises(StorageMismatch):
        await storage.discard(DEFAULT_PROJECT_ID, [f"{DOCUMENT}/1"])
    assert bucket.objects == before


async def test_existing_originals_are_listed_by_the_migration(
    empty_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of documents, and of jobs that are not completed."""
    dsn = empty_dsn
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "KNOWN", migrations.KNOWN[: migrations.KNOWN.index("0010") + 1])
        await upgrade(dsn)
    with psycopg.connect(dsn) as conn:
        conn.execute(
            "INSERT INTO kb.projects (id, name, created_at, updated_at) VALUES (%s, 'birds', now(), now())",
            [DEFAULT_PROJECT_ID],
        )
        conn.execute(
            "INSERT INTO kb.documents (project_id, id, name, mime, size, sha256, original_key, created_at, updated_at) "
            "SELECT id, id, 'd', 'text/plain', 3, 'x', id || '/d/1', now(), now() FROM kb.projects"
        )
        for key, state in (("2", "pending"), ("3", "failed"), ("4", "completed")):
            conn.execute(
                "INSERT INTO kb.jobs (project_id, id, document_id, type, name, status, file_name, file_type, file_size, "
                "created_at, config) SELECT id, gen_random_uuid(), id, 'document_processing', 'd', %s, 'd', 'text/plain', "
                "3, now(), jsonb_build_object('original', jsonb_build_object('key', id || '/d/' || %s)) FROM kb.projects",
                [state, key],
            )
    await upgrade(dsn)
    async with Store.open(dsn, size=1) as store:
        rows = await store.inventory.all()
    assert sorted(one.key for one in rows) == [f"{DEFAULT_PROJECT_ID}/d/{n}" for n in (1, 2, 3)]
    assert {(one.project_id, one.state) for one in rows} == {(DEFAULT_PROJECT_ID, "kept")}
