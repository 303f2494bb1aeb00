"""Leftovers of this database go to the trash, and out of it a week later. Nothing else is touched."""

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tests.s3 import Bucket
from tests.samples import AddSample

from whence.errors import Conflict, NotFound
from whence.models import DEFAULT_PROJECT_ID, now
from whence.store import Store
from whence.store.inventory import Inventory, State, StoredOriginal
from whence.store.originals import Originals
from whence.store.storage import Storage, Tidied, Trash

NOTHING = Tidied(trashed=0, removed=0, restored=0)


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    with Bucket() as opened:
        for name, value in opened.environment.items():
            monkeypatch.setenv(name, value)
        yield opened


@pytest.fixture(params=["folder", "bucket"])
def trash(request: pytest.FixtureRequest, bucket: Bucket, store: Store, tmp_path: Path) -> Trash:
    url = bucket.environment["WHENCE_STORAGE_URL"] if request.param == "bucket" else None
    return Trash(Storage(Originals.open(url, tmp_path), store.inventory))


def new_key() -> str:
    return f"{DEFAULT_PROJECT_ID}/{uuid4()}/{uuid4()}"


async def leave(trash: Trash, *, written: bool = True) -> str:
    """As an upload does that is killed before its document is stored."""
    key = new_key()
    await trash.storage.ensure_bound()
    await trash.storage.inventory.note([key])
    if written:
        await trash.storage.originals.put(key, key.encode())
    return key


def let_pass(dsn: str, days: int) -> None:
    with psycopg.connect(dsn) as conn:
        conn.execute(
            "UPDATE kb.stored_originals SET noted_at = noted_at - make_interval(days => %s), "
            "trashed_at = trashed_at - make_interval(days => %s)",
            [days, days],
        )


async def contents(trash: Trash) -> dict[str, bytes]:
    originals = trash.storage.originals
    found = await originals.keys()
    return {key: b"".join([part async for part in originals.get(key)]) for key in found}


async def test_into_the_trash_and_out_of_it(trash: Trash, dsn: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "whence.storage")
    key = await leave(trash)
    assert await trash.tidy() == NOTHING, "it may still be on its way in"
    let_pass(dsn, 2)
    assert await trash.tidy() == Tidied(trashed=1, removed=0, restored=0)
    (one,) = await trash.storage.inventory.trash()
    assert (one.key, one.state) == (key, "trashed")
    assert one.trash_key.startswith("trash/2")
    assert one.trash_key.endswith(f"/{key}")
    assert await contents(trash) == {one.trash_key: key.encode()}
    assert f"Moved the original {key} to {one.trash_key}" in caplog.text
    assert await trash.tidy() == NOTHING


async def test_a_week_later_it_is_removed(trash: Trash, dsn: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "whence.storage")
    key = await leave(trash)
    let_pass(dsn, 2)
    await trash.tidy()
    moved = await contents(trash)
    with psycopg.connect(dsn) as conn:  # the folder of the trash is named by the day
        conn.execute("UPDATE kb.stored_originals SET trashed_at = trashed_at - interval '6 days'")
    (one,) = await trash.storage.inventory.trash()
    await trash.storage.originals.move(min(moved), one.trash_key)
    assert await trash.tidy() == NOTHING
    assert len(await contents(trash)) == 1
    with psycopg.connect(dsn) as conn:
        conn.execute("UPDATE kb.stored_originals SET trashed_at = trashed_at - interval '2 days'")
    (older,) = await trash.storage.inventory.trash()
    await trash.storage.originals.move(one.trash_key, older.trash_key)
    assert await trash.tidy() == Tidied(trashed=0, removed=1, restored=0)
    assert f"Removed the original {key} from the trash" in caplog.text
    assert await contents(trash) == {}
    assert await trash.storage.inventory.all() == []


async def test_what_is_not_in_the_inventory_is_never_touched(trash: Trash, dsn: str) -> None:
    strange = {new_key(): b"Of another database.", "trash/2020-01-01/old": b"In somebody's trash."}
    await trash.storage.ensure_bound()
    for key, content in strange.items():
        await trash.storage.originals.put(key, content)
    let_pass(dsn, 100)
    assert await trash.tidy() == NOTHING
    assert await trash.empty() == []
    assert await contents(trash) == strange


async def test_what_a_document_refers_to_stays(trash: Trash, dsn: str, add_sample: AddSample) -> None:
    key, sample = await leave(trash), await add_sample()
    with psycopg.connect(dsn) as conn:
        conn.execute("UPDATE kb.documents SET original_key = %s WHERE id = %s", [key, sample.document.id])
    let_pass(dsn, 100)
    assert await trash.tidy() == NOTHING
    assert await contents(trash) == {key: key.encode()}


