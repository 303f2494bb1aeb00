"""The write side of the text index: chunks come in as segments, go out as dead numbers, and segments grow together.

A segment is written with its chunks and never changed, but for the list of those of them that are no more. Many small
segments make a search slow, so they are merged now and then into larger ones (`compact`).
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from whence.errors import ProjectNotFound
from whence.search.postings import MOST_CHUNKS, Postings, from_blocks, invert, merge, to_blocks
from whence.store import Store
from whence.store.lexical import HeldSegment, Segment, SegmentState
from whence.text.lexer import DEFAULT_LANGUAGE, lexer

log = logging.getLogger("whence.search")

COMPACT = "whence:compact"
"""The task that merges small segments of a project."""

REINDEX = "whence:reindex"
"""The task that makes a project's index anew."""

AT_ONCE = 4_096
"""The most chunks that are made into one segment when they come in."""

FANOUT = 16
"""So many segments of like size become one."""

LARGE = MOST_CHUNKS // 2
"""A segment with so many chunks is left as it is, until half of them are dead."""

Ids = NDArray[np.bytes_]


def index_lock(project_id: UUID) -> str:
    """What tasks on one project's index exclude each other by."""
    return f"index {project_id}"


async def language_of(store: Store, project_id: UUID) -> str:
    return await store.lexical.language(project_id) or DEFAULT_LANGUAGE


def segments_of(chunks: Sequence[tuple[UUID, str]], language: str) -> list[Segment]:
    """Ids and contents, in any order."""
    keys = lexer(language).keys
    ordered = sorted(chunks)
    made: list[Segment] = []
    for start in range(0, len(ordered), AT_ONCE):
        some = ordered[start : start + AT_ONCE]
        postings, lengths = invert([keys(content) for _, content in some])
        made.append(_segment(b"".join(ident.bytes for ident, _ in some), lengths, postings))
    return made


async def bury(tx: Store, project_id: UUID, chunk_ids: Collection[UUID]) -> None:
    """Inside the transaction that deletes them: the chunks count no more. The project is shared or held before."""
    gone = _ids(b"".join(sorted(ident.bytes for ident in chunk_ids)))
    while len(gone):
        states = await tx.lexical.segments(project_id)
        concerned = [state.id for state in states if _reaches(state, gone)]
        held = await tx.lexical.hold(project_id, concerned)
        for segment in held:
            gone = await _bury_in(tx, project_id, segment, gone)
        if len(held) == len(concerned):
            return  # what is left was never in the index
        # Others were merged while this waited for them: their chunks are in a new segment now.


async def compact(store: Store, project_id: UUID, *, stopping: Callable[[], bool] = lambda: False) -> int:
    """Merge segments until none is worth it, one merge in one transaction; gives how many merges there were."""
    merged = 0
    try:
        while not stopping() and (group := due(await store.lexical.segments(project_id))):
            async with store.transaction(patient=True) as tx:
                await tx.lexical.share(project_id)
                held = await tx.lexical.hold(project_id, group)
                if len(held) == len(group):
                    await _merge_into_one(tx, project_id, held)
                    merged += 1
    except ProjectNotFound:
        log.debug("Project %s was deleted while its index was compacted", project_id)
    return merged


async def reindex(store: Store, project_id: UUID, *, language: str | None = None) -> int:
    """Make the project's index anew from its chunks, perhaps for another language; gives how many chunks are in it.

    Searches find the old until the new is whole; what is to be stored or deleted waits.
    """
    count, after = 0, None
    async with store.transaction(patient=True) as tx:
        spoken = await tx.lexical.claim(project_id) or DEFAULT_LANGUAGE
        if language is not None:
            spoken = lexer(language).language
            await tx.lexical.set_language(project_id, spoken)
        await tx.lexical.clear(project_id)
        while some := await tx.lexical.following(project_id, after=after, limit=AT_ONCE):
            await tx.lexical.insert(project_id, await asyncio.to_thread(segments_of, some, spoken))
            count, after = count + len(some), some[-1][0]
    return count


