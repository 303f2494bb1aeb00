"""The worker: what is in the queue gets done, also by the second worker of a process."""

import asyncio

from tests.ingest.conftest import Desk, sentences

from whence.ingest import Receipt


async def done(desk: Desk, receipt: Receipt) -> None:
    while (await desk.job(receipt)).status != "completed":  # noqa: ASYNC110 - nothing tells of it but asking
        await asyncio.sleep(0.05)


async def test_a_worker_that_starts_again_knows_its_tasks(desk: Desk) -> None:
    """As it does in one process when the database was away for a while."""
    for number in range(2):
        receipt = await desk.hand_in(sentences(3, start=10 * number))
        async with desk.app.working():
            await asyncio.wait_for(done(desk, receipt), 30)
