"""The write side of the text index: adds segments, marks deleted chunks as dead, and merges segments.

A segment is written together with its chunks. Afterwards only its list of dead chunks changes. Many small segments slow
down a search, so `compact` merges them into larger ones. It also rewrites segments with dead chunks, so that the terms of
deleted documents leave the index.
"""

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from whence.errors import ProjectNotFound
from whence.search.postings import (
    MOST_CHUNKS,
    MOST_COUNTED,
    Postings,
    count_terms,
    from_blocks,
    invert,
    join,
    to_blocks,
)
from whence.search.vectors import ask_for_index, is_large
from whence.search.vocabulary import count_words, pack_words, read_words, unpack_words
from whence.store import Store
from whence.store.lexical import HeldSegment, Segment, SegmentState
from whence.text.lexer import DEFAULT_LANGUAGE, Lexer, lexer

log = logging.getLogger("whence.search")

COMPACT = "whence:compact"
"""The task that merges a project's small segments."""

REINDEX = "whence:reindex"
"""The task that rebuilds a project's index."""

AT_ONCE = 4_096
"""Maximum number of chunks in a new segment."""

FANOUT = 16
"""Number of segments of similar size that are merged into one."""

LARGE = MOST_CHUNKS // 2
"""A segment with this many live chunks is not merged until more than half of its chunks are dead."""

PURGE_SECONDS = 20
"""Dead chunks wait this long, so that one rewrite takes many deletions."""

Ids = NDArray[np.bytes_]


class IndexDifference(NamedTuple):
    missing: int
    """Chunks that are not in the index: text search does not find them."""
    superfluous: int
    """Entries of chunks that do not exist, and duplicate entries."""
    incomplete: int
    """Chunks that are in the index without all their terms."""
    wordless: int
    """Chunks in segments without words: questions are not corrected to the words of these chunks."""


def index_lock(project_id: UUID) -> str:
    """The lock that keeps tasks on one project's index from running at the same time."""
    return f"index {project_id}"


def segments_of(chunks: Sequence[tuple[UUID, str]], language: str) -> list[Segment]:
    """Builds segments from chunk ids and contents, in any order."""
    reader = lexer(language)
    ordered = sorted(chunks)
    made: list[Segment] = []
    for start in range(0, len(ordered), AT_ONCE):
        some = ordered[start : start + AT_ONCE]
        postings, lengths = invert([reader.keys(content) for _, content in some])
        words = count_words(content for _, content in some)
        made.append(_segment(b"".join(ident.bytes for ident, _ in some), lengths, postings, words))
    return made


async def bury(tx: Store, project_id: UUID, chunk_ids: Collection[UUID]) -> None:
    """Marks chunks as dead, in the transaction that deletes them. The caller has locked the project (`share` or `claim`)."""
    gone = _ids(b"".join(sorted(ident.bytes for ident in chunk_ids)))
    if not len(gone):
        return
    while len(gone):
        states = await tx.lexical.segments(project_id)
        concerned = [state.id for state in states if _reaches(state, gone)]
        held = await tx.lexical.hold(project_id, concerned)
        for segment in held:
            gone = await _bury_in(tx, project_id, segment, gone)
        if len(held) == len(concerned):
            break  # the remaining ids were never in the index
        # Some segments were merged while this waited for their lock. Their chunks are in a new segment now.
    await _ask_for_compaction(tx, project_id, await tx.lexical.segments(project_id))


async def replace_chunks(
    tx: Store, project_id: UUID, *, gone: Collection[UUID], segments: Sequence[Segment]
) -> None:
    """Adds segments and marks chunks as dead, in the transaction that replaces them. Queues the work that is due then."""
    await tx.lexical.insert(project_id, segments)
    await bury(tx, project_id, gone)
    states = await tx.lexical.segments(project_id)
    await _ask_for_compaction(tx, project_id, states)
    if is_large(sum(state.live for state in states)):
        await ask_for_index(tx, project_id)


async def compact(store: Store, project_id: UUID, *, stopping: Callable[[], bool] = lambda: False) -> int:
    """Merges segments until none is due and none has dead chunks, one transaction per merge. Returns the number of merges."""
    merged = 0
    try:
        while not stopping() and (group := due(await store.lexical.segments(project_id), purging=True)):
            async with store.transaction(patient=True) as tx:
                language = await tx.lexical.share(project_id) or DEFAULT_LANGUAGE
                held = await tx.lexical.hold(project_id, group)
                if len(held) == len(group):
                    await _merge_into_one(tx, project_id, held, lexer(language))
                    merged += 1
    except ProjectNotFound:
        log.debug("Project %s was deleted while its index was compacted", project_id)
    return merged