def due(states: Iterable[SegmentState]) -> list[UUID]:
    """The segments that are to become one next, in an order of their own; none where all is well."""
    levels: dict[int, list[SegmentState]] = defaultdict(list)
    for state in states:
        if 2 * state.live < state.size:
            return [state.id]
        if state.live < LARGE:
            levels[_level(state.live)].append(state)
    for _, peers in sorted(levels.items()):
        if len(peers) >= FANOUT:
            return _fitting(peers)
    return []


def _level(live: int) -> int:
    """Segments whose sizes differ by less than `FANOUT` times are of one level."""
    return (live.bit_length() - 1) // (FANOUT.bit_length() - 1)


def _fitting(peers: Sequence[SegmentState]) -> list[UUID]:
    """The first that go into one segment together: neighbours, so that the ids of a segment stay close."""
    total, group = 0, []
    for state in peers[:FANOUT]:
        total += state.live
        if total > MOST_CHUNKS:
            break
        group.append(state.id)
    return group


def _reaches(state: SegmentState, gone: Ids) -> bool:
    """Whether any of the ids, which are sorted, may be in the segment."""
    first, last = np.array([state.first_chunk_id.bytes, state.last_chunk_id.bytes], gone.dtype)
    return bool(np.searchsorted(gone, first) < np.searchsorted(gone, last, "right"))


async def _bury_in(tx: Store, project_id: UUID, segment: HeldSegment, gone: Ids) -> Ids:
    """Gives those of the ids that the segment has not."""
    ids, lengths = _ids(segment.chunk_ids), np.frombuffer(segment.lengths, "<u2")
    places = np.minimum(np.searchsorted(ids, gone), len(ids) - 1)
    here = ids[places] == gone
    if here.any():
        dead = np.union1d(np.frombuffer(segment.dead, "<u2"), places[here].astype("<u2"))
        await tx.lexical.bury(
            project_id,
            segment.id,
            dead=dead.tobytes(),
            live=len(ids) - len(dead),
            length=int(lengths.sum(dtype=np.int64) - lengths[dead].sum(dtype=np.int64)),
        )
    left: Ids = gone[~here]
    return left


async def _merge_into_one(tx: Store, project_id: UUID, held: Sequence[HeldSegment]) -> None:
    ids = [segment.id for segment in held]
    blocks = await tx.lexical.blocks(project_id, ids)
    merged = await asyncio.to_thread(_merged, held, [blocks[ident] for ident in ids])
    await tx.lexical.drop(project_id, ids)
    if merged is not None:
        await tx.lexical.insert(project_id, [merged])


def _merged(held: Sequence[HeldSegment], blocks: Sequence[Sequence[bytes]]) -> Segment | None:
    """The live chunks of all of them as one segment; None where there are none."""
    ids = _ids(b"".join(segment.chunk_ids for segment in held))
    lengths = np.concatenate([np.frombuffer(segment.lengths, "<u2") for segment in held])
    sizes = [len(segment.lengths) // 2 for segment in held]
    starts = np.cumsum([0, *sizes[:-1]])
    alive = np.ones(len(ids), np.bool_)
    for start, segment in zip(starts, held, strict=True):
        alive[start + np.frombuffer(segment.dead, "<u2").astype(np.int64)] = False
    living = np.flatnonzero(alive)
    if not len(living):
        return None
    order = living[np.argsort(ids[living])]
    numbers = np.full(len(ids), -1, np.int64)
    numbers[order] = np.arange(len(order))
    renumbered = np.split(numbers, starts[1:])
    postings = merge([(from_blocks(b), n) for b, n in zip(blocks, renumbered, strict=True)])
    return _segment(ids[order].tobytes(), lengths[order], postings)


def _segment(chunk_ids: bytes, lengths: NDArray[np.uint16], postings: Postings) -> Segment:
    return Segment(
        size=len(lengths),
        length=int(lengths.sum(dtype=np.int64)),
        chunk_ids=chunk_ids,
        lengths=lengths.astype("<u2").tobytes(),
        blocks=list(to_blocks(postings)),
    )


def _ids(joined: bytes) -> Ids:
    """Compared as bytes, which is the order of UUIDs in the database."""
    return np.frombuffer(joined, "S16")
