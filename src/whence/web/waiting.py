"""Until a job has ended. Nothing tells of it but asking: a job may run in any process, on any machine."""

import asyncio
from collections.abc import AsyncIterator
from time import monotonic
from uuid import UUID

from fastapi import Request

from whence.app import App
from whence.types import OPEN, Job

_PAUSE = 0.05
_LONGEST_PAUSE = 0.5

PATIENCE = 600.0
"""How long `wait=true` waits."""


async def changes(app: App, job_id: UUID) -> AsyncIterator[Job | None]:
    """The job whenever it has changed, the last time when it has ended; None each time that it has not."""
    last: Job | None = None
    pause = _PAUSE
    while True:
        job = await app.store.jobs.get(job_id)
        if job == last:
            pause = min(pause * 1.5, _LONGEST_PAUSE)
            yield None
        else:
            pause, last = _PAUSE, job
            yield job
        if job.status not in OPEN:
            return
        await asyncio.sleep(pause)


def deadline() -> float:
    return monotonic() + PATIENCE


async def ended(app: App, job_id: UUID, request: Request, until: float) -> Job:
    """The job as it ended; or as it is, where it is too late, the client has gone, or the server is to stop."""
    job = await app.store.jobs.get(job_id)
    async for changed in changes(app, job_id):
        job = changed or job
        if monotonic() > until or request.app.state.stopping() or await request.is_disconnected():
            break
    return job
