"""A worker for commands that wait for jobs: a running one, or one in this process."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whence.app import App

_LOOK_EVERY = 5.0


class Help:
    def __init__(self, app: "App", stack: AsyncExitStack) -> None:
        self._app = app
        self._stack = stack
        self._own = False
        self._looked = float("-inf")

    async def ensure(self) -> None:
        """Starts a worker in this process if no other is alive, or no longer is."""
        if self._own or monotonic() - self._looked < _LOOK_EVERY:
            return
        self._looked = monotonic()
        if not await self._app.store.queue.worker_alive():
            self._own = True
            await self._stack.enter_async_context(self._app.working())


@asynccontextmanager
async def helping(app: "App") -> AsyncIterator[Help]:
    async with AsyncExitStack() as stack:
        yield Help(app, stack)
