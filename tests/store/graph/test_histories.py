"""What is always true of the graph, over histories of extracting, deleting, merging and undoing."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from tests.graphs import picture, require_sound, say, thing, tie, update
from tests.samples import AddSample, Sample

from whence.chunk_findings import FoundObject, FoundRelationship
from whence.errors import Conflict, NotFound
from whence.models import DEFAULT_PROJECT_ID as PROJECT
from whence.models import Chunk, new_id
from whence.store import Store
from whence.store.graph import GraphImpact

NAMES = ("A", "B", "C", "D", "E", "e")


class History:
    """Steps by chance, the same for the same seed."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store = store
        self.random = random.Random(seed)
        self.samples: list[Sample] = []
        self.schema = 1

    async def step(self, add_sample: AddSample) -> None:
        steps = [self.extract] * 6 + [
            self.delete_chunks,
            self.update,
            self.update,
            self.merge,
            self.merge,
            self.undo,
            self.change_schema,
        ]
        if len(self.samples) < 3:
            self.samples.append(await add_sample(chunks=4, name=f"{self.random.random()}.pdf"))
        await self.random.choice(steps)()

    async def extract(self) -> None:
        chunk = self.random.choice(self.random.choice(self.samples).chunks)
        objects, _ = await self.store.graph.objects.page(PROJECT, limit=100, offset=0)
        known = [item.id for item in objects]
        said = [self._object(known) for _ in range(self.random.randint(0, 4))]
        names = [item.name for item in said if item.name]
        ties = [self._tie([*known, *names]) for _ in range(self.random.randint(0, 3)) if known or names]
        await say(self.store, chunk, *said, ties=ties, schema=self.schema)

    def _object(self, known: list[UUID]) -> FoundObject:
        properties = {
            name: self.random.randint(0, 9)
            for name in ("color", "size", "weight")
            if self.random.random() < 0.5
        }
        if known and self.random.random() < 0.4:
            return update(self.random.choice(known), **properties)
        return thing(self.random.choice(NAMES), "Thing", **properties)

    def _tie(self, ends: list[UUID | str]) -> FoundRelationship:
        kind = self.random.choice(("is", "needs"))
        properties = {
            name: self.random.randint(0, 9) for name in ("n", "since") if self.random.random() < 0.7
        }
        return tie(self.random.choice(ends), kind, self.random.choice(ends), **properties)

    async def delete_chunks(self) -> None:
        sample = self.random.choice(self.samples)
        if self.random.random() < 0.5:
            await self.delete_document(sample)
            return
        await self.delete_chunk(sample, self.random.choice(sample.chunks))
        if not sample.chunks:
            self.samples.remove(sample)

    async def delete_chunk(self, sample: Sample, gone: Chunk) -> None:
        sample.chunks.remove(gone)
        async with self.store.transaction() as tx:
            await tx.documents.lock(PROJECT, sample.document.id)
            await tx.graph.removal.chunks(PROJECT, [gone.id])
            await tx.chunks.remove(PROJECT, [gone.id])

    async def update(self) -> None:
        """Some of a document's chunks are others now; nobody has read them yet."""
        sample = self.random.choice(self.samples)
        old = self.random.sample(sample.chunks, self.random.randint(1, len(sample.chunks)))
        new = [replace(chunk, id=new_id(), content=f"{chunk.content}!") for chunk in old]
        async with self.store.transaction() as tx:
            await tx.documents.lock(PROJECT, sample.document.id)
            await tx.graph.removal.replaced(PROJECT, sample.document.id, [chunk.id for chunk in old])
            await tx.chunks.remove(PROJECT, [chunk.id for chunk in old])
            await tx.chunks.insert(new)
        sample.chunks[:] = [chunk for chunk in sample.chunks if chunk not in old] + new

    async def delete_document(self, sample: Sample) -> None:
        self.samples.remove(sample)
        async with self.store.transaction() as tx:
            await tx.documents.lock(PROJECT, sample.document.id)
            await tx.graph.removal.chunks_of_document(PROJECT, sample.document.id)
            await tx.documents.delete(PROJECT, sample.document.id)

    async def merge(self) -> None:
        objects, _ = await self.store.graph.objects.page(PROJECT, limit=100, offset=0)
        if len(objects) > 1:
            keep, drop = self.random.sample(objects, 2)
            await self.store.graph.merges.merge(PROJECT, keep_id=keep.id, drop_id=drop.id)

    async def undo(self) -> None:
        merges, _ = await self.store.graph.merges.page(PROJECT, limit=100, offset=0)
        if merges:
            await self.store.graph.merges.undo(PROJECT, self.random.choice(merges).id)

    async def change_schema(self) -> None:
        self.schema += 1

    async def delete_everything(self) -> None:
        for sample in list(self.samples):
            await self.delete_document(sample)

    async def objects(self) -> dict[UUID, dict[str, Any]]:
        """The properties of each, its name among them."""
        found, _ = await self.store.graph.objects.page(PROJECT, limit=100, offset=0)
        return {one.id: {**one.properties, "name": one.name} for one in found}

    async def relationships(self) -> dict[UUID, dict[str, Any]]:
        found, _ = await self.store.graph.relationships.page(PROJECT, limit=1000, offset=0)
        return {one.id: dict(one.properties) for one in found}


