"""Waits for a job to end. It polls the database, because a job may run in any process on any machine."""

import asyncio
from collections.abc import AsyncGenerator
from math import inf
from time import monotonic
from uuid import UUID

from whence.app import App
from whence.models import OPEN, Job
from whence.web.events import ClientConnection

_PAUSE = 0.05
_LONGEST_PAUSE = 0.5

PATIENCE = 600.0
"""Maximum wait of `wait=true`, in seconds."""


async def changes(
    app: App, job_id: UUID, connection: ClientConnection, until: float = inf
) -> AsyncGenerator[Job, None]:
    """The job after each change until it has ended, the time is up, the client is gone, or the server stops."""
    last: Job | None = None
    pause = _PAUSE
    while True:
        job = await app.store.jobs.get(job_id)
        pause = min(pause * 1.5, _LONGEST_PAUSE) if job == last else _PAUSE
        if job != last:
            yield job
        last = job
        is_over = job.status not in OPEN or monotonic() > until
        if is_over or connection.server_stops or await connection.is_gone():
            return
        await asyncio.sleep(pause)


def deadline() -> float:
    return monotonic() + PATIENCE


async def ended(app: App, job_id: UUID, connection: ClientConnection, until: float) -> Job:
    """The last of its changes."""
    return [job async for job in changes(app, job_id, connection, until)][-1]
