"""How much text a worker has in hand: many small documents at the same time, but not many large ones."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

SMALL = 1_000_000
"""So many characters. A shorter text needs no room: all that a worker has in hand take less than a large one."""


class Room:
    """Whoever asks first gets room first, so that a large text is not kept waiting by those that come after it."""

    def __init__(self, size: int) -> None:
        self._size = self._free = size
        self._first = asyncio.Lock()
        self._given_back = asyncio.Event()

    @asynccontextmanager
    async def taken(self, length: int) -> AsyncIterator[None]:
        """Room for a text of so many characters, as long as the block lasts; one that is too large for it has all."""
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
