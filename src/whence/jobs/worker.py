"""The worker: runs tasks from the Postgres queue, in the server's process or its own."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import Any

import procrastinate
import psycopg
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job
from procrastinate.manager import JobManager
from procrastinate.worker import Worker
from psycopg.conninfo import make_conninfo
from psycopg_pool import AsyncConnectionPool

from whence.background import BackgroundWork, cause
from whence.errors import DatabaseUnavailable
from whence.extract.scheduling import EXTRACT
from whence.ingest import INGEST
from whence.job_run import TryAgain
from whence.jobs.tasks import Duties, tasks
from whence.store.connection import busy
from whence.store.queue import Queue, QueueName

log = logging.getLogger("whence.worker")

_CONNECTIONS = 3  # one listens, one fetches, one finishes
_POLLING = 0.2
_PATIENCE = 5.0  # seconds to wait for a connection, also at shutdown without a database
_DRAIN = 30.0
_HEARTBEAT = 3.0
_SILENCE = 15.0  # seconds without a heartbeat after which a worker counts as dead
_SWEEP = 5.0
_SHARED: QueueName = "default"
_LOOK = 20  # a look for tasks of other projects is followed by a pause that many times as long,
_LONGEST_PAUSE = 1.0  # but no longer than this, in seconds
_SILENT = 0.5  # seconds that a stopping worker waits for its jobs before it says so
_RESTART = 1.0  # seconds before a worker that ended without an error starts again

WORKER, SWEEP, TIDYING = "the worker", "the sweep for stalled jobs", "tidying at the start"


class _Pool(AsyncConnectionPool[Any]):
    """Gives up on an unreachable database after `_PATIENCE`, sooner than procrastinate's 30 s."""

    async def open(self, wait: bool = False, timeout: float = _PATIENCE) -> None:  # noqa: ASYNC109 - the base class has it
        await super().open(wait=wait, timeout=min(timeout, _PATIENCE))


class _Manager(JobManager):
    """Fetches only from queues that have a free slot.

    Projects that have documents waiting take turns. Of three or more slots for documents, one project gets all but one, so that
    another one's document can start at once.

    If the database is unreachable when a task ends, only a debug line is logged: the sweep gives the task back later.
    """

    def __init__(
        self, connector: procrastinate.PsycopgConnector, slots: Mapping[QueueName, int], queue: Queue
    ) -> None:
        super().__init__(connector)
        self._queue = queue
        self._slots: Counter[str] = Counter(slots)
        self._share = max(slots.get(_SHARED, 0) - 1, 2)
        self._busy: Counter[str] = Counter()
        """Running tasks of the shared queue, by project."""
        self._served: set[str] = set()
        """Projects that had their turn."""
        self._look_at = 0.0
        """When tasks of other projects may be looked for again: looking past the tasks of one takes time in proportion to them."""
        self.has_beaten = False
        """Whether a heartbeat succeeded. Until then a worker that just started may end the same way as the one before."""

    async def update_heartbeat(self, worker_id: int) -> None:
        await super().update_heartbeat(worker_id)
        self.has_beaten = True

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:  # noqa: ARG002 - the slots decide
        while free := self._free_queues():
            job = await self._fetch(free, worker_id)
            if job is not None:
                self._count(job, 1)
                return job
            if self._free_queues() == free:  # else a task ended meanwhile: look again
                break
        return None

    def _free_queues(self) -> list[str]:
        free = [name for name, count in self._slots.items() if count > 0]
        if self._full and not self._may_look:
            free = [name for name in free if name != _SHARED]
        return free

    async def _fetch(self, free: list[str], worker_id: int) -> Job | None:
        """The next task: of a project that has not had its turn, else the oldest."""
        job, full = None, self._full
        if _SHARED in free and (self._served or full) and self._may_look:
            job = await self._fetch_other([*self._served, *full], worker_id)
            if job is None and self._served:
                self._served.clear()
                job = await self._fetch_other(full, worker_id) if full else None
        if job is None:
            some = [name for name in free if not full or name != _SHARED]
            job = await super().fetch_job(some, worker_id) if some else None
        return job

    @property
    def _may_look(self) -> bool:
        return time.monotonic() >= self._look_at

    @property
    def _full(self) -> list[str]:
        """Projects that have their share of the slots."""
        return [project for project, count in self._busy.items() if count >= self._share]

    async def _fetch_other(self, others: list[str], worker_id: int) -> Job | None:
        """The oldest task of any other project."""
        began = time.monotonic()
        try:
            row = await self._queue.fetch_other(_SHARED, worker_id=worker_id, full=others)
        except DatabaseUnavailable:  # the next fetch says so
            return None
        finally:
            ended = time.monotonic()
            self._look_at = ended + min(_LOOK * (ended - began), _LONGEST_PAUSE)
        return Job.from_row(row) if row else None

    def _count(self, job: Job, change: int) -> None:
        self._slots[job.queue] -= change
        if job.queue == _SHARED and (project := job.task_kwargs.get("project_id")):
            self._busy[str(project)] += change
            self._busy += Counter()  # drops the zeros
            if change > 0:
                self._served.add(str(project))

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
            log.debug("The queue did not learn how a task ended: %s", cause(exc))
        finally:
            self._count(job, -1)


