"""What a newer schema changes of claims without a reading: their names, and the version they stand under."""

import psycopg
import pytest
from tests.graphs import extraction, extraction_job, require_sound, say, thing, tie, update
from tests.samples import AddSample

from whence.errors import BadInput, ChunkNotFound
from whence.models import DEFAULT_PROJECT_ID as PROJECT
from whence.models import Claim
from whence.store import Store
from whence.store.graph.schema_moves import PropertyMove


async def older(store: Store, number: int) -> list[tuple[str, int]]:
    """Properties that were extracted under older schemas than this, and which."""
    found, _ = await store.graph.provenance.older(PROJECT, number, limit=100, offset=0)
    return sorted((claim.property_name, claim.schema_number) for claim in found)


async def test_a_property_that_the_schema_forgot(store: Store, add_sample: AddSample, dsn: str) -> None:
    chunks = (await add_sample()).chunks
    await say(store, chunks[0], thing("A", color="red", size=1), thing("A", "Other", color="red"))
    await say(store, chunks[1], thing("B", color="red"), thing("C", colour="blue", color="grey"))
    assert (
        await store.graph.schema_moves.apply(
            PROJECT, PropertyMove(type="Thing", name="color", new_name="colour"), schema_number=2
        )
        == 3
    )
    require_sound(dsn)
    found, _ = await store.graph.objects.page(PROJECT, limit=10, offset=0, object_type="Thing")
    assert [item.properties for item in found] == [
        {"colour": "red", "size": 1},
        {"colour": "red"},
        {"colour": "grey"},
    ]
    assert (
        await store.graph.schema_moves.apply(
            PROJECT, PropertyMove(type="Thing", name="colour"), schema_number=3
        )
        == 3
    )
    require_sound(dsn)
    found, _ = await store.graph.objects.page(PROJECT, limit=10, offset=0)
    assert [item.properties for item in found] == [{"color": "red"}, {"size": 1}, {}, {}]
    with pytest.raises(BadInput):
        await store.graph.schema_moves.apply(
            PROJECT, PropertyMove(type="Thing", name="name"), schema_number=3
        )


