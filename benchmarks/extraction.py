"""What extraction with context is worth, and what it costs beside its model: `make bench-extract`.

    python -m benchmarks.extraction [--quick] [--only duplicates prompts large workers sharing]

The model is scripted and on loopback, see `benchmarks/services.py`; where time matters it takes 300 ms to answer.

duplicates  The same documents, extracted with context and by one call for each chunk that knows nothing of the others.
prompts     Tokens of a prompt, in projects with ever more objects, all of them similar enough to be shown.
large       Among 100,000 chunks and 10,000 objects: how long it takes to find the context of a chunk, and all that an
            extraction does but wait for its model, the embedding of new objects by the local model included.
workers     Chunks a second by the number of documents that a worker extracts from at the same time.
sharing     1,000 documents about the same few services, by two workers at once: all come to an end.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

import numpy as np
import psycopg
import uvloop
from benchmarks.invention import Vectors, database
from benchmarks.large_graph import SECONDS, Connection, large, put_objects
from benchmarks.results import Result, report
from benchmarks.services import CUT, NAMES, PARTS, document, model, service
from tests.acceptance.conftest import as_url

from whence.app import App
from whence.extract.context import ChunkText, ExtractionContext
from whence.extract.default_schema import DEFAULT_SCHEMA
from whence.extract.extractors import ModelExtractor, TokenUsage
from whence.models import DEFAULT_PROJECT_ID, JobType, new_id
from whence.settings import Secret, Settings
from whence.text.names import name_key

SOON = 0.01
"""What a call of the model takes, where that does not matter."""
MOST_DRIFT = 0.1
LEAST_GROWTH = 0.75
"""Of as many times the throughput as there are slots."""
PATIENCE = 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    documents: int
    objects: tuple[int, ...]
    chunks: int
    rounds: int
    slots: tuple[int, ...]
    sharing: int


FULL = Size(
    documents=40,
    objects=(10, 100, 1_000, 10_000),
    chunks=100_000,
    rounds=100,
    slots=(1, 2, 4, 8),
    sharing=1_000,
)
QUICK = Size(documents=8, objects=(10, 1_000), chunks=4_000, rounds=10, slots=(1, 2), sharing=40)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A database and a model."""

    dsn: str
    url: str
    folder: Path

    @property
    def settings(self) -> Settings:
        return Settings(
            database_url=Secret(self.dsn),
            data_dir=self.folder,
            embedder="hash",
            llm_base_url=self.url,
            llm_model="scripted",
        )


@contextmanager
def place(seconds: float) -> Iterator[Place]:
    with database() as dsn, model(seconds) as url, tempfile.TemporaryDirectory() as folder:
        yield Place(dsn=dsn, url=url, folder=Path(folder))


async def hand_in(app: App, project_id: UUID, texts: Iterable[str]) -> None:
    for number, text in enumerate(texts):
        with app.inbox.file() as file:
            await file.write(text.encode())
            await file.finish()
            await app.receiver.receive(file, name=f"{number}.md", project_id=project_id, chunking=CUT)


async def completed(app: App, project_id: UUID, job_type: JobType, count: int) -> None:
    """Waits until this many jobs of the kind are completed."""
    async with asyncio.timeout(PATIENCE):
        while True:
            jobs = app.store.jobs
            _, done = await jobs.page(project_id, limit=1, offset=0, status="completed", job_type=job_type)
            failed, _ = await jobs.page(project_id, limit=1, offset=0, status="failed", job_type=job_type)
            assert not failed, failed[0].error_details
            if done == count:
                return
            await asyncio.sleep(0.05)


async def ingested(app: App, name: str, texts: Sequence[str]) -> UUID:
    """A project with these documents, ready for extraction."""
    project = await app.store.projects.create(name=name)
    await app.store.projects.update(replace(project, config={"extraction": "manual"}))
    async with app.working():
        await hand_in(app, project.id, texts)
        await completed(app, project.id, "document_processing", len(texts))
    return project.id


