"""The worker: takes tasks from the queue in Postgres and runs them, beside the server or in a process of its own."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from time import monotonic
from typing import Any

import procrastinate
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job, Notification
from procrastinate.manager import JobManager, NotificationCallback
from procrastinate.worker import Worker
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo
from psycopg_pool import AsyncConnectionPool

from whence.errors import WhenceError
from whence.extract.order import EXTRACT
from whence.ingest import INGEST
from whence.jobs.tasks import Duties, tasks
from whence.store import Store
from whence.store.pool import busy
from whence.store.queue import QueueName

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


class _Manager(JobManager):
    """Takes tasks from those queues only that have a slot free, and that may have a task.

    A queue that had none is not asked again until a task of it is announced or ends, or it is time for another look.

    A database that is away when a task ends is no reason for a stack trace: the sweep finds out later.
    """

    def __init__(self, connector: procrastinate.PsycopgConnector, slots: Mapping[QueueName, int]) -> None:
        super().__init__(connector)
        self._free: Counter[str] = Counter(slots)
        self._empty_until: dict[str, float] = dict.fromkeys(self._free, 0.0)

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:  # noqa: ARG002 - it knows better
        while asked := self._promising():
            # Before they are asked, so that what is announced meanwhile is not missed.
            self._empty_until |= dict.fromkeys(asked, monotonic() + _POLLING / 2)
            job = await super().fetch_job(asked, worker_id)
            if job is not None:
                self._free[job.queue] -= 1
                self._look_again(*asked)
                return job
        return None

    def _promising(self) -> list[str]:
        moment = monotonic()
        return [name for name, free in self._free.items() if free > 0 and self._empty_until[name] <= moment]

    def _look_again(self, *queues: str) -> None:
        self._empty_until |= dict.fromkeys(queues, 0.0)

    async def listen_for_jobs(
        self,
        *,
        on_notification: NotificationCallback,
        queues: Iterable[str] | None = None,  # noqa: ARG002 - likewise
    ) -> None:
        async def announced(*, channel: str, notification: Notification) -> None:
            self._look_again(channel.rpartition("#")[2])
            await on_notification(channel=channel, notification=notification)

        await super().listen_for_jobs(on_notification=announced, queues=list(self._free))

    async def finish_job(self, job: Job, *args: Any, **named: Any) -> None:
        with self._ended(job):
            await super().finish_job(job, *args, **named)

    async def retry_job(self, job: Job, *args: Any, **named: Any) -> None:
        with self._ended(job):
            await super().retry_job(job, *args, **named)

    @contextmanager
    def _ended(self, job: Job) -> Iterator[None]:
        try:
            yield
        except ConnectorException as exc:
            log.debug("The queue was not told how a task ended: %s", _reason(exc))
        finally:
            self._free[job.queue] += 1
            self._look_again(job.queue)


class _InHand(set[int]):
    """The tasks that run in this process, by their number in the queue."""

    async def __call__(
        self,
        run: Callable[[], Awaitable[Any]],
        context: procrastinate.JobContext,
        worker: Worker,  # noqa: ARG002 - as procrastinate calls it
    ) -> Any:
        number = context.job.id
        assert number is not None, "it comes from the queue"  # noqa: S101
        self.add(number)
        try:
            with busy():
                return await run()
        finally:
            self.discard(number)


class _Worker(Worker):
    """Looks for tasks each time that one has ended.

    The queue's own goes on at once only where all its slots were taken. Where no slot of one queue was free, but some of
    another, it has gone to sleep, for as long as nothing new comes.
    """

    async def _process_job(self, context: procrastinate.JobContext) -> None:
        try:
            await super()._process_job(context)
        finally:
            self._new_job_event.set()


async def _commit_at_once(connection: AsyncConnection[Any]) -> None:
    """The queue never asks for two statements to be one."""
    await connection.set_autocommit(True)


def open_queue(dsn: str, slots: Mapping[QueueName, int]) -> procrastinate.App:
    connector = procrastinate.PsycopgConnector(
        conninfo=make_conninfo(dsn, options="-c search_path=queue,public", application_name="whence worker"),
        min_size=1,
        max_size=_CONNECTIONS,
        timeout=_PATIENCE,
        pool_factory=_Pool,
        configure=_commit_at_once,
    )
    queue = procrastinate.App(connector=connector)
    queue.job_manager = _Manager(connector, slots)
    # Without a namespace: it would be put before their names each time that the worker starts again.
    queue.add_tasks_from(tasks, namespace="")
    return queue


@asynccontextmanager
async def working(dsn: str, duties: Duties, *, slots: Mapping[QueueName, int]) -> AsyncIterator[None]:
    """A worker for as long as the block lasts; leaving it lets running tasks come to their next step, for a while.

    `slots` says how many tasks of each queue it has in hand at most.
    """
    stopping = asyncio.Event()
    tidying = asyncio.create_task(_tidy(duties), name="whence tidying")
    task = asyncio.create_task(_work(dsn, duties, stopping, slots), name="whence worker")
    try:
        yield
    finally:
        # Told, not cancelled: a pool that is cancelled while it opens leaves tasks behind that never end.
        duties.stopping = True
        stopping.set()
        tidying.cancel()
        await asyncio.wait({task, tidying})


async def _tidy(duties: Duties) -> None:
    """A machine that sleeps at night would never be tidied by the clock alone."""
    try:
        await duties.tidy()
    except WhenceError as exc:
        log.warning("Not tidied: %s", exc.message)


async def _work(dsn: str, duties: Duties, stopping: asyncio.Event, slots: Mapping[QueueName, int]) -> None:
    """When the database goes away the worker starts again, more slowly each time."""
    pause = _SHORTEST_PAUSE
    while not stopping.is_set():
        try:
            queue = open_queue(dsn, slots)
            async with queue.open_async():
                pause = _SHORTEST_PAUSE
                await _run(queue, duties, stopping, sum(slots.values()))
        except Exception as exc:  # noqa: BLE001 - a worker outlives whatever stops it, and says so
            if not stopping.is_set():
                log.warning("The worker stopped (%s); it starts again in %.0f s", _reason(exc), pause)
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), pause)
        pause = min(pause * 2, _LONGEST_PAUSE)


async def _run(queue: procrastinate.App, duties: Duties, stopping: asyncio.Event, concurrency: int) -> None:
    in_hand = _InHand()
    worker = _Worker(
        queue,
        concurrency=concurrency,
        install_signal_handlers=False,
        fetch_job_polling_interval=_POLLING,
        shutdown_graceful_timeout=_DRAIN,
        update_heartbeat_interval=_HEARTBEAT,
        stalled_worker_timeout=_SILENCE,
        delete_jobs="successful",
        additional_context={"duties": duties},
        worker_middleware=[in_hand],
    )
    run = asyncio.create_task(worker.run())  # type: ignore[no-untyped-call]
    stop = asyncio.create_task(stopping.wait())
    sweep = asyncio.create_task(_sweep(duties.ingest.store, worker, in_hand))
    await asyncio.wait({run, stop}, return_when=asyncio.FIRST_COMPLETED)
    stop.cancel()
    sweep.cancel()
    run.cancel()  # the worker takes this as "finish what you do and stop"
    with suppress(asyncio.CancelledError):
        await run


async def _sweep(store: Store, worker: Worker, in_hand: _InHand) -> None:
    """Whatever a dead worker had in hand goes back to the queue, and what the queue lost is put there again."""
    idle: set[int] = set()
    while True:
        try:
            # Twice in a row, as a task is begun and ended in the queue a moment before and after it is in hand.
            before, idle = idle, await _believed(store, worker) - in_hand
            if before & idle and worker.worker_id is not None:
                await store.queue.give_back_lost(worker.worker_id, before & idle)
                log.warning("%d tasks that the queue lost sight of go on", len(before & idle))
            if given_back := await store.queue.give_back(silence=_SILENCE):
                log.warning("%d tasks of a worker that died go on", given_back)
            lost = await store.queue.restore(task=INGEST, job_type="document_processing")
            lost += await store.queue.restore(task=EXTRACT, job_type="extraction", queue="extraction")
            if lost:
                log.warning("%d jobs that had no place in the queue go on", lost)
        except WhenceError as exc:
            log.debug("No sweep: %s", exc.message)
        await asyncio.sleep(_SWEEP)


async def _believed(store: Store, worker: Worker) -> set[int]:
    """What the queue believes this worker to have in hand."""
    return set() if worker.worker_id is None else await store.queue.doing(worker.worker_id)


def _reason(exc: BaseException) -> str:
    """The innermost cause says most: those around it say only that the database failed."""
    while exc.__cause__ is not None:
        exc = exc.__cause__
    return str(exc).strip().split("\n", 1)[0] or type(exc).__name__
