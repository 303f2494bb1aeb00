"""The worker: takes tasks from the queue in Postgres and runs them, beside the server or in a process of its own."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from time import monotonic
from typing import Any

import procrastinate
import psycopg
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job, Notification
from procrastinate.manager import JobManager, NotificationCallback
from procrastinate.worker import Worker
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo
from psycopg_pool import AsyncConnectionPool

from whence.background import Background, cause
from whence.errors import DatabaseUnavailable
from whence.extract.scheduling import EXTRACT
from whence.ingest import INGEST
from whence.job_run import TryAgain
from whence.jobs.tasks import Duties, tasks
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
_RESTART = 1.0  # seconds after a worker that ended without an error

WORKER, SWEEP, TIDYING = "the worker", "the sweep for stalled jobs", "tidying at the start"
"""Names of background work."""


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
            log.debug("The queue was not told how a task ended: %s", cause(exc))
        finally:
            self._free[job.queue] += 1
            self._look_again(job.queue)


class _InHand(set[int]):
    """The tasks that run in this process, by their number in the queue.

    A task that fails is noted, whatever the reason: the queue only tries it again.
    """

    def __init__(self, background: Background) -> None:
        super().__init__()
        self._background = background

    async def __call__(
        self,
        run: Callable[[], Awaitable[Any]],
        context: procrastinate.JobContext,
        worker: Worker,  # noqa: ARG002 - as procrastinate calls it
    ) -> Any:
        number = context.job.id
        assert number is not None, "it comes from the queue"
        self.add(number)
        name = f"the task {context.job.task_name}"
        try:
            with busy():
                result = await run()
        except TryAgain:  # it has said why
            raise
        except Exception as exc:
            self._background.failed(name, exc)
            raise
        else:
            self._background.succeeded(name)
            return result
        finally:
            self.discard(number)


class _Worker(Worker):
    """Looks for tasks each time that one has ended.

    The queue's own goes on at once only where all its slots were taken. Where no slot of one queue was free, but some of
    another, it has gone to sleep, for as long as nothing new comes.
    """

    ended_by: BaseException | None = None
    """The error of its heartbeat, its listener or its clock, which ended it."""

    async def _monitor_side_tasks(self, side_tasks: list[asyncio.Task[Any]]) -> None:
        await super()._monitor_side_tasks(side_tasks)
        ended = (task for task in side_tasks if task.done() and not task.cancelled())
        self.ended_by = next((exc for exc in map(asyncio.Task.exception, ended) if exc), None)

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
    stopping, background = asyncio.Event(), duties.background
    # A machine that sleeps at night would never be tidied by the clock alone.
    tidying = asyncio.create_task(background.complete(TIDYING, duties.tidy, stopping=stopping))
    work = partial(_work, dsn, duties, stopping, slots)
    worker = asyncio.create_task(background.repeat(WORKER, work, every=_RESTART, stopping=stopping))
    try:
        yield
    finally:
        # Not cancelled: a pool that is cancelled while it opens leaves tasks behind that never end.
        duties.stopping = True
        stopping.set()
        tidying.cancel()
        await asyncio.wait({worker, tidying})


async def _work(dsn: str, duties: Duties, stopping: asyncio.Event, slots: Mapping[QueueName, int]) -> None:
    """Run one worker until it ends: when it is stopped, or with an error when the database goes away."""
    try:
        queue = open_queue(dsn, slots)
        async with queue.open_async():
            await _run(queue, duties, stopping, sum(slots.values()))
    except (ConnectorException, psycopg.Error) as exc:
        if stopping.is_set():
            return
        if isinstance(exc.__cause__ or exc, psycopg.OperationalError | psycopg.InterfaceError):
            raise DatabaseUnavailable from exc
        raise


async def _run(queue: procrastinate.App, duties: Duties, stopping: asyncio.Event, concurrency: int) -> None:
    in_hand = _InHand(duties.background)
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
    sweep = asyncio.create_task(
        duties.background.repeat(SWEEP, _Sweep(duties, worker, in_hand).once, every=_SWEEP, stopping=stopping)
    )
    await asyncio.wait({run, stop}, return_when=asyncio.FIRST_COMPLETED)
    stop.cancel()
    sweep.cancel()
    run.cancel()  # the worker takes this as "finish what you do and stop"
    with suppress(asyncio.CancelledError):
        await run
    if worker.ended_by is not None and not stopping.is_set():
        raise worker.ended_by


class _Sweep:
    """Puts back into the queue the tasks of dead workers, and jobs that the queue lost."""

    def __init__(self, duties: Duties, worker: Worker, in_hand: _InHand) -> None:
        self._queue = duties.ingest.store.queue
        self._background = duties.background
        self._worker = worker
        self._in_hand = in_hand
        self._idle: set[int] = set()

    async def once(self) -> None:
        await self._give_back_own()
        if given_back := await self._queue.give_back(silence=_SILENCE):
            log.warning("%d tasks of a worker that died go on", given_back)
        lost = await self._queue.restore(task=INGEST, job_type="document_processing")
        lost += await self._queue.restore(task=EXTRACT, job_type="extraction", queue="extraction")
        if lost:
            log.warning("%d jobs that had no place in the queue go on", lost)
        if self._worker.worker_id is not None:  # it has registered, and the database answers
            self._background.succeeded(WORKER)

    async def _give_back_own(self) -> None:
        """Tasks that the queue counts as running here and that are not.

        Seen twice in a row: a task begins and ends in the queue a moment before and after it runs.
        """
        number = self._worker.worker_id
        if number is None:
            return
        before, self._idle = self._idle, await self._queue.doing(number) - self._in_hand
        if before & self._idle:
            await self._queue.give_back_lost(number, before & self._idle)
            log.warning("%d tasks that the queue lost sight of go on", len(before & self._idle))
