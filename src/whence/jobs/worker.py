"""The worker: takes tasks from the queue in Postgres and runs them, beside the server or in a process of its own."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import procrastinate
from psycopg.conninfo import make_conninfo
from psycopg_pool import AsyncConnectionPool

from whence.errors import WhenceError
from whence.ingest import INGEST
from whence.jobs.tasks import Duties, blueprint
from whence.store import Store

log = logging.getLogger("whence.worker")

_CONNECTIONS = 3  # one listens, one fetches, one finishes
_POLLING = 0.2
_PATIENCE = 5.0  # for a connection; a worker that stops after its database did waits that long to say goodbye
_DRAIN = 30.0
_HEARTBEAT = 3.0
_SILENCE = 15.0  # a worker that was not heard of for so long is taken for dead
_SWEEP = 5.0
_SHORTEST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0


class _Pool(AsyncConnectionPool[Any]):
    """Gives up on a database that is away sooner than the half minute the queue would wait, also when stopping."""

    async def open(self, wait: bool = False, timeout: float = _PATIENCE) -> None:  # noqa: ASYNC109 - as it is in the base class
        await super().open(wait=wait, timeout=min(timeout, _PATIENCE))


def open_queue(dsn: str) -> procrastinate.App:
    connector = procrastinate.PsycopgConnector(
        conninfo=make_conninfo(dsn, options="-c search_path=queue,public", application_name="whence worker"),
        min_size=1,
        max_size=_CONNECTIONS,
        timeout=_PATIENCE,
        pool_factory=_Pool,
    )
    queue = procrastinate.App(connector=connector)
    queue.add_tasks_from(blueprint(), namespace="whence")
    return queue


@asynccontextmanager
async def working(dsn: str, duties: Duties, *, concurrency: int) -> AsyncIterator[None]:
    """A worker for as long as the block lasts; leaving it lets running tasks come to their next step, for a while."""
    stopping = asyncio.Event()
    task = asyncio.create_task(_work(dsn, duties, stopping, concurrency), name="whence worker")
    try:
        yield
    finally:
        # Told, not cancelled: a pool that is cancelled while it opens leaves tasks behind that never end.
        duties.stopping = True
        stopping.set()
        await task


async def _work(dsn: str, duties: Duties, stopping: asyncio.Event, concurrency: int) -> None:
    """When the database goes away the worker starts again, more slowly each time."""
    pause = _SHORTEST_PAUSE
    while not stopping.is_set():
        try:
            queue = open_queue(dsn)
            async with queue.open_async():
                pause = _SHORTEST_PAUSE
                await _run(queue, duties, stopping, concurrency)
        except Exception as exc:  # noqa: BLE001 - a worker outlives whatever stops it, and says so
            if not stopping.is_set():
                log.warning("The worker stopped (%s); it starts again in %.0f s", _reason(exc), pause)
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), pause)
        pause = min(pause * 2, _LONGEST_PAUSE)


async def _run(queue: procrastinate.App, duties: Duties, stopping: asyncio.Event, concurrency: int) -> None:
    run = asyncio.create_task(
        queue.run_worker_async(
            concurrency=concurrency,
            install_signal_handlers=False,
            fetch_job_polling_interval=_POLLING,
            shutdown_graceful_timeout=_DRAIN,
            update_heartbeat_interval=_HEARTBEAT,
            stalled_worker_timeout=_SILENCE,
            delete_jobs="successful",
            additional_context={"duties": duties},
        )
    )
    stop = asyncio.create_task(stopping.wait())
    sweep = asyncio.create_task(_sweep(duties.ingest.store))
    await asyncio.wait({run, stop}, return_when=asyncio.FIRST_COMPLETED)
    stop.cancel()
    sweep.cancel()
    run.cancel()  # the worker takes this as "finish what you do and stop"
    with suppress(asyncio.CancelledError):
        await run


async def _sweep(store: Store) -> None:
    """Whatever a dead worker had in hand goes back to the queue, and what the queue lost is put there again."""
    while True:
        try:
            if given_back := await store.queue.give_back(silence=_SILENCE):
                log.warning("%d tasks of a worker that died go on", given_back)
            if lost := await store.queue.restore(task=INGEST):
                log.warning("%d jobs that had no place in the queue go on", lost)
        except WhenceError as exc:
            log.debug("No sweep: %s", exc.message)
        await asyncio.sleep(_SWEEP)


def _reason(exc: BaseException) -> str:
    """The innermost cause says most: those around it say only that the database failed."""
    while exc.__cause__ is not None:
        exc = exc.__cause__
    return str(exc).strip().split("\n", 1)[0] or type(exc).__name__
