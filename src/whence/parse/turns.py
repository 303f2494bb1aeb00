"""Shares a limited number of processes: no project takes them all, and waiting projects take turns."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

_NOBODY = object()


class Turns:
    def __init__(self, count: int) -> None:
        self._free = count
        self._share = max(1, count - 1)
        self._busy: Counter[Hashable] = Counter()
        self._waiting: dict[Hashable, deque[asyncio.Future[None]]] = {}
        """By project, in order of their turns."""

    @asynccontextmanager
    async def turn(self, project: Hashable) -> AsyncIterator[None]:
        """With more than one process, a project uses all but one, so that another one's document can start at once."""
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(project, deque()).append(waiting)
        self._hand_out()
        try:
            await waiting
            yield
        finally:
            if waiting.done() and not waiting.cancelled():
                self._free += 1
                self._busy[project] -= 1
            self._hand_out()

    def _hand_out(self) -> None:
        self._busy += Counter()  # drops the zeros
        for project in iter(self._choose_next, _NOBODY):
            queue = self._waiting.pop(project)
            queue.popleft().set_result(None)
            self._free -= 1
            self._busy[project] += 1
            if queue:  # behind the others
                self._waiting[project] = queue

    def _choose_next(self) -> Hashable:
        self._waiting = {
            project: left
            for project, queue in self._waiting.items()
            if (left := deque(one for one in queue if not one.cancelled()))
        }
        may = (project for project in self._waiting if self._free and self._busy[project] < self._share)
        return next(may, _NOBODY)
