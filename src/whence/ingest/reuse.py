"""Matches the chunks of a new version to stored ones. Pure."""

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Protocol
from uuid import UUID


class StoredChunk(Protocol):
    """A stored chunk; sequences are in reading order."""

    @property
    def id(self) -> UUID: ...
    @property
    def content_hash(self) -> bytes: ...


def matched(stored: Sequence[StoredChunk], hashes: Sequence[bytes]) -> list[UUID | None]:
    """For each content hash, the id of a stored chunk with that content or None. Each id is used once, in order."""
    free: dict[bytes, deque[UUID]] = defaultdict(deque)
    for chunk in stored:
        free[chunk.content_hash].append(chunk.id)
    return [free[content].popleft() if free.get(content) else None for content in hashes]
