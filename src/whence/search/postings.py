"""Postings: the chunks that have each term, as arrays and as the blocks of bytes in the store. Pure.

A segment numbers its chunks from 0 in order of id. A posting has the chunk's number, the term's count in the chunk and the
chunk's number of terms, so a score needs nothing else.
"""

import struct
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from whence.models import ChunkKey

MOST_CHUNKS = 65_536
"""Maximum number of chunks in a segment: chunk numbers have two bytes."""

MOST_COUNTED = 65_535
"""Maximum of counts and lengths; higher values are stored as this."""

_BLOCK = 4_000  # bytes: two to a page of the database
_HEAD = struct.Struct("<II")  # terms, postings
_BYTES_OF_KEY, _BYTES_OF_TERM, _BYTES_OF_POSTING = 8, 12, 6
_NUMBER = np.dtype("<u2")

_Small = NDArray[np.uint16]
Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Postings:
    terms: Numbers
    """Ascending."""
    ends: Numbers
    """The end of each term's postings; they begin at the end of the previous term's."""
    rows: _Small
    """Chunk numbers, counts and lengths."""


def invert(texts: Sequence[Sequence[int]]) -> tuple[Postings, _Small]:
    """Postings from the term keys of each chunk, and the number of terms per chunk."""
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    lengths = np.minimum(sizes, MOST_COUNTED).astype(np.uint16)
    keys = np.fromiter(chain.from_iterable(texts), np.int64, int(sizes.sum()))
    numbers = np.repeat(np.arange(len(texts)), sizes)
    order = np.argsort(keys, kind="stable")
    keys, numbers = keys[order], numbers[order]
    starts = np.flatnonzero(_changes(keys) | _changes(numbers))
    counts = np.diff(starts, append=len(keys))
    keys, numbers = keys[starts], numbers[starts]
    firsts = np.flatnonzero(_changes(keys))
    postings = Postings(
        terms=keys[firsts],
        ends=np.append(firsts[1:], len(keys)) if len(keys) else firsts,
        rows=np.array([numbers, np.minimum(counts, MOST_COUNTED), lengths[numbers]], np.uint16),
    )
    return postings, lengths


def merge(parts: Sequence[tuple[Postings, Numbers]]) -> Postings:
    """Merges postings. Each comes with the new numbers of its chunks, -1 for dead ones."""
    terms = np.concatenate([part.terms for part, _ in parts])
    sizes = np.concatenate([np.diff(part.ends, prepend=0) for part, _ in parts])
    ends = np.cumsum(sizes)
    chunks = np.concatenate([numbers[part.rows[0]] for part, numbers in parts])
    order = np.argsort(terms, kind="stable")
    terms, sizes = terms[order], sizes[order]
    taken = _ranges(ends[order] - sizes, sizes)
    alive = chunks[taken] >= 0
    lasts = np.flatnonzero(_changes(terms[::-1])[::-1])
    ends = np.concatenate(([0], np.cumsum(alive)))[np.cumsum(sizes)[lasts]]
    kept, taken = np.diff(ends, prepend=0) > 0, taken[alive]
    rows = np.concatenate([part.rows for part, _ in parts], axis=1)[:, taken]
    rows[0] = chunks[taken]
    return Postings(terms=terms[lasts][kept], ends=ends[kept], rows=rows)


def join(segments: Sequence["_Segment"], blocks: Iterable[Iterable[bytes]]) -> tuple[Numbers, Postings]:
    """The live chunks of all segments as one: their places among all, in order of id, and their postings."""
    numbering = Numbering.of(segments)
    alive = numbering.alive(segments)
    ids = np.frombuffer(b"".join(numbering.ids), "S16")
    living = np.arange(len(ids)) if alive is None else np.flatnonzero(alive)
    order = living[np.argsort(ids[living])]
    numbers = np.full(len(ids), -1, np.int64)
    numbers[order] = np.arange(len(order))
    parts = zip(map(from_blocks, blocks), np.split(numbers, numbering.starts[1:-1]), strict=True)
    return order, merge(list(parts))


