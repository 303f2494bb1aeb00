"""One try at a job: who may write, when it stops, and when it is tried again. What there is to do is somebody else's.

A job is taken with an id of the run, and every step asks whether that id still stands: a run that was taken for dead
and lives on writes nothing any more.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from uuid import UUID, uuid4

from whence.errors import BadInput, DocumentNotFound, ProjectNotFound, WhenceError
from whence.models import Job, JobStage, JobType
from whence.store import Store
from whence.store.jobs import Progress

PAUSES = (2.0, 10.0, 60.0, 300.0)
"""Between one try and the next that gets no further; after the last pause comes the last try."""

Says: TypeAlias = Callable[[Job, UUID, Progress], Awaitable[bool]]
"""Stores how far the run of a job is, if it may; says whether."""

Fails: TypeAlias = Callable[[Job, UUID, dict[str, Any]], Awaitable[bool]]
"""Ends the run of a job as failed, for this reason, if it may; says whether."""

_CRASHED: dict[JobType, str] = {
    "document_processing": "The document could not be ingested",
    "extraction": "Nothing could be extracted from the document",
}


class TryAgain(Exception):
    """The job is to be run again, so many seconds from now."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"again in {seconds:.0f} s")


class Stale(Exception):
    """The job was cancelled or deleted, or another run took it over: this one may not write any more."""


class Stopping(Exception):
    """The worker is to stop; another run goes on from here."""


class Moved(Exception):
    """What the job stands on changed while it worked: another run looks at it anew."""


@dataclass(slots=True)
class Run:
    store: Store
    job: Job
    run_id: UUID
    stopping: Callable[[], bool]
    tries: int
    """How many there were, with this one, since the job last got further."""
    _done: int = field(init=False)

    def __post_init__(self) -> None:
        self._done = self.job.done

    @property
    def is_last(self) -> bool:
        return self.tries > len(PAUSES)

    async def at(
        self,
        stage: JobStage,
        tx: Store | None = None,
        *,
        done: int = 0,
        total: int | None = None,
        noted: Mapping[str, Any] | None = None,
        by: Says | None = None,
    ) -> None:
        """Say how far the job is, and what else its `config` is to have, and stop where it is not wanted any more.

        Not in a transaction, nor `by` what stores something along with it: a worker that is to end stores first what was made.
        """
        if tx is None and by is None:
            self.stop_here()
        says = by or (tx or self.store).jobs.progress
        if not await says(self.job, self.run_id, Progress(stage=stage, done=done, total=total, noted=noted)):
            raise Stale
        if done > self._done:
            self.tries = 1
        self._done = done

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
    """Have `work` bring the job to its end, or raise `TryAgain`; `fails` where more than the job ends with it."""
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
    except Exception as exc:  # noqa: BLE001 - the unit of work ends here: one bad document harms no other
        await _failed(run, exc, log, fails)


def _require_hope(tries: int) -> None:
    """A document that ends the worker each time would be tried for ever: its runs do not come to say that they failed."""
    if tries > len(PAUSES) + 1:
        raise WhenceError(f"The worker stopped {tries - 1} times while it worked on this document")


async def _failed(run: Run, exc: Exception, log: logging.Logger, fails: Fails | None) -> None:
    job = run.job
    error = exc if isinstance(exc, WhenceError) else WhenceError(_CRASHED[job.type])
    reason = {"code": error.code, "message": error.message, "details": error.details}
    final = error.permanent or run.is_last
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
