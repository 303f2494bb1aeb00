"""The worker: what is in the queue gets done, also by the second worker of a process."""

import asyncio
import os
import resource
from contextlib import ExitStack

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


async def test_a_form_may_have_more_files_than_a_process_may_have_open(desk: Desk) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 30, before[1]))  # noqa: PTH208 - the same
    try:
        with ExitStack() as stack:
            files = [stack.enter_context(desk.app.inbox.file()) for _ in range(100)]
            for number, file in enumerate(files):
                await file.write(b"%d" % number)
                await file.finish()
            assert [file.head(10) for file in files] == [b"%d" % number for number in range(100)]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert not list(files[0].path.parent.iterdir())
