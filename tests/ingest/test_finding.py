"""What is ingested is found by its words, and what goes is not: the index follows the chunks wherever they go."""

import asyncio
from uuid import UUID

import pytest
from tests.endpoint import Endpoint, Gate, status
from tests.ingest.conftest import Desk, sentences
from tests.search.shelf import Shelf, assert_same

from whence.job_run import TryAgain
from whence.models import DEFAULT_PROJECT_ID
from whence.search.index import COMPACT, FANOUT, index_lock, reindex

QUESTION = "Which sentence tells of thing 7, and which of 104?"


@pytest.fixture
def shelf(desk: Desk) -> Shelf:
    return Shelf(desk.app.store, DEFAULT_PROJECT_ID)


async def assert_found(shelf: Shelf) -> None:
    """All that is there, with its right score, and nothing else."""
    expected = await shelf.expected(QUESTION)
    assert len(expected) == len(await shelf.texts())
    assert_same(await shelf.find(QUESTION, limit=1000), expected, 1000)


async def test_new_chunks_are_found(desk: Desk, shelf: Shelf) -> None:
    await desk.run(await desk.hand_in(sentences(10)))
    await desk.run(await desk.hand_in(sentences(10, start=100)))
    await assert_found(shelf)
    texts = await shelf.texts()
    best = (await shelf.find("thing 104")).hits[0]
    assert "thing 104" in texts[UUID(bytes=best.chunk_id)]


async def test_an_update_in_place(desk: Desk, shelf: Shelf) -> None:
    receipt = await desk.hand_in(sentences(20))
    await desk.run(receipt)
    await desk.run(await desk.change(receipt, sentences(12, start=5)))
    await assert_found(shelf)
    (state,) = [
        state for state in await shelf.store.lexical.segments(shelf.project_id) if state.live < state.size
    ]
    assert (state.size, state.live) == (20, 12)


async def test_a_document_that_is_deleted(desk: Desk, shelf: Shelf) -> None:
    receipt = await desk.hand_in(sentences(5))
    await desk.run(receipt)
    await desk.run(await desk.hand_in(sentences(5, start=100)))
    await desk.app.remover.document(await desk.app.store.documents.get(receipt.document_id))
    await assert_found(shelf)
    assert len(await shelf.texts()) == 5


async def test_a_job_that_is_deleted(desk: Desk, shelf: Shelf) -> None:
    receipt = await desk.hand_in(sentences(5))
    await desk.run(receipt)
    await desk.run(await desk.hand_in(sentences(5, start=100)))
    await desk.app.remover.job(await desk.job(receipt))
    await assert_found(shelf)
    assert len(await shelf.texts()) == 5


async def test_nothing_is_found_of_a_job_that_did_not_come_to_its_end(
    desk: Desk, shelf: Shelf, endpoint: Endpoint
) -> None:
    receipt = await desk.hand_in(sentences(5))
    endpoint.script(status(503))
    with pytest.raises(TryAgain):
        await desk.run(receipt)
    assert (await shelf.find(QUESTION)).hits == []
    await desk.run(receipt)
    await assert_found(shelf)


async def test_the_language_changes_while_a_document_is_on_its_way(
    desk: Desk, shelf: Shelf, endpoint: Endpoint
) -> None:
    """The job embeds nothing anew, and reads its words again in the language that is spoken now."""
    endpoint.default = gate = Gate()
    receipt = await desk.hand_in("Die Häuser der Stadt sind hoch und die Wälder sind weit.")
    running = asyncio.create_task(desk.run(receipt))
    async with asyncio.timeout(60):
        while not endpoint.requests:  # noqa: ASYNC110 - it has no event to wait for
            await asyncio.sleep(0.01)
    await reindex(shelf.store, shelf.project_id, language="german")
    gate.open()
    with pytest.raises(TryAgain):
        await running
    await desk.run(receipt)
    assert len(endpoint.requests) == 1
    assert len((await shelf.find("Haus")).hits) == 1


async def test_many_documents_are_merged_by_the_worker(desk: Desk, shelf: Shelf) -> None:
    for number in range(FANOUT + 2):
        await desk.run(await desk.hand_in(sentences(3, start=100 * number)))
    store, lock = desk.app.store, index_lock(DEFAULT_PROJECT_ID)
    assert await store.queue.waits(COMPACT, lock=lock)
    async with desk.app.working():
        async with asyncio.timeout(60):
            while await store.queue.waits(COMPACT, lock=lock):  # noqa: ASYNC110 - nothing tells of it but asking
                await asyncio.sleep(0.05)
    assert len(await store.lexical.segments(DEFAULT_PROJECT_ID)) == 3
    await assert_found(shelf)


async def test_documents_come_change_and_go_beside_each_other(desk: Desk, shelf: Shelf) -> None:
    receipts = [await desk.hand_in(sentences(6, start=100 * number)) for number in range(20)]
    async with desk.app.working():
        for number, receipt in enumerate(receipts):
            async with asyncio.timeout(60):
                while (await desk.job(receipt)).status != "completed":  # noqa: ASYNC110 - likewise
                    await asyncio.sleep(0.02)
            if number % 3 == 0:
                await desk.app.remover.document(await desk.app.store.documents.get(receipt.document_id))
            elif number % 3 == 1:
                receipts[number] = await desk.change(receipt, sentences(6, start=100 * number + 3))
        for receipt in receipts[1::3]:
            async with asyncio.timeout(60):
                while (await desk.job(receipt)).status != "completed":  # noqa: ASYNC110 - likewise
                    await asyncio.sleep(0.02)
    assert len(await shelf.texts()) == 13 * 6
    await assert_found(shelf)
