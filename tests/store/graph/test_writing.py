"""What one chunk gives becomes objects, relationships and claims, all at once."""

from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from tests.graphs import extraction, extraction_job, found, key, require_sound, say, thing, tie, update
from tests.samples import AddSample

from whence.chunk_findings import FoundObject, FoundRelationship, FoundValue
from whence.errors import ChunkNotFound
from whence.models import DEFAULT_PROJECT_ID as PROJECT
from whence.store import Store
from whence.store.halfvec import halfvec


async def rows_of(store: Store, object_id: Any) -> list[tuple[str, str, str, Any]]:
    claims, _ = await store.graph.provenance.of_object(PROJECT, object_id, limit=100, offset=0)
    rows = [(c.property_name, c.operation, c.schema_version, c.value) for c in reversed(claims)]
    return sorted(rows, key=lambda row: (row[2], row[0]))


async def test_the_example_of_the_document(store: Store, add_sample: AddSample, dsn: str) -> None:
    sample = await add_sample(chunks=9)
    first = await say(store, sample.chunks[1], thing("OAuth 2.0", description="Must support OAuth"))
    (oauth,) = first.objects
    assert oauth is not None
    assert first.created == {oauth}
    fifth = await say(store, sample.chunks[5], update(oauth, expiration="1 hour"), schema=2)
    assert (fifth.objects, fifth.created) == ((oauth,), frozenset())
    await say(store, sample.chunks[8], schema=2)

    assert await rows_of(store, oauth) == [
        ("description", "created", "v1", "Must support OAuth"),
        ("name", "created", "v1", "OAuth 2.0"),
        ("expiration", "updated", "v2", "1 hour"),
    ]
    item = await store.graph.objects.get(oauth)
    assert (item.name, item.properties) == (
        "OAuth 2.0",
        {"description": "Must support OAuth", "expiration": "1 hour"},
    )
    require_sound(dsn)


