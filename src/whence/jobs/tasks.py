"""The tasks that the worker runs."""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import procrastinate
from procrastinate.jobs import Job

from whence.background import BackgroundWork
from whence.errors import ProjectNotFound, WhenceError
from whence.extract.run import Extraction
from whence.extract.scheduling import EXTRACT
from whence.ingest import INGEST, Inbox, Ingest
from whence.ingest.reembed import REEMBED, move
from whence.job_run import TryAgain
from whence.models import now
from whence.search.background import CALIBRATE
from whence.search.index import COMPACT, REINDEX
from whence.search.index import compact as compact_index
from whence.search.index import reindex as reindex_project
from whence.search.vectors import BUSY, MAKE_INDEX, ask_for_index, drop_unused, make_index
from whence.store import Store
from whence.store.storage import Trash

log = logging.getLogger("whence.worker")

_KEPT_HOURS = 7 * 24
_INDEX_PAUSE = 30.0
_PAUSES = (2, 10, 60, 300, 900)


tasks = procrastinate.Blueprint()


@dataclass(slots=True)
class Duties:
    """Services that tasks use, and the flag that stops them."""

    ingest: Ingest
    extraction: Extraction
    inbox: Inbox
    background: BackgroundWork
    conversation_days: int | None = None
    audit_days: int = 90
    stopping: bool = False

    @property
    def store(self) -> Store:
        return self.ingest.store

    def are_stopping(self) -> bool:
        return self.stopping

    async def tidy(self) -> None:
        """Remove files that killed processes left behind, originals to the trash first; and old conversations."""
        if self.conversation_days is not None:
            before = now() - timedelta(days=self.conversation_days)
            if deleted := await self.store.conversations.delete_old(before):
                log.info("Deleted %d conversations older than %d days", deleted, self.conversation_days)
        await asyncio.to_thread(self.inbox.tidy)
        tidied = await Trash(self.ingest.storage).tidy()
        if tidied.trashed or tidied.removed:
            words = "Moved %d leftover originals to the trash, removed %d that were there for a week"
            log.info(words, tidied.trashed, tidied.removed)


class _Again(procrastinate.BaseRetryStrategy):
    """Retries every failed task: at once after a cancellation, else after the pause of `TryAgain` or a growing one.

    There is no limit here. Each task decides itself when to give up.
    """

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> procrastinate.RetryDecision:
        seconds: float = _pause(job)
        if isinstance(exception, asyncio.CancelledError):
            seconds = 0
        elif isinstance(exception, TryAgain):
            seconds = exception.seconds
        return procrastinate.RetryDecision(retry_in={"milliseconds": int(seconds * 1000)})


def _pause(job: Job) -> int:
    return _PAUSES[min(job.attempts, len(_PAUSES) - 1)]


def _duties(context: procrastinate.JobContext) -> Duties:
    duties: Duties = context.additional_context["duties"]
    return duties


@tasks.task(name=INGEST, pass_context=True, retry=_Again())
async def ingest(context: procrastinate.JobContext, project_id: str, job_id: str) -> None:
    duties = _duties(context)
    await duties.ingest.run(UUID(project_id), UUID(job_id), stopping=duties.are_stopping)


@tasks.task(name=EXTRACT, pass_context=True, retry=_Again())
async def extract(context: procrastinate.JobContext, project_id: str, job_id: str) -> None:
    duties = _duties(context)
    await duties.extraction.run(UUID(project_id), UUID(job_id), stopping=duties.are_stopping)


@tasks.task(name=REEMBED, pass_context=True, retry=_Again())
async def reembed(context: procrastinate.JobContext, project_id: str) -> None:
    duties, project = _duties(context), UUID(project_id)
    try:
        moved = await move(duties.store, duties.ingest.embedders, project, stopping=duties.are_stopping)
    except WhenceError as exc:
        pause = _pause(context.job)
        then = "ended before its time" if exc.permanent else f"goes on in {pause} s"
        log.warning("The move of project %s to another model %s: %s", project_id, then, exc.message)
        if exc.permanent:
            return
        raise TryAgain(pause) from exc
    if not moved:
        raise TryAgain(0)
    await ask_for_index(duties.store, project)


@tasks.task(name=CALIBRATE, pass_context=True, retry=_Again())
async def calibrate(context: procrastinate.JobContext, project_id: str) -> None:
    with suppress(ProjectNotFound):
        await _duties(context).ingest.calibrator.calibrate(UUID(project_id))


@tasks.task(name=MAKE_INDEX, pass_context=True, retry=_Again())
async def vector_index(context: procrastinate.JobContext, project_id: str, space_id: str) -> None:
    """Build the index, but only once few documents wait to be ingested."""
    store = _duties(context).store
    if await store.queue.waiting(INGEST) > BUSY:
        raise TryAgain(_INDEX_PAUSE)
    await make_index(store, UUID(project_id), UUID(space_id))


@tasks.task(name=COMPACT, pass_context=True, retry=_Again())
async def compact(context: procrastinate.JobContext, project_id: str) -> None:
    duties = _duties(context)
    merged = await compact_index(duties.store, UUID(project_id), stopping=duties.are_stopping)
    log.debug("Merged segments of project %s %d times", project_id, merged)


@tasks.task(name=REINDEX, pass_context=True, retry=_Again())
async def reindex(context: procrastinate.JobContext, project_id: str) -> None:
    with suppress(ProjectNotFound):
        indexed = await reindex_project(_duties(context).store, UUID(project_id))
        log.info("Indexed the %d chunks of project %s anew", indexed, project_id)


@tasks.periodic(cron="17 3 * * *")
@tasks.task(name="whence:tidy", pass_context=True, retry=_Again())
async def tidy(context: procrastinate.JobContext, timestamp: int) -> None:  # noqa: ARG001 - given by periodic
    """Delete leftover files, unused vector indexes, old audit entries, and tasks finished more than a week ago.

    Jobs stay in kb.jobs.
    """
    await context.app.job_manager.delete_old_jobs(
        nb_hours=_KEPT_HOURS, include_failed=True, include_cancelled=True, include_aborted=True
    )
    duties = _duties(context)
    await duties.tidy()
    await duties.store.audit.prune(days=duties.audit_days)
    if dropped := await drop_unused(duties.store):
        log.info("Removed %d indexes of vectors that no project reads", dropped)