async def _report(
    background: BackgroundWork,
    run: Callable[[], Awaitable[Any]],
    context: procrastinate.JobContext,
    worker: Worker,  # noqa: ARG001 - as procrastinate calls it
) -> Any:
    """Run a task and report its unexpected failure to `BackgroundWork`: the queue itself only retries."""
    name = f"the task {context.job.task_name}"
    try:
        with busy():
            result = await run()
    except TryAgain:  # the task has logged the reason
        raise
    except Exception as exc:
        background.failed(name, exc)
        raise
    background.succeeded(name)
    return result


class _Worker(Worker):
    """Fetches again whenever a task ends.

    Procrastinate's worker does so only if all its slots were taken. If one queue has no free slot but another has, it
    sleeps until the next notification or poll.
    """

    ended_by: BaseException | None = None
    """The error of its heartbeat, listener or periodic scheduler that ended it."""
    _idle: frozenset[int] = frozenset()
    """Tasks that the queue listed as running here at the last sweep, but that were not."""

    async def _monitor_side_tasks(self, side_tasks: list[asyncio.Task[Any]]) -> None:
        await super()._monitor_side_tasks(side_tasks)
        ended = (task for task in side_tasks if task.done() and not task.cancelled())
        self.ended_by = next((exc for exc in map(asyncio.Task.exception, ended) if exc), None)

    async def _process_job(self, context: procrastinate.JobContext) -> None:
        try:
            await super()._process_job(context)
        finally:
            self._new_job_event.set()

    async def leave(self, run: asyncio.Task[Any], *, hurry: bool) -> None:
        """Log how many jobs the worker waits for, unless they end at once.

        In a hurry, cancel extractions: each waits for a model, and resumes by itself.
        """
        for task, context in tuple(self._running_jobs.items()):
            if hurry and context.job.queue == "extraction":
                task.cancel()
        _, unfinished = await asyncio.wait({run}, timeout=_SILENT)
        if unfinished and self._running_jobs:
            log.warning(
                "Stopping: waiting until every job has reached its next step (%d)", len(self._running_jobs)
            )

    async def sweep(self, duties: Duties) -> None:
        """Requeue tasks of dead workers and jobs that have no task in the queue."""
        queue = duties.store.queue
        lost_here = await self._find_lost(queue)
        if given_back := await queue.give_back(silence=_SILENCE, worker_id=self.worker_id, lost=lost_here):
            log.warning("%d tasks that no worker runs any more go on", given_back)
        lost = await queue.restore(task=INGEST, job_type="document_processing")
        lost += await queue.restore(task=EXTRACT, job_type="extraction", queue="extraction")
        if lost:
            log.warning("%d jobs that had no place in the queue go on", lost)
        if isinstance(manager := self.app.job_manager, _Manager) and manager.has_beaten:
            duties.background.succeeded(WORKER)

    async def _find_lost(self, queue: Queue) -> frozenset[int]:
        """Tasks that the queue lists as running here but that are not.

        A task must be seen twice in a row, because its state in the queue changes shortly before and after it runs.
        """
        if self.worker_id is None:
            return frozenset()
        running = {context.job.id for context in self._running_jobs.values()}
        before, self._idle = self._idle, frozenset(await queue.doing(self.worker_id) - running)
        return before & self._idle


