"""Waits for a job to end. It polls the database, because a job may run in any process on any machine."""

import asyncio
from collections.abc import AsyncIterator
from time import monotonic
from uuid import UUID

from whence.app import App
from whence.models import OPEN, Job
from whence.web.connection import ClientConnection

_PAUSE = 0.05
_LONGEST_PAUSE = 0.5

PATIENCE = 600.0
"""Maximum wait of `wait=true`, in seconds."""


async def changes(app: App, job_id: UUID) -> AsyncIterator[Job | None]:
    """The job after each change until it ends; None for each poll without a change."""
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


async def ended(app: App, job_id: UUID, connection: ClientConnection, until: float) -> Job:
    """The job when it has ended, the time is up, the client is gone, or the server stops."""
    job = await app.store.jobs.get(job_id)
    async for changed in changes(app, job_id):
        job = changed or job
        if monotonic() > until or connection.server_stops or await connection.is_gone():
            break
    return job
