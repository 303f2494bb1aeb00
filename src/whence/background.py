"""Background work that continues after failures and reports repeated ones.

Every background loop runs under its own name in a `BackgroundWork`. A failure is logged with its cause, the pause before the
next attempt grows, and `/readyz` lists the names that keep failing.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from whence.errors import WhenceError

log = logging.getLogger("whence.background")

T = TypeVar("T")

LONG = 2_000
"""Characters of a text from which work on it runs beside the event loop."""

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds of pause after the first failure, and the maximum."""
_KEEPS = 2  # failures in a row before it is reported; a single one may be a database restart


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    name: str
    since: datetime
    times: int
    reason: str
    """A public message: texts of third-party errors are left out because they may hold secrets."""


class BackgroundWork:
    def __init__(self) -> None:
        self._failures: dict[str, Failure] = {}
        self.hurries = False
        """Whether a stop does not wait for model calls (Ctrl-C)."""

    @property
    def failing(self) -> list[Failure]:
        """Names that failed at least `_KEEPS` times in a row."""
        return [failure for failure in list(self._failures.values()) if failure.times >= _KEEPS]

    def succeeded(self, name: str) -> None:
        if failure := self._failures.pop(name, None):
            log.info("%s works again, after %d failures", name.capitalize(), failure.times)

    def failed(self, name: str, exc: BaseException) -> None:
        """Log the error with its cause. An unexpected error is logged with its stack once."""
        before = self._failures.get(name)
        since, times = (before.since, before.times + 1) if before else (datetime.now(UTC), 1)
        if isinstance(exc, WhenceError):
            reason, is_new = exc.message, False
        else:
            reason = f"an unexpected error ({type(exc).__name__}); the log has the details"
            is_new = before is None or before.reason != reason
        self._failures[name] = Failure(name=name, since=since, times=times, reason=reason)
        count = "the first time" if times == 1 else f"{times} times in a row"
        log.warning(
            "%s failed, %s: %s", name.capitalize(), count, cause(exc), exc_info=exc if is_new else None
        )

    @contextmanager
    def attempt(self, name: str) -> Iterator[None]:
        """Run one attempt, record its outcome, and suppress its failure."""
        try:
            yield
        except Exception as exc:  # noqa: BLE001 - a unit of background work ends here
            self.failed(name, exc)
        else:
            self.succeeded(name)

    def pause(self, name: str, *, every: float) -> float:
        failure = self._failures.get(name)
        if failure is None:
            return every
        growing = FIRST_PAUSE * 2.0 ** min(failure.times - 1, 10)
        return min(growing, LONGEST_PAUSE) * random.uniform(0.5, 1)

    async def repeat(
        self, name: str, work: Callable[[], Awaitable[None]], *, every: float | None, stopping: asyncio.Event
    ) -> None:
        """Run the work in a loop until stopped; with `every=None`, until it succeeds once."""
        while not stopping.is_set():
            with self.attempt(name):
                await work()
                if every is None:
                    return
            with suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), self.pause(name, every=every or 0))


async def beside(length: int, work: Callable[..., T], *args: Any) -> T:
    """Runs the work on a long text in a thread, so that other requests are answered meanwhile."""
    return await asyncio.to_thread(work, *args) if length > LONG else work(*args)


def cause(exc: BaseException) -> str:
    """The first line of the innermost cause; outer errors only say that something failed.

    A timeout is reported as such, not as the cancellation that it is made from.
    """
    while exc.__cause__ is not None and not isinstance(exc.__cause__, asyncio.CancelledError):
        exc = exc.__cause__
    return str(exc).strip().split("\n", 1)[0] or type(exc).__name__
