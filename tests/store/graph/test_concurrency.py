"""Several workers that find the same objects at once: one object, everyone's claims, and nobody stuck."""

import asyncio
import random
from multiprocessing import get_context
from uuid import UUID

from tests.graphs import extraction, require_sound, thing, tie, until_waiting, update
from tests.samples import AddSample

from whence.models import DEFAULT_PROJECT_ID as PROJECT
from whence.models import Chunk, now
from whence.store import Store

WORKERS = 4
WRITES = 60
NAMES = [f"Entity {number}" for number in range(12)]


def work(dsn: str, seed: int, chunk_ids: list[str], job_id: str, document_id: str) -> int:
    """A worker as a process of its own: each chunk speaks of some of the same objects, in an order of its own."""
    return asyncio.run(_work(dsn, seed, chunk_ids, UUID(job_id), UUID(document_id)))


async def _work(dsn: str, seed: int, chunk_ids: list[str], job_id: UUID, document_id: UUID) -> int:
    order = random.Random(seed)
    created = 0
    async with Store.open(dsn, size=2) as store:
        for ident in chunk_ids:
            chunk = Chunk(
                project_id=PROJECT,
                id=UUID(ident),
                document_id=document_id,
                job_id=job_id,
                chunk_index=0,
                content="",
                metadata=None,
                created_at=now(),
            )
            names = order.sample(NAMES, 4)
            said = extraction(
                chunk,
                *(thing(name, seen_by=seed) for name in names),
                ties=[tie(names[0], "knows", names[1]), tie(names[3], "knows", names[2])],
            )
            created += len((await store.graph.write_chunk(said)).created)
    return created


async def test_many_processes_write_the_same_objects(store: Store, add_sample: AddSample, dsn: str) -> None:
    samples = [await add_sample(chunks=WRITES, name=f"{number}.pdf") for number in range(WORKERS)]
    jobs = [
        (dsn, seed, sample.ids, str(sample.job.id), str(sample.document.id))
        for seed, sample in enumerate(samples)
    ]
    processes = get_context("forkserver")
    processes.set_forkserver_preload([__name__])
    with processes.Pool(WORKERS) as pool:
        created = await asyncio.to_thread(pool.starmap, work, jobs, 1)
    assert sum(created) == len(NAMES)
    found, total = await store.graph.objects.page(PROJECT, limit=100, offset=0)
    assert total == len(NAMES)
    claims = 0
    for item in found:
        mentions, spoken = await store.graph.mentions.of_object(PROJECT, item.id, limit=1000, offset=0)
        claims += spoken
        assert {mention.place.document_id for mention in mentions} == {
            sample.document.id for sample in samples
        }
    assert claims == WORKERS * WRITES * 4
    for sample in samples:
        assert (await store.graph.ledger.counts(PROJECT, sample.job.id))["extracted"] == WRITES
    require_sound(dsn)


async def test_two_that_create_the_same_object_at_once(store: Store, add_sample: AddSample, dsn: str) -> None:
    one, two = await add_sample(), await add_sample(name="b.pdf")
    async with store.transaction() as tx:
        first = await tx.graph.write_chunk(extraction(one.chunks[0], thing("B"), thing("A", color="red")))
        waiting = asyncio.create_task(
            store.graph.write_chunk(extraction(two.chunks[0], thing("A", size=2), thing("B")))
        )
        await until_waiting(dsn, 1, waiting)
        assert not waiting.done()
    second = await waiting
    assert (len(first.created), len(second.created)) == (2, 0)
    assert set(first.objects) == set(second.objects)
    found = await store.graph.objects.named(PROJECT, ["a"])
    assert [item.properties for item in found] == [{"color": "red", "size": 2}]
    require_sound(dsn)


async def test_an_object_that_goes_away_while_another_finds_it(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    one, two = await add_sample(), await add_sample(name="b.pdf")
    await store.graph.write_chunk(extraction(one.chunks[0], thing("A", color="red")))
    async with store.transaction() as tx:
        await tx.graph.removal.chunks_of_document(PROJECT, one.document.id)
        await tx.documents.delete(PROJECT, one.document.id)
        waiting = asyncio.create_task(store.graph.write_chunk(extraction(two.chunks[0], thing("A"))))
        await until_waiting(dsn, 1, waiting)
    written = await waiting
    assert len(written.created) == 1
    (found,) = await store.graph.objects.many(PROJECT, written.created)
    assert found.properties == {}
    require_sound(dsn)


async def test_an_object_that_is_merged_while_another_finds_it(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    one, two = await add_sample(), await add_sample(name="b.pdf")
    a, b = (await store.graph.write_chunk(extraction(one.chunks[0], thing("A"), thing("B")))).objects
    assert a is not None
    assert b is not None
    async with store.transaction() as tx:
        await tx.graph.merges.merge(PROJECT, keep_id=a, drop_id=b)
        waiting = asyncio.create_task(store.graph.write_chunk(extraction(two.chunks[0], thing("B", size=1))))
        await until_waiting(dsn, 1, waiting)
    written = await waiting
    assert (written.objects, written.created) == ((a,), frozenset())
    assert (await store.graph.objects.get(a)).properties == {"size": 1}
    require_sound(dsn)


async def test_a_merge_that_is_undone_while_another_finds_the_object(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    one, two = await add_sample(), await add_sample(name="b.pdf")
    a, b = (await store.graph.write_chunk(extraction(one.chunks[0], thing("A"), thing("B")))).objects
    assert a is not None
    assert b is not None
    merge = await store.graph.merges.merge(PROJECT, keep_id=a, drop_id=b)
    async with store.transaction() as tx:
        await tx.graph.merges.undo(PROJECT, merge.id)
        said = extraction(two.chunks[0], thing("B", size=1), update(b, weight=2))
        waiting = asyncio.create_task(store.graph.write_chunk(said))
        await until_waiting(dsn, 1, waiting)
        assert not waiting.done()
    assert (await waiting).objects == (b, b)
    require_sound(dsn)
    assert (await store.graph.objects.get(b)).properties == {"size": 1, "weight": 2}
    assert (await store.graph.objects.get(a)).properties == {}


async def test_a_document_that_is_deleted_while_it_is_read(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    sample = await add_sample()
    async with store.transaction() as tx:
        await tx.graph.write_chunk(extraction(sample.chunks[0], thing("A")))

        async def delete() -> None:
            async with store.transaction() as other:
                await other.documents.lock(PROJECT, sample.document.id)
                await other.graph.removal.chunks_of_document(PROJECT, sample.document.id)
                await other.documents.delete(PROJECT, sample.document.id)

        deleting = asyncio.create_task(delete())
        await until_waiting(dsn, 1, deleting)
        assert not deleting.done()
    await deleting
    assert await store.graph.objects.page(PROJECT, limit=10, offset=0) == ([], 0)