async def extracted(app: App, project_id: UUID) -> float:
    """Seconds from the first to the last document."""
    jobs = await app.orders.project(project_id, scope="all")
    began = time.perf_counter()
    async with app.working():
        await completed(app, project_id, "extraction", len(jobs))
        return time.perf_counter() - began


async def names(app: App, project_id: UUID) -> list[str]:
    return [each.name async for each in app.store.graph.objects.every(project_id)]


def duplicates(size: Size) -> list[Result]:
    async def work(here: Place) -> list[Result]:
        async with App.open(here.settings) as app:
            texts = [document(number) for number in range(size.documents)]
            project_id = await ingested(app, "duplicates", texts)
            await extracted(app, project_id)
            ours = await names(app, project_id)
            theirs = await naive(app, project_id)
        ours_twice = len(ours) - len(set(map(service, ours)))
        theirs_twice = len(theirs) - len(set(map(service, theirs)))
        keys = len(set(map(name_key, theirs))) - len(set(map(service, theirs)))
        print(
            f"     {len(texts)} documents, {len(texts) * PARTS} chunks, {len(set(map(service, theirs)))} services: "
            f"{len(ours)} objects with context, {len(theirs)} by naive calls in parallel"
        )
        return [
            Result(
                what="duplicates with context",
                figure=f"{ours_twice} of {len(ours)} objects",
                target="0",
                met=ours_twice == 0,
            ),
            Result(
                what="duplicates of naive parallel calls",
                figure=f"{theirs_twice} of {len(theirs)} objects; {keys} where equal names are one",
                target="> 0",
                met=theirs_twice > 0,
            ),
        ]

    with place(SOON) as here:
        return uvloop.run(work(here))


async def naive(app: App, project_id: UUID) -> list[str]:
    """The names of the objects that independent calls make, eight at a time, one for each chunk."""
    assert app.chat_model is not None
    extractor = ModelExtractor.of(app.settings, app.chat_model)
    turn = asyncio.Semaphore(8)

    async def one(chunk: ChunkText) -> list[str]:
        async with turn:
            question = extractor.question(DEFAULT_SCHEMA, ExtractionContext(primary=chunk))
            reading = await extractor.read(question, TokenUsage())
        return [each.name for each in reading.reply.objects if each.name]

    nowhere, after, chunks = (
        new_id(),
        None,
        list[ChunkText](),
    )  # in no space: every chunk lacks its vector there
    while some := await app.store.vectors.following(project_id, nowhere, after=after, limit=1000):
        chunks += [ChunkText(id=ident, text=text) for ident, text in some if text is not None]
        after = some[-1][0]
    return [name for made in await asyncio.gather(*map(one, chunks)) for name in made]


def prompts(size: Size) -> list[Result]:
    async def work(here: Place) -> list[Result]:
        tokens: dict[int, float] = {}
        async with App.open(here.settings) as app:
            for count in size.objects:
                project_id = await ingested(app, f"{count} objects", [document(1)])
                space, _ = await app.store.vectors.spaces(project_id)
                assert space is not None
                with psycopg.connect(here.dsn, autocommit=True) as conn:
                    named = [*NAMES, *(f"Unit {number}" for number in range(count))][:count]
                    vectors = _all_alike(conn, project_id, count)
                    put_objects(conn, project_id, space.id, named, vectors)
                await extracted(app, project_id)
                (job,), _ = await app.store.jobs.page(project_id, limit=1, offset=0, job_type="extraction")
                tokens[count] = job.config["extraction"]["prompt_tokens"] / PARTS
        first, *others = tokens.values()
        drift = max(abs(each / first - 1) for each in others)
        return [
            Result(
                what=f"tokens of a prompt, {min(tokens):,} to {max(tokens):,} objects",
                figure=f"{drift:.1%} apart ({', '.join(f'{each:,.0f}' for each in tokens.values())})",
                target="<= 10 %",
                met=drift <= MOST_DRIFT,
            )
        ]

    with place(SOON) as here:
        return uvloop.run(work(here))


