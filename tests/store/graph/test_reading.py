"""Reading the graph: lists, neighbours, parts of it, and all of it."""

from uuid import uuid4

import pytest
from tests.graphs import say, thing, tie
from tests.samples import AddSample

from whence.errors import ObjectNotFound, RelationshipNotFound
from whence.models import DEFAULT_PROJECT_ID as PROJECT
from whence.store import Store
from whence.store.graph import Subgraph, objects


def names(part: Subgraph) -> list[str]:
    return [item.name for item in part.objects]


def edges(part: Subgraph) -> set[tuple[str, str]]:
    return {(edge.source_name, edge.target_name) for edge in part.relationships}


async def test_lists_are_filtered_and_paged(store: Store, add_sample: AddSample) -> None:
    one, two = await add_sample(), await add_sample(name="b.pdf")
    await say(store, one.chunks[0], thing("OAuth 2.0", "Requirement", priority="high", tags=["x", "y"]))
    await say(store, two.chunks[0], thing("OAuth Proxy", "Component"), thing("100%_done", "Component"))
    page = store.graph.objects.page

    async def found(**filters: object) -> list[str]:
        items, total = await page(PROJECT, limit=10, offset=0, **filters)  # type: ignore[arg-type]
        assert total == len(items)
        return [item.name for item in items]

    assert await found() == ["OAuth 2.0", "100%_done", "OAuth Proxy"]
    assert await found(object_type="Component") == ["100%_done", "OAuth Proxy"]
    assert await found(name="auth") == ["OAuth 2.0", "OAuth Proxy"]
    assert await found(name="PROXY") == ["OAuth Proxy"]
    assert await found(properties={"priority": "high"}) == ["OAuth 2.0"]
    assert await found(properties={"priority": "low"}) == []
    assert await found(document_id=two.document.id) == ["100%_done", "OAuth Proxy"]
    assert await found(document_id=two.document.id, name="2.0") == []
    items, total = await page(PROJECT, limit=1, offset=1)
    assert ([item.name for item in items], total) == (["100%_done"], 3)
    assert await store.graph.objects.types(PROJECT) == {"Component": 2, "Requirement": 1}


async def test_objects_by_exact_name(store: Store, add_sample: AddSample) -> None:
    await say(store, (await add_sample()).chunks[0], thing("A"), thing("A", "Other"), thing("Long name"))
    found = await store.graph.objects.named(PROJECT, ["a", "long name", "nobody"])
    assert [item.name for item in found] == ["Long name", "A", "A"]
    assert len(await store.graph.objects.named(PROJECT, ["a"], limit=1)) == 1


async def test_objects_by_their_name_without_its_number(store: Store, add_sample: AddSample) -> None:
    things = ("OAuth 2.0", "TLS v1.3", "TLS 1.2", "OAuth", "OAuth Proxy", "2.0", "SHA-256", "Route 66 diner")
    steps = (thing(f"Step {n}") for n in range(4))
    await say(store, (await add_sample()).chunks[0], *map(thing, things), *steps)
    found = await store.graph.objects.numbered(PROJECT, ["oauth", "tls", "step", "sha", "route 66", "diner"])
    assert [item.name for item in found] == ["OAuth 2.0", "TLS v1.3", "TLS 1.2"]
    assert len(await store.graph.objects.numbered(PROJECT, ["step"], alike=4)) == 4
    assert len(await store.graph.objects.numbered(PROJECT, ["tls"], limit=1)) == 1
    assert await store.graph.objects.numbered(PROJECT, ["oauth 2.0", "nobody", ""]) == []


async def test_what_is_not_there(store: Store) -> None:
    with pytest.raises(ObjectNotFound):
        await store.graph.objects.get(uuid4())
    with pytest.raises(RelationshipNotFound):
        await store.graph.relationships.get(uuid4())


async def test_nobody_elses_objects(store: Store, add_sample: AddSample) -> None:
    (ident,) = (await say(store, (await add_sample()).chunks[0], thing("A"))).objects
    assert ident is not None
    other = await store.projects.create(name="other")
    with pytest.raises(ObjectNotFound):
        await store.graph.objects.get(ident, project_id=other.id)
    assert await store.graph.objects.many(other.id, [ident]) == []
    assert (await store.graph.views.neighbours(other.id, [ident])).objects == ()


