"""Background work: it goes on after every failure, and says so when it keeps failing.

Every loop that nobody waits for runs under a name of its own in a `Background`. A failure is logged with its cause,
the next attempt follows after a pause that grows, and `/readyz` lists the names that keep failing.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from whence.errors import WhenceError

log = logging.getLogger("whence.background")

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds after the first failure, and at most."""
_KEEPS = 2  # failures in a row; one alone may be the database restarting


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A name whose last attempts all failed."""

    name: str
    since: datetime
    """The first of them."""
    times: int
    reason: str
    """For everybody to read: without the words of foreign errors, which may hold secrets."""


class Background:
    """The background work of one process."""

    def __init__(self) -> None:
        self._failures: dict[str, Failure] = {}

    @property
    def failing(self) -> list[Failure]:
        """Those that keep failing."""
        return [failure for failure in list(self._failures.values()) if failure.times >= _KEEPS]

    def succeeded(self, name: str) -> None:
        if failure := self._failures.pop(name, None):
            log.info("%s works again, after %d failures", name.capitalize(), failure.times)

    def failed(self, name: str, exc: BaseException) -> None:
        """Log the error with its cause; with its stack where it is unexpected and new."""
        before = self._failures.get(name)
        failure = Failure(
            name=name,
            since=before.since if before else datetime.now(UTC),
            times=before.times + 1 if before else 1,
            reason=_public_reason(exc),
        )
        self._failures[name] = failure
        is_news = before is None or before.reason != failure.reason
        stack = exc if is_news and not isinstance(exc, WhenceError) else None
        log.warning("%s failed, %s: %s", name.capitalize(), _count(failure.times), cause(exc), exc_info=stack)

    @contextmanager
    def attempt(self, name: str) -> Iterator[None]:
        """One attempt, whose failure goes no further."""
        with suppress(Exception), self.noted(name):
            yield

    @contextmanager
    def noted(self, name: str) -> Iterator[None]:
        """One attempt, whose failure the caller handles as well."""
        try:
            yield
        except Exception as exc:
            self.failed(name, exc)
            raise
        self.succeeded(name)

    def pause(self, name: str, *, every: float) -> float:
        """Seconds until the next attempt."""
        failure = self._failures.get(name)
        if failure is None:
            return every
        growing = FIRST_PAUSE * 2.0 ** min(failure.times - 1, 10)
        return min(growing, LONGEST_PAUSE) * random.uniform(0.5, 1)

    async def repeat(
        self, name: str, work: Callable[[], Awaitable[None]], *, every: float, stopping: asyncio.Event
    ) -> None:
        """Do the work again and again."""
        while not stopping.is_set():
            with self.attempt(name):
                await work()
            await _wait(stopping, self.pause(name, every=every))

    async def complete(
        self, name: str, work: Callable[[], Awaitable[None]], *, stopping: asyncio.Event
    ) -> None:
        """Do the work until it succeeds once."""
        while not stopping.is_set():
            with self.attempt(name):
                await work()
                return
            await _wait(stopping, self.pause(name, every=0.0))


async def _wait(stopping: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(stopping.wait(), seconds)


def cause(exc: BaseException) -> str:
    """The innermost cause in one line: those around it say only that something failed."""
    while exc.__cause__ is not None:
        exc = exc.__cause__
    return str(exc).strip().split("\n", 1)[0] or type(exc).__name__


def _public_reason(exc: BaseException) -> str:
    if isinstance(exc, WhenceError):
        return exc.message
    return f"an unexpected error ({type(exc).__name__}); the log has the details"


def _count(times: int) -> str:
    return "the first time" if times == 1 else f"{times} times in a row"
