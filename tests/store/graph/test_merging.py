"""Two objects that a person says are one, and a person who takes it back."""

from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from tests.graphs import picture, require_sound, say, thing, tie, update
from tests.samples import AddSample

from whence.errors import BadInput, Conflict, MergeNotFound, ObjectNotFound
from whence.models import DEFAULT_PROJECT_ID as PROJECT
from whence.models import Chunk
from whence.store import Store


async def made(store: Store, chunks: list[Chunk]) -> dict[str, UUID]:
    """A and B, of which chunk 0 speaks both, and C and D around them."""
    first = await say(
        store,
        chunks[0],
        thing("A", color="red", size=1),
        thing("B", color="blue"),
        thing("C"),
        thing("D"),
        ties=[
            tie("A", "needs", "C", why="a"),
            tie("B", "needs", "C", why="b"),
            tie("B", "needs", "D"),
            tie("A", "knows", "B"),
            tie("B", "is", "B"),
        ],
        vectors=[[1, 0, 0, 0], [0, 1, 0, 0]],
    )
    await say(store, chunks[1], thing("B", color="green", weight=2))
    found = await store.graph.objects.many(PROJECT, first.created)
    return {item.name: item.id for item in found}


async def test_a_merged_object_has_what_was_said_of_both(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    ids = await made(store, (await add_sample()).chunks)
    merge = await store.graph.merges.merge(PROJECT, keep_id=ids["A"], drop_id=ids["B"])
    assert (merge.kept_id, merge.kept_name, merge.dropped_name) == (ids["A"], "A", "B")
    kept = await store.graph.objects.get(ids["A"])
    assert (kept.name, kept.properties) == ("A", {"color": "green", "size": 1, "weight": 2})
    assert await store.graph.objects.get(ids["B"]) == kept
    assert await store.graph.objects.named(PROJECT, ["b"]) == [kept]
    edges, total = await store.graph.relationships.page(PROJECT, limit=10, offset=0, object_id=ids["A"])
    assert total == 3
    assert {(edge.source_name, edge.type, edge.target_name) for edge in edges} == {
        ("A", "needs", "C"),
        ("A", "needs", "D"),
        ("A", "is", "A"),
    }
    require_sound(dsn)


async def test_the_name_of_the_kept_object_stays_and_has_its_claim(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    chunks = (await add_sample()).chunks
    ids = await made(store, chunks)
    await store.graph.merges.merge(PROJECT, keep_id=ids["A"], drop_id=ids["B"])

    async def require_named() -> None:
        require_sound(dsn)
        claims, _ = await store.graph.provenance.of_object(
            PROJECT, ids["A"], property_name="name", limit=10, offset=0
        )
        assert [claim.value for claim in claims if claim.current] == ["A"]
        current = await store.graph.provenance.current(PROJECT, [ids["A"]])
        assert {claim.property_name: claim.value for claim in current} | {"color": ""} == {
            "name": "A",
            "color": "",
            "size": 1,
            "weight": 2,
        }
        assert all(claim.current for claim in current)

    await require_named()
    for schema in (2, 3):  # the same chunk and another say the other name once more
        await say(store, chunks[0], thing("B"), schema=schema)
        await say(store, chunks[2], thing("B"), thing("A"), thing("b"), schema=schema)
        await require_named()


async def test_a_relationship_of_the_dropped_name_says_that_name(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    chunks = (await add_sample()).chunks
    ids = await made(store, chunks)
    merge = await store.graph.merges.merge(PROJECT, keep_id=ids["A"], drop_id=ids["B"])
    quote = replace(tie("B", "needs", "D"), quote="that B needs D", start_offset=7, end_offset=21)
    await say(store, chunks[2], ties=[quote])
    await store.graph.merges.undo(PROJECT, merge.id)
    require_sound(dsn)
    dropped = await store.graph.objects.get(ids["B"])
    assert dropped.name == "B"
    claims, _ = await store.graph.provenance.of_object(
        PROJECT, dropped.id, property_name="name", limit=10, offset=0
    )
    assert (claims[0].quote, claims[0].start_offset, claims[0].end_offset) == ("B", 12, 13)


async def test_what_is_left_of_a_merged_object_gives_its_name(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    """The documents of the kept name go: what is left was said of the other, and by that name."""
    one, two = await add_sample(), await add_sample(name="b.pdf")
    (a,) = (await say(store, one.chunks[0], thing("A", color="red"))).objects
    (b,) = (await say(store, two.chunks[0], thing("B", color="blue"))).objects
    assert a
    assert b
    merge = await store.graph.merges.merge(PROJECT, keep_id=a, drop_id=b)
    async with store.transaction() as tx:
        await tx.graph.removal.chunks_of_document(PROJECT, one.document.id)
        await tx.documents.delete(PROJECT, one.document.id)
    require_sound(dsn)
    left = await store.graph.objects.get(a)
    assert (left.name, left.properties) == ("B", {"color": "blue"})
    current = await store.graph.provenance.current(PROJECT, [a])
    assert {claim.property_name: (claim.value, claim.current) for claim in current} == {
        "name": ("B", True),
        "color": ("blue", True),
    }
    await store.graph.merges.undo(PROJECT, merge.id)
    require_sound(dsn)
    assert (await store.graph.objects.get(b)).name == "B"


async def test_undoing_names_whom_nothing_names_any_more(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    one, two = await add_sample(), await add_sample(name="b.pdf")
    a, b = (await say(store, one.chunks[0], thing("A"), thing("B"))).objects
    assert a
    assert b
    await say(store, two.chunks[0], update(b, color="red"), thing("A"))
    merge = await store.graph.merges.merge(PROJECT, keep_id=a, drop_id=b)
    async with store.transaction() as tx:
        await tx.graph.removal.chunks_of_document(PROJECT, one.document.id)
        await tx.documents.delete(PROJECT, one.document.id)
    require_sound(dsn)
    await store.graph.merges.undo(PROJECT, merge.id)
    require_sound(dsn)
    assert (await store.graph.objects.get(b)).name == "B"


async def test_undoing_restores_both_exactly(store: Store, add_sample: AddSample, dsn: str) -> None:
    ids = await made(store, (await add_sample()).chunks)
    before = picture(dsn)
    for keep, drop in (("A", "B"), ("B", "A"), ("C", "A"), ("B", "D")):
        merge = await store.graph.merges.merge(PROJECT, keep_id=ids[keep], drop_id=ids[drop])
        require_sound(dsn)
        assert picture(dsn) != before
        await store.graph.merges.undo(PROJECT, merge.id)
        assert picture(dsn) == before


async def test_merges_are_undone_in_any_order(store: Store, add_sample: AddSample, dsn: str) -> None:
    ids = await made(store, (await add_sample()).chunks)
    merges, before = store.graph.merges, picture(dsn)
    pairs = [("A", "B"), ("C", "A"), ("C", "D")]
    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0), (0, 2, 1), (2, 0, 1)):
        done = [await merges.merge(PROJECT, keep_id=ids[keep], drop_id=ids[drop]) for keep, drop in pairs]
        standing, total = await merges.page(PROJECT, object_id=ids["C"], limit=10, offset=0)
        assert total == 3
        assert [merge.id for merge in standing] == [merge.id for merge in reversed(done)]
        for index in order:
            await merges.undo(PROJECT, done[index].id)
            require_sound(dsn)
        assert picture(dsn) == before


async def test_what_is_said_of_the_dropped_name_later_is_said_of_the_kept(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    chunks = (await add_sample()).chunks
    ids = await made(store, chunks)
    merge = await store.graph.merges.merge(PROJECT, keep_id=ids["A"], drop_id=ids["B"])
    written = await say(
        store,
        chunks[2],
        thing("b", color="violet"),
        thing("A", size=3),
        ties=[tie("B", "needs", "D"), tie(ids["B"], "knows", "A")],
    )
    assert written.objects == (ids["A"], ids["A"])
    assert written.created == frozenset()
    assert written.relationships[1] is None
    kept = await store.graph.objects.get(ids["A"])
    assert (kept.name, kept.properties["color"]) == ("A", "violet")
    require_sound(dsn)
    await say(store, chunks[2], thing("A", color="white"), schema=2)
    require_sound(dsn)

    await store.graph.merges.undo(PROJECT, merge.id)
    require_sound(dsn)
    dropped, kept = await store.graph.objects.get(ids["B"]), await store.graph.objects.get(ids["A"])
    assert (dropped.name, dropped.properties) == ("b", {"color": "violet", "weight": 2})
    assert kept.properties == {"color": "white", "size": 3}


async def test_what_went_meanwhile_does_not_come_back(store: Store, add_sample: AddSample, dsn: str) -> None:
    one, two = await add_sample(), await add_sample(name="b.pdf")
    (a,) = (await say(store, one.chunks[0], thing("A"))).objects
    (b,) = (await say(store, two.chunks[0], thing("B", color="red"))).objects
    assert a is not None
    assert b is not None
    merge = await store.graph.merges.merge(PROJECT, keep_id=a, drop_id=b)
    async with store.transaction() as tx:
        await tx.graph.removal.chunks(PROJECT, [two.chunks[0].id])
    assert (await store.graph.objects.get(a)).properties == {}
    await store.graph.merges.undo(PROJECT, merge.id)
    require_sound(dsn)
    with pytest.raises(ObjectNotFound):
        await store.graph.objects.get(b)
    with pytest.raises(MergeNotFound):
        await store.graph.merges.undo(PROJECT, merge.id)


async def test_a_merge_goes_with_the_object(store: Store, add_sample: AddSample, dsn: str) -> None:
    sample = await add_sample()
    ids = await made(store, sample.chunks)
    merge = await store.graph.merges.merge(PROJECT, keep_id=ids["A"], drop_id=ids["B"])
    async with store.transaction() as tx:
        await tx.graph.removal.chunks_of_document(PROJECT, sample.document.id)
        await tx.documents.delete(PROJECT, sample.document.id)
    assert not any(picture(dsn).values())
    with pytest.raises(MergeNotFound):
        await store.graph.merges.get(merge.id)


async def test_what_cannot_be_merged(store: Store, add_sample: AddSample, dsn: str) -> None:
    ids = await made(store, (await add_sample()).chunks)
    other = await store.projects.create(name="other")
    (strange,) = (await say(store, (await add_sample(project_id=other.id)).chunks[0], thing("A"))).objects
    (person,) = (await say(store, (await add_sample(name="b.pdf")).chunks[0], thing("A", "Person"))).objects
    assert strange is not None
    assert person is not None
    before = picture(dsn)
    with pytest.raises(BadInput, match="itself"):
        await store.graph.merges.merge(PROJECT, keep_id=ids["A"], drop_id=ids["A"])
    for keep, drop in ((ids["A"], strange), (strange, ids["A"]), (ids["A"], uuid4())):
        with pytest.raises(ObjectNotFound):
            await store.graph.merges.merge(PROJECT, keep_id=keep, drop_id=drop)
    with pytest.raises(MergeNotFound):
        await store.graph.merges.undo(PROJECT, uuid4())
    with pytest.raises(
        Conflict, match="Only objects of the same type can be merged: these are Thing and Person"
    ):
        await store.graph.merges.merge(PROJECT, keep_id=ids["A"], drop_id=person)
    assert picture(dsn) == before


async def test_a_chunk_that_says_the_same_again_of_two_that_were_merged_is_no_newer(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    first, second = (await add_sample()).chunks[:2]
    said = (thing("A", color="red"), thing("B", color="navy"))
    ties = [tie("A", "is", "C", since=1), tie("B", "is", "C", since=2)]
    one, two, _ = (await say(store, first, *said, thing("C"), ties=ties)).objects
    assert one is not None
    assert two is not None
    await say(store, second, thing("B", color="blue"), thing("C"), ties=[tie("B", "is", "C", since=3)])
    merge = await store.graph.merges.merge(PROJECT, keep_id=one, drop_id=two)
    before = picture(dsn)
    for schema in (1, 2):
        await say(store, first, *said, thing("C"), ties=ties, schema=schema)
        assert (await store.graph.objects.get(one)).properties == {"color": "blue"}
        (edge,), _ = await store.graph.relationships.page(PROJECT, limit=9, offset=0)
        assert edge.properties == {"since": 3}
        require_sound(dsn)
        if schema == 1:
            assert picture(dsn) == before
    await store.graph.merges.undo(PROJECT, merge.id)
    found = await store.graph.objects.many(PROJECT, [one, two])
    assert [item.properties for item in found] == [{"color": "red"}, {"color": "blue"}]
    require_sound(dsn)


async def test_of_two_that_were_merged_the_one_of_which_a_chunk_says_something_new_has_the_value(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    chunk = (await add_sample()).chunks[0]
    one, two = (await say(store, chunk, thing("A", color="red"), thing("B", color="navy"))).objects
    assert one is not None
    assert two is not None
    merge = await store.graph.merges.merge(PROJECT, keep_id=one, drop_id=two)
    assert (await store.graph.objects.get(one)).properties == {"color": "navy"}
    await say(store, chunk, thing("A", color="green"), thing("B", color="navy"))
    assert (await store.graph.objects.get(one)).properties == {"color": "green"}
    require_sound(dsn)
    await store.graph.merges.undo(PROJECT, merge.id)
    assert (await store.graph.objects.get(two)).properties == {"color": "navy"}
    require_sound(dsn)
