"""The chunk API against the same SQL run by bare psycopg: `make bench`.

A server of its own (`whence serve`, all settings at their defaults, a fresh data directory) on loopback, asked over one
keep-alive connection by a client that does nothing but read the answer. The bare side runs the very statement that the
server runs, on the same database, in the same process as the client: execute and fetch, with the driver's parsing.
Both sides take turns, call by call, so that whatever else the machine does falls on both.
"""

import argparse
import asyncio
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson
import psycopg
from benchmarks.wire import Client, get, post, respond

from whence.models import DEFAULT_PROJECT_ID, Chunk, Document, Job, new_id, now
from whence.store import Store
from whence.store.chunks import SELECT_BY_ID, SELECT_BY_IDS
from whence.store.pool import Row
from whence.store.postgres import EmbeddedPostgres

WHENCE = Path(sys.executable).with_name("whence")
TEXT = "It was the best of times, it was the worst of times, it was the age of wisdom. "
SIZE = 1_200
_WARM_UP = 20
_STRETCH = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    what: str
    figure: str
    target: str
    met: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    data_dir: Path
    port: int
    pid: int


@contextmanager
def serving(*arguments: str, data_dir: Path | None = None) -> Iterator[Served]:
    """`whence serve` as a user starts it, on a free port."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = str(data_dir or temporary)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("WHENCE_")}
        environment["WHENCE_DATA_DIR"] = folder
        environment.pop(
            "PYTHONDONTWRITEBYTECODE", None
        )  # compiled code is what everyone runs from the second start on
        log = Path(temporary) / "serve.log"
        with log.open("wb") as out:
            command = [str(WHENCE), "serve", "--port", "0", *arguments]
            process = subprocess.Popen(command, env=environment, stderr=out)
        try:
            while not (found := re.search(r"serves http://127\.0\.0\.1:(\d+)", log.read_text())):
                if process.poll() is not None:
                    sys.exit(log.read_text())
                time.sleep(0.05)
            time.sleep(2)  # the worker has begun, and start-up has settled
            yield Served(data_dir=Path(folder), port=int(found[1]), pid=process.pid)
        finally:
            process.terminate()
            process.wait()


async def fill(dsn: str, *, documents: int, chunks: int) -> list[str]:
    """Documents of 1,200-character chunks; gives the ids of one document's chunks."""
    moment = now()
    ids: list[str] = []
    content = (TEXT * (SIZE // len(TEXT) + 1))[:SIZE]
    async with Store.open(dsn, size=1) as store:
        for number in range(documents):
            name = f"report_{number}.pdf"
            document = Document(
                project_id=DEFAULT_PROJECT_ID,
                id=new_id(),
                name=name,
                mime="application/pdf",
                size=chunks * SIZE,
                sha256=os.urandom(32),
                created_at=moment,
                updated_at=moment,
            )
            job = Job(
                project_id=DEFAULT_PROJECT_ID,
                id=new_id(),
                document_id=document.id,
                type="document_processing",
                name=name,
                status="completed",
                file_name=name,
                file_type=document.mime,
                file_size=document.size,
                created_at=moment,
                completed_at=moment,
            )
            made = [
                Chunk(
                    project_id=DEFAULT_PROJECT_ID,
                    id=new_id(),
                    document_id=document.id,
                    job_id=job.id,
                    chunk_index=index,
                    content=content,
                    metadata={
                        "strategy": "character",
                        "startOffset": index * SIZE,
                        "endOffset": (index + 1) * SIZE,
                        "boundaryType": "character",
                        "source_page": 1 + index // 3,
                        "char_offset": index * SIZE,
                        "token_count": 270,
                    },
                    created_at=moment,
                )
                for index in range(chunks)
            ]
            async with store.transaction() as tx:
                await tx.documents.insert(document)
                await tx.jobs.insert(job)
                await tx.chunks.insert(made)
            ids = [str(chunk.id) for chunk in made]
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("VACUUM ANALYZE kb.chunks, kb.jobs")
    return ids


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sides that took turns, call by call: times in seconds."""

    ours: list[float]
    other: list[float]

    @property
    def ratio(self) -> float:
        """Other to ours: the median over stretches of calls, since a shared machine drifts during a run."""
        stretches = range(0, len(self.ours), _STRETCH)
        medians = [
            statistics.median(self.other[at : at + _STRETCH])
            / statistics.median(self.ours[at : at + _STRETCH])
            for at in stretches
        ]
        return statistics.median(medians)


def side_by_side(rounds: int, ours: Callable[[], object], other: Callable[[], object]) -> Pair:
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds + _WARM_UP):
        for call, taken in zip((ours, other), times, strict=True):
            began = time.perf_counter()
            call()
            if turn >= _WARM_UP:
                taken.append(time.perf_counter() - began)
    return Pair(*times)


def latency(served: Served, dsn: str, ids: list[str], rounds: int) -> list[Result]:
    client = Client(served.port)
    many = post("/api/v1/chunks/bulk", orjson.dumps({"chunk_ids": ids, "include_source": True}))
    one = get(f"/api/v1/chunks/{ids[50]}?include_source=true")
    singles = [get(f"/api/v1/chunks/{ident}?include_source=true") for ident in ids]
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(
            "SELECT set_config('random_page_cost', '1.1', false)"
        )  # as the server's connections plan

        def bare(statement: str, params: dict[str, object]) -> list[Row]:
            with conn.cursor(binary=True) as cursor:
                cursor.execute(statement.encode(), params)
                return cursor.fetchall()

        array = "{" + ",".join(ids) + "}"
        bulk = side_by_side(
            rounds,
            lambda: bare(SELECT_BY_IDS[True, False], {"ids": array, "project_id": None}),
            lambda: client.ask(many),
        )
        single = side_by_side(
            rounds * 2,
            lambda: bare(SELECT_BY_ID[True, False], {"id": ids[50], "project_id": None}),
            lambda: client.ask(one),
        )
    batch = side_by_side(
        max(rounds // 10, 5), lambda: client.ask(many), lambda: [client.ask(request) for request in singles]
    )
    return [
        compared("bulk, 100 ids with source", bulk, 2),
        compared("one chunk with source", single, 3),
        Result(
            what="one bulk call against 100 single GETs",
            figure=f"{batch.ratio:.1f} x faster ({milliseconds(batch.other)})",
            target=">= 20 x",
            met=batch.ratio >= 20,
        ),
    ]


def compared(what: str, pair: Pair, most: int) -> Result:
    return Result(
        what=what,
        figure=f"{milliseconds(pair.other)}, {pair.ratio:.2f} x bare SQL ({milliseconds(pair.ours)})",
        target=f"<= {most} x",
        met=pair.ratio <= most,
    )


def milliseconds(times: list[float]) -> str:
    return f"{statistics.median(times) * 1e3:.2f} ms"


async def load(served: Served, ids: list[str], *, clients: int, seconds: float) -> Result:
    """Many clients at once, each asking for one chunk after another, and now and then for many."""
    times: list[float] = []
    failures = 0
    until = time.perf_counter() + seconds
    many = post("/api/v1/chunks/bulk", orjson.dumps({"chunk_ids": ids, "include_source": True}))

    async def ask(number: int) -> None:
        nonlocal failures
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        turn = number
        while time.perf_counter() < until:
            turn += 1
            request = (
                many if turn % 10 == 0 else get(f"/api/v1/chunks/{ids[turn % len(ids)]}?include_source=true")
            )
            began = time.perf_counter()
            status, _body = await respond(reader, writer, request)
            times.append(time.perf_counter() - began)
            failures += status != 200
        writer.close()

    await asyncio.gather(*(ask(number) for number in range(clients)))
    times.sort()
    p50, p99 = times[len(times) // 2], times[int(len(times) * 0.99)]
    return Result(
        what=f"{clients} clients for {seconds:.0f} s, one request in ten a bulk",
        figure=f"{len(times) / seconds:.0f} requests/s, p50 {p50 * 1e3:.0f} ms, p99 {p99 * 1e3:.0f} ms, {failures} errors",
        target="0 errors",
        met=failures == 0,
    )


def memory(served: Served) -> Result:
    """Proportional set size of the server and everything it started."""
    total = 0
    for pid in family(served.pid):
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        found = re.search(r"^Pss:\s+(\d+) kB", rollup, re.MULTILINE)
        total += int(found[1]) if found else 0
    megabytes = total / 1024
    return Result(
        what="idle `whence serve` with embedded PostgreSQL",
        figure=f"{megabytes:.0f} MB resident (PSS)",
        target="<= 250 MB",
        met=0 < megabytes <= 250,
    )


def family(root: int) -> list[int]:
    """A process and its descendants; the database's group is found by its parent like any other."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found = [root]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found


def help_cpu() -> Result:
    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([str(WHENCE), "--help"], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    once()
    taken = statistics.median(once() for _ in range(7)) * 1e3
    return Result(
        what="`whence --help`",
        figure=f"{taken:.0f} ms of CPU",
        target="<= 150 ms",
        met=taken <= 150,
    )


def warm_start() -> Result:
    """Of a database that was there before, the median of seven."""

    def once(folder: Path) -> float:
        began = time.perf_counter()
        with EmbeddedPostgres.start(folder):
            return time.perf_counter() - began

    with tempfile.TemporaryDirectory(prefix="whence-bench-") as folder:
        once(Path(folder))
        taken = statistics.median(once(Path(folder)) for _ in range(7))
    return Result(
        what="warm start of the embedded PostgreSQL", figure=f"{taken:.2f} s", target="< 1 s", met=taken < 1
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=30)
    options = parser.parse_args()
    results = [help_cpu(), warm_start()]
    with serving() as served:
        results.append(memory(served))
        with EmbeddedPostgres.start(served.data_dir) as attached:
            ids = asyncio.run(fill(attached.dsn, documents=options.documents, chunks=100))
            results += latency(served, attached.dsn, ids, options.rounds)
        results.append(asyncio.run(load(served, ids, clients=options.clients, seconds=options.seconds)))
    width = max(len(result.what) for result in results)
    for result in results:
        print(f"{'ok  ' if result.met else 'MISS'} {result.what:{width}}  {result.target:9}  {result.figure}")
    sys.exit(not all(result.met for result in results))


if __name__ == "__main__":
    main()
