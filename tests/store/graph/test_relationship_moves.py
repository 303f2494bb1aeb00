"""Types and properties of relationships that a newer schema calls something else, or does not know any more."""

from typing import Any

from tests.graphs import picture, require_sound, say, thing, tie
from tests.samples import AddSample

from whence.models import DEFAULT_PROJECT_ID as PROJECT
from whence.store import Store
from whence.store.graph.schema_moves import RelationshipMove


async def edges(store: Store) -> dict[str, dict[str, Any]]:
    found, _ = await store.graph.relationships.page(PROJECT, limit=100, offset=0)
    return {f"{each.source_name} {each.type} {each.target_name}": dict(each.properties) for each in found}


async def test_properties_are_renamed_and_removed_in_older_claims_only(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    one, two = (await add_sample()).chunks[:2]
    ties = [tie("A", "is", "B", a=1, b=2, c=3), tie("A", "has", "B", a=1), tie("B", "is", "A", a=1, z=2)]
    await say(store, one, thing("A"), thing("B"), ties=ties)
    await say(store, two, thing("C"), ties=[tie("A", "is", "C", a=5)], schema=2)
    for _ in range(2):
        await store.graph.schema_moves.apply(
            PROJECT,
            RelationshipMove(type="is", new_type="is", renamed={"a": "z", "b": "y"}, removed=["c"]),
            schema_number=2,
        )
        assert await edges(store) == {
            "A is B": {"z": 1, "y": 2},
            "A has B": {"a": 1},
            "B is A": {"a": 1, "z": 2},  # it has both: nothing is lost
            "A is C": {"a": 5},
        }
        require_sound(dsn)


async def test_a_renamed_type_takes_its_older_claims_along(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    one, two = (await add_sample()).chunks[:2]
    ties = [tie("A", "is", "B", since=1), tie("A", "is", "C")]
    await say(store, one, thing("A"), thing("B"), thing("C"), ties=ties)
    await say(store, one, ties=[tie("A", "equals", "B", since=2)], schema=2)
    await say(store, two, ties=[tie("A", "is", "B", since=3)], schema=3)
    for _ in range(2):
        await store.graph.schema_moves.apply(
            PROJECT, RelationshipMove(type="is", new_type="equals"), schema_number=2
        )
        assert await edges(store) == {
            "A equals B": {"since": 2},
            "A equals C": {},
            "A is B": {"since": 3},  # told under a schema that has the old name again
        }
        require_sound(dsn)
    assert len(picture(dsn)["hidden ties"]) == 1


async def test_merged_ends_are_given_back_under_the_new_name(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    chunk = (await add_sample()).chunks[0]
    ties = [tie("A", "is", "C", a=1), tie("B", "is", "C", a=2), tie("A", "is", "B")]
    kept, dropped, _ = (await say(store, chunk, thing("A"), thing("B"), thing("C"), ties=ties)).objects
    assert kept is not None
    assert dropped is not None
    merge = await store.graph.merges.merge(PROJECT, keep_id=kept, drop_id=dropped)
    await store.graph.schema_moves.apply(
        PROJECT, RelationshipMove(type="is", new_type="is", renamed={"a": "z"}, removed=[]), schema_number=2
    )
    await store.graph.schema_moves.apply(
        PROJECT, RelationshipMove(type="is", new_type="equals"), schema_number=2
    )
    require_sound(dsn)
    assert await edges(store) == {"A equals C": {"z": 2}}
    await store.graph.merges.undo(PROJECT, merge.id)
    require_sound(dsn)
    assert await edges(store) == {"A equals C": {"z": 1}, "B equals C": {"z": 2}, "A equals B": {}}


async def test_a_type_that_is_gone_takes_its_older_claims(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    one, two = (await add_sample()).chunks[:2]
    await say(store, one, thing("A"), thing("B"), ties=[tie("A", "is", "B", since=1), tie("B", "is", "A")])
    await say(store, two, ties=[tie("A", "is", "B", until=2)], schema=2)
    await store.graph.schema_moves.apply(PROJECT, RelationshipMove(type="is"), schema_number=2)
    require_sound(dsn)
    assert await edges(store) == {"A is B": {"until": 2}}
