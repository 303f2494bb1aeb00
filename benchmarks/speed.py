"""What search costs beside the bare SQL of its legs, how right the vector leg is, and how both grow.

Searches and the two statements that their legs run take turns, call by call; the bare side executes and fetches by
blocking psycopg. What a model takes to embed a question is not in it.
"""

import asyncio
import re
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import cycle, pairwise
from pathlib import Path
from typing import Literal
from uuid import UUID

import orjson
import psutil
import uvloop
from benchmarks.chunk_api import Served, serving
from benchmarks.invention import DIMENSIONS, Bench, Vectors, on_a_database, opened
from benchmarks.results import Result
from benchmarks.wire import Client, get, length_of, post, respond

from whence.models import Filters
from whence.providers import Embedders
from whence.providers.minilm import MiniLMEmbedder
from whence.search import Question, Search
from whence.search.vectors import SWITCH, VectorLeg
from whence.settings import Settings
from whence.store.halfvec import halfvecs
from whence.store.postgres import EmbeddedPostgres

MOST = 1.5
"""Times the bare SQL."""
RECALL = 0.95
_WARM = 5
_CLIENTS, _BURSTS, _BURST = 16, 5, 4.0
"""Number of clients at once, and the seconds of each server's bursts."""
_PROCESS = re.compile(rb"x-request-id: ([0-9a-f]{24})", re.IGNORECASE)
"""The part of a request's id that the server's process gives to all its requests."""
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


def workers(size: int, rounds: int) -> list[Result]:
    """Searches of one project over HTTP, by `whence serve` with one process and with two, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        data_dir = Path(folder)
        with (
            serving(data_dir=data_dir) as one,
            serving("--workers", "2", data_dir=data_dir) as two,
            EmbeddedPostgres.start(data_dir) as attached,
        ):

            async def work(bench: Bench) -> list[Result]:
                return await _over_http(bench, {1: one, 2: two}, size, rounds)

            return uvloop.run(opened(attached.dsn, work, DIMENSIONS))


async def _over_http(bench: Bench, served: Mapping[int, Served], size: int, rounds: int) -> list[Result]:
    space = await bench.store.vectors.ensure_space(
        provider=MiniLMEmbedder.provider, model=MiniLMEmbedder.model, dimensions=DIMENSIONS
    )
    project_id = await replace(bench, space=space).project("small", size)
    bench.conn.execute("VACUUM ANALYZE")
    questions = [bench.invention.question() for _ in range(rounds)]
    bodies = [{"query": text, "projectId": project_id, "floor": False} for text in questions]
    requests = [post("/api/v1/search", orjson.dumps(body)) for body in bodies]
    label = f"search over HTTP, {size:,} chunks"
    async with Embedders(Settings()) as embedders:
        embedder = embedders.of(space)
        search = Search(bench.store, embedders, memory=Settings().search_memory_mb * 1024 * 1024)
        client = Client(served[1].port)
        taken: tuple[list[float], ...] = ([], [], [])
        for turn in range(2 * rounds):  # the first time, the project comes into memory
            marks = [time.perf_counter()]
            client.ask(requests[turn % rounds])
            marks.append(time.perf_counter())
            await search.find(project_id, Question(query=questions[turn % rounds], floor=False))
            marks.append(time.perf_counter())
            await embedder.embed([questions[turn % rounds]])
            marks.append(time.perf_counter())
            for times, (began, ended) in zip(taken, pairwise(marks), strict=True):
                times.append(ended - began)
        await search.aclose()
    http, here, embedding = (statistics.median(times[rounds:]) * 1e3 for times in taken)
    found = await _bursts(served, requests)
    return [
        Result(
            what=f"{label}, one at a time",
            figure=f"{http:.1f} ms; in this process {here:.1f} ms, embedding the question {embedding:.1f} ms of it",
        ),
        *(
            Result(
                what=f"{label}, {_CLIENTS} clients, --workers {count}",
                figure=f"{rate:.0f}/s, {cpu:.1f} ms of CPU each, without the database",
            )
            for count, (rate, cpu) in found.items()
        ),
    ]


async def _bursts(served: Mapping[int, Served], requests: Sequence[bytes]) -> dict[int, tuple[float, float]]:
    """Searches per second and milliseconds of CPU of each server: medians of the bursts after a first one.

    The CPU shows whether processes hinder each other, also on a busy machine.
    """
    clients = {count: await _connected(one.port, count) for count, one in served.items()}
    bursts: dict[int, list[tuple[float, float]]] = {count: [] for count in served}
    for _ in range(_BURSTS + 1):
        for count, connections in clients.items():
            used = _cpu(served[count].pid)
            until, asked = time.perf_counter() + _BURST, cycle(requests)
            done = sum(await asyncio.gather(*(_ask(*connection, asked, until) for connection in connections)))
            bursts[count].append((done / _BURST, (_cpu(served[count].pid) - used) / done * 1e3))
    return {
        count: (statistics.median(rates), statistics.median(cpus))
        for count, found in bursts.items()
        for rates, cpus in [zip(*found[1:], strict=True)]
    }


def _cpu(pid: int) -> float:
    """Seconds of processor time of a server's processes, without the database."""
    server = psutil.Process(pid)
    times = [
        one.cpu_times() for one in [server, *server.children(recursive=True)] if one.name() != "postgres"
    ]
    return float(sum(one.user + one.system for one in times))


async def _ask(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, asked: Iterator[bytes], until: float
) -> int:
    """One client, which asks one question after the other."""
    answered = 0
    while time.perf_counter() < until:
        status, _ = await respond(reader, writer, next(asked))
        assert status == 200
        answered += 1
    return answered


async def _connected(port: int, processes: int) -> list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Connections, as many to each process of a server."""
    found: dict[bytes, list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]] = defaultdict(list)
    share = _CLIENTS // processes
    while sum(map(len, found.values())) < share * processes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(get("/healthz"))
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(length_of(head))
        process = _PROCESS.search(head)
        assert process is not None
        if len(found[process[1]]) < share:
            found[process[1]].append((reader, writer))
        else:
            writer.close()
    return [connection for some in found.values() for connection in some]
