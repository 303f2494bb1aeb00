"""Objects that went because their document was updated, and are the same when it speaks of them again."""

import asyncio
from dataclasses import replace
from functools import partial
from uuid import UUID

import psycopg
import pytest
from tests.extracting import rows
from tests.graphs import extraction, picture, require_sound, say, thing, tie, until_waiting
from tests.samples import AddSample, Sample

from whence.errors import MergeNotFound, ObjectNotFound
from whence.ingest.delete import Remover
from whence.models import DEFAULT_PROJECT_ID as PROJECT
from whence.models import Chunk, new_id
from whence.settings import Settings
from whence.store import Store
from whence.store.graph.locks import WantedLocks, find_these, lock_in_order, select_ids
from whence.store.graph.removal import MOST_REMEMBERED, TOMBSTONES_OF_DOCUMENT, forget_longest_gone
from whence.store.graph.schema_moves import TypeMove
from whence.store.originals import Originals
from whence.store.storage import Storage


@pytest.fixture
def remover(store: Store, settings: Settings) -> Remover:
    return Remover(store, Storage(Originals.open(None, settings.data_dir), store.inventory))


async def updated(store: Store, sample: Sample) -> list[Chunk]:
    """The chunks of the next version of the document, which has none of the old ones."""
    chunks = [replace(chunk, id=new_id(), content=f"{chunk.content}!") for chunk in sample.chunks]
    async with store.transaction() as tx:
        await tx.documents.lock(PROJECT, sample.document.id)
        old = await tx.chunks.ids_of_document(PROJECT, sample.document.id)
        await tx.graph.removal.replaced(PROJECT, sample.document.id, old)
        await tx.chunks.remove(PROJECT, old)
        await tx.chunks.insert(chunks)
    return chunks


async def made(store: Store, chunk: Chunk, *names: str) -> dict[str, UUID]:
    await say(store, chunk, *(thing(name) for name in names))
    found, _ = await store.graph.objects.page(PROJECT, limit=100, offset=0)
    return {item.name: item.id for item in found}


async def merged_into(store: Store) -> dict[str, UUID]:
    merges, _ = await store.graph.merges.page(PROJECT, limit=100, offset=0)
    return {merge.dropped_name: merge.kept_id for merge in merges}


