"""The text leg of search: chunks ranked by BM25 over the terms of a query.

    score = Σ idf(t) · f · (k1 + 1) / (f + k1 · (1 - b + b · length / average length)),  idf(t) = ln(1 + (N - n + ½) / (n + ½))

over the query's terms t, where f is how often t occurs in the chunk, n how many of the project's N chunks have it. All of
them are counted exactly, at the moment of the search.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from math import log
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from whence.search.index import language_of
from whence.search.postings import MOST_COUNTED, Found, in_block
from whence.search.query import Query
from whence.store import Store
from whence.store.lexical import SegmentPostings

K1, B = 1.2, 0.75

_STEPS = (200, 2_000, 20_000)
"""How many of the best are looked at until enough of them are allowed; after the last step, all."""

_MANY = 100_000  # bytes of postings that are worth a thread
_FEW = 2_000  # chunk ids that are picked out of their segments one by one

Allowed = Callable[[Sequence[UUID]], Awaitable[Collection[UUID]]]
"""Of some chunks, those that a search may find."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextHit:
    chunk_id: UUID
    score: float


@dataclass(frozen=True, slots=True)
class Weights:
    """What the terms of a query weigh in a project; scores any text as if it were one of the project's chunks."""

    query: Query
    idf: dict[int, float]
    average: float
    """How many terms a chunk has."""

    def score(self, text: str) -> float:
        keys = self.query.lexer.keys(text)
        counted = Counter(keys)
        length = min(len(keys), MOST_COUNTED)
        found = [key for key in self.query.keys if key in counted]
        if not found or not self.query.holds(text):
            return 0.0
        counts = (min(counted[key], MOST_COUNTED) for key in found)
        return sum(self._part(key, count, length) for key, count in zip(found, counts, strict=True))

    def parts(self, key: int, found: Found) -> NDArray[np.float64]:
        """What a term adds to the score of each chunk that has it."""
        counts, lengths = found.counts.astype(np.float64), found.lengths.astype(np.float64)
        return self.idf[key] * counts * (K1 + 1) / (counts + K1 * (1 - B + B * lengths / self.average))

    def _part(self, key: int, count: int, length: int) -> float:
        return self.idf[key] * count * (K1 + 1) / (count + K1 * (1 - B + B * length / self.average))


@dataclass(frozen=True, slots=True, kw_only=True)
class TextHits:
    hits: list[TextHit]
    """Best first; of the same score, the lower id."""
    weights: Weights
    """By which hits that were found otherwise can be scored too."""


class _Merged(Exception):
    """A segment went away between two statements."""


async def read_query(store: Store, project_id: UUID, text: str) -> Query:
    """What the text looks for, in the language of the project."""
    return Query.of(text, await language_of(store, project_id))


async def find(
    store: Store, project_id: UUID, query: Query, *, limit: int, allowed: Allowed | None = None
) -> TextHits:
    """The best chunks that have any of the terms and every phrase, and are allowed."""
    while True:
        segments = await store.lexical.postings(project_id, query.keys)
        ranking = await _ranking(query, segments)
        try:
            hits = await _Finding(store, project_id, ranking, allowed).best(limit)
        except _Merged:
            continue
        return TextHits(hits=hits, weights=ranking.weights)


async def score(
    store: Store, project_id: UUID, query: Query, chunk_ids: Collection[UUID]
) -> dict[UUID, float]:
    """Of the given chunks; 0 for those that have no term of the query. `Weights.score` does it where the text is at hand."""
    weights = (await _ranking(query, await store.lexical.postings(project_id, query.keys))).weights
    contents = await store.lexical.contents(project_id, chunk_ids)
    return {ident: weights.score(content) for ident, content in contents.items()}


@dataclass(frozen=True, slots=True)
class _Scored:
    """The chunks of a segment that have a score."""

    segment_id: UUID
    numbers: NDArray[np.int64]
    scores: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Ranking:
    weights: Weights
    scored: list[_Scored]

    @property
    def total(self) -> int:
        return sum(len(part.numbers) for part in self.scored)

    def best(self, count: int) -> Iterator[tuple[UUID, int, float]]:
        """Segment, number and score: at least so many, as those that are as good as the last are all in it.

        In a segment the lower number is the lower id, so of those, no more than `count` of each can be among the best.
        """
        parts = [
            _Scored(part.segment_id, *_highest(part.numbers, part.scores, count)) for part in self.scored
        ]
        scores = np.concatenate([part.scores for part in parts]) if parts else np.empty(0)
        least = np.partition(scores, len(scores) - count)[len(scores) - count] if len(scores) > count else 0.0
        for part in parts:
            good = part.scores >= least
            for number, value in zip(part.numbers[good].tolist(), part.scores[good].tolist(), strict=True):
                yield part.segment_id, number, value