def _all_alike(conn: Connection, project_id: UUID, count: int) -> Vectors:
    """Vectors in the middle of those of the project's chunks: each chunk finds all of them similar."""
    rows = conn.execute("SELECT embedding::text FROM kb.chunk_vectors WHERE project_id = %s", [project_id])
    middle = np.mean([np.fromstring(str(row[0])[1:-1], sep=",") for row in rows], axis=0)
    noise = np.random.default_rng(3).normal(scale=np.linalg.norm(middle) / 200, size=(count, len(middle)))
    return np.asarray(middle + noise, dtype=np.float32)


def workers(size: Size) -> list[Result]:
    async def work(here: Place) -> list[Result]:
        rates: dict[int, float] = {}
        async with App.open(here.settings) as app:
            for slots in size.slots:
                texts = [document(number) for number in range(4 * slots)]
                project_id = await ingested(app, f"{slots} slots", texts)
                several = replace(app, settings=replace(app.settings, extraction_concurrency=slots))
                rates[slots] = len(texts) * PARTS / await extracted(several, project_id)
        for slots, rate in rates.items():
            print(f"     {slots:>2} documents at once: {rate:5.1f} chunks/s")
        most = max(rates)
        growth = rates[most] / rates[1]
        return [
            Result(
                what=f"throughput of {most} documents at once",
                figure=f"{growth:.1f} x that of one",
                target=f">= {LEAST_GROWTH * most:.1f} x",
                met=growth >= LEAST_GROWTH * most,
            )
        ]

    with place(SECONDS) as here:
        return uvloop.run(work(here))


def sharing(size: Size) -> list[Result]:
    few = NAMES[:4]

    async def work(here: Place) -> list[Result]:
        began = time.perf_counter()
        async with App.open(here.settings) as app:
            texts = (document(number, of=few, size=2) for number in range(size.sharing))
            await hand_in(app, DEFAULT_PROJECT_ID, texts)
            with two_workers(here):
                await completed(app, DEFAULT_PROJECT_ID, "extraction", size.sharing)
            seconds = time.perf_counter() - began
            found = await names(app, DEFAULT_PROJECT_ID)
        with psycopg.connect(here.dsn) as conn:
            row = conn.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
            (deadlocks,) = row.fetchone() or (None,)
        return [
            Result(
                what=f"{size.sharing:,} documents about the same services",
                figure=f"all extracted, {len(found)} objects, {deadlocks} deadlocks; ingested too in {seconds:.0f} s, "
                f"{size.sharing * 2 / seconds:.0f} chunks/s",
                target=f"{len(few)}, 0",
                met=len(found) == len(few) and deadlocks == 0,
            )
        ]

    with place(SOON) as here:
        return uvloop.run(work(here))


@contextmanager
def two_workers(here: Place) -> Iterator[None]:
    environment = {
        **os.environ,
        "WHENCE_DATABASE_URL": as_url(here.dsn),
        "WHENCE_DATA_DIR": str(here.folder),
        "WHENCE_EMBEDDER": "hash",
        "WHENCE_LLM_BASE_URL": here.url,
        "WHENCE_LLM_MODEL": "scripted",
        "WHENCE_EXTRACTION_CONCURRENCY": "8",
        "WHENCE_LOG_LEVEL": "warning",
    }
    whence = Path(sys.executable).with_name("whence")
    with ExitStack() as stack:
        for _ in range(2):
            worker = stack.enter_context(subprocess.Popen([whence, "worker"], env=environment))
            stack.callback(worker.terminate)
        yield


def in_a_large_project(size: Size) -> list[Result]:
    return large(chunks=size.chunks, objects=max(size.objects), rounds=size.rounds)


SECTIONS: dict[str, Callable[[Size], list[Result]]] = {
    "duplicates": duplicates,
    "prompts": prompts,
    "large": in_a_large_project,
    "workers": workers,
    "sharing": sharing,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="everything smaller: a look, not a measurement")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    options = parser.parse_args()
    size = QUICK if options.quick else FULL
    met = [report(SECTIONS[name](size)) for name in options.only]
    sys.exit(not all(met))


if __name__ == "__main__":
    main()
