"""The same histories where the schema changes as well: types and properties are renamed and removed under way."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.graphs import picture, require_sound
from tests.samples import AddSample
from tests.store.graph.test_histories import History, require_as_told

from whence.errors import Conflict, NotFound
from whence.models import DEFAULT_PROJECT_ID as PROJECT
from whence.store import Store
from whence.store.graph.schema_moves import (
    Move,
    PropertyMove,
    RelationshipMove,
    TypeMove,
)

if TYPE_CHECKING:
    from uuid import UUID

    from whence.chunk_findings import FoundObject

TYPES = ("Thing", "Item")
PROPERTIES = ("color", "size", "weight")
LINKS = ("is", "needs")


class Changing(History):
    async def change_schema(self) -> None:
        self.schema += 1
        new, pick = self.schema, self.random
        old_name, name = pick.sample(PROPERTIES, 2)
        old_type, kind = pick.sample(TYPES, 2)
        old_link, link = pick.sample(LINKS, 2)
        moves: tuple[Move, ...] = (
            PropertyMove(type=kind, name=name),
            PropertyMove(type=kind, name=old_name, new_name=name),
            TypeMove(type=old_type, new_type=kind),
            TypeMove(type=kind),
            RelationshipMove(type=old_link, new_type=link),
            RelationshipMove(type=link),
            RelationshipMove(type=link, new_type=link, renamed={"n": "since"}, removed=["more"]),
        )
        move = moves[pick.randrange(7)]
        if isinstance(move, TypeMove) and move.new_type is None:  # the type may have come back since
            new = pick.randint(1, new)
        await self.store.graph.schema_moves.apply(PROJECT, move, schema_number=new)

    async def merge(self) -> None:
        kind = self.random.choice(TYPES)
        objects, _ = await self.store.graph.objects.page(PROJECT, limit=100, offset=0, object_type=kind)
        if len(objects) > 1:
            keep, drop = self.random.sample(objects, 2)
            await self.store.graph.merges.merge(PROJECT, keep_id=keep.id, drop_id=drop.id)

    def _object(self, known: "list[UUID]") -> "FoundObject":
        found = super()._object(known)
        if found.key is None:
            return found
        return replace(found, key=(self.random.choice(TYPES), found.key[1]))


async def lived(history: Changing, add_sample: AddSample, dsn: str) -> None:
    for _ in range(50):
        await history.step(add_sample)
        if history.random.random() < 0.25:
            await history.change_schema()
        require_sound(dsn)


@pytest.mark.parametrize("seed", range(4, 7))
async def test_what_deleting_does_was_told_before(
    store: Store, add_sample: AddSample, dsn: str, seed: int
) -> None:
    history = Changing(store, seed + 5000)
    await lived(history, add_sample, dsn)
    for sample in list(history.samples):
        for chunk in sample.chunks[:2]:
            told = await store.graph.deletion_impact(PROJECT, chunk.id, limit=1000)
            await require_as_told(history, told, history.delete_chunk(sample, chunk))
            require_sound(dsn)
        told = await store.graph.deletion_impact(PROJECT, sample.document.id, limit=1000)
        await require_as_told(history, told, history.delete_document(sample))
    assert not any(picture(dsn).values())


async def live_together(histories: Sequence[Changing], add_sample: AddSample, *, steps: int) -> None:
    """Every history takes its steps while the others take theirs. A step that loses a race says so."""

    async def live(history: Changing) -> None:
        for turn in range(steps):
            try:
                await (history.change_schema() if turn % 4 == 0 else history.step(add_sample))
            except (NotFound, Conflict):
                continue  # another was faster

    async with asyncio.timeout(200):
        await asyncio.gather(*map(live, histories))


@pytest.mark.parametrize(("seed", "writers"), [(7000, 5), (1200, 8)])  # both once gave a name to two objects
async def test_everything_at_once(dsn: str, add_sample: AddSample, seed: int, writers: int) -> None:
    """Schema changes lock the objects that others write, merge and delete: nothing waits for ever."""
    async with Store.open(dsn, size=writers) as one, Store.open(dsn, size=writers) as two:
        await one.projects.ensure_default()
        histories = [Changing((one, two)[index % 2], seed + index) for index in range(writers)]
        await live_together(histories, add_sample, steps=25)
        require_sound(dsn)
        for history in histories:
            await history.delete_everything()
        assert not any(picture(dsn).values())
