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
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import UUID

import numpy as np
import psycopg
import uvloop
from benchmarks.invention import Bench, Vectors, database, on_a_database
from benchmarks.results import Result, report
from benchmarks.services import CUT, NAMES, PARTS, document, model, service
from tests.acceptance.conftest import as_url

from whence.app import App
from whence.extract import DEFAULT_SCHEMA, ChunkText, ContextOptions, ExtractionContext, name_key
from whence.extract.costs import Prices, Usage
from whence.extract.extractors import ModelExtractor
from whence.extract.gather import gather
from whence.extract.order import Orders
from whence.extract.run import Extraction
from whence.providers import ChatModel, Completion, Embedders, JSONSchema, Message, open_chat_model
from whence.providers.minilm import MiniLMEmbedder
from whence.search import Search
from whence.settings import Secret, Settings
from whence.store.vectors import halfvecs
from whence.types import DEFAULT_PROJECT_ID, JobType, new_id

SECONDS = 0.3
"""What a call of the model takes, where that matters."""
SOON = 0.01
MOST_OF_A_CALL = 0.1
MOST_CONTEXT = 30.0
MOST_DRIFT = 0.1
LEAST_GROWTH = 0.75
"""Of as many times the throughput as there are slots."""
PATIENCE = 1800.0

Connection = psycopg.Connection[tuple[object, ...]]


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
    """Wait until so many jobs of the kind have ended well."""
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
    """A project with these documents, which waits to be told to extract."""
    project = await app.store.projects.create(name=name)
    await app.store.projects.update(replace(project, config={"extraction": "manual"}))
    async with app.working():
        await hand_in(app, project.id, texts)
        await completed(app, project.id, "document_processing", len(texts))
    return project.id


async def extracted(app: App, project_id: UUID) -> float:
    """Seconds from the first to the last document."""
    ids = await app.store.graph.ledger.stale_documents(project_id, 1, every=True)
    jobs = await app.orders.documents(project_id, ids, scope="all")
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
            reading = await extractor.read(DEFAULT_SCHEMA, ExtractionContext(primary=chunk), Usage())
        return [each.name for each in reading.reply.objects if each.name]

    found, _ = await app.store.vectors.spaces(project_id)
    assert found is not None
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


def put_objects(
    conn: Connection, project_id: UUID, space_id: UUID, named: Sequence[str], vectors: Vectors
) -> None:
    """Components with two properties, each named by some chunk of the project."""
    ids = [new_id() for _ in named]
    rows = conn.execute("SELECT id FROM kb.chunks WHERE project_id = %s LIMIT 1000", [project_id])
    chunks = [row[0] for row in rows]
    with conn.transaction(), conn.cursor() as cursor:
        with cursor.copy(
            "COPY kb.graph_objects (project_id, id, type, name, name_key, properties, created_at, updated_at) FROM STDIN"
        ) as copy:
            for number, (ident, name) in enumerate(zip(ids, named, strict=True)):
                said = (
                    f'{{"owner": "Owner {number % 10}", "description": "One of the services of the house"}}'
                )
                copy.write_row((project_id, ident, "Component", name, name_key(name), said, "now", "now"))
        with cursor.copy(
            "COPY kb.object_provenance (project_id, id, object_id, said_of, chunk_id, property_name, operation,"
            " schema_number, value, extracted_at) FROM STDIN"
        ) as copy:
            for number, (ident, name) in enumerate(zip(ids, named, strict=True)):
                claim = ("name", "created", 1, f'"{name}"', "now")
                copy.write_row((project_id, new_id(), ident, ident, chunks[number % len(chunks)], *claim))
        with cursor.copy(
            "COPY kb.object_vectors (project_id, id, space_id, embedding) FROM STDIN (FORMAT binary)"
        ) as copy:
            copy.set_types(["uuid", "uuid", "uuid", "bytea"])
            for ident, vector in zip(ids, halfvecs(vectors), strict=True):
                copy.write_row((project_id, ident, space_id, vector))


