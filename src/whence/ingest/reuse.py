"""Which stored chunk a new one is: pure."""

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Protocol
from uuid import UUID


class StoredChunk(Protocol):
    """A chunk as it lies in the store; given in reading order."""

    @property
    def id(self) -> UUID: ...
    @property
    def content_hash(self) -> bytes: ...


def matched(stored: Sequence[StoredChunk], hashes: Sequence[bytes]) -> list[UUID | None]:
    """For each content of the new version the id of the stored chunk that has it, each given once, in order."""
    free: dict[bytes, deque[UUID]] = defaultdict(deque)
    for chunk in stored:
        free[chunk.content_hash].append(chunk.id)
    return [free[content].popleft() if free.get(content) else None for content in hashes]