@pytest.mark.parametrize("seed", range(2))
async def test_what_is_always_true(store: Store, add_sample: AddSample, dsn: str, seed: int) -> None:
    history = History(store, seed)
    for _ in range(60):
        await history.step(add_sample)
        require_sound(dsn)
    await history.delete_everything()
    assert not any(picture(dsn).values())


@pytest.mark.parametrize("seed", range(2))
async def test_what_deleting_does_was_told_before(store: Store, add_sample: AddSample, seed: int) -> None:
    history = History(store, seed + 200)
    for _ in range(40):
        await history.step(add_sample)
    for sample in list(history.samples):
        told = await store.graph.deletion_impact(PROJECT, sample.document.id, limit=1000)
        await require_as_told(history, told, history.delete_document(sample))


@pytest.mark.parametrize("seed", range(2))
async def test_what_deleting_a_chunk_does_was_told_before(
    store: Store, add_sample: AddSample, seed: int
) -> None:
    history = History(store, seed + 400)
    for _ in range(40):
        await history.step(add_sample)
    for sample in history.samples:
        for chunk in list(sample.chunks):
            told = await store.graph.deletion_impact(PROJECT, chunk.id, limit=1000)
            await require_as_told(history, told, history.delete_chunk(sample, chunk))


async def require_as_told(history: History, told: GraphImpact, deletion: Awaitable[None]) -> None:
    objects, relationships = await history.objects(), await history.relationships()
    for item in told["graph"]["objects"]:
        del objects[item["id"]]
    for edge in told["graph"]["relationships"]:
        del relationships[edge["id"]]
    for lost in told["graph"]["properties"]:
        change(objects[lost["object_id"]], lost)
    for lost in told["graph"]["relationship_properties"]:
        change(relationships[lost["relationship_id"]], lost)
    await deletion
    assert await history.objects() == objects
    assert await history.relationships() == relationships


def change(properties: dict[str, Any], lost: dict[str, Any]) -> None:
    assert properties.pop(lost["property_name"]) == lost["value"] != lost["falls_back_to"]
    if lost["stays"]:
        properties[lost["property_name"]] = lost["falls_back_to"]


@pytest.mark.parametrize("seed", range(2))
async def test_a_merge_that_is_undone_has_never_been(
    store: Store, add_sample: AddSample, dsn: str, seed: int
) -> None:
    history = History(store, seed + 100)
    for _ in range(15):
        await history.step(add_sample)
    for _ in range(5):
        before = picture(dsn)
        standing, _ = await store.graph.merges.page(PROJECT, limit=100, offset=0)
        await history.merge()
        await history.merge()
        merges, _ = await store.graph.merges.page(PROJECT, limit=100, offset=0)
        made = [merge.id for merge in merges if merge.id not in {one.id for one in standing}]
        history.random.shuffle(made)
        for ident in made:
            await store.graph.merges.undo(PROJECT, ident)
        assert picture(dsn) == before
        await history.step(add_sample)


async def test_the_order_of_two_documents_does_not_matter(store: Store, add_sample: AddSample) -> None:
    """The same claims, extracted at the same times, written the other way round."""
    seen = []
    for order in ((0, 1), (1, 0)):
        project = await store.projects.create(name=f"order {order}")
        samples = [await add_sample(project_id=project.id, name=f"{n}.pdf") for n in range(2)]
        said = {
            0: (thing("A", color="red", size=1), thing("B")),
            1: (thing("A", color="blue"), thing("C", weight=2)),
        }
        times = [sample.document.created_at for sample in samples]
        for index in order:
            await say(store, samples[index].chunks[0], *said[index], extracted_at=times[index])
        found, _ = await store.graph.objects.page(project.id, limit=10, offset=0)
        seen.append(sorted((item.name, item.properties) for item in found))
    assert seen[0] == seen[1]


@pytest.fixture
async def stores(dsn: str) -> AsyncIterator[list[Store]]:
    async with Store.open(dsn, size=6) as one, Store.open(dsn, size=6) as two:
        await one.projects.ensure_default()
        yield [one, two]


async def test_everything_at_once(stores: list[Store], add_sample: AddSample, dsn: str) -> None:
    """Extractions, deletions, merges and undoings of the same objects, from many sides: nothing waits for ever."""
    histories = [History(stores[index % 2], 1000 + index) for index in range(6)]

    async def live(history: History) -> None:
        for _ in range(25):
            try:
                await history.step(add_sample)
            except (NotFound, Conflict):
                continue  # another was faster

    await asyncio.wait_for(asyncio.gather(*map(live, histories)), timeout=200)
    require_sound(dsn)
    for history in histories:
        await history.delete_everything()
    assert not any(picture(dsn).values())