async def test_only_claims_of_older_schemas_are_renamed_or_forgotten(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    one, two = (await add_sample()).chunks[:2]
    await say(store, one, thing("A", color="red", size=1), thing("B", size=2))
    await say(store, two, thing("A", color="green", size=3), schema=2)
    assert (
        await store.graph.schema_moves.apply(
            PROJECT, PropertyMove(type="Thing", name="color", new_name="colour"), schema_number=2
        )
        == 1
    )
    assert (
        await store.graph.schema_moves.apply(
            PROJECT, PropertyMove(type="Thing", name="size"), schema_number=2
        )
        == 2
    )
    require_sound(dsn)
    found, _ = await store.graph.objects.page(PROJECT, limit=10, offset=0)
    assert [item.properties for item in found] == [{"colour": "red", "color": "green", "size": 3}, {}]


async def test_a_hidden_claim_that_is_newer_than_the_one_before_it_is_not_renamed_with_it(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    """Nor forgotten: with the other gone, nothing is before it any more."""
    chunk = (await add_sample()).chunks[0]
    one, two = (await say(store, chunk, thing("A", color="red"), thing("B", color="blue"), schema=2)).objects
    assert one is not None
    assert two is not None
    await store.graph.merges.merge(PROJECT, keep_id=one, drop_id=two)
    with psycopg.connect(dsn) as conn:
        conn.execute("UPDATE kb.object_provenance SET schema_number = 1 WHERE property_name = 'color'")
    await store.graph.schema_moves.apply(
        PROJECT, PropertyMove(type="Thing", name="color", new_name="colour"), schema_number=2
    )
    require_sound(dsn)
    assert (await store.graph.objects.get(one)).properties == {"color": "red", "colour": "blue"}
    with psycopg.connect(dsn) as conn:
        conn.execute("UPDATE kb.hidden_claims SET schema_number = 1")
    await store.graph.schema_moves.apply(PROJECT, PropertyMove(type="Thing", name="colour"), schema_number=3)
    require_sound(dsn)
    assert (await store.graph.objects.get(one)).properties == {"color": "red"}


async def test_what_merged_objects_said_under_an_old_name(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    chunk = (await add_sample()).chunks[0]
    one, two = (await say(store, chunk, thing("A", color="red"), thing("B", color="blue"))).objects
    assert one is not None
    assert two is not None
    merge = await store.graph.merges.merge(PROJECT, keep_id=one, drop_id=two)
    await store.graph.schema_moves.apply(
        PROJECT, PropertyMove(type="Thing", name="color", new_name="colour"), schema_number=2
    )
    await store.graph.merges.undo(PROJECT, merge.id)
    require_sound(dsn)
    found = await store.graph.objects.many(PROJECT, [one, two])
    assert [item.properties for item in found] == [{"colour": "red"}, {"colour": "blue"}]
    merge = await store.graph.merges.merge(PROJECT, keep_id=one, drop_id=two)
    await store.graph.schema_moves.apply(PROJECT, PropertyMove(type="Thing", name="colour"), schema_number=3)
    await store.graph.merges.undo(PROJECT, merge.id)
    require_sound(dsn)
    assert (await store.graph.objects.get(two)).properties == {}


async def test_a_renamed_property_stands_under_the_schema_that_named_it_so(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    one, two = (await add_sample()).chunks[:2]
    kept, dropped = (await say(store, one, thing("A", color="red"), thing("B", color="blue"))).objects
    assert kept is not None
    assert dropped is not None
    await say(store, two, thing("A", color="green"), schema=4)
    merge = await store.graph.merges.merge(PROJECT, keep_id=kept, drop_id=dropped)
    await store.graph.schema_moves.apply(
        PROJECT, PropertyMove(type="Thing", name="color", new_name="colour"), schema_number=3
    )
    assert await older(store, 3) == [("name", 1)]
    await store.graph.merges.undo(PROJECT, merge.id)  # what the merge had hidden was renamed too
    assert await older(store, 3) == [("name", 1), ("name", 1)]
    assert await older(store, 5) == [
        ("color", 4),  # said under a newer one: it is what that calls so
        ("colour", 3),
        ("colour", 3),
        ("name", 1),
        ("name", 1),
        ("name", 4),
    ]
    require_sound(dsn)


async def test_what_a_chunk_gave_stands_under_the_schema_it_counts_as_read_under(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    sample = await add_sample()
    one, two = sample.chunks[:2]
    for chunk in (one, two):
        await say(store, chunk, thing("A", color="red"), thing("B"), ties=[tie("A", "is", "B")])
    await say(store, one, thing("A", size=1), schema=2)
    before = await claims(store)
    job = await extraction_job(store, sample.job)
    await store.graph.schema_moves.count_as_read(extraction(one, job_id=job.id, schema=3), since=1)
    numbers = {
        (claim.place.chunk_id, claim.property_name, claim.schema_number) for claim in await claims(store)
    }
    assert numbers == {
        (one.id, "color", 3),
        (one.id, "size", 3),
        (one.id, "name", 3),
        (two.id, "name", 1),
        (two.id, "color", 1),
    }
    assert [(claim.id, claim.value, claim.extracted_at) for claim in before] == [
        (claim.id, claim.value, claim.extracted_at) for claim in await claims(store)
    ]
    edges, _ = await store.graph.relationships.page(PROJECT, limit=1, offset=0)
    ties, _ = await store.graph.provenance.of_relationships(PROJECT, [edges[0].id], limit=9, offset=0)
    assert {tie.place.chunk_id: tie.schema_number for tie in ties} == {one.id: 3, two.id: 1}
    stale, _ = await store.graph.ledger.stale(PROJECT, 4, limit=9, offset=0)
    assert {chunk["chunk_id"]: chunk["schema_number"] for chunk in stale}[one.id] == 3
    require_sound(dsn)


async def test_a_chunk_that_is_gone_counts_as_nothing(store: Store, add_sample: AddSample) -> None:
    sample = await add_sample()
    async with store.transaction() as tx:
        await tx.chunks.remove(PROJECT, [sample.chunks[0].id])
    with pytest.raises(ChunkNotFound):
        await store.graph.schema_moves.count_as_read(extraction(sample.chunks[0]), since=1)


async def test_a_name_that_only_a_relationship_tells_stands_under_the_schema_it_was_told_under_last(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    one, two = (await add_sample()).chunks[:2]
    ids = (await say(store, one, thing("A"), thing("B"))).objects
    source, target = ids
    assert source is not None
    assert target is not None
    for schema in (1, 2):
        await say(store, two, ties=[tie(source, "is", target)], outcome="extracted", schema=schema)
        named = [claim for claim in await claims(store) if claim.place.chunk_id == two.id]
        assert [(claim.property_name, claim.schema_number) for claim in named] == [("name", schema)] * 2
    assert await older(store, 2) == [("name", 1), ("name", 1)]  # of the chunk that was not read again
    require_sound(dsn)


async def claims(store: Store) -> list[Claim]:
    found, _ = await store.graph.objects.page(PROJECT, limit=100, offset=0)
    every = [
        claim
        for one in found
        for claim in (await store.graph.provenance.of_object(PROJECT, one.id, limit=100, offset=0))[0]
    ]
    return sorted(every, key=lambda claim: claim.id)


@pytest.mark.parametrize("merged", [False, True])
async def test_a_chunk_that_relates_objects_still_speaks_of_them_without_the_property(
    store: Store, add_sample: AddSample, dsn: str, merged: bool
) -> None:
    """They are named by it then, and stay when whoever named them first goes."""
    one, two = (await add_sample()).chunks[:2]
    a, b, c = (await say(store, one, thing("A"), thing("B"), thing("C"))).objects
    assert a is not None
    assert b is not None
    assert c is not None
    await say(store, two, update(a, color="red"), update(b, color="blue"), ties=[tie(a, "is", b, n=1)])
    if merged:
        await store.graph.merges.merge(PROJECT, keep_id=c, drop_id=a)
    await store.graph.schema_moves.apply(PROJECT, PropertyMove(type="Thing", name="color"), schema_number=2)
    require_sound(dsn)
    told = await store.graph.deletion_impact(PROJECT, one.id)
    async with store.transaction() as tx:
        await tx.graph.removal.chunks(PROJECT, [one.id])
        await tx.chunks.remove(PROJECT, [one.id])
    require_sound(dsn)
    found, _ = await store.graph.objects.page(PROJECT, limit=9, offset=0)
    assert {each.name: each.properties for each in found} == {"A": {}, "B": {}}
    assert (await store.graph.relationships.page(PROJECT, limit=9, offset=0))[1] == 1
    assert [lost["name"] for lost in told["graph"]["objects"]] == ([] if merged else ["C"])
    assert not told["relationships"]
