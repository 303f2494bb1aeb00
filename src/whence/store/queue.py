"""What the server asks of the queue's own tables (schema `queue`, made and used by procrastinate)."""

from typing import LiteralString

from whence.store.pool import Queries

WORKER_BEATS: LiteralString = """
SELECT EXISTS (SELECT FROM queue.procrastinate_workers WHERE last_heartbeat > now() - interval '30 seconds')
"""


class Queue:
    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    async def worker_alive(self) -> bool:
        row = await self._queries.one(WORKER_BEATS)
        return bool(row and row[0])