@dataclass(frozen=True, slots=True)
class _Finding:
    store: Store
    project_id: UUID
    ranking: _Ranking
    allowed: Allowed | None

    async def best(self, limit: int) -> list[TextHit]:
        if limit < 1:
            return []
        if self.allowed is None and not self.ranking.weights.query.phrases:
            return await self._hits(limit)
        hits: list[TextHit] = []
        seen = 0
        for step in (*_STEPS, self.ranking.total):
            if step > seen:
                candidates = (await self._hits(step))[seen:]
                seen += len(candidates)
                hits += await self._admitted(candidates)
            if len(hits) >= limit or seen >= self.ranking.total:
                break
        return hits[:limit]

    async def _admitted(self, candidates: Sequence[TextHit]) -> list[TextHit]:
        ids = [hit.chunk_id for hit in candidates]
        if self.allowed is not None and ids:
            good = await self.allowed(ids)
            ids = [ident for ident in ids if ident in good]
        query = self.ranking.weights.query
        if query.phrases and ids:
            contents = await self.store.lexical.contents(self.project_id, ids)
            ids = [ident for ident in ids if ident in contents and query.holds(contents[ident])]
        admitted = set(ids)
        return [hit for hit in candidates if hit.chunk_id in admitted]

    async def _hits(self, count: int) -> list[TextHit]:
        best = list(self.ranking.best(count))
        ids = await self._ids([(segment_id, number) for segment_id, number, _ in best])
        hits = [TextHit(chunk_id=ident, score=value) for ident, (_, _, value) in zip(ids, best, strict=True)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:count]

    async def _ids(self, places: Sequence[tuple[UUID, int]]) -> list[UUID]:
        lexical = self.store.lexical
        segments = [segment_id for segment_id, _ in places]
        if len(places) <= _FEW:
            ids = await lexical.some_ids(self.project_id, segments, [number for _, number in places])
            if ids is None:
                raise _Merged
            return ids
        joined = await lexical.all_ids(self.project_id, set(segments))
        if len(joined) < len(set(segments)):
            raise _Merged
        return [UUID(bytes=joined[segment_id][16 * n : 16 * n + 16]) for segment_id, n in places]


async def _ranking(query: Query, segments: Sequence[SegmentPostings]) -> _Ranking:
    """In a thread where it takes long enough for others to notice."""
    if sum(len(block) for segment in segments for block in segment.blocks if block) > _MANY:
        return await asyncio.to_thread(_ranked, query, segments)
    return _ranked(query, segments)


def _ranked(query: Query, segments: Sequence[SegmentPostings]) -> _Ranking:
    opened = [_opened(query, segment) for segment in segments]
    total = sum(segment.live for segment in segments)
    length = sum(segment.length for segment in segments)
    frequencies: Counter[int] = Counter()
    for segment, found in zip(segments, opened, strict=True):
        alive = _alive(segment) if segment.dead else None
        for key, (chunks, _, _) in found.items():
            frequencies[key] += len(chunks) if alive is None else int(alive[chunks].sum())
    idf = {key: log(1 + (total - frequencies[key] + 0.5) / (frequencies[key] + 0.5)) for key in query.keys}
    weights = Weights(query, idf, max(length, 1) / max(total, 1))
    scored = [_scored(weights, segment, found) for segment, found in zip(segments, opened, strict=True)]
    return _Ranking(weights, scored)


def _opened(query: Query, segment: SegmentPostings) -> dict[int, Found]:
    """The postings of those of the query's terms that the segment has."""
    pairs = zip(query.keys, segment.blocks, strict=True)
    found = ((key, in_block(block, key)) for key, block in pairs if block is not None)
    return {key: postings for key, postings in found if postings is not None}


def _scored(weights: Weights, segment: SegmentPostings, found: dict[int, Found]) -> _Scored:
    scores = np.zeros(segment.size)
    for key, postings in found.items():
        scores[postings.chunks] += weights.parts(key, postings)
    if segment.dead:
        scores[~_alive(segment)] = 0
    for key in weights.query.required:
        missing = np.ones(segment.size, np.bool_)
        if key in found:
            missing[found[key].chunks] = False
        scores[missing] = 0
    numbers = np.flatnonzero(scores)
    return _Scored(segment.id, numbers, scores[numbers])


def _alive(segment: SegmentPostings) -> NDArray[np.bool_]:
    alive = np.ones(segment.size, np.bool_)
    alive[np.frombuffer(segment.dead, "<u2")] = False
    return alive


def _highest(
    numbers: NDArray[np.int64], scores: NDArray[np.float64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The `count` highest scores; of the same score, those with the lowest numbers."""
    if len(scores) <= count:
        return numbers, scores
    least = np.partition(scores, len(scores) - count)[len(scores) - count]
    above = scores > least
    ties = np.flatnonzero(scores == least)[: count - int(above.sum())]
    above[ties] = True
    return numbers[above], scores[above]
