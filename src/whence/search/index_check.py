"""Checks that the text index has exactly the chunks of a project."""

from typing import NamedTuple
from uuid import UUID

import numpy as np

from whence.store import Store


class IndexDifference(NamedTuple):
    missing: int
    """Chunks that are not in the index: text search does not find them."""
    superfluous: int
    """Entries of chunks that do not exist, and duplicate entries."""


async def compare_index(tx: Store, project_id: UUID) -> IndexDifference:
    chunks = np.frombuffer(await tx.consistency.chunk_ids(project_id), "S16")
    live = [_live(ids, dead) for ids, dead in await tx.consistency.segments(project_id)]
    indexed = np.concatenate([np.empty(0, "S16"), *live])
    unique = np.unique(indexed)
    missing = len(np.setdiff1d(chunks, unique, assume_unique=True))
    superfluous = len(np.setdiff1d(unique, chunks, assume_unique=True)) + len(indexed) - len(unique)
    return IndexDifference(missing, superfluous)


def _live(chunk_ids: bytes, dead: bytes) -> "np.ndarray[tuple[int], np.dtype[np.bytes_]]":
    return np.delete(np.frombuffer(chunk_ids, "S16"), np.frombuffer(dead, "<u2"))
