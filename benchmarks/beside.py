"""Search in turns with vector stores (`benchmarks/peers.py`), all in processes of their own; Whence in two, as with `--workers 2`.

On a busy machine a search waits for the processor whenever it asks the database; a store in one process does not. `--first` lets
all of them run before others, for a fifth of the time.
"""

import os
import statistics
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

import numpy as np
from benchmarks.invention import Bench, on_a_database
from benchmarks.peers import Contender, PeerFigures, Vectors, started, stores
from benchmarks.results import Result
from benchmarks.speed import recall_of

from whence.errors import ProjectNotFound
from whence.store.halfvec import halfvecs

_WARM = 5
_BURSTS, _IN_BURST = 12, 32
_PAUSE = 4
"""Factor on the measured duration."""
_OURS = {
    "hybrid": {"memory": True, "vectors": False, "text": False},
    "vectors": {"memory": True, "vectors": True, "text": False},
    "text": {"memory": True, "vectors": False, "text": True},
    "hybrid on the database": {"memory": False, "vectors": False, "text": False},
    "text on the database": {"memory": False, "vectors": False, "text": True},
}


def peers_in_turns(
    size: int, rounds: int, *, first: bool, keep: Path | None, names: Sequence[str]
) -> list[Result]:
    """Search of one project beside stores that search its vectors alone. `keep` is a folder for the next run."""

    async def work(bench: Bench) -> list[Result]:
        project_id = await _loaded(bench, size)
        with TemporaryDirectory() as folder:
            where = keep or Path(folder)
            return await in_turns(bench, project_id, rounds, where, first=first, names=names)

    return on_a_database(work, keep=keep and keep / "whence")


async def _loaded(bench: Bench, size: int) -> UUID:
    """The project with its index, loaded unless a run before has kept it."""
    name = f"{size} chunks"
    with suppress(ProjectNotFound):
        return (await bench.store.projects.named(name)).id
    project_id = await bench.project(name, size)
    await bench.store.nearest.build(bench.space, vectors=size)
    bench.conn.execute("VACUUM ANALYZE")
    return project_id


async def in_turns(
    bench: Bench, project_id: UUID, rounds: int, folder: Path, *, first: bool, names: Sequence[str]
) -> list[Result]:
    ids, values = await bench.store.nearest.whole(project_id, bench.space)
    stored = np.frombuffer(values, ">f2").astype(np.float32).reshape(-1, bench.space.dimensions)
    keys = [bytes(ids[at : at + 16]) for at in range(0, len(ids), 16)]
    texts = await bench.store.lexical.contents(project_id, keys)
    vectors = bench.invention.vectors(rounds)
    by_memory = await _recall_in_memory(bench, project_id, keys, stored, vectors)
    by_database, _ = await recall_of(bench, project_id, vectors, None)
    command = [sys.executable, "-m", "benchmarks.searcher", bench.dsn, str(project_id)]
    command += [str(bench.space.dimensions), str(rounds)]
    with ExitStack() as stack:
        others = stack.enter_context(stores(names, stored, [texts[key] for key in keys], vectors, folder))
        processes = [stack.enter_context(started(command)) for _ in range(2)]
        ours = {name: Contender(processes, **asked) for name, asked in _OURS.items()}
        recalls = {name: by_memory if asked["memory"] else by_database for name, asked in _OURS.items()}
        if first:
            pids = [
                one.pid for contender in (*ours.values(), *others.values()) for one in contender.processes
            ]
            stack.enter_context(_before_others([os.getpid(), *pids, *_backends(bench)]))
        found = _measured(bench, ours | others, rounds, recalls)
    chunks = f", {len(stored):,} chunks"
    return [
        *(_beside_chromadb(name + chunks, found[name], found) for name in ours),
        *(Result(what=f"{name}, vectors alone", figure=str(found[name])) for name in others),
    ]


def _beside_chromadb(what: str, ours: PeerFigures, found: dict[str, PeerFigures]) -> Result:
    """Chromadb with texts does what Whence does; ids alone are beside it for comparison."""
    other, alone = found["chromadb with texts"], found["chromadb"]
    slower, fewer = ours.milliseconds / other.milliseconds, ours.per_second / other.per_second
    is_goal = what.startswith("hybrid, ")
    return Result(
        what=what,
        figure=f"{ours}; of chromadb with texts {slower:.2f} x the time, {fewer:.2f} x the searches/s, {ours.cpu / other.cpu:.2f} x the CPU;"
        f" without {ours.milliseconds / alone.milliseconds:.2f}, {ours.per_second / alone.per_second:.2f}, {ours.cpu / alone.cpu:.2f} x",
        target="<= 2 x, >= 0.5 x" if is_goal else "",
        met=not is_goal or (slower <= 2 and fewer >= 1 / 2 and ours.recall >= other.recall),
    )


async def _recall_in_memory(
    bench: Bench, project_id: UUID, keys: Sequence[bytes], stored: Vectors, vectors: Vectors
) -> float:
    """Of the nearest ten."""
    held = await bench.held(project_id)
    right = np.argsort(-(vectors @ stored.T), axis=1)[:, :10]
    near = [list(held.near(vector, limit=30))[:10] for vector in halfvecs(vectors)]
    return statistics.mean(
        len({keys[number] for number in row} & {*found}) / 10 for row, found in zip(right, near, strict=True)
    )


def _measured(
    bench: Bench, contenders: dict[str, Contender], rounds: int, recalls: dict[str, float]
) -> dict[str, PeerFigures]:
    times: dict[str, list[float]] = {name: [] for name in contenders}
    shares: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    for turn in range(rounds + _WARM):
        began = time.perf_counter()
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            seconds, share = contenders[name].ask(turn % rounds)
            times[name].append(seconds)
            shares[name].append(recalls.get(name, share))
        time.sleep(_PAUSE * (time.perf_counter() - began))
    bursts: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    for number in range(_BURSTS):
        start = number * _IN_BURST % max(rounds - _IN_BURST, 1)
        for name, contender in contenders.items():
            used = _cpu(_backends(bench))
            seconds, cpu = contender.burst(start, start + _IN_BURST)
            cpu += _cpu(_backends(bench)) - used if name in recalls else 0
            bursts[name].append((seconds, cpu))
            time.sleep(_PAUSE * seconds)
    return {
        name: PeerFigures(
            milliseconds=statistics.median(times[name][_WARM:]) * 1e3,
            per_second=_IN_BURST / statistics.median(seconds for seconds, _ in bursts[name]),
            cpu=statistics.mean(cpu for _, cpu in bursts[name]) / _IN_BURST * 1e3,
            recall=statistics.mean(shares[name][_WARM:]),
        )
        for name in contenders
    }


def _backends(bench: Bench) -> list[int]:
    found = bench.conn.execute("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'")
    return [int(str(row[0])) for row in found.fetchall()]


def _cpu(pids: Iterable[int]) -> float:
    """Seconds of processor time."""
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(one[11]) + int(one[12]) for one in fields) / os.sysconf("SC_CLK_TCK")


@contextmanager
def _before_others(pids: Sequence[int]) -> Iterator[None]:
    threads = [int(task.name) for pid in pids for task in Path(f"/proc/{pid}/task").iterdir()]
    try:
        for thread in threads:
            os.sched_setscheduler(thread, os.SCHED_RR, os.sched_param(1))
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
