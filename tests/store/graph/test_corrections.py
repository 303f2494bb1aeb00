"""What is always true of the graph when people correct it between extractions, merges and deletions."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

import psycopg
import pytest
from tests.graphs import picture, require_sound, say, thing, tie, update
from tests.samples import AddSample
from tests.store.graph.test_histories import NAMES, History

from whence.errors import Conflict, NotFound
from whence.models import DEFAULT_PROJECT_ID as PROJECT
from whence.models import Word
from whence.store import Store
from whence.store.graph.curation import Curation
from whence.store.graph.schema_moves import PropertyMove, TypeMove

ADA = Word(author="Ada", reason="She knows")


class Corrected(History):
    """A history in which people set, reject and undo, too."""

    def __init__(self, store: Store, seed: int) -> None:
        super().__init__(store, seed)
        self.entries = 0

    async def step(self, add_sample: AddSample) -> None:
        if self.random.random() < 0.6:
            await super().step(add_sample)
            return
        objects, _ = await self.store.graph.objects.page(PROJECT, limit=100, offset=0)
        if not objects:
            return
        found = self.random.choice(objects)
        steps = [self.set, self.reject_object, self.reject_claim, self.reject_relationship]
        await self.random.choice([*steps, self.undo_curation, self.undo_curation])(found.id)

    async def set(self, ident: UUID) -> None:
        values = {self.random.choice(("color", "size", "made")): self.random.randint(0, 9)}
        await self.store.graph.curations.set(PROJECT, ident, values, ADA)
        self.entries += 1

    async def reject_object(self, ident: UUID) -> None:
        await self.store.graph.curations.reject_object(PROJECT, ident, ADA)
        self.entries += 1

    async def reject_claim(self, ident: UUID) -> None:
        claims, _ = await self.store.graph.provenance.of_object(PROJECT, ident, limit=100, offset=0)
        claim = self.random.choice(claims)
        curations = self.store.graph.curations
        if self.random.random() < 0.5 and claim.property_name != "name":
            await self._noted(curations.reject_property(PROJECT, ident, claim.property_name, ADA))
        else:
            await self._noted(curations.reject_claim(PROJECT, ident, claim.id, ADA))

    async def reject_relationship(self, ident: UUID) -> None:
        found, _ = await self.store.graph.relationships.page(PROJECT, limit=9, offset=0, object_id=ident)
        for each in found[:1]:
            await self._noted(self.store.graph.curations.reject_relationship(PROJECT, each.id, ADA))

    async def undo_curation(self, _ident: UUID) -> None:
        entries, _ = await self.store.graph.curations.page(PROJECT, limit=1000, offset=0)
        if entries:
            await self._noted(self.store.graph.curations.undo(PROJECT, self.random.choice(entries).id, ADA))

    async def _noted(self, change: Awaitable[Curation]) -> None:
        try:
            await change
        except (Conflict, NotFound):  # undone before, or rejected already
            return
        self.entries += 1


def require_set_values(dsn: str) -> None:
    """An object has what was set last of each of its names, unless that was rejected or undone since."""
    with psycopg.connect(dsn) as conn:
        objects = conn.execute("SELECT id, type, name_key, properties FROM kb.graph_objects").fetchall()
        merged = conn.execute("SELECT object_id, type, name_key, merged_at FROM kb.object_merges").fetchall()
        words = conn.execute("""
            SELECT type, name_key, action, subject, property_name, value, created_at FROM kb.curations
            WHERE undone_at IS NULL AND action <> 'undo' ORDER BY created_at, id""").fetchall()
    never = datetime.min.replace(tzinfo=UTC)
    for ident, kind, name_key, properties in objects:
        since = {(kind, name_key): never, **{row[1:3]: row[3] for row in merged if row[0] == ident}}
        by_key: dict[tuple[str, str], dict[str, Any]] = {key: {} for key in since}
        for place, (of_type, of_name, action, subject, name, value, at) in enumerate(words):
            key = (of_type, of_name)
            if action == "set" and key in since:
                by_key[key][name] = (place, value)
            elif subject in {"object", "property"} and key in since:
                for other, said in by_key.items():
                    if other == key or at > max(since[key], since[other]):
                        for one in [one for one in said if subject == "object" or one == name]:
                            del said[one]
        last: dict[str, Any] = {}
        for said in by_key.values():
            for name, placed in said.items():
                last[name] = max(last.get(name, placed), placed)
        assert {name: value for name, (_, value) in last.items()}.items() <= properties.items()


@pytest.mark.parametrize("seed", range(2))
async def test_what_is_always_true(store: Store, add_sample: AddSample, dsn: str, seed: int) -> None:
    history = Corrected(store, seed + 1000)
    for _ in range(70):
        await history.step(add_sample)
        require_sound(dsn)
        require_set_values(dsn)
        _, total = await store.graph.curations.page(PROJECT, limit=1, offset=0)
        assert total == history.entries  # nothing is ever forgotten
    await history.delete_everything()
    assert not any(picture(dsn).values())
    with psycopg.connect(dsn) as conn:
        assert not conn.execute("SELECT FROM kb.rejected_claims").fetchall()
        assert not conn.execute("SELECT FROM kb.rejected_relationship_claims").fetchall()


async def test_undoing_a_rejection_restores_the_graph(store: Store, add_sample: AddSample, dsn: str) -> None:
    sample = await add_sample(chunks=2)
    first, second = sample.chunks
    made = await say(store, first, thing("A", size=1), thing("B"), ties=[tie("A", "is", "B")])
    a, b = made.objects
    assert a is not None
    assert b is not None
    (c,) = (await say(store, second, thing("C", size=2, color=3))).objects
    assert c is not None
    await store.graph.merges.merge(PROJECT, keep_id=a, drop_id=c)
    before = picture(dsn)
    curations = store.graph.curations
    (relationship,) = (await store.graph.relationships.page(PROJECT, limit=9, offset=0))[0]
    claims, _ = await store.graph.provenance.of_object(PROJECT, a, limit=100, offset=0)
    rejections: list[Callable[[], Awaitable[Curation]]] = [
        partial(curations.reject_object, PROJECT, a, ADA),
        partial(curations.reject_property, PROJECT, a, "size", ADA),
        partial(curations.reject_relationship, PROJECT, relationship.id, ADA),
        *(partial(curations.reject_claim, PROJECT, a, claim.id, ADA) for claim in claims),
    ]
    for reject in rejections:
        rejected = await reject()
        require_sound(dsn)
        assert picture(dsn) != before
        await curations.undo(PROJECT, rejected.id, ADA)
        require_sound(dsn)
        after = picture(dsn)
        for kind in ("objects", "relationships", "claims", "hidden", "ties", "hidden ties", "merges"):
            assert after[kind] == before[kind], kind


async def test_two_rejections_of_one_claim_must_both_be_undone(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    sample = await add_sample(chunks=1)
    made = await say(store, sample.chunks[0], thing("A", size=1), thing("B"), ties=[tie("A", "is", "B")])
    a, b = made.objects
    assert a is not None
    assert b is not None
    curations = store.graph.curations
    before = picture(dsn)
    first = await curations.reject_object(PROJECT, a, ADA)
    second = await curations.reject_object(PROJECT, b, ADA)
    await curations.undo(PROJECT, first.id, ADA)
    require_sound(dsn)
    assert not picture(dsn)["ties"]
    await curations.undo(PROJECT, second.id, ADA)
    assert picture(dsn)["objects"] == before["objects"]
    assert len(picture(dsn)["ties"]) == 1
    require_sound(dsn)


async def test_a_merged_object_brings_its_values_and_takes_them_back(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    sample = await add_sample(chunks=2)
    (a,) = (await say(store, sample.chunks[0], thing("A", size=1))).objects
    (b,) = (await say(store, sample.chunks[1], thing("B", color=2))).objects
    assert a is not None
    assert b is not None
    await store.graph.curations.set(PROJECT, b, {"size": 7}, ADA)
    merge = await store.graph.merges.merge(PROJECT, keep_id=a, drop_id=b)
    assert (await store.graph.objects.get(a)).properties == {"size": 7, "color": 2}
    (word, *_), total = await store.graph.provenance.of_object(PROJECT, a, limit=9, offset=0)
    assert (word.operation, word.value, word.word and word.word.author) == ("set", 7, "Ada")
    for size in (1, 2, total):
        pages = [
            (await store.graph.provenance.of_object(PROJECT, a, limit=size, offset=offset))[0]
            for offset in range(0, total, size)
        ]
        assert [len(page) for page in pages] == [min(size, total - at) for at in range(0, total, size)]
        assert len({one.id for page in pages for one in page}) == total
    await store.graph.merges.undo(PROJECT, merge.id)
    assert (await store.graph.objects.get(a)).properties == {"size": 1}
    assert (await store.graph.objects.get(b)).properties == {"size": 7, "color": 2}
    require_sound(dsn)


async def test_renames_and_removals_lose_no_word(store: Store, add_sample: AddSample, dsn: str) -> None:
    sample = await add_sample(chunks=2)
    (a,) = (await say(store, sample.chunks[0], thing("A", size=1, weight=3))).objects
    (b,) = (await say(store, sample.chunks[1], thing("B", "Sort", size=5))).objects
    assert a is not None
    assert b is not None
    curations = store.graph.curations
    await curations.set(PROJECT, a, {"color": 7}, ADA)
    rejected = await curations.reject_property(PROJECT, a, "size", ADA)
    gone = await curations.reject_property(PROJECT, a, "weight", ADA)
    for name in ("color", "size"):
        move = PropertyMove(type="Thing", name=name, new_name=f"new {name}")
        await store.graph.schema_moves.apply(PROJECT, move, schema_number=2)
    await store.graph.schema_moves.apply(PROJECT, PropertyMove(type="Thing", name="weight"), schema_number=2)
    await store.graph.schema_moves.apply(PROJECT, TypeMove(type="Thing", new_type="Item"), schema_number=2)
    assert (await store.graph.objects.get(a)).properties == {"new color": 7}
    await curations.undo(PROJECT, rejected.id, ADA)
    await curations.undo(PROJECT, gone.id, ADA)
    assert (await store.graph.objects.get(a)).properties == {"new color": 7, "new size": 1}
    await curations.set(PROJECT, b, {"size": 6}, ADA)
    dropped = await curations.reject_object(PROJECT, b, ADA)
    await store.graph.schema_moves.apply(PROJECT, TypeMove(type="Sort"), schema_number=2)
    await curations.undo(PROJECT, dropped.id, ADA)
    assert [one.name for one in (await store.graph.objects.page(PROJECT, limit=9, offset=0))[0]] == ["A"]
    entries, total = await curations.page(PROJECT, limit=100, offset=0)
    assert total == 8
    assert [one.state for one in entries if one.action == "set"] == ["waiting", "active"]
    require_sound(dsn)


async def test_corrections_and_extractions_at_once_leave_a_sound_graph(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    sample = await add_sample(chunks=4)
    await asyncio.gather(
        *(say(store, chunk, thing("A", size=n), thing("B")) for n, chunk in enumerate(sample.chunks))
    )

    async def extract(turn: int) -> None:
        chunk = sample.chunks[turn % 4]
        await say(
            store,
            chunk,
            thing("A", size=turn),
            thing(NAMES[turn % 3]),
            ties=[tie("A", "is", "B")] if turn % 2 else [],
        )

    async def correct(turn: int) -> None:
        curations = store.graph.curations
        objects, _ = await store.graph.objects.page(PROJECT, limit=9, offset=0)
        entries, _ = await curations.page(PROJECT, limit=5, offset=0)
        try:
            if turn % 3 == 0 and entries:
                await curations.undo(PROJECT, entries[turn % len(entries)].id, ADA)
            elif objects and turn % 3 == 1:
                await curations.reject_object(PROJECT, objects[turn % len(objects)].id, ADA)
            elif objects:
                await curations.set(PROJECT, objects[turn % len(objects)].id, {"size": turn}, ADA)
        except (Conflict, NotFound):
            pass

    for turn in range(8):
        await asyncio.gather(
            *(extract(4 * turn + one) for one in range(4)), *(correct(3 * turn + one) for one in range(3))
        )
        require_sound(dsn)
        require_set_values(dsn)


async def test_an_update_by_id_of_a_rejected_text_is_withheld(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    first, second = (await add_sample(chunks=2)).chunks
    (a,) = (await say(store, first, thing("A", size=1))).objects
    assert a is not None
    await say(store, second, update(a, size=2))
    claim = next(
        one
        for one in (await store.graph.provenance.of_object(PROJECT, a, limit=9, offset=0))[0]
        if one.value == 2
    )
    await store.graph.curations.reject_claim(PROJECT, a, claim.id, ADA)
    written = await say(store, second, update(a, size=2, color=4))
    assert (written.rejected, written.objects) == (1, (a,))
    assert (await store.graph.objects.get(a)).properties == {"size": 1, "color": 4}
    require_sound(dsn)