def large(size: Size) -> list[Result]:
    async def work(bench: Bench) -> list[Result]:
        space = await bench.store.vectors.ensure_space(
            provider=MiniLMEmbedder.provider, model=MiniLMEmbedder.model, dimensions=bench.space.dimensions
        )
        bench = replace(bench, space=space)
        project_id = await bench.project("large", size.chunks)
        count = max(size.objects)
        words = " ".join(bench.invention.texts(count // 20)).split()
        named = dict.fromkeys(" ".join(pair) for pair in zip(words[::2], words[1::2], strict=True))
        chosen = list(named)[:count]
        put_objects(bench.conn, project_id, space.id, chosen, bench.invention.vectors(len(chosen)))
        for _ in range(size.rounds):
            await bench.load(project_id, 1)
        await bench.store.nearest.build(space, vectors=size.chunks)
        bench.conn.execute("VACUUM ANALYZE")
        with model(SECONDS) as url:
            return [*await contexts(bench, project_id, size), await overhead(bench, project_id, url)]

    return on_a_database(work)


async def contexts(bench: Bench, project_id: UUID, size: Size) -> list[Result]:
    results = []
    for what, least in (("of long documents", 100), ("that are documents of their own", 1)):
        rows = bench.conn.execute(
            "SELECT min(id::text)::uuid FROM kb.chunks WHERE project_id = %s GROUP BY document_id"
            " HAVING count(*) = %s ORDER BY random() LIMIT %s",
            [project_id, least, size.rounds],
        ).fetchall()
        search, times = Search(bench.store, Embedders(Settings())), []
        for (chunk_id,) in rows:
            began = time.perf_counter()
            await gather(bench.store, search, project_id, UUID(str(chunk_id)), ContextOptions())
            times.append((time.perf_counter() - began) * 1e3)
        middle = statistics.median(times)
        results.append(
            Result(
                what=f"context of chunks {what}",
                figure=f"p50 {middle:.1f} ms, p90 {statistics.quantiles(times, n=10)[-1]:.1f} ms "
                f"({size.chunks:,} chunks, {max(size.objects):,} objects)",
                target=f"< {MOST_CONTEXT:.0f} ms",
                met=middle < MOST_CONTEXT,
            )
        )
    return results


@dataclass(slots=True)
class Timed:
    """A chat model, and when it was asked and when it answered."""

    chat: ChatModel
    calls: list[tuple[float, float]] = field(default_factory=list)

    @property
    def provider(self) -> str:
        return self.chat.provider

    @property
    def model(self) -> str:
        return self.chat.model

    def stream(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float = 0
    ) -> AsyncGenerator[str | Completion, None]:
        return self.chat.stream(messages, max_tokens=max_tokens, temperature=temperature)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float = 0,
        schema: JSONSchema | None = None,
    ) -> Completion:
        began = time.perf_counter()
        said = await self.chat.complete(
            messages, max_tokens=max_tokens, temperature=temperature, schema=schema
        )
        self.calls.append((began, time.perf_counter()))
        return said

    async def check(self) -> str:
        return await self.chat.check()

    async def aclose(self) -> None:
        await self.chat.aclose()


async def overhead(bench: Bench, project_id: UUID, url: str) -> Result:
    """Between one call and the next, and what a call takes beyond the model's own time."""
    settings = Settings(llm_base_url=url, llm_model="scripted")
    chat = open_chat_model(settings)
    assert chat is not None
    timed = Timed(chat)
    async with Embedders(settings) as embedders:
        extraction = Extraction(
            store=bench.store,
            embedders=embedders,
            search=Search(bench.store, embedders),
            model=ModelExtractor.of(settings, timed),
            prices=Prices(),
        )
        row = bench.conn.execute(
            "SELECT document_id FROM kb.chunks WHERE project_id = %s GROUP BY document_id"
            " HAVING count(*) = 100 LIMIT 1",
            [project_id],
        ).fetchone()
        assert row is not None
        found = await bench.store.documents.get(UUID(str(row[0])), project_id=project_id)
        job = await Orders(bench.store, has_model=True).document(found, scope="all")
        await embedders.of(bench.space).embed(["The first text loads the model."])
        used = time.process_time()
        await extraction.run(project_id, job.id)
        used = (time.process_time() - used) / len(timed.calls) * 1e3
    await chat.aclose()
    ended = await bench.store.jobs.get(job.id)
    assert ended.config["extraction"]["extracted"] == 100, ended
    between = statistics.median(
        later[0] - earlier[1] for earlier, later in zip(timed.calls, timed.calls[1:], strict=False)
    )
    beyond = statistics.median(answered - asked for asked, answered in timed.calls) - SECONDS
    share = (between + beyond) / SECONDS
    return Result(
        what="all but the model's 300 ms, for each chunk",
        figure=f"p50 {(between + beyond) * 1e3:.1f} ms, {share:.1%} of the call "
        f"({between * 1e3:.1f} ms between calls, {beyond * 1e3:.1f} ms in them; {used:.1f} ms of CPU)",
        target="< 10 %",
        met=share < MOST_OF_A_CALL,
    )


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


SECTIONS: dict[str, Callable[[Size], list[Result]]] = {
    "duplicates": duplicates,
    "prompts": prompts,
    "large": large,
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