async def reindex(store: Store, project_id: UUID, *, language: str | None = None) -> int:
    """Rebuilds the project's index from its chunks, in another language if one is given. Returns the number of chunks.

    Until the commit, searches use the old index, and writes to the project's chunks wait.
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
        await _ask_for_compaction(tx, project_id, await tx.lexical.segments(project_id))
    return count


async def _ask_for_compaction(tx: Store, project_id: UUID, states: Sequence[SegmentState]) -> None:
    """Queue it if a merge is due, or soon if there are dead chunks."""
    if due(states, purging=True):
        after = 0 if due(states) else PURGE_SECONDS
        lock = index_lock(project_id)
        await tx.queue.defer_once(COMPACT, lock=lock, after=after, project_id=str(project_id))


async def compare_index(tx: Store, project_id: UUID) -> IndexDifference:
    """Checks that the text index has exactly the chunks of the project, with all their terms and words."""
    chunks = _ids(await tx.consistency.chunk_ids(project_id))
    segments = await tx.consistency.segments(project_id)
    live = [np.delete(_ids(segment.chunk_ids), _numbers(segment.dead)) for segment in segments]
    words = await tx.lexical.words(project_id)
    has_words = [read_words(words.get(segment.id, b"")) is not None for segment in segments]
    incomplete = [await _count_incomplete(tx, project_id, segment) for segment in segments]
    indexed = np.concatenate([np.empty(0, "S16"), *live])
    unique = np.unique(indexed)
    missing = len(np.setdiff1d(chunks, unique, assume_unique=True))
    superfluous = len(np.setdiff1d(unique, chunks, assume_unique=True)) + len(indexed) - len(unique)
    wordless = sum(len(ids) for ids, has in zip(live, has_words, strict=True) if not has)
    return IndexDifference(missing, superfluous, sum(incomplete), wordless)


async def _count_incomplete(tx: Store, project_id: UUID, segment: HeldSegment) -> int:
    """The number of live chunks with fewer or more terms in the postings than when they were indexed."""
    blocks = await tx.lexical.blocks(project_id, [segment.id])
    lengths = _numbers(segment.lengths)
    differs = count_terms(from_blocks(blocks[segment.id]), segment.size) != lengths
    differs[lengths == MOST_COUNTED] = False  # the real length is unknown
    differs[_numbers(segment.dead)] = False
    return int(np.count_nonzero(differs))


def due(states: Iterable[SegmentState], *, purging: bool = False) -> list[UUID]:
    """The segments to merge next, in the given order; none if no merge is due. When `purging`, one dead chunk is enough."""
    levels: dict[int, list[SegmentState]] = defaultdict(list)
    for state in states:
        if (1 if purging else 2) * state.live < state.size:
            return [state.id]
        if state.live < LARGE:
            levels[_level(state.live)].append(state)
    for _, peers in sorted(levels.items()):
        if len(peers) >= FANOUT:
            return _fitting(peers)
    return []


def _level(live: int) -> int:
    """The size class of a segment: the sizes in a class differ by less than a factor of `FANOUT`."""
    return (live.bit_length() - 1) // (FANOUT.bit_length() - 1)


def _fitting(peers: Sequence[SegmentState]) -> list[UUID]:
    """The first segments that fit into one. They are neighbours, so the ids in a segment stay close."""
    total, group = 0, []
    for state in peers[:FANOUT]:
        total += state.live
        if total > MOST_CHUNKS:
            break
        group.append(state.id)
    return group


def _reaches(state: SegmentState, gone: Ids) -> bool:
    """Whether the segment's id range has any of the sorted ids."""
    first, last = np.array([state.first_chunk_id.bytes, state.last_chunk_id.bytes], gone.dtype)
    return bool(np.searchsorted(gone, first) < np.searchsorted(gone, last, "right"))


async def _bury_in(tx: Store, project_id: UUID, segment: HeldSegment, gone: Ids) -> Ids:
    """Returns the ids that are not in the segment."""
    ids, lengths = _ids(segment.chunk_ids), _numbers(segment.lengths)
    places = np.minimum(np.searchsorted(ids, gone), len(ids) - 1)
    here = ids[places] == gone
    if here.any():
        dead = np.union1d(_numbers(segment.dead), places[here].astype("<u2"))
        await tx.lexical.bury(
            project_id,
            segment.id,
            dead=dead.tobytes(),
            live=len(ids) - len(dead),
            length=int(lengths.sum(dtype=np.int64) - lengths[dead].sum(dtype=np.int64)),
        )
    left: Ids = gone[~here]
    return left


async def _merge_into_one(tx: Store, project_id: UUID, held: Sequence[HeldSegment], reader: Lexer) -> None:
    ids = [segment.id for segment in held]
    blocks = await tx.lexical.blocks(project_id, ids)
    words = await tx.lexical.words(project_id)
    parts = [words.get(ident, b"") for ident in ids]
    merged = await asyncio.to_thread(_merged, held, [blocks[ident] for ident in ids], parts, reader)
    await tx.lexical.drop(project_id, ids)
    if merged is not None:
        await tx.lexical.insert(project_id, [merged])


def _merged(
    held: Sequence[HeldSegment],
    blocks: Sequence[Sequence[bytes]],
    words: Sequence[bytes],
    reader: Lexer,
) -> Segment | None:
    """The live chunks of all segments as one; None if there are none."""
    ids = _ids(b"".join(segment.chunk_ids for segment in held))
    lengths = np.concatenate([_numbers(segment.lengths) for segment in held])
    order, postings = join(held, blocks)
    if not len(order):
        return None
    left = set(postings.terms.tolist())
    counts: Counter[str] = Counter()
    for part in words:
        counts.update(unpack_words(part))
    living_words = Counter(
        {word: count for word, count in counts.items() if left.issuperset(reader.keys(word))}
    )
    return _segment(ids[order].tobytes(), lengths[order], postings, living_words)


def _segment(
    chunk_ids: bytes, lengths: NDArray[np.uint16], postings: Postings, words: Counter[str]
) -> Segment:
    return Segment(
        size=len(lengths),
        length=int(lengths.sum(dtype=np.int64)),
        chunk_ids=chunk_ids,
        lengths=lengths.astype("<u2").tobytes(),
        blocks=list(to_blocks(postings)),
        words=pack_words(words),
    )


def _numbers(joined: bytes) -> NDArray[np.uint16]:
    return np.frombuffer(joined, "<u2")


def _ids(joined: bytes) -> Ids:
    """Sorts as bytes, the database's order of UUIDs."""
    return np.frombuffer(joined, "S16")
