"""A project moves to another model: read where it is until every chunk is there, then all at once."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import UUID

import orjson
import pytest
from tests.endpoint import Endpoint, ok, uncounted
from tests.graphs import until_waiting
from tests.ingest.conftest import Desk, sentences

from whence.app import App
from whence.errors import EmbeddingUnavailable
from whence.ingest import Receipt
from whence.ingest.reembed import BATCH, begin_move, move
from whence.job_run import TryAgain
from whence.models import DEFAULT_PROJECT_ID, EmbeddingSpace, new_id
from whence.settings import Settings

PROJECT = DEFAULT_PROJECT_ID


@pytest.fixture
async def moved(settings: Settings) -> AsyncIterator[Desk]:
    """The same installation, with another embedder in its settings."""
    async with App.open(replace(settings, embedding_dimensions=32)) as app:
        yield Desk(app)


async def sizes(desk: Desk, receipt: Receipt) -> set[int]:
    """How many numbers the vectors have that a reader gets."""
    return {len(orjson.loads(orjson.dumps(chunk["embedding"]))) for chunk in await desk.chunks(receipt)}


async def test_until_it_is_whole_the_old_space_is_read(desk: Desk, moved: Desk) -> None:
    receipt = await desk.hand_in(sentences(3 * BATCH))
    await desk.run(receipt)
    target = await begin_move(moved.app.store, moved.app.embedders, PROJECT)
    assert target is not None
    assert target.dimensions == 32

    looks = iter([False, False, True])
    assert not await move(moved.app.store, moved.app.embedders, PROJECT, stopping=lambda: next(looks))
    assert await moved.app.store.vectors.filled(PROJECT, target.id) == (2 * BATCH, 3 * BATCH)
    assert await sizes(desk, receipt) == {64}

    later = await desk.hand_in(sentences(10, start=1000), name="later.txt")
    await desk.run(later)
    assert await sizes(desk, later) == {64}, "ingest goes on where the project is"

    assert await move(moved.app.store, moved.app.embedders, PROJECT)
    assert await sizes(desk, receipt) == await sizes(desk, later) == {32}
    assert await moved.app.store.vectors.spaces(PROJECT) == (target, None)
    assert await begin_move(moved.app.store, moved.app.embedders, PROJECT) is None


async def test_what_was_embedded_before_a_kill_is_not_again(
    desk: Desk, moved: Desk, endpoint: Endpoint
) -> None:
    receipt = await desk.hand_in(sentences(2 * BATCH))
    await desk.run(receipt)
    await begin_move(moved.app.store, moved.app.embedders, PROJECT)
    looks = iter([False, True])
    assert not await move(moved.app.store, moved.app.embedders, PROJECT, stopping=lambda: next(looks))
    sent = len(endpoint.requests)
    assert await move(moved.app.store, moved.app.embedders, PROJECT)
    assert sum(len(request.inputs) for request in endpoint.requests[sent:]) == BATCH


async def test_a_chunk_that_is_deleted_on_the_way_is_not_waited_for(desk: Desk, moved: Desk) -> None:
    receipt = await desk.hand_in(sentences(2 * BATCH))
    await desk.run(receipt)
    target = await begin_move(moved.app.store, moved.app.embedders, PROJECT)
    assert target is not None
    looks = iter([False, True])
    assert not await move(moved.app.store, moved.app.embedders, PROJECT, stopping=lambda: next(looks))
    for chunk in (await desk.chunks(receipt))[BATCH - 1 : BATCH + 1]:
        await desk.app.remover.chunk(PROJECT, receipt.document_id, UUID(chunk["id"]))
    assert await move(moved.app.store, moved.app.embedders, PROJECT)
    assert await moved.app.store.vectors.filled(PROJECT, target.id) == (2 * BATCH - 2, 2 * BATCH - 2)
    assert await sizes(desk, receipt) == {32}


async def test_a_document_that_is_under_way_when_the_project_switches(desk: Desk, moved: Desk) -> None:
    """It was embedded for the old space; it is not stored there."""
    first = await desk.hand_in(sentences(3))
    await desk.run(first)
    receipt = await desk.hand_in(sentences(5, start=100), name="under-way.txt")
    await begin_move(moved.app.store, moved.app.embedders, PROJECT)

    looks = iter([False, False, False, True])  # reading, embedding, its one batch; then it would be stored
    with pytest.raises(TryAgain):
        await desk.run(receipt, stopping=lambda: next(looks))
    assert (await desk.job(receipt)).done == 5
    assert await move(moved.app.store, moved.app.embedders, PROJECT)
    assert (await desk.run(receipt)).status == "completed"
    assert await sizes(desk, receipt) == {32}


async def test_tokens_are_counted_by_the_model_that_is_read(
    desk: Desk, moved: Desk, endpoint: Endpoint
) -> None:
    endpoint.default = uncounted
    receipt = await desk.hand_in(sentences(3))
    await desk.run(receipt)
    assert await counts(desk, receipt) == {None}
    endpoint.default = ok
    await begin_move(moved.app.store, moved.app.embedders, PROJECT)
    assert await move(moved.app.store, moved.app.embedders, PROJECT)
    found = await counts(desk, receipt)
    assert None not in found
    assert found


async def counts(desk: Desk, receipt: Receipt) -> set[int | None]:
    return {orjson.loads(orjson.dumps(one["metadata"]))["token_count"] for one in await desk.chunks(receipt)}


async def test_the_last_move_that_was_asked_for_counts(desk: Desk, moved: Desk, settings: Settings) -> None:
    receipt = await desk.hand_in(sentences(3))
    await desk.run(receipt)
    given_up = await begin_move(moved.app.store, moved.app.embedders, PROJECT)
    assert given_up is not None
    async with App.open(replace(settings, embedding_dimensions=16)) as third:
        assert await begin_move(third.store, third.embedders, PROJECT)
        assert await move(third.store, third.embedders, PROJECT)
        assert await sizes(desk, receipt) == {16}
        assert (await third.store.vectors.filled(PROJECT, given_up.id))[0] == 0


async def test_a_project_that_has_no_space_yet_need_not_move(desk: Desk) -> None:
    """What waits for its turn is embedded there, and stays."""
    receipt = await desk.hand_in(sentences(3))
    assert await begin_move(desk.app.store, desk.app.embedders, PROJECT) is None
    await desk.run(receipt)
    assert await move(desk.app.store, desk.app.embedders, PROJECT)
    assert await sizes(desk, receipt) == {64}
    assert None not in await counts(desk, receipt)


async def test_a_switch_to_where_the_project_is_takes_nothing_away(desk: Desk) -> None:
    receipt = await desk.hand_in(sentences(3))
    await desk.run(receipt)
    current, _ = await desk.app.store.vectors.spaces(PROJECT)
    assert current is not None
    async with desk.app.store.transaction() as tx:
        await tx._queries.run("UPDATE kb.projects SET next_space_id = space_id")
        assert await tx.vectors.switch(PROJECT, new=current.id)
    assert await sizes(desk, receipt) == {64}


async def test_a_move_back_waits_for_the_switch_that_is_under_way(desk: Desk, moved: Desk) -> None:
    receipt = await desk.hand_in(sentences(3))
    await desk.run(receipt)
    target = await begin_move(moved.app.store, moved.app.embedders, PROJECT)
    assert target is not None
    looks = iter([False, True])
    assert not await move(moved.app.store, moved.app.embedders, PROJECT, stopping=lambda: next(looks))
    async with moved.app.store.transaction() as tx:
        assert await tx.vectors.switch(PROJECT, new=target.id)
        back = asyncio.create_task(begin_move(desk.app.store, desk.app.embedders, PROJECT))
        await until_waiting(desk.app.dsn, 1, back)
        assert not back.done()
    assert await back is not None
    assert await desk.app.store.vectors.filled(PROJECT, target.id) == (3, 3)
    assert await move(desk.app.store, desk.app.embedders, PROJECT)
    assert await sizes(desk, receipt) == {64}


async def test_a_model_that_nothing_is_known_of(desk: Desk) -> None:
    space = EmbeddingSpace(id=new_id(), provider="elsewhere", model="m", dimensions=3)
    with pytest.raises(EmbeddingUnavailable):
        desk.app.embedders.of(space)