async def _commit_at_once(connection: psycopg.AsyncConnection[Any]) -> None:
    """Use autocommit: the queue never needs a transaction of two statements."""
    await connection.set_autocommit(True)


def open_queue(dsn: str, slots: Mapping[QueueName, int], ours: Queue) -> procrastinate.App:
    connector = procrastinate.PsycopgConnector(
        conninfo=make_conninfo(dsn, options="-c search_path=queue,public", application_name="whence worker"),
        min_size=1,
        max_size=_CONNECTIONS,
        timeout=_PATIENCE,
        pool_factory=_Pool,
        configure=_commit_at_once,
    )
    queue = procrastinate.App(connector=connector)
    queue.job_manager = _Manager(connector, slots, ours)
    # No namespace: it would be prepended to the task names at every restart of the worker.
    queue.add_tasks_from(tasks, namespace="")
    return queue


@asynccontextmanager
async def working(dsn: str, duties: Duties, *, slots: Mapping[QueueName, int]) -> AsyncIterator[None]:
    """Run a worker while the block runs. On exit, running tasks get `_DRAIN` seconds to reach their next step.

    `slots` is the maximum number of concurrent tasks per queue.
    """
    stopping, background = asyncio.Event(), duties.background
    # Tidy at the start too: a machine that sleeps at night misses the nightly run.
    tidying = asyncio.create_task(background.repeat(TIDYING, duties.tidy, every=None, stopping=stopping))
    work = partial(_work, dsn, duties, stopping, slots)
    worker = asyncio.create_task(background.repeat(WORKER, work, every=_RESTART, stopping=stopping))
    try:
        yield
    finally:
        # The worker is not cancelled: a pool cancelled while it opens leaves tasks that never end.
        duties.stopping = True
        stopping.set()
        tidying.cancel()
        await asyncio.wait({worker, tidying})


async def _work(dsn: str, duties: Duties, stopping: asyncio.Event, slots: Mapping[QueueName, int]) -> None:
    """Run one worker until it is stopped. Raises `DatabaseUnavailable` if the connection is lost."""
    try:
        queue = open_queue(dsn, slots, duties.store.queue)
        async with queue.open_async():
            await _run(queue, duties, stopping, sum(slots.values()))
    except (ConnectorException, psycopg.Error) as exc:
        if stopping.is_set():
            return
        if isinstance(exc.__cause__ or exc, psycopg.OperationalError | psycopg.InterfaceError):
            raise DatabaseUnavailable from exc
        raise


async def _run(queue: procrastinate.App, duties: Duties, stopping: asyncio.Event, concurrency: int) -> None:
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
        worker_middleware=[partial(_report, duties.background)],
    )
    run = asyncio.create_task(worker.run())  # type: ignore[no-untyped-call]
    stop = asyncio.create_task(stopping.wait())
    sweep = asyncio.create_task(
        duties.background.repeat(SWEEP, partial(worker.sweep, duties), every=_SWEEP, stopping=stopping)
    )
    await asyncio.wait({run, stop}, return_when=asyncio.FIRST_COMPLETED)
    stop.cancel()
    sweep.cancel()
    run.cancel()  # the worker finishes its tasks and stops
    await worker.leave(run, hurry=duties.background.hurries)
    with suppress(asyncio.CancelledError):
        await run
    if worker.ended_by is not None and not stopping.is_set():
        raise worker.ended_by