async def test_what_a_document_refers_to_again_comes_back(
    trash: Trash, dsn: str, add_sample: AddSample
) -> None:
    key, sample = await leave(trash), await add_sample()
    let_pass(dsn, 2)
    await trash.tidy()
    with psycopg.connect(dsn) as conn:
        conn.execute("UPDATE kb.documents SET original_key = %s WHERE id = %s", [key, sample.document.id])
    assert await trash.empty() == []
    assert await trash.tidy() == Tidied(trashed=0, removed=0, restored=1)
    assert await contents(trash) == {key: key.encode()}
    let_pass(dsn, 100)
    assert await trash.tidy() == NOTHING


async def test_a_key_whose_object_was_never_written(trash: Trash, dsn: str) -> None:
    await leave(trash, written=False)
    let_pass(dsn, 2)
    assert await trash.tidy() == NOTHING
    assert await trash.storage.inventory.all() == []


@pytest.mark.parametrize("moved", [False, True], ids=["before the move", "after the move"])
async def test_a_kill_on_the_way_into_the_trash(trash: Trash, dsn: str, moved: bool) -> None:
    key = await leave(trash)
    let_pass(dsn, 2)
    await trash.storage.inventory.claim_leftovers(before=now())
    (one,) = await trash.storage.inventory.trash()
    if moved:
        await trash.storage.originals.move(key, one.trash_key)
    assert await trash.tidy() == Tidied(trashed=1, removed=0, restored=0)
    assert await contents(trash) == {one.trash_key: key.encode()}
    assert [one.state for one in await trash.storage.inventory.trash()] == ["trashed"]


async def test_a_kill_on_the_way_out_of_the_trash(
    trash: Trash, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the move, before the row says so: it is a leftover as before, and does not stay for good."""
    key = await leave(trash)
    let_pass(dsn, 2)
    await trash.tidy()
    with monkeypatch.context() as patch:
        patch.setattr(Inventory, "mark", _killed_at_the_end)
        with pytest.raises(KeyboardInterrupt):
            await trash.restore([key])
    assert await contents(trash) == {key: key.encode()}
    assert await trash.tidy() == Tidied(trashed=1, removed=0, restored=0)
    (one,) = await trash.storage.inventory.trash()
    assert await contents(trash) == {one.trash_key: key.encode()}


_mark = Inventory.mark


async def _killed_at_the_end(inventory: Inventory, one: StoredOriginal, state: State) -> None:
    if state == "kept":
        raise KeyboardInterrupt
    await _mark(inventory, one, state)


async def test_a_server_that_ends_idle_transactions(dsn: str) -> None:
    impatient = make_conninfo(dsn, options="-c idle_in_transaction_session_timeout=2000")
    async with Store.open(impatient, size=2) as store, store.inventory.alone() as alone:
        assert alone
        await asyncio.sleep(2.5)
        async with store.inventory.alone() as second:
            assert not second


async def test_restoring_and_emptying(trash: Trash, dsn: str) -> None:
    keys = sorted([await leave(trash) for _ in range(3)])
    let_pass(dsn, 2)
    await trash.tidy()
    one, two, three = sorted(await trash.storage.inventory.trash(), key=lambda one: one.key)
    with pytest.raises(NotFound, match="Not in the trash: nothing"):
        await trash.restore(["nothing", one.key])
    assert [found.key for found in await trash.restore([one.key])] == [one.key]
    assert [found.key for found in await trash.empty([two.trash_key])] == [two.key]
    assert await contents(trash) == {keys[0]: keys[0].encode(), three.trash_key: keys[2].encode()}
    assert [found.key for found in await trash.empty()] == [three.key]
    assert await trash.tidy() == NOTHING, "what was restored is given another day"
    let_pass(dsn, 2)
    assert (await trash.tidy()).trashed == 1


async def test_two_servers_that_tidy(trash: Trash, store: Store, dsn: str) -> None:
    keys = [await leave(trash) for _ in range(10)]
    let_pass(dsn, 2)
    other = Trash(Storage(trash.storage.originals, store.inventory))
    done = await asyncio.gather(trash.tidy(), other.tidy())
    assert sum(one.trashed for one in done) == 10
    assert sorted(content.decode() for content in (await contents(trash)).values()) == sorted(keys)
    async with store.inventory.alone() as alone:
        assert alone
        assert await other.tidy() == NOTHING
        with pytest.raises(Conflict, match="Another process is tidying"):
            await other.empty()


async def test_no_empty_folders_stay(store: Store, dsn: str, tmp_path: Path) -> None:
    trash = Trash(Storage(Originals.open(None, tmp_path), store.inventory))
    await leave(trash)
    let_pass(dsn, 2)
    await trash.tidy()
    folders = {path.name for path in (tmp_path / "originals").iterdir() if path.is_dir()}
    assert folders == {"trash"}
    await trash.empty()
    assert not [path for path in (tmp_path / "originals").iterdir() if path.is_dir()]
