"""Handles open requests when the server stops."""

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

log = logging.getLogger("whence")

_REPORTED = 5.0
_SHOWN = 5


class OpenRequest(Protocol):
    began: float
    """By `time.perf_counter`."""

    @property
    def line(self) -> str:
        """Method and path."""


class Shutdown:
    """Tracks the open requests and the model calls they wait for."""

    def __init__(self) -> None:
        self.begun = False
        self.requests: set[OpenRequest] = set()
        self._calls: set[asyncio.Task[Any]] = set()

    def begin(self, *, hurry: bool) -> None:
        """Log the requests that the server waits for. In a hurry (Ctrl-C), cancel the model calls."""
        if hurry:
            for call in tuple(self._calls):
                call.cancel()
        if not self.begun:
            self.begun = True
            self._log_open_requests()

    @contextmanager
    def ends(self, call: asyncio.Task[Any]) -> Iterator[None]:
        """While the block runs, a shutdown in a hurry cancels this task."""
        self._calls.add(call)
        try:
            yield
        finally:
            self._calls.discard(call)

    def _log_open_requests(self) -> None:
        if not self.requests:
            return
        now = time.perf_counter()
        oldest = sorted(self.requests, key=lambda request: request.began)[:_SHOWN]
        lines = ", ".join(f"{request.line} for {now - request.began:.0f} s" for request in oldest)
        log.warning("Stopping: waiting for %d requests (%s). Ctrl-C ends them", len(self.requests), lines)
        asyncio.get_running_loop().call_later(_REPORTED, self._log_open_requests)
