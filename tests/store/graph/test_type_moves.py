"""Types of objects that a newer schema calls something else, or does not know any more."""

import asyncio
from uuid import UUID

from tests.graphs import picture, require_sound, say, thing, tie
from tests.samples import AddSample

from whence.chunk_findings import FoundRelationship
from whence.models import DEFAULT_PROJECT_ID as PROJECT
from whence.models import GraphObject
from whence.store import Store
from whence.store.graph.schema_moves import TypeMove
from whence.store.graph.type_renames import unite_with_namesakes


async def objects(store: Store) -> list[GraphObject]:
    found, _ = await store.graph.objects.page(PROJECT, limit=100, offset=0)
    return sorted(found, key=lambda each: (each.type, each.name))


async def shown(store: Store) -> dict[str, dict[str, object]]:
    return {f"{each.type} {each.name}": dict(each.properties) for each in await objects(store)}


async def edges(store: Store) -> set[tuple[str, str, str]]:
    found, _ = await store.graph.relationships.page(PROJECT, limit=100, offset=0)
    return {(each.source_name, each.type, each.target_name) for each in found}


def between(source: tuple[str, str], kind: str, target: tuple[str, str]) -> FoundRelationship:
    return FoundRelationship(type=kind, source=source, target=target)


async def test_the_objects_of_a_renamed_type_keep_their_ids_and_all_that_was_said(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    one, two = (await add_sample()).chunks[:2]
    said = await say(
        store, one, thing("A", color="red"), thing("B"), thing("C", "Other"), ties=[tie("A", "is", "B")]
    )
    kept, dropped, _ = said.objects
    assert kept is not None
    assert dropped is not None
    await say(store, two, thing("B", color="blue"))
    await store.graph.merges.merge(PROJECT, keep_id=kept, drop_id=dropped)
    for _ in range(2):  # a second time there is nothing left to do
        await store.graph.schema_moves.apply(
            PROJECT, TypeMove(type="Thing", new_type="Item"), schema_number=2
        )
        require_sound(dsn)
        assert await shown(store) == {"Item A": {"color": "blue"}, "Other C": {}}
        assert (await store.graph.objects.get(kept)).type == "Item"
    older, _ = await store.graph.provenance.older(PROJECT, 2, limit=9, offset=0)
    assert [claim.value for claim in older] == ["C"]
    again = await say(store, two, thing("B", "Item", color="green"), schema=2)
    assert again.objects == (kept,)
    (merge,), _ = await store.graph.merges.page(PROJECT, limit=9, offset=0)
    await store.graph.merges.undo(PROJECT, merge.id)
    require_sound(dsn)
    assert await shown(store) == {"Item A": {"color": "red"}, "Item B": {"color": "green"}, "Other C": {}}


async def test_an_object_of_the_new_type_and_the_same_name_becomes_one_with_the_old(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    one, two = (await add_sample()).chunks[:2]
    await say(store, one, thing("A", color="red", size=1), thing("B"), ties=[tie("A", "is", "B")])
    new = (await say(store, two, thing("A", "Item", color="blue"), schema=2)).objects[0]
    await say(
        store,
        two,
        thing("A", "Item", color="blue"),
        schema=2,
        ties=[between(("Item", "a"), "was", ("Thing", "a"))],
    )
    assert ("A", "was", "A") in await edges(store)
    for _ in range(2):
        await store.graph.schema_moves.apply(
            PROJECT, TypeMove(type="Thing", new_type="Item"), schema_number=2
        )
        require_sound(dsn)
        assert await shown(store) == {"Item A": {"color": "blue", "size": 1}, "Item B": {}}
        assert await edges(store) == {("A", "is", "B")}
    assert isinstance(new, UUID)
    claims, _ = await store.graph.provenance.of_object(PROJECT, new, property_name="color", limit=9, offset=0)
    assert [(claim.value, claim.place.chunk_id) for claim in claims] == [("blue", two.id), ("red", one.id)]
    await _delete_both(store, (one.id, two.id), dsn)


async def test_one_chunk_that_spoke_of_both_speaks_of_one(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    chunk = (await add_sample()).chunks[0]
    await say(store, chunk, thing("A", color="red"), thing("A", "Item", color="blue"))
    await store.graph.schema_moves.apply(PROJECT, TypeMove(type="Thing", new_type="Item"), schema_number=2)
    require_sound(dsn)
    assert await shown(store) == {"Item A": {"color": "blue"}}


async def test_a_name_that_a_merge_made_an_alias_goes_to_its_namesake(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    one, two = (await add_sample()).chunks[:2]
    kept, dropped, _ = (
        await say(store, one, thing("A", color="red"), thing("B", size=1), thing("B", "Item"))
    ).objects
    assert kept is not None
    assert dropped is not None
    await store.graph.merges.merge(PROJECT, keep_id=kept, drop_id=dropped)
    other, third = (await say(store, two, thing("C", "Item"), thing("D", "Item"))).objects
    assert other is not None
    assert third is not None
    await store.graph.merges.merge(PROJECT, keep_id=third, drop_id=other)
    await say(store, two, thing("C", weight=2))
    await store.graph.schema_moves.apply(PROJECT, TypeMove(type="Thing", new_type="Item"), schema_number=2)
    require_sound(dsn)
    assert await shown(store) == {"Item A": {"color": "red"}, "Item B": {"size": 1}, "Item D": {"weight": 2}}


async def test_aliases_follow_an_object_that_becomes_another(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    one, two = (await add_sample()).chunks[:2]
    kept, dropped = (await say(store, one, thing("A", color="red"), thing("B", size=1))).objects
    assert kept is not None
    assert dropped is not None
    merge = await store.graph.merges.merge(PROJECT, keep_id=kept, drop_id=dropped)
    await say(store, two, thing("A", "Item"), schema=2)
    await store.graph.schema_moves.apply(PROJECT, TypeMove(type="Thing", new_type="Item"), schema_number=2)
    require_sound(dsn)
    assert await shown(store) == {"Item A": {"color": "red", "size": 1}}
    await store.graph.merges.undo(PROJECT, merge.id)
    require_sound(dsn)
    assert await shown(store) == {"Item A": {"color": "red"}, "Item B": {"size": 1}}


async def test_a_type_that_came_back_keeps_what_was_spoken_of_since(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    one, two = (await add_sample()).chunks[:2]
    await say(store, one, thing("A", color="red"), thing("B"))
    await say(store, two, thing("A", color="blue"), schema=3)
    await store.graph.schema_moves.apply(
        PROJECT, TypeMove(type="Thing", new_type="Item", again=3), schema_number=2
    )
    require_sound(dsn)
    assert await shown(store) == {"Item B": {}, "Thing A": {"color": "blue"}}


async def test_a_type_that_is_gone_takes_its_older_claims_and_whom_nothing_else_speaks_of(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    one, two = (await add_sample()).chunks[:2]
    others = [thing("X", "Other", color="red"), thing("Y", "Other")]
    ties = [
        between(("Thing", "a"), "is", ("Other", "x")),
        between(("Other", "x"), "is", ("Other", "y")),
        tie("B", "is", "A"),
    ]
    kept, dropped, *_ = (
        await say(store, one, thing("A", color="red"), thing("B", size=1), *others, ties=ties)
    ).objects
    assert kept is not None
    assert dropped is not None
    await say(store, two, thing("C", color="blue", size=1))
    await say(store, two, thing("C", color="green"), schema=2)
    await store.graph.merges.merge(PROJECT, keep_id=kept, drop_id=dropped)
    await store.graph.schema_moves.apply(PROJECT, TypeMove(type="Thing"), schema_number=2)
    require_sound(dsn)
    assert await shown(store) == {"Other X": {"color": "red"}, "Other Y": {}, "Thing C": {"color": "green"}}
    assert await edges(store) == {("X", "is", "Y")}
    assert not picture(dsn)["hidden ties"]
    assert not picture(dsn)["merges"]


async def test_a_type_that_came_back_has_no_relationships_from_before(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    """They would stand on chunks that speak of neither end any more, and vanish untold with the chunks that do."""
    one, two = (await add_sample()).chunks[:2]
    them = (thing("A"), thing("B"), thing("C"), thing("X", "Other"))
    across = between(("Thing", "a"), "is", ("Other", "x"))
    said = await say(store, one, *them, ties=[tie("A", "is", "B"), tie("C", "is", "B"), across])
    merged, dropped = said.objects[0], said.objects[2]
    assert merged is not None
    assert dropped is not None
    await store.graph.merges.merge(PROJECT, keep_id=merged, drop_id=dropped)
    await say(store, two, *them, ties=[tie("C", "has", "B")], schema=3)
    await store.graph.schema_moves.apply(PROJECT, TypeMove(type="Thing"), schema_number=2)
    require_sound(dsn)
    assert await edges(store) == {("A", "has", "B")}
    assert not picture(dsn)["hidden ties"]
    told = await store.graph.deletion_impact(PROJECT, two.id)
    assert {lost["name"] for lost in told["graph"]["objects"]} == {"A", "B"}
    assert [lost["type"] for lost in told["graph"]["relationships"]] == ["has"]
    await store.graph.schema_moves.apply(PROJECT, TypeMove(type="Thing"), schema_number=4)
    require_sound(dsn)
    assert await shown(store) == {"Other X": {}}


async def test_several_who_rename_a_type_at_once_come_to_the_same(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    one, two = (await add_sample()).chunks[:2]
    ties = [tie("A", "is", "C"), tie("D", "is", "B")]
    first = await say(store, one, *(thing(name, size=1) for name in "ABCDE"), ties=ties)
    kept, dropped = first.objects[0], first.objects[1]
    assert kept is not None
    assert dropped is not None
    await store.graph.merges.merge(PROJECT, keep_id=kept, drop_id=dropped)
    await say(store, two, thing("B", "Item", color="red"), thing("C", "Item", color="blue"), schema=2)
    apply, rename = store.graph.schema_moves.apply, TypeMove(type="Thing", new_type="Item")
    await asyncio.gather(*(apply(PROJECT, rename, schema_number=2) for _ in range(4)))
    require_sound(dsn)
    assert await shown(store) == {
        "Item A": {"size": 1},
        "Item B": {"size": 1, "color": "red"},
        "Item C": {"size": 1, "color": "blue"},
        "Item D": {"size": 1},
        "Item E": {"size": 1},
    }
    assert await edges(store) == {("A", "is", "C"), ("D", "is", "B")}


async def test_an_object_that_has_the_new_type_by_now_is_left_alone(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    """Two runs find the same object, and one is first."""
    chunk = (await add_sample()).chunks[0]
    (kept,) = (await say(store, chunk, thing("A", "Item", size=1))).objects
    assert kept is not None
    before = picture(dsn)
    params = {"project_id": PROJECT, "type": "Thing", "new_type": "Item", "again": None, "schema_number": 1}
    async with store.transaction() as tx:
        await unite_with_namesakes(kept, params, tx._queries)
    assert picture(dsn) == before


async def _delete_both(store: Store, ids: tuple[UUID, UUID], dsn: str) -> None:
    async with store.transaction() as tx:
        await tx.graph.removal.chunks(PROJECT, ids)
        await tx.chunks.remove(PROJECT, list(ids))
    assert not any(picture(dsn).values())
