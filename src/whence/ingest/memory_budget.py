"""Limits the text in memory: a worker ingests many small documents at once, but not many large ones."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

SMALL = 1_000_000
"""Texts with fewer characters are not counted: all of a worker's small texts together take less than a large one."""


class Room:
    """A budget of characters, granted in order of request so that later texts cannot starve a large one."""

    def __init__(self, size: int) -> None:
        self._size = self._free = size
        self._first = asyncio.Lock()
        self._given_back = asyncio.Event()

    @asynccontextmanager
    async def taken(self, length: int) -> AsyncIterator[None]:
        """Reserve `length` characters while the block runs. A text larger than the budget reserves all of it."""
        wanted = 0 if length < SMALL else min(length, self._size)
        if wanted:
            await self._take(wanted)
        try:
            yield
        finally:
            self._free += wanted
            self._given_back.set()

    async def _take(self, wanted: int) -> None:
        async with self._first:
            while self._free < wanted:
                self._given_back.clear()
                await self._given_back.wait()
            self._free -= wanted
