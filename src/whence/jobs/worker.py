"""The worker: takes tasks from the queue in Postgres and runs them, beside the server or in a process of its own."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import procrastinate
from psycopg.conninfo import make_conninfo

from whence.jobs.tasks import housekeeping

log = logging.getLogger("whence.worker")

_CONNECTIONS = 3  # one listens, one fetches, one finishes
_POLLING = 0.2
_DRAIN = 30.0
_LONGEST_PAUSE = 30.0


def open_queue(dsn: str) -> procrastinate.App:
    connector = procrastinate.PsycopgConnector(
        conninfo=make_conninfo(dsn, options="-c search_path=queue,public", application_name="whence worker"),
        min_size=1,
        max_size=_CONNECTIONS,
    )
    queue = procrastinate.App(connector=connector)
    queue.add_tasks_from(housekeeping, namespace="whence")
    return queue


@asynccontextmanager
async def working(dsn: str) -> AsyncIterator[None]:
    """A worker for as long as the block lasts; leaving it lets running tasks finish, for a while."""
    task = asyncio.create_task(_work(dsn), name="whence worker")
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _work(dsn: str) -> None:
    """Until cancelled. When the database goes away the worker starts again, more slowly each time."""
    pause = 1.0
    while True:
        try:
            queue = open_queue(dsn)
            async with queue.open_async():
                pause = 1.0
                await queue.run_worker_async(
                    install_signal_handlers=False,
                    fetch_job_polling_interval=_POLLING,
                    shutdown_graceful_timeout=_DRAIN,
                )
        except asyncio.CancelledError:
            raise
        except Exception:  # a worker outlives whatever stops it, and says so
            log.exception("The worker stopped; it starts again in %.0f s", pause)
        await asyncio.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)
