"""What search costs beside the bare SQL of its legs, how right the vector leg is, and how both grow.

Searches and the two statements that their legs run take turns, call by call; the bare side executes and fetches by
blocking psycopg. What a model takes to embed a question is not in it.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise
from typing import Literal
from uuid import UUID

from benchmarks.invention import DIMENSIONS, Bench, Vectors, on_a_database
from benchmarks.results import Result

from whence.models import Filters
from whence.search import Question
from whence.search.vectors import SWITCH, VectorLeg
from whence.store.halfvec import halfvecs

MOST = 1.5
"""Times the bare SQL."""
RECALL = 0.95
_WARM = 5
_SETTLED = 5.0
"""Seconds after the first searches, in which small projects come into memory."""


def projects(rounds: int) -> list[Result]:
    """A hundred projects of a thousand chunks."""

    async def work(bench: Bench) -> list[Result]:
        small = [await bench.project(f"small {n}", 1_000) for n in range(100)]
        await bench.store.nearest.build(bench.space, vectors=100_000)
        bench.conn.execute("VACUUM ANALYZE")
        label = "hybrid, 100 projects of 1,000 chunks"
        first, _ = await _beside_bare(bench, "", small, by_index=False, rounds=len(small) - _WARM)
        await asyncio.sleep(_SETTLED)
        later, _ = await _beside_bare(bench, label, small, by_index=False, rounds=max(rounds, len(small)))
        return [later, Result(what=f"{label}, the first search of each", figure=first.figure)]

    return on_a_database(work)


def sizes(
    wanted: Sequence[int], rounds: int, *, dimensions: int = DIMENSIONS
) -> tuple[list[Result], dict[int, float]]:
    """Projects of these sizes, one after the other; also the median of each in milliseconds."""

    async def work(bench: Bench) -> tuple[list[Result], dict[int, float]]:
        results: list[Result] = []
        medians: dict[int, float] = {}
        for size in wanted:
            found, medians[size] = await _one_size(bench, size, rounds)
            results += found
        return results, medians

    results, medians = on_a_database(work, dimensions=dimensions)
    return results + [_growth(*pair) for pair in pairwise(medians.items())], medians


async def _one_size(bench: Bench, size: int, rounds: int) -> tuple[list[Result], float]:
    project_id = await bench.project(f"large {size}", size)
    await bench.store.nearest.build(bench.space, vectors=size)
    bench.conn.execute("VACUUM ANALYZE")
    label = f"hybrid, {size:,} chunks in one project"
    found, median = await _beside_bare(bench, label, [project_id], by_index=size > SWITCH, rounds=rounds)
    results = [found]
    read, asked = await _both_ways(bench, project_id, rounds)
    print(f"     {size:>9,} vectors: {read:7.1f} ms read whole, {asked:6.1f} ms by the index", flush=True)
    if size > SWITCH:
        few = Filters(document_ids=tuple(bench.documents(project_id, size // 1_000)))
        for what, filters in (
            ("", None),
            (", half of the documents", Filters(mimes=("text/plain",))),
            (", a tenth of the documents", few),
        ):
            results.append(await _recall(bench, f"recall@10, {size:,}{what}", project_id, filters, rounds))
    await bench.store.nearest.drop(bench.space)  # the next load would crawl through it
    async with bench.store.transaction(patient=True) as tx:
        await tx.projects.delete(project_id)
    bench.conn.execute("VACUUM")
    return results, median


async def _beside_bare(
    bench: Bench, what: str, among: Sequence[UUID], *, by_index: bool, rounds: int
) -> tuple[Result, float]:
    questions = [bench.invention.question() for _ in range(rounds + _WARM)]
    vectors = list(halfvecs(bench.invention.vectors(rounds + _WARM)))
    asked = [
        bench.asking(among[turn % len(among)], *pair)
        for turn, pair in enumerate(zip(questions, vectors, strict=True))
    ]

    async def ours(turn: int) -> None:
        question = Question(query=questions[turn], floor=False)
        await bench.search.find(among[turn % len(among)], question)

    def bare(turn: int) -> None:
        bench.bare(asked[turn], by_index=by_index)

    mine, other = await _in_turns(rounds, ours, bare)
    ratio = mine / other
    figure = f"{mine:.1f} ms, {ratio:.2f} x bare SQL ({other:.1f} ms)"
    return Result(what=what, figure=figure, target=f"<= {MOST} x", met=ratio <= MOST), mine


async def _in_turns(
    rounds: int, ours: Callable[[int], Awaitable[None]], bare: Callable[[int], None]
) -> tuple[float, float]:
    """Medians in milliseconds of two sides."""
    taken: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds + _WARM):
        began = time.perf_counter()
        await ours(turn)
        between = time.perf_counter()
        bare(turn)
        if turn >= _WARM:
            taken[0].append(between - began)
            taken[1].append(time.perf_counter() - between)
    return statistics.median(taken[0]) * 1e3, statistics.median(taken[1]) * 1e3


async def _recall(bench: Bench, what: str, project_id: UUID, filters: Filters | None, rounds: int) -> Result:
    documents = None
    if filters is not None:
        documents = await bench.store.documents.matching(project_id, filters)
    recall, milliseconds = await recall_of(bench, project_id, bench.invention.vectors(rounds), documents)
    figure = f"{recall:.3f} in {milliseconds:.1f} ms"
    return Result(what=what, figure=figure, target=f">= {RECALL}", met=recall >= RECALL)


async def recall_of(
    bench: Bench, project_id: UUID, vectors: Vectors, documents: Sequence[UUID] | None
) -> tuple[float, float]:
    """Recall of the nearest ten, and the median in milliseconds."""
    leg, shares, times = VectorLeg(bench.store), [], []
    among = (await bench.store.hits.setting(project_id)).chunks
    for vector in halfvecs(vectors):
        right = await bench.store.nearest.search(
            "exact", project_id, bench.space, vector, limit=10, document_ids=documents
        )
        began = time.perf_counter()
        near = await leg.nearest(
            project_id, bench.space, vector, among=among, limit=30, document_ids=documents
        )
        times.append(time.perf_counter() - began)
        shares.append(len({ident for ident, _ in right} & set(list(near)[:10])) / 10)
    return statistics.mean(shares), statistics.median(times) * 1e3


async def _both_ways(bench: Bench, project_id: UUID, rounds: int) -> tuple[float, float]:
    """Medians in milliseconds of the nearest hundred, read whole and by the index."""
    nearest = bench.store.nearest
    ways: tuple[Literal["exact", "indexed"], ...] = ("exact", "indexed")
    taken: tuple[list[float], list[float]] = ([], [])
    for vector in halfvecs(bench.invention.vectors(rounds)):
        for way, times in zip(ways, taken, strict=True):
            began = time.perf_counter()
            await nearest.search(way, project_id, bench.space, vector, limit=100)
            times.append(time.perf_counter() - began)
    return statistics.median(taken[0]) * 1e3, statistics.median(taken[1]) * 1e3


def _growth(small: tuple[int, float], large: tuple[int, float]) -> Result:
    times, most = large[1] / small[1], large[0] / small[0] / 2
    return Result(
        what=f"from {small[0]:,} to {large[0]:,} chunks",
        figure=f"{times:.1f} x as long",
        target=f"<= {most:.0f} x",
        met=times <= most,
    )