async def test_an_object_that_is_spoken_of_again_is_the_same(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    sample = await add_sample()
    said = (thing("A", color="red"), thing("B"))
    await say(store, sample.chunks[0], *said, ties=[tie("A", "is", "B")])
    before = picture(dsn)
    chunks = await updated(store, sample)
    assert not picture(dsn)["objects"]
    await say(store, chunks[0], *said, ties=[tie("A", "is", "B")])
    after = picture(dsn)
    assert after["objects"] == before["objects"]
    assert [row[:5] for row in after["relationships"]] == [row[:5] for row in before["relationships"]]
    assert not after["remembered"]
    require_sound(dsn)


async def test_it_is_not_there_until_it_is_spoken_of(store: Store, add_sample: AddSample) -> None:
    one, two = await add_sample(), await add_sample(name="b.pdf")
    ids = await made(store, one.chunks[0], "A")
    await updated(store, one)
    with pytest.raises(ObjectNotFound):
        await store.graph.objects.get(ids["A"])
    assert await store.graph.objects.named(PROJECT, ["a"]) == []
    assert await made(store, two.chunks[0], "a") == {"a": ids["A"]}


@pytest.mark.parametrize("order", [("A", "B", "C"), ("C", "B", "A"), ("B",), ("A",)])
async def test_a_merge_stands_again_whichever_name_comes_first(
    store: Store, add_sample: AddSample, dsn: str, order: tuple[str, ...]
) -> None:
    sample = await add_sample()
    ids = await made(store, sample.chunks[0], "A", "B", "C")
    await store.graph.merges.merge(PROJECT, keep_id=ids["B"], drop_id=ids["C"])
    await store.graph.merges.merge(PROJECT, keep_id=ids["A"], drop_id=ids["B"])
    standing = picture(dsn)["merges"]
    chunks = await updated(store, sample)
    assert await merged_into(store) == {}
    for chunk, name in zip(chunks, order, strict=False):
        await say(store, chunk, thing(name, says=name))
        require_sound(dsn)
    assert picture(dsn)["merges"] == standing
    found, total = await store.graph.objects.page(PROJECT, limit=10, offset=0)
    assert (total, found[0].id, found[0].name) == (1, ids["A"], "A" if "A" in order else order[0])


@pytest.mark.parametrize("first", ["B", "C"])
async def test_a_merge_that_stands_again_can_be_undone(
    store: Store, add_sample: AddSample, dsn: str, first: str
) -> None:
    sample = await add_sample()
    ids = await made(store, sample.chunks[0], "A", "B", "C")
    merges = {
        "C": await store.graph.merges.merge(PROJECT, keep_id=ids["B"], drop_id=ids["C"]),
        "B": await store.graph.merges.merge(PROJECT, keep_id=ids["A"], drop_id=ids["B"]),
    }
    chunks = await updated(store, sample)
    with pytest.raises(MergeNotFound):
        await store.graph.merges.undo(PROJECT, merges["B"].id)
    await say(store, chunks[0], thing("C"), thing("B"), thing("A"))
    for name in (first, *({"B", "C"} - {first})):
        await store.graph.merges.undo(PROJECT, merges[name].id)
        require_sound(dsn)
    found, _ = await store.graph.objects.page(PROJECT, limit=10, offset=0)
    assert {item.name: item.id for item in found} == ids


async def test_what_another_document_still_says_stays_as_it_is(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    one, two = await add_sample(), await add_sample(name="b.pdf")
    ids = await made(store, one.chunks[0], "A", "B")
    await store.graph.merges.merge(PROJECT, keep_id=ids["A"], drop_id=ids["B"])
    await say(store, two.chunks[0], thing("B"))
    chunks = await updated(store, one)
    assert not picture(dsn)["remembered"]
    assert await merged_into(store) == {"B": ids["A"]}
    await updated(store, two)
    assert [row[4] for row in picture(dsn)["remembered"]] == ["Thing", "Thing"]
    await say(store, chunks[0], thing("A"))
    require_sound(dsn)
    assert await merged_into(store) == {"B": ids["A"]}


async def test_two_updates_before_anybody_reads_the_document(store: Store, add_sample: AddSample) -> None:
    sample = await add_sample()
    ids = await made(store, sample.chunks[0], "A")
    await updated(store, sample)
    chunks = await updated(store, sample)
    assert await made(store, chunks[0], "A") == ids


async def test_a_deleted_document_remembers_nothing(
    store: Store, add_sample: AddSample, remover: Remover, dsn: str
) -> None:
    one, two = await add_sample(), await add_sample(name="b.pdf")
    ids = await made(store, one.chunks[0], "A", "B")
    await store.graph.merges.merge(PROJECT, keep_id=ids["A"], drop_id=ids["B"])
    await updated(store, one)
    assert len(picture(dsn)["remembered"]) == 2
    await remover.document(one.document)
    assert not any(picture(dsn).values())
    assert not set(ids.values()) & set((await made(store, two.chunks[0], "A", "B")).values())


async def test_what_is_deleted_is_not_remembered(store: Store, add_sample: AddSample, dsn: str) -> None:
    sample = await add_sample()
    await made(store, sample.chunks[0], "A")
    async with store.transaction() as tx:
        await tx.graph.removal.chunks(PROJECT, [sample.chunks[0].id])
        await tx.chunks.remove(PROJECT, [sample.chunks[0].id])
    assert not any(picture(dsn).values())


async def test_a_name_that_an_object_of_another_type_got_meanwhile(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    """The object that went is not it, and neither are its other names."""
    one, two = await add_sample(), await add_sample(name="b.pdf")
    ids = await made(store, one.chunks[0], "A", "B")
    await store.graph.merges.merge(PROJECT, keep_id=ids["A"], drop_id=ids["B"])
    chunks = await updated(store, one)
    (other,) = (await say(store, two.chunks[0], thing("A", "Item"))).objects
    await store.graph.schema_moves.apply(PROJECT, TypeMove(type="Item", new_type="Thing"), schema_number=2)
    assert set((await made(store, chunks[0], "A", "B")).values()) & {other, *ids.values()} == {other}
    require_sound(dsn)
    chunks = await updated(store, one)
    await updated(store, two)
    assert (await made(store, chunks[1], "A"))["A"] == other
    require_sound(dsn)


async def renamed(store: Store, *, schema: int = 2) -> None:
    """A second time there is nothing left to do."""
    for _ in range(2):
        await store.graph.schema_moves.apply(
            PROJECT, TypeMove(type="Thing", new_type="Item"), schema_number=schema
        )


async def test_who_is_remembered_goes_by_the_name_that_a_newer_schema_gives_its_type(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    sample = await add_sample()
    ids = await made(store, sample.chunks[0], "A", "B", "C")
    await store.graph.merges.merge(PROJECT, keep_id=ids["A"], drop_id=ids["B"])
    chunks = await updated(store, sample)
    await renamed(store)
    require_sound(dsn)
    await say(store, chunks[0], thing("B", "Item"), thing("C", "Item"), schema=2)
    require_sound(dsn)
    found, _ = await store.graph.objects.page(PROJECT, limit=10, offset=0)
    assert {item.id: item.type for item in found} == {ids["A"]: "Item", ids["C"]: "Item"}
    assert await merged_into(store) == {"B": ids["A"]}
    assert not picture(dsn)["remembered"]


async def test_who_was_spoken_of_since_the_type_came_back_keeps_it(
    store: Store, add_sample: AddSample
) -> None:
    """The second version renamed it, the third has one of that name again."""
    sample = await add_sample()
    (old, *_) = (await say(store, sample.chunks[0], thing("A"))).objects
    (new, *_) = (await say(store, sample.chunks[1], thing("N"), schema=3)).objects
    chunks = await updated(store, sample)
    rename = TypeMove(type="Thing", new_type="Item", again=3)
    await store.graph.schema_moves.apply(PROJECT, rename, schema_number=2)
    said = await say(store, chunks[0], thing("A", "Item"), thing("N"), schema=3)
    assert said.objects == (old, new)


async def test_two_who_are_remembered_under_one_name_become_one(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    """The one that had the type before, with what was merged into the other."""
    one, two = await add_sample(), await add_sample(name="b.pdf")
    ids = await made(store, one.chunks[0], "A", "B")
    await store.graph.merges.merge(PROJECT, keep_id=ids["A"], drop_id=ids["B"])
    (other,) = (await say(store, two.chunks[0], thing("A", "Item"), schema=2)).objects
    chunks = await updated(store, one)
    await updated(store, two)
    await renamed(store)
    require_sound(dsn)
    assert len(picture(dsn)["remembered"]) == 2
    said = await say(store, chunks[0], thing("B", "Item"), schema=2)
    require_sound(dsn)
    assert said.objects == (other,)
    assert await merged_into(store) == {"B": other}


async def test_a_type_that_is_gone_is_remembered_no_more(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    sample = await add_sample()
    await say(store, sample.chunks[0], thing("A"), thing("B", "Item"))
    await say(store, sample.chunks[1], thing("C"), schema=2)
    await updated(store, sample)
    await store.graph.schema_moves.apply(PROJECT, TypeMove(type="Thing"), schema_number=2)
    assert rows(dsn, "SELECT name FROM kb.remembered_objects ORDER BY name") == [("B",), ("C",)]


async def test_a_type_is_renamed_while_who_is_remembered_comes_back(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    """Whoever is first, nobody waits for ever and it is the same object."""
    sample = await add_sample()
    ids = await made(store, sample.chunks[0], "A", "B")
    chunks = await updated(store, sample)
    async with store.transaction() as tx:
        await tx.graph.write_chunk(extraction(chunks[0], thing("B")))
        renaming = asyncio.create_task(renamed(store))
        await until_waiting(dsn, 1, renaming)
        assert not renaming.done()
    await renaming
    await say(store, chunks[1], thing("A", "Item"), schema=2)
    require_sound(dsn)
    found, _ = await store.graph.objects.page(PROJECT, limit=10, offset=0)
    assert {item.name: (item.id, item.type) for item in found} == {
        name: (ident, "Item") for name, ident in ids.items()
    }


async def test_a_document_remembers_so_many(store: Store, add_sample: AddSample, dsn: str) -> None:
    sample = await add_sample()
    await made(store, sample.chunks[0], "A")
    chunks = await updated(store, sample)
    await made(store, chunks[0], "B", "C")
    await updated(store, sample)
    await forget_longest_gone(store._queries, PROJECT, sample.document.id, most=2)
    assert rows(dsn, "SELECT name FROM kb.remembered_objects ORDER BY name") == [("B",), ("C",)]


async def test_a_document_never_remembers_more(store: Store, add_sample: AddSample, dsn: str) -> None:
    sample = await add_sample()
    await made(store, sample.chunks[0], "A", "B")
    with psycopg.connect(dsn) as conn:
        conn.execute(
            """
            INSERT INTO kb.remembered_objects (project_id, id, document_id, object_id, type, name, name_key, created_at,
                                               schema_number, gone_at)
            SELECT %s, g.id, %s, g.id, 'Thing', 'old ' || g.n, 'old ' || g.n, now(), 1, now() - interval '1 day'
            FROM (SELECT n, gen_random_uuid() AS id FROM generate_series(1, %s) n) g
            """,
            (PROJECT, sample.document.id, MOST_REMEMBERED - 1),
        )
    await updated(store, sample)
    assert rows(dsn, "SELECT count(*) FROM kb.remembered_objects") == [(MOST_REMEMBERED,)]
    assert rows(dsn, "SELECT name FROM kb.remembered_objects WHERE name IN ('A', 'B') ORDER BY name") == [
        ("A",),
        ("B",),
    ]


async def test_a_name_that_another_document_remembers_is_taken_before_any_object(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    """Each wants what the other has: who remembers the name, and who goes on to an object of both."""
    one, two = await add_sample(), await add_sample(name="b.pdf")
    await made(store, one.chunks[0], "A")
    await updated(store, one)
    await say(store, two.chunks[0], thing("A", "Item"))
    await store.graph.schema_moves.apply(PROJECT, TypeMove(type="Item", new_type="Thing"), schema_number=2)
    both = (await made(store, two.chunks[1], "Both"))["Both"]
    async with store.transaction() as tx:
        params = {"project_id": PROJECT, "document_id": one.document.id}
        remembered = WantedLocks(tombstones=partial(select_ids, TOMBSTONES_OF_DOCUMENT, params))
        await lock_in_order(tx._queries, PROJECT, remembered)
        updating = asyncio.create_task(updated(store, two))
        await until_waiting(dsn, 1, updating)
        assert not updating.done()
        await lock_in_order(tx._queries, PROJECT, WantedLocks(objects=find_these(both)))
    await updating
    require_sound(dsn)
    kept = rows(dsn, "SELECT name, document_id FROM kb.remembered_objects ORDER BY name")
    assert kept == [("A", two.document.id), ("Both", two.document.id)]


async def test_two_that_bring_back_the_same_object_at_once(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    """By two of its names: it is one, and so is the merge."""
    one, two = await add_sample(), await add_sample(name="b.pdf")
    ids = await made(store, one.chunks[0], "A", "B")
    await store.graph.merges.merge(PROJECT, keep_id=ids["A"], drop_id=ids["B"])
    chunks = await updated(store, one)
    async with store.transaction() as tx:
        first = await tx.graph.write_chunk(extraction(chunks[0], thing("A", color="red")))
        waiting = asyncio.create_task(
            store.graph.write_chunk(extraction(two.chunks[0], thing("B", size=1), thing("0")))
        )
        await until_waiting(dsn, 1, waiting)
        assert not waiting.done()
    second = await waiting
    assert first.objects == (ids["A"],) == second.objects[:1]
    require_sound(dsn)
    assert (await store.graph.objects.get(ids["A"])).properties == {"color": "red", "size": 1}


async def test_a_document_that_is_deleted_while_another_brings_back_what_it_remembers(
    store: Store, add_sample: AddSample, remover: Remover, dsn: str
) -> None:
    """Each wants what the other has: neither waits for ever."""
    one, two = await add_sample(), await add_sample(name="b.pdf")
    ids = await made(store, one.chunks[0], "A")
    chunks = await updated(store, one)
    await made(store, chunks[0], "Z")
    async with store.transaction() as tx:
        await tx.graph.write_chunk(extraction(two.chunks[0], thing("A"), thing("Z")))
        deleting = asyncio.create_task(remover.document(one.document))
        await until_waiting(dsn, 1, deleting)
        assert not deleting.done()
    await deleting
    require_sound(dsn)
    found, _ = await store.graph.objects.page(PROJECT, limit=10, offset=0)
    assert {item.name for item in found} == {"A", "Z"}
    assert ids["A"] in {item.id for item in found}
