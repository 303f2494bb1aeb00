"""What is looked up ahead for a chunk gives the context that a look-up afterwards would give."""

from collections.abc import Sequence
from uuid import UUID

import numpy as np
import pytest
from tests.graphs import say, thing, update
from tests.samples import AddSample

from whence.chunk_findings import FoundObject
from whence.extract.context import ContextOptions, ExtractionContext
from whence.extract.context_loader import SPARE, Surroundings, gather, look_around, named
from whence.models import DEFAULT_PROJECT_ID as PROJECT
from whence.models import Chunk, EmbeddingSpace
from whence.providers import Embedders
from whence.search import Search
from whence.settings import Settings
from whence.store import Store

OPTIONS = ContextOptions()
NEAR = [0.125, 0.5, -0.25, 1.0]
"""The vector of the second chunk of a sample, and almost that of the others."""


async def the_space(store: Store) -> EmbeddingSpace:
    space, _ = await store.vectors.spaces(PROJECT)
    assert space is not None
    return space


async def give(
    store: Store, chunk: Chunk, *objects: FoundObject, vectors: Sequence[Sequence[float]] = ()
) -> list[UUID]:
    written = await say(store, chunk, *objects, vectors=vectors)
    return [ident for ident in written.objects if ident is not None]


async def all_at_once(store: Store, search: Search, chunk: Chunk) -> ExtractionContext:
    return await context_of(store, await look_around(store, search, PROJECT, chunk.id, OPTIONS))


async def context_of(store: Store, around: Surroundings, changed: Sequence[UUID] = ()) -> ExtractionContext:
    return await gather(store, around, OPTIONS, await named(store, around), changed=changed)


@pytest.fixture
def search(store: Store) -> Search:
    return Search(store, Embedders(Settings()))


@pytest.mark.parametrize("changes", [1, 5, SPARE, SPARE + 1])
async def test_the_nearest_objects_are_those_after_the_write(
    store: Store, search: Search, add_sample: AddSample, changes: int
) -> None:
    """Objects come closer and go away by a write, others take their place, and some are new."""
    first, second = (await add_sample(chunks=2)).chunks
    chance = np.random.default_rng(changes)

    def somewhere() -> list[float]:
        vector: list[float] = (np.array(NEAR) + chance.normal(scale=0.4, size=4)).tolist()
        return vector

    known = await give(
        store,
        first,
        *(thing(f"Thing {n}") for n in range(80)),
        vectors=[somewhere() for _ in range(80)],
    )
    for turn in range(4):
        around = await look_around(store, search, PROJECT, second.id, OPTIONS)
        moved = [
            update(known[n], turn=turn) for n in chance.choice(len(known), size=changes - 1, replace=False)
        ]
        vectors = [somewhere() for _ in range(changes)]
        changed = await give(store, first, *moved, thing(f"New {turn}"), vectors=vectors)
        context = await context_of(store, around, changed)
        assert context == await all_at_once(store, search, second)
        assert len(context.objects) == OPTIONS.related_object_count
        known.append(changed[-1])


async def test_objects_are_shown_as_they_are_when_they_are_shown(
    store: Store, search: Search, add_sample: AddSample
) -> None:
    """Also where another document changes them meanwhile."""
    first, second = (await add_sample(chunks=2)).chunks
    (other,) = (await add_sample(chunks=1)).chunks
    (ident,) = await give(store, first, thing("One", color="red"), vectors=[NEAR])
    around = await look_around(store, search, PROJECT, second.id, OPTIONS)
    await give(store, other, update(ident, color="blue"))
    context = await context_of(store, around)
    assert [(each.name, each.properties) for each in context.objects] == [("One", {"color": "blue"})]


async def test_an_object_that_another_document_brings_meanwhile_is_found_by_its_name(
    store: Store, search: Search, add_sample: AddSample
) -> None:
    (chunk,) = (await add_sample(chunks=1)).chunks
    (other,) = (await add_sample(chunks=1)).chunks
    around = await look_around(store, search, PROJECT, chunk.id, OPTIONS)
    name = chunk.content.split()[0]
    await give(store, other, thing(name), vectors=[[-part for part in NEAR]])
    assert [each.name for each in (await context_of(store, around)).objects] == [name]


async def test_an_object_that_went_meanwhile_is_not_shown(
    store: Store, search: Search, add_sample: AddSample
) -> None:
    first, second = (await add_sample(chunks=2)).chunks
    await give(store, first, thing("One"), vectors=[NEAR])
    around = await look_around(store, search, PROJECT, second.id, OPTIONS)
    assert around.near
    await store.graph.removal.chunks(PROJECT, [first.id])
    assert (await context_of(store, around)).objects == ()


FAR = [-part for part in NEAR]


async def test_what_the_chunks_before_spoke_of_comes_last_and_the_nearest_first(
    store: Store, search: Search, add_sample: AddSample
) -> None:
    first, second, third, fourth = (await add_sample(chunks=4)).chunks
    await give(store, first, thing("Earliest"), vectors=[FAR])
    await give(store, second, thing("Before"), thing("Both"), vectors=[FAR, FAR])
    await give(store, third, thing("Alike"), thing("Just now"), thing("Both"), vectors=[NEAR, FAR, FAR])
    await give(store, fourth, thing("After"), vectors=[FAR])

    async def shown(**chosen: int) -> list[str]:
        options = ContextOptions(**chosen)
        around = await look_around(store, search, PROJECT, fourth.id, options)
        context = await gather(store, around, options, await named(store, around))
        return [each.name for each in context.objects]

    # The chunk was read before: its own objects come first.
    assert await shown() == ["Alike", "After", "Both", "Just now"]
    assert await shown(positional_count=2) == ["Alike", "After", "Both", "Just now", "Before"]
    assert await shown(positional_count=2, related_object_count=3) == ["Alike", "After", "Both"]
    assert await shown(positional_count=0) == ["Alike", "After"]