async def test_a_chunk_read_again_under_a_newer_schema_makes_richer(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    chunk = (await add_sample()).chunks[0]
    (ident,) = (await say(store, chunk, thing("OAuth", description="old"))).objects
    await say(store, chunk, thing("OAuth", priority="high"), schema=2)
    assert ident is not None
    assert (await store.graph.objects.get(ident)).properties == {"description": "old", "priority": "high"}
    assert await rows_of(store, ident) == [
        ("description", "created", "v1", "old"),
        ("name", "created", "v2", "OAuth"),
        ("priority", "updated", "v2", "high"),
    ]
    await say(store, chunk, thing("OAuth", description="new"), schema=10)
    assert (await store.graph.objects.get(ident)).properties["description"] == "new"
    assert (await rows_of(store, ident))[0] == ("description", "updated", "v10", "new")
    require_sound(dsn)


async def test_the_newest_claim_wins_and_the_older_stays_visible(store: Store, add_sample: AddSample) -> None:
    chunks = (await add_sample()).chunks
    (ident,) = (await say(store, chunks[0], thing("A", color="red"))).objects
    await say(store, chunks[1], thing("A", color="blue"))
    assert ident is not None
    assert (await store.graph.objects.get(ident)).properties == {"color": "blue"}
    claims, total = await store.graph.provenance.of_object(
        PROJECT, ident, property_name="color", limit=10, offset=0
    )
    assert total == 2
    assert [(c.value, c.current, c.place.chunk_index) for c in claims] == [
        ("blue", True, 1),
        ("red", False, 0),
    ]


async def test_an_older_extraction_that_comes_late_does_not_win(store: Store, add_sample: AddSample) -> None:
    chunks = (await add_sample()).chunks
    late = extraction(chunks[0], thing("A", color="red"))
    (ident,) = (await say(store, chunks[1], thing("A", color="blue"))).objects
    await store.graph.write_chunk(late)
    assert ident is not None
    assert (await store.graph.objects.get(ident)).properties == {"color": "blue"}


async def test_names_are_spelled_as_they_were_last(store: Store, add_sample: AddSample) -> None:
    chunks = (await add_sample()).chunks
    (ident,) = (await say(store, chunks[0], thing("OAUTH"))).objects
    assert (await say(store, chunks[1], thing("OAuth"))).objects == (ident,)
    assert ident is not None
    assert (await store.graph.objects.get(ident)).name == "OAuth"


async def test_the_same_name_of_another_type_is_another_object(store: Store, add_sample: AddSample) -> None:
    chunk = (await add_sample()).chunks[0]
    one, two = (await say(store, chunk, thing("Mercury", "Planet"), thing("Mercury", "Metal"))).objects
    assert one != two


async def test_the_same_name_in_another_project_is_another_object(
    store: Store, add_sample: AddSample
) -> None:
    other = await store.projects.create(name="other")
    here = await say(store, (await add_sample()).chunks[0], thing("A"))
    there = await say(store, (await add_sample(project_id=other.id)).chunks[0], thing("A", color="red"))
    assert not here.created & there.created
    chunk = (await add_sample(name="b.pdf")).chunks[0]
    strange = await say(store, chunk, update(next(iter(there.created)), color="blue"))
    assert strange.objects == (None,)
    (unchanged,) = await store.graph.objects.many(other.id, there.created)
    assert unchanged.properties == {"color": "red"}


async def test_an_id_that_stands_for_nothing_is_told(store: Store, add_sample: AddSample, dsn: str) -> None:
    chunk = (await add_sample()).chunks[0]
    written = await say(
        store,
        chunk,
        update(uuid4(), color="red"),
        thing("A"),
        ties=[tie("A", "is", uuid4()), tie("A", "is", "nobody"), tie("A", "is", "A")],
    )
    assert written.objects[0] is None
    assert written.objects[1] in written.created
    assert [one is None for one in written.relationships] == [True, True, False]
    require_sound(dsn)


async def test_quotes_and_spans_are_kept(store: Store, add_sample: AddSample) -> None:
    chunk = (await add_sample()).chunks[0]
    said = FoundObject(
        key=key("A"),
        name="A",
        properties={
            "name": FoundValue(value="A", quote="A", start_offset=0, end_offset=1),
            "color": FoundValue(value=["red", {"rgb": 1}], quote="red", start_offset=5, end_offset=8),
        },
    )
    (ident,) = (await say(store, chunk, said)).objects
    assert ident is not None
    color, name = await store.graph.provenance.current(PROJECT, [ident])
    assert (color.value, color.quote, color.start_offset, color.end_offset) == (
        ["red", {"rgb": 1}],
        "red",
        5,
        8,
    )
    assert (name.quote, name.current, name.place.page) == ("A", True, 1)


async def test_relationships_and_their_claims(store: Store, add_sample: AddSample, dsn: str) -> None:
    chunks = (await add_sample()).chunks
    first = await say(
        store, chunks[0], thing("A"), thing("B"), ties=[tie("A", "needs", "B", since=1, why="x")]
    )
    second = await say(store, chunks[1], ties=[tie(*_ids(first), since=2)], outcome="extracted")
    assert first.relationships == second.relationships
    (ident,) = first.relationships
    assert ident is not None
    found = await store.graph.relationships.get(ident)
    assert (found.source_name, found.type, found.target_name) == ("A", "needs", "B")
    assert found.properties == {"since": 2, "why": "x"}
    claims, total = await store.graph.provenance.of_relationships(PROJECT, [ident], limit=10, offset=0)
    assert (total, [claim.place.chunk_index for claim in claims]) == (2, [1, 0])
    require_sound(dsn)


def _ids(written: Any) -> tuple[Any, str, Any]:
    return written.objects[0], "needs", written.objects[1]


async def test_a_chunk_that_relates_two_objects_speaks_of_them(store: Store, add_sample: AddSample) -> None:
    one, two = await add_sample(), await add_sample(name="b.pdf")
    first = await say(store, one.chunks[0], thing("A"), thing("B"))
    await say(store, two.chunks[0], ties=[tie(*_ids(first))], outcome="extracted")
    found, _ = await store.graph.mentions.of_chunk(PROJECT, two.chunks[0].id, limit=10, offset=0)
    assert [(item.name, names) for item, names in found] == [("A", ("name",)), ("B", ("name",))]


async def test_whom_a_chunk_relates_it_names_in_its_words(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    """Also where the relationship has no quote; and who is not named there is still quoted from where they are."""
    first, second = (await add_sample(chunks=2)).chunks
    quoted = FoundValue(value="Chunk 0", quote="Chunk 0", start_offset=0, end_offset=7)
    zero = FoundObject(key=key("Chunk 0"), name="Chunk 0", properties={"name": quoted})
    written = await say(store, first, zero, thing("UNICODE, 漢字"), thing("ünïcödé,  漢字"))
    a, _, c = written.objects
    assert a is not None
    assert c is not None
    await say(store, second, ties=[tie(a, "needs", c)], outcome="extracted")
    provenance = store.graph.provenance
    of_c, _ = await provenance.of_object(PROJECT, c, limit=10, offset=0)
    newest = of_c[0]
    assert (newest.place.chunk_index, newest.quote, newest.current) == (1, "Ünïcödé, 漢字", True)
    assert newest.start_offset is not None
    assert second.content[newest.start_offset : newest.end_offset] == newest.quote
    of_a, _ = await provenance.of_object(PROJECT, a, limit=10, offset=0)
    assert [(claim.place.chunk_index, claim.quote, claim.current) for claim in of_a] == [
        (1, None, False),
        (0, "Chunk 0", True),
    ]
    assert [claim.id for claim in await provenance.current(PROJECT, [a])] == [of_a[1].id]
    require_sound(dsn)


async def test_a_newer_name_without_words_is_the_name_and_its_own_source(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    first, second = (await add_sample(chunks=2)).chunks
    quoted = FoundValue(value="chunk", quote="Chunk", start_offset=0, end_offset=5)
    await say(store, first, FoundObject(key=key("chunk"), name="chunk", properties={"name": quoted}))
    (ident,) = (await say(store, second, thing("Chunk"))).objects
    assert ident is not None
    (claim,) = await store.graph.provenance.current(PROJECT, [ident])
    assert (claim.value, claim.quote, claim.current) == ("Chunk", None, True)
    assert (await store.graph.objects.get(ident)).name == "Chunk"
    claims, _ = await store.graph.provenance.of_object(PROJECT, ident, limit=10, offset=0)
    assert [each.current for each in claims] == [True, False]
    require_sound(dsn)


async def test_one_object_twice_in_one_chunk(store: Store, add_sample: AddSample, dsn: str) -> None:
    chunk = (await add_sample()).chunks[0]
    written = await say(
        store,
        chunk,
        thing("A", color="red", size=1),
        thing("A", color="blue"),
        ties=[tie("A", "is", "A", n=1), tie("A", "is", "A", n=2)],
    )
    assert written.objects[0] == written.objects[1]
    assert written.objects[0] is not None
    assert (await store.graph.objects.get(written.objects[0])).properties == {"color": "blue", "size": 1}
    claims = await store.graph.provenance.current(PROJECT, written.created)
    assert {claim.operation for claim in claims} == {"created"}
    require_sound(dsn)


async def test_a_chunk_that_is_gone_takes_nothing(store: Store, add_sample: AddSample) -> None:
    sample = await add_sample()
    gone = replace(sample.chunks[0], id=uuid4())
    with pytest.raises(ChunkNotFound):
        await say(store, gone, thing("A"))
    assert (await store.graph.objects.page(PROJECT, limit=10, offset=0)) == ([], 0)


async def test_values_that_postgres_cannot_hold(store: Store, add_sample: AddSample) -> None:
    chunk = (await add_sample()).chunks[0]
    properties = {
        "text": "a\x00b\ud800",
        "number": float("nan"),
        "large": 10**30,
        "in\x00side": {"x\x00": ["\x00"]},
    }
    odd = FoundObject(key=key("A\x00"), name="A\x00", properties=found(properties))
    ends = FoundRelationship(
        type="is\x00", source=key("A\x00"), target=key("A\x00"), properties={"p": "\x00"}
    )
    (ident,) = (await say(store, chunk, odd, ties=[ends], reason="\x00")).objects
    assert ident is not None
    kept = await store.graph.objects.get(ident)
    assert kept.name == "A"
    assert kept.properties == {"text": "ab?", "number": None, "large": 1e30, "inside": {"x": [""]}}


async def test_vectors_come_with_the_objects(store: Store, add_sample: AddSample) -> None:
    chunk = (await add_sample()).chunks[0]
    space, _ = await store.vectors.spaces(PROJECT)
    assert space is not None
    vectors = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    written = await say(store, chunk, thing("near"), thing("far"), thing("none"), vectors=vectors)
    objects = store.graph.objects
    found = await objects.similar(PROJECT, space.id, halfvec([1.0, 0.1, 0.0, 0.0]), limit=5, threshold=0.7)
    assert [item.name for item, _ in found] == ["near"]
    assert found[0][1] == pytest.approx(0.995, abs=0.001)
    every = await objects.similar(PROJECT, space.id, halfvec([1.0, 0.1, 0.0, 0.0]), limit=5)
    assert [item.name for item, _ in every] == ["near", "far"]
    lacking = await objects.lacking(PROJECT, space.id, limit=5)
    assert [item.name for item in lacking] == ["none"]
    await objects.put_vectors(PROJECT, space.id, {lacking[0].id: [0, 0, 1, 0], uuid4(): [0, 0, 1, 0]})
    assert await objects.lacking(PROJECT, space.id, limit=5) == []
    assert len(written.created) == 3


async def test_all_of_it_or_nothing(store: Store, add_sample: AddSample) -> None:
    sample = await add_sample()
    job = await extraction_job(store, sample.job)

    class StopError(Exception):
        pass

    with suppress(StopError):
        async with store.transaction() as tx:
            await tx.graph.write_chunk(extraction(sample.chunks[0], thing("A"), job_id=job.id))
            raise StopError
    assert (await store.graph.objects.page(PROJECT, limit=10, offset=0))[1] == 0
    assert await store.graph.ledger.counts(PROJECT, job.id) == dict.fromkeys(
        ("extracted", "empty", "failed", "rejected"), 0
    )
