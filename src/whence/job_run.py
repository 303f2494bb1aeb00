"""Runs one attempt at a job: ownership, stopping and retries. The caller supplies the work.

An attempt takes the job under a run id, and every step checks that the job still has this id. So a run that was presumed
dead but lives on cannot write.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar
from uuid import UUID, uuid4

from whence.errors import BadInput, DocumentNotFound, ProjectNotFound, WhenceError
from whence.models import Job, JobStage, JobType, now
from whence.store import Store
from whence.store.jobs import Progress

T = TypeVar("T")

_LOOK = 2.0
"""Seconds between two looks at a job while a model works for it."""

PAUSES = (2.0, 10.0, 60.0, 300.0)
"""Seconds between attempts that make no progress. The last attempt follows the last pause."""

Says: TypeAlias = Callable[[Job, UUID, Progress], Awaitable[bool]]
"""Stores a run's progress. Returns False if the run no longer owns the job."""

Fails: TypeAlias = Callable[[Job, UUID, dict[str, Any]], Awaitable[bool]]
"""Ends a run as failed with this reason. Returns False if the run no longer owns the job."""

_CRASHED: dict[JobType, str] = {
    "document_processing": "The document could not be ingested",
    "extraction": "Nothing could be extracted from the document",
}


class TryAgain(Exception):
    """The queue must run the job again after `seconds`."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"again in {seconds:.0f} s")


class Stale(Exception):
    """The job was cancelled or deleted, or another run took it over: this run must not write."""


class Stopping(Exception):
    """The worker is stopping; another run resumes the job."""


class Moved(Exception):
    """The job's input changed while it ran; another run starts from the new state."""


@dataclass(slots=True)
class Run:
    store: Store
    job: Job
    run_id: UUID
    stopping: Callable[[], bool]
    tries: int
    """Attempts since the job last made progress, including this one."""

    async def at(
        self,
        stage: JobStage,
        *,
        done: int = 0,
        total: int | None = None,
        noted: dict[str, Any] | None = None,
        by: Says | None = None,
    ) -> None:
        """Store the progress and add `noted` to the job's `config`, with the time if a stage begins.

        Raises `Stale` if the run no longer owns the job.

        Raises `Stopping` first if the worker is stopping, but not with `by`, which stores results along with the progress.
        """
        if by is None:
            self.stop_here()
        says = by or self.store.jobs.progress
        config = dict(self.job.config)
        if stage != self.job.stage:
            config["stages"] = {**config.get("stages", {}), stage: now().isoformat()}
            noted = {**(noted or {}), "stages": config["stages"]}
        if not await says(self.job, self.run_id, Progress(stage=stage, done=done, total=total, noted=noted)):
            raise Stale
        if done > self.job.done:
            self.tries = 1
        self.job = replace(self.job, stage=stage, done=done, config=config)

    async def unless_stale(self, work: Coroutine[Any, Any, T], *, total: int) -> T:
        """The result of work on an embedding batch. Cancels it and raises `Stale` if the run loses the job meanwhile."""
        working = asyncio.create_task(work)
        try:
            while not (await asyncio.wait((working,), timeout=_LOOK))[0]:
                await self.at("embedding", done=self.job.done, total=total, by=self.store.jobs.progress)
            return working.result()
        finally:
            working.cancel()

    def stop_here(self) -> None:
        if self.stopping():
            raise Stopping


async def run_job(
    store: Store,
    project_id: UUID,
    job_id: UUID,
    work: Callable[[Run], Awaitable[None]],
    *,
    stopping: Callable[[], bool],
    log: logging.Logger,
    fails: Fails | None = None,
) -> None:
    """Run the job to its end with `work`, or raise `TryAgain`. `fails` replaces the default way to mark it failed."""
    run_id = uuid4()
    taken = await store.jobs.take(project_id, job_id, run_id)
    if taken is None:
        return
    job, tries = taken
    run = Run(store, job, run_id, stopping, tries)
    try:
        _require_hope(tries)
        await work(run)
    except (Stale, DocumentNotFound, ProjectNotFound):
        _log_stale(job, log)
    except (Stopping, Moved) as exc:
        if await store.jobs.end(job, run_id, "pending", counts=isinstance(exc, Moved)):
            raise TryAgain(0) from None
    except Exception as exc:  # noqa: BLE001 - one bad document must not affect others
        await _failed(run, exc, log, fails)


def _require_hope(tries: int) -> None:
    """Raise if all attempts ended without a report, as when the job kills the worker every time."""
    if tries > len(PAUSES) + 1:
        raise WhenceError(f"The worker stopped {tries - 1} times while it worked on this document")


async def _failed(run: Run, exc: Exception, log: logging.Logger, fails: Fails | None) -> None:
    job = run.job
    error = exc if isinstance(exc, WhenceError) else WhenceError(_CRASHED[job.type])
    reason = {"code": error.code, "message": error.message, "details": error.details}
    final = error.permanent or run.tries > len(PAUSES)
    if final and fails is not None:
        ended = await fails(job, run.run_id, reason)
    else:
        ended = await run.store.jobs.end(job, run.run_id, "failed" if final else "pending", error=reason)
    if not ended:
        _log_stale(job, log)
        return
    if not isinstance(exc, WhenceError):
        log.error("Job %s of %s crashed", job.id, job.name, exc_info=exc)
    if final:
        level = logging.INFO if isinstance(error, BadInput) else logging.WARNING
        log.log(level, "Job %s of %s failed: %s", job.id, job.name, error.message)
        return
    pause = PAUSES[run.tries - 1]
    log.warning("Job %s of %s goes on in %.0f s: %s", job.id, job.name, pause, error.message)
    raise TryAgain(pause) from exc


def _log_stale(job: Job, log: logging.Logger) -> None:
    log.info("Job %s of %s is not wanted any more", job.id, job.name)
