"""Operations on the same objects at once: who loses a race starts again or gets a 404 or 409.

Some of the interleavings once gave a name to two objects, so that undoing a merge failed with a broken foreign key. Each test
pauses one operation at a lock, lets others finish, and then lets it go on.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar
from uuid import UUID

import pytest
from tests.graphs import extraction, require_sound, say, thing, until_waiting
from tests.samples import AddSample

from whence.errors import Conflict, DatabaseBusy, MergeNotFound
from whence.models import DEFAULT_PROJECT_ID as PROJECT
from whence.models import Chunk
from whence.store import Store, connection
from whence.store.graph import locks
from whence.store.graph.locks import Changed, Contended, WantedLocks, find_these, lock_in_order, retry_races
from whence.store.graph.schema_moves import TypeMove
from whence.store.pool import Queries

T = TypeVar("T")


async def begin(dsn: str, operation: Coroutine[Any, Any, T], *, waiting: int = 1) -> asyncio.Task[T]:
    """Starts an operation and returns when it waits for a lock."""
    task = asyncio.create_task(operation)
    await until_waiting(dsn, waiting, task)
    return task


async def write(store: Store, chunk: Chunk, *names: str, kind: str = "Thing") -> list[UUID]:
    written = await say(store, chunk, *(thing(name, kind) for name in names))
    return [ident for ident in written.objects if ident is not None]


async def names_of(store: Store, kind: str) -> list[str]:
    found, _ = await store.graph.objects.page(PROJECT, limit=100, offset=0, object_type=kind)
    return sorted(one.name for one in found)


async def test_a_type_renamed_while_its_objects_are_merged(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    """The merge brings a name into the group that the new type has already."""
    sample = await add_sample()
    a, c = await write(store, sample.chunks[0], "A", "C")
    await write(store, sample.chunks[1], "C", kind="Item")
    async with store.transaction() as tx:
        merge = await tx.graph.merges.merge(PROJECT, keep_id=a, drop_id=c)
        rename = await begin(
            dsn,
            store.graph.schema_moves.apply(PROJECT, TypeMove(type="Thing", new_type="Item"), schema_number=2),
        )
    await rename
    with pytest.raises(MergeNotFound):  # C became the C that the new type has
        await store.graph.merges.undo(PROJECT, merge.id)
    require_sound(dsn)
    assert await names_of(store, "Item") == ["A", "C"]


async def test_a_name_created_and_merged_while_a_writer_waits(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    """The writer looked for B before it was there, and inserts it after it was merged."""
    sample = await add_sample(chunks=4)
    async with store.transaction() as tx:
        await tx.graph.write_chunk(extraction(sample.chunks[0], thing("A")))
        writer = await begin(dsn, write(store, sample.chunks[1], "A", "B"))
        b, c = await write(store, sample.chunks[2], "B", "C")
        merge = await store.graph.merges.merge(PROJECT, keep_id=c, drop_id=b)
    assert (await writer)[1] == c
    require_sound(dsn)
    await store.graph.merges.undo(PROJECT, merge.id)
    require_sound(dsn)
    assert await names_of(store, "Thing") == ["A", "B", "C"]


async def test_a_name_created_while_a_merged_name_gets_its_type(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    sample = await add_sample()
    a, b = await write(store, sample.chunks[0], "A", "B")
    await store.graph.merges.merge(PROJECT, keep_id=a, drop_id=b)
    async with store.transaction() as tx:
        await tx.graph.write_chunk(extraction(sample.chunks[1], thing("B", "Item")))
        rename = asyncio.create_task(
            store.graph.schema_moves.apply(PROJECT, TypeMove(type="Thing", new_type="Item"), schema_number=2)
        )
        await until_waiting(dsn, 1, rename)
    await rename
    require_sound(dsn)
    assert await names_of(store, "Item") == ["A", "B"]


async def test_a_merged_name_that_comes_back_while_a_writer_creates_it(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    """The writer looked for B before it was there; then B was merged, remembered, and is brought back."""
    sample, other = await add_sample(chunks=4), await add_sample(chunks=2, name="other.pdf")
    revived, finish = asyncio.Event(), asyncio.Event()

    async def revive() -> None:
        async with store.transaction() as tx:
            await tx.graph.write_chunk(extraction(other.chunks[1], thing("C")))
            revived.set()
            await finish.wait()

    async with store.transaction() as tx:
        await tx.graph.write_chunk(extraction(sample.chunks[0], thing("A")))
        writer = await begin(dsn, write(store, sample.chunks[1], "A", "B"))
        b, c = await write(store, other.chunks[0], "B", "C")
        await store.graph.merges.merge(PROJECT, keep_id=c, drop_id=b)
        async with store.transaction() as update:
            await update.graph.removal.replaced(PROJECT, other.document.id, [other.chunks[0].id])
            await update.chunks.remove(PROJECT, [other.chunks[0].id])
        reviver = asyncio.create_task(revive())
        await until_waiting(dsn, 2, asyncio.create_task(revived.wait()))
    await until_waiting(dsn, 1, writer)
    finish.set()
    await asyncio.gather(writer, reviver)
    require_sound(dsn)


async def test_an_undo_while_the_kept_object_is_merged(store: Store, add_sample: AddSample, dsn: str) -> None:
    """The undo follows the claims to the object that has them now."""
    sample = await add_sample()
    a, b, c = await write(store, sample.chunks[0], "A", "B", "C")
    merge = await store.graph.merges.merge(PROJECT, keep_id=a, drop_id=b)
    async with store.transaction() as tx:
        await tx.graph.merges.merge(PROJECT, keep_id=c, drop_id=a)
        undo = await begin(dsn, store.graph.merges.undo(PROJECT, merge.id))
    assert (await undo).kept_id == c
    require_sound(dsn)
    assert await names_of(store, "Thing") == ["B", "C"]


async def test_two_undo_the_same_merge(store: Store, add_sample: AddSample, dsn: str) -> None:
    sample = await add_sample()
    a, b = await write(store, sample.chunks[0], "A", "B")
    merge = await store.graph.merges.merge(PROJECT, keep_id=a, drop_id=b)
    async with store.transaction() as tx:
        await tx.graph.merges.undo(PROJECT, merge.id)
        second = await begin(dsn, store.graph.merges.undo(PROJECT, merge.id))
    with pytest.raises(MergeNotFound):
        await second
    require_sound(dsn)


async def test_an_undo_while_everything_about_both_is_deleted(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    sample = await add_sample()
    a, b = await write(store, sample.chunks[0], "A", "B")
    merge = await store.graph.merges.merge(PROJECT, keep_id=a, drop_id=b)
    async with store.transaction() as tx:
        await tx.documents.lock(PROJECT, sample.document.id)
        await tx.graph.removal.chunks_of_document(PROJECT, sample.document.id)
        await tx.documents.delete(PROJECT, sample.document.id)
        undo = await begin(dsn, store.graph.merges.undo(PROJECT, merge.id))
    with pytest.raises(MergeNotFound):
        await undo


async def test_a_name_that_two_objects_have_cannot_be_given_back(store: Store, add_sample: AddSample) -> None:
    """As older versions could leave it: the undo says what is in the way, and changes nothing."""
    sample = await add_sample()
    a, b, c = await write(store, sample.chunks[0], "A", "B", "C")
    merge = await store.graph.merges.merge(PROJECT, keep_id=a, drop_id=b)
    rename = "UPDATE kb.graph_objects SET name = 'B', name_key = 'b' WHERE id = %(id)s"
    await store._queries.run(rename, {"id": c})
    with pytest.raises(Conflict, match="Another Thing is now called B"):
        await store.graph.merges.undo(PROJECT, merge.id)
    assert (await store.graph.merges.get(merge.id)).kept_id == a


async def test_an_undo_does_not_wait_for_ever(
    store: Store, add_sample: AddSample, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "LOCK_TIMEOUT", "20ms")
    sample = await add_sample()
    a, b = await write(store, sample.chunks[0], "A", "B")
    merge = await store.graph.merges.merge(PROJECT, keep_id=a, drop_id=b)
    async with store.transaction() as tx:
        await tx.graph.write_chunk(extraction(sample.chunks[1], thing("A")))
        async with Store.open(dsn, size=1) as other:
            with pytest.raises(DatabaseBusy, match="try again"):
                await other.graph.merges.undo(PROJECT, merge.id)
    assert (await store.graph.merges.undo(PROJECT, merge.id)).kept_id == a


async def test_a_deadlock_is_tried_again(store: Store, add_sample: AddSample) -> None:
    """Two transactions lock the same objects in opposite orders, which no operation does."""
    a, b = await write(store, (await add_sample()).chunks[0], "A", "B")
    both_hold_one = asyncio.Barrier(2)
    attempts = 0

    async def lock_both(first: UUID, second: UUID) -> None:
        is_first_attempt = True

        async def attempt(tx: Queries) -> None:
            nonlocal attempts, is_first_attempt
            attempts += 1
            await lock_in_order(tx, PROJECT, WantedLocks(objects=find_these(first)))
            if is_first_attempt:
                is_first_attempt = False
                await both_hold_one.wait()
            await lock_in_order(tx, PROJECT, WantedLocks(objects=find_these(second)))

        await retry_races(store._queries, attempt)

    await asyncio.gather(lock_both(a, b), lock_both(b, a))
    assert attempts >= 3  # the loser may lock its first object again before the winner wakes, and lose again


async def test_races_are_not_tried_for_ever(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "_LONGEST_PAUSE", 0)
    attempts = 0

    async def lose(_tx: Queries) -> None:
        nonlocal attempts
        attempts += 1
        raise Changed

    with pytest.raises(Contended) as lost:
        await retry_races(store._queries, lose)
    assert (attempts, lost.value.status, lost.value.permanent) == (20, 409, False)