def to_blocks(postings: Postings) -> Iterator[tuple[int, bytes]]:
    """Blocks, each with its first term. The postings of one term are always in one block."""
    sizes = np.diff(postings.ends, prepend=0)
    used = np.cumsum(_BYTES_OF_TERM + _BYTES_OF_POSTING * sizes)
    firsts = np.flatnonzero(_changes((used - 1) // _BLOCK)).tolist()
    for first, end in pairwise([*firsts, len(sizes)]):
        low = int(postings.ends[first - 1]) if first else 0
        high = int(postings.ends[end - 1])
        payload = (
            _HEAD.pack(end - first, high - low),
            postings.terms[first:end].tobytes(),
            (postings.ends[first:end] - low).astype(np.uint32).tobytes(),
            postings.rows[:, low:high].tobytes(),
        )
        yield int(postings.terms[first]), b"".join(payload)


def from_blocks(blocks: Iterable[bytes]) -> Postings:
    """Reads all blocks of a segment, in order, except damaged ones."""
    parts = [part for block in blocks if (part := _opened(block)) is not None]
    if not parts:
        return invert(())[0]
    offsets = np.cumsum([0, *(part.rows.shape[1] for part in parts[:-1])])
    return Postings(
        terms=np.concatenate([part.terms for part in parts]),
        ends=np.concatenate([part.ends + offset for part, offset in zip(parts, offsets, strict=True)]),
        rows=np.concatenate([part.rows for part in parts], axis=1),
    )


def in_block(block: bytes, term: int) -> _Small | None:
    """The postings of one term in three rows: chunks, counts, lengths. None if the block is damaged."""
    if (sizes := _sizes(block)) is None:
        return None
    # Most blocks are small: NumPy arrays for terms and ends would cost more than the search in them.
    count, total = sizes
    view = memoryview(block)
    first_end = _HEAD.size + _BYTES_OF_KEY * count
    terms = view[_HEAD.size : first_end].cast("q")
    place = bisect_left(terms, term)
    if place == count or terms[place] != term:
        return None
    base = _HEAD.size + _BYTES_OF_TERM * count
    ends = view[first_end:base].cast("I")
    start = ends[place - 1] if place else 0
    return np.frombuffer(block, _NUMBER, 3 * total, base).reshape(3, total)[:, start : ends[place]]


def count_terms(postings: Postings, size: int) -> Numbers:
    """The number of terms that each of `size` chunks has in the postings."""
    chunks, counts, _ = postings.rows
    return np.bincount(chunks, counts, size)[:size].astype(np.int64)


def _sizes(block: bytes) -> tuple[int, int] | None:
    """The numbers of terms and postings in a block; None if its length differs from what they take."""
    if len(block) < _HEAD.size:
        return None
    terms, total = _HEAD.unpack_from(block)
    is_whole = len(block) == _HEAD.size + _BYTES_OF_TERM * terms + _BYTES_OF_POSTING * total
    return (terms, total) if is_whole else None


def _opened(block: bytes) -> Postings | None:
    if (sizes := _sizes(block)) is None:
        return None
    terms, total = sizes
    ends = _HEAD.size + _BYTES_OF_KEY * terms
    base = _HEAD.size + _BYTES_OF_TERM * terms
    return Postings(
        terms=np.frombuffer(block, "<i8", terms, _HEAD.size),
        ends=np.frombuffer(block, "<u4", terms, ends).astype(np.int64),
        rows=np.frombuffer(block, _NUMBER, 3 * total, base).reshape(3, total),
    )


def _changes(values: Numbers) -> NDArray[np.bool_]:
    """True where a value differs from the previous one, and for the first."""
    changed = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=changed[1:])
    return changed


def _ranges(starts: Numbers, sizes: Numbers) -> Numbers:
    """All numbers of all ranges, range after range."""
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))


class _Segment(Protocol):
    @property
    def size(self) -> int: ...
    @property
    def chunk_ids(self) -> bytes: ...
    @property
    def dead(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Numbering:
    """Numbers the chunks of a project, segment after segment, so that their values fit into arrays."""

    starts: Numbers
    """The number of each segment's first chunk, then the total."""
    ids: Sequence[bytes]
    """The chunk ids of each segment, joined: ascending, 16 bytes each."""
    _known: dict[ChunkKey, int] = field(default_factory=dict)
    """Numbers found before, for the time of one search, which needs those of its candidates several times."""

    @classmethod
    def of(cls, segments: Sequence[_Segment]) -> "Numbering":
        starts = np.cumsum([0, *(segment.size for segment in segments)])
        return cls(starts, [segment.chunk_ids for segment in segments])

    @property
    def total(self) -> int:
        return int(self.starts[-1])

    def ids_of(self, numbers: Numbers) -> list[ChunkKey]:
        segments = np.searchsorted(self.starts, numbers, "right") - 1
        places = 16 * (numbers - self.starts[segments])
        found = [
            self.ids[segment][at : at + 16]
            for segment, at in zip(segments.tolist(), places.tolist(), strict=True)
        ]
        self._known.update(zip(found, numbers.tolist(), strict=True))
        return found

    def values_of(self, values: Floats, chunk_ids: Collection[ChunkKey]) -> dict[ChunkKey, float]:
        """The values of these chunks; 0 for chunks without a number."""
        numbers = self.numbers_of(chunk_ids)
        found, here = np.zeros(len(numbers)), numbers >= 0
        found[here] = values[numbers[here]]
        return dict(zip(chunk_ids, found.tolist(), strict=True))

    def numbers_of(self, chunk_ids: Collection[ChunkKey]) -> Numbers:
        """The number of each chunk; -1 for chunks without one."""
        known = self._known
        unknown = [one for one in chunk_ids if one not in known]
        if unknown:
            known.update(zip(unknown, self._look_up(unknown).tolist(), strict=True))
        return np.array([known[one] for one in chunk_ids], np.int64)

    def _look_up(self, wanted: Sequence[ChunkKey]) -> Numbers:
        found = np.full(len(wanted), -1)
        for start, joined in zip(self.starts.tolist(), self.ids, strict=False):
            first, last = joined[:16], joined[-16:]
            # Segments seldom overlap, so most chunks are looked up in one.
            inside = [at for at, ident in enumerate(wanted) if first <= ident <= last]
            if inside:
                ids, looked_up = np.frombuffer(joined, "S16"), np.array([wanted[at] for at in inside], "S16")
                places = np.searchsorted(ids, looked_up)
                found[inside] = np.where(ids[places] == looked_up, start + places, found[inside])
        return found

    def alive(self, segments: Iterable[_Segment]) -> NDArray[np.bool_] | None:
        """Live chunks by number; None if all are live."""
        dead = [
            (start, one.dead) for start, one in zip(self.starts.tolist(), segments, strict=False) if one.dead
        ]
        if not dead:
            return None
        alive = np.ones(self.total, np.bool_)
        for start, places in dead:
            alive[start + np.frombuffer(places, "<u2").astype(np.int64)] = False
        return alive