async def test_relationships_are_filtered(store: Store, add_sample: AddSample) -> None:
    one, two = await add_sample(), await add_sample(name="b.pdf")
    written = await say(store, one.chunks[0], thing("A"), thing("B"), ties=[tie("A", "needs", "B")])
    a, b = written.objects
    await say(store, two.chunks[0], thing("C"), ties=[tie("B", "is", "C"), tie("C", "is", "A")])

    async def found(**filters: object) -> set[tuple[str, str, str]]:
        items, total = await store.graph.relationships.page(PROJECT, limit=10, offset=0, **filters)  # type: ignore[arg-type]
        assert total == len(items)
        return {(item.source_name, item.type, item.target_name) for item in items}

    assert len(await found()) == 3
    assert await found(relationship_type="needs") == {("A", "needs", "B")}
    assert await found(source_id=b) == {("B", "is", "C")}
    assert await found(target_id=b) == {("A", "needs", "B")}
    assert await found(object_id=a) == {("A", "needs", "B"), ("C", "is", "A")}
    assert await found(document_id=two.document.id) == {("B", "is", "C"), ("C", "is", "A")}
    assert await found(document_id=two.document.id, object_id=b) == {("B", "is", "C")}


async def test_neighbours_up_to_a_depth(store: Store, add_sample: AddSample) -> None:
    chain = [thing(name) for name in "ABCDEF"]
    ties = [tie(one, "next", two) for one, two in zip("ABCDE", "BCDEF", strict=True)]
    written = await say(store, (await add_sample()).chunks[0], *chain, ties=ties)
    middle = written.objects[2]
    assert middle is not None
    neighbours = store.graph.views.neighbours
    near = await neighbours(PROJECT, [middle])
    assert (near.centre, names(near), near.truncated) == ((middle,), ["B", "C", "D"], False)
    assert edges(near) == {("B", "C"), ("C", "D")}
    assert names(await neighbours(PROJECT, [middle], depth=2)) == ["A", "B", "C", "D", "E"]
    assert len((await neighbours(PROJECT, [middle], depth=99)).objects) == 6
    small = await neighbours(PROJECT, [middle], depth=3, limit=3)
    assert (len(small.objects), small.truncated) == (3, True)
    ids = {item.id for item in small.objects}
    assert all({edge.source_id, edge.target_id} <= ids for edge in small.relationships)


async def test_a_hub_stays_within_bounds(store: Store, add_sample: AddSample) -> None:
    spokes = [f"S{number}" for number in range(60)]
    hub = await say(
        store,
        (await add_sample()).chunks[0],
        thing("Hub"),
        *map(thing, spokes),
        ties=[tie("Hub", "has", spoke) for spoke in spokes],
    )
    assert hub.objects[0] is not None
    part = await store.graph.views.neighbours(PROJECT, [hub.objects[0]], depth=3, limit=10)
    assert (len(part.objects), len(part.relationships), part.truncated) == (10, 9, True)


async def test_a_part_of_the_graph(store: Store, add_sample: AddSample) -> None:
    one, two = await add_sample(), await add_sample(name="b.pdf")
    await say(store, one.chunks[0], thing("A"), thing("B"), ties=[tie("A", "is", "B")])
    await say(store, two.chunks[0], thing("C"), ties=[tie("B", "is", "C")])
    every = await store.graph.views.part(PROJECT)
    assert (names(every), edges(every), every.truncated) == (["A", "B", "C"], {("A", "B"), ("B", "C")}, False)
    some = await store.graph.views.part(PROJECT, document_id=two.document.id)
    assert (names(some), edges(some)) == (["B", "C"], {("B", "C")})
    first = await store.graph.views.part(PROJECT, limit=2)
    assert (names(first), edges(first), first.truncated) == (["A", "B"], {("A", "B")}, True)


async def test_all_of_it_a_few_at_a_time(
    store: Store, add_sample: AddSample, monkeypatch: pytest.MonkeyPatch
) -> None:
    spokes = [f"S{number}" for number in range(7)]
    await say(
        store,
        (await add_sample()).chunks[0],
        *map(thing, spokes),
        ties=[tie(spokes[0], "has", spoke) for spoke in spokes],
    )
    for size in (1, 3, 7, 1000):
        monkeypatch.setattr(objects, "_BATCH", size)
        assert [item.name async for item in store.graph.objects.every(PROJECT)] == spokes
        found = [item.target_name async for item in store.graph.relationships.every(PROJECT)]
        assert sorted(found) == spokes
