"""Mixed load on one server for some minutes, with kills of its worker and its database; then what must hold is checked.

python -m benchmarks.soak [--minutes 10]

Writers upload, update and delete documents that only they know; readers search, chat, break off downloads and read slowly. At
the end the server comes to rest, and a table shows requests, errors, memory, descriptors and the invariants of
docs/architecture.md. The exit code is 1 if one of them does not hold.
"""

import argparse
import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, LiteralString

import httpx
import psycopg
from tests.chat_endpoint import ChatEndpoint, Messages, says
from tests.extracting import primary_of
from tests.files.pdf import pdf

from whence.store.postgres import EmbeddedPostgres

WHENCE = Path(sys.executable).with_name("whence")
API = "/api/v1"
WORDS = "heron canal lantern harbour pepper violin granite meadow copper thistle orchard falcon".split()
MOST_DOCUMENTS = 40
"""Of one writer at a time."""
KILL_EVERY = 20.0
RECOVERY = 30.0
"""Seconds after a kill of the database in which 503 is expected."""
REST = 180.0
"""Seconds without a finished job after which no more are expected."""
LARGE = 3_000_000
SAMPLES = 10
GROWTH_MB, MORE_FILES = 80, 25

# What must hold at rest, each as the number of rows that break it.
INVARIANTS: dict[str, LiteralString] = {
    "1 a chunk is a slice of its document's text": """
        SELECT count(*) FROM kb.chunks c JOIN kb.documents d ON d.project_id = c.project_id AND d.id = c.document_id
        WHERE c.text <> substr(d.text, (c.metadata ->> 'startOffset')::int + 1,
                               (c.metadata ->> 'endOffset')::int - (c.metadata ->> 'startOffset')::int)""",
    "1 between chunks lies white space": """
        SELECT count(*) FROM (
            SELECT substr(d.text, lag((c.metadata ->> 'endOffset')::int, 1, 0) OVER w + 1,
                          (c.metadata ->> 'startOffset')::int - lag((c.metadata ->> 'endOffset')::int, 1, 0) OVER w) AS gap
            FROM kb.chunks c JOIN kb.documents d ON d.project_id = c.project_id AND d.id = c.document_id
            WINDOW w AS (PARTITION BY c.document_id ORDER BY c.chunk_index)) gaps WHERE gap ~ '\\S'""",
    "3 the chunk of a claim exists": """
        SELECT count(*) FROM kb.object_provenance p
        WHERE p.chunk_id IS NOT NULL AND NOT EXISTS (SELECT FROM kb.chunks c WHERE c.id = p.chunk_id)""",
    "4 a completed document has chunks": """
        SELECT count(*) FROM kb.documents d JOIN kb.jobs j ON j.project_id = d.project_id AND j.id = d.current_job_id
        WHERE j.status = 'completed' AND NOT EXISTS (
            SELECT FROM kb.chunks c WHERE c.project_id = d.project_id AND c.document_id = d.id)""",
    "4 no job is left open or failed": "SELECT count(*) FROM kb.jobs WHERE status <> 'completed' AND status <> 'cancelled'",
    "4 nothing is twice": "SELECT count(*) - count(DISTINCT (project_id, name)) FROM kb.documents",
    "5 nothing crosses projects": """
        SELECT count(*) FROM kb.chunks c JOIN kb.documents d ON d.id = c.document_id
        WHERE c.project_id <> d.project_id""",
}


UNFINISHED: LiteralString = """
SELECT type, status, stage, attempts, error_details FROM kb.jobs WHERE status NOT IN ('completed', 'cancelled') LIMIT 20"""


@dataclass
class Run:
    client: httpx.AsyncClient
    folder: Path
    until: float
    answers: Counter[tuple[str, str]] = field(default_factory=Counter)
    memory: list[int] = field(default_factory=list)
    """MB of the server, meanwhile."""
    kills: Counter[str] = field(default_factory=Counter)
    unexpected: list[str] = field(default_factory=list)
    database_killed: float = -RECOVERY
    known: dict[str, set[str]] = field(default_factory=dict)
    """By document, the texts that it may have: more than one where the answer to a write was lost."""
    gone: set[str] = field(default_factory=set)
    unfinished: list[tuple[object, ...]] = field(default_factory=list)
    """Jobs that are left open or failed."""

    @property
    def goes_on(self) -> bool:
        return time.monotonic() < self.until

    def note(
        self, kind: str, code: int | str, expected: tuple[int, ...] = (200, 202), said: str = ""
    ) -> None:
        self.answers[kind, str(code)] += 1
        recovering = code in (503, "lost") and time.monotonic() - self.database_killed < RECOVERY
        if code not in expected and not recovering:
            self.unexpected.append(f"{kind}: {code} {said[:200]}")

    async def ask(
        self, kind: str, method: str, path: str, *, expected: tuple[int, ...] = (200, 202), **options: Any
    ) -> httpx.Response | None:
        try:
            answer = await self.client.request(method, API + path, **options)
        except httpx.TransportError as exc:
            self.note(kind, "lost", said=repr(exc))
            return None
        self.note(kind, answer.status_code, expected, answer.text)
        return answer if answer.is_success else None


def reply(messages: Messages) -> str:
    """What the model says: the birds and plants of a chunk as objects, else an answer that cites the first source."""
    if "PRIMARY CHUNK" not in messages[-1]["content"]:
        return "The documents say where it is [1]."
    words = set(primary_of(messages).lower().split())
    named = [{"type": "Concept", "name": word} for word in WORDS[:3] if word in words]
    return json.dumps({"objects": named, "relationships": []})


def written(chance: random.Random, sentences: int) -> str:
    return " ".join(
        f"The {chance.choice(WORDS)} near the {chance.choice(WORDS)}, {chance.getrandbits(40)}."
        for _ in range(sentences)
    )


async def write(run: Run, project: str, seed: int) -> None:
    """Uploads, updates and deletes documents of its own."""
    chance, mine, number = random.Random(seed), dict[str, str](), 0
    while run.goes_on:
        step = chance.random()
        if not mine or (step < 0.5 and len(mine) < MOST_DOCUMENTS):
            number += 1
            text = written(chance, chance.choice((3, 30, 300)))
            is_pdf = chance.random() < 0.1
            name = f"{project} {seed} {number}.{'pdf' if is_pdf else 'txt'}"
            content = pdf([text[:400]]) if is_pdf else text.encode()
            sent = await run.ask(
                "upload",
                "POST",
                "/ingest/upload",
                files={"file": (name, content)},
                data={"projectId": project},
            )
            if sent is not None:
                ident = sent.json()["data"]["items"][0]["documentId"]
                mine[ident] = name
                run.known[ident] = set() if is_pdf else {text}
        elif step < 0.8:
            ident, text = chance.choice(list(mine)), written(chance, 20)
            sent = await run.ask("update", "PUT", f"/documents/{ident}", json={"text": text})
            run.known[ident] = {text} if sent is not None else run.known[ident] | {text}
        else:
            ident = chance.choice(list(mine))
            del mine[ident]
            sent = await run.ask("delete", "DELETE", f"/documents/{ident}")
            del run.known[ident]
            if sent is not None:
                run.gone.add(ident)
        await asyncio.sleep(chance.random() * 0.4)


async def search(run: Run, project: str, seed: int) -> None:
    chance = random.Random(seed)
    while run.goes_on:
        found = await run.ask(
            "search", "POST", "/search", json={"query": written(chance, 1), "projectId": project}
        )
        for hit in found.json()["data"]["items"] if found else ():
            if not hit["document"]["name"].startswith(project):
                run.unexpected.append(f"search: a hit of another project, {hit['document']['name']}")
        await asyncio.sleep(chance.random() * 0.3)


async def chat(run: Run, project: str, seed: int) -> None:
    chance = random.Random(seed)
    while run.goes_on:
        message = f"Where is the {chance.choice(WORDS)}?"
        said = await run.ask("chat", "POST", "/chat", json={"projectId": project, "message": message})
        if said is not None:
            sources = {source["id"] for source in said.json()["sources"]}
            if any(citation["chunkId"] not in sources for citation in said.json().get("citations", ())):
                run.unexpected.append("chat: a citation without its source")
        await asyncio.sleep(chance.random())


async def break_off(run: Run, large: str) -> None:
    """Downloads that end after their first bytes."""
    while run.goes_on:
        await _read(run, "broken download", f"/documents/{large}/file", parts=1, pause=0)
        await asyncio.sleep(0.1)


async def read_slowly(run: Run, large: str) -> None:
    while run.goes_on:
        await _read(run, "slow reader", f"/documents/{large}/text", parts=20, pause=0.2)


async def _read(run: Run, kind: str, path: str, *, parts: int, pause: float) -> None:
    try:
        async with run.client.stream("GET", API + path) as answer:
            run.note(kind, answer.status_code)
            pieces = answer.aiter_raw(16_384)
            for _ in range(parts):
                await anext(pieces, b"")
                await asyncio.sleep(pause)
    except httpx.TransportError as exc:
        run.note(kind, "lost", said=repr(exc))


async def watch(run: Run, pid: int) -> None:
    """Notes the memory ten times, the whole time apart."""
    pause = (run.until - time.monotonic()) / SAMPLES
    while run.goes_on:
        await asyncio.sleep(pause)
        run.memory.append(used(pid)[0])


async def kill(run: Run, worker: "Worker", data_dir: Path) -> None:
    """Kills the worker and the database in turn; the worker is started again, the server restarts the database itself."""
    turn = 0
    while run.goes_on:
        await asyncio.sleep(min(KILL_EVERY, max(run.until - time.monotonic(), 0)))
        if run.until - time.monotonic() < RECOVERY:
            return
        turn += 1
        if turn % 2:
            worker.close()
            worker.start()
            run.kills["worker"] += 1
        else:
            run.database_killed = time.monotonic()
            os.kill(int((data_dir / "postgres" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
            run.kills["database"] += 1


@dataclass
class Worker:
    environment: dict[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen([WHENCE, "worker"], env=self.environment, stdout=log, stderr=log)

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@contextmanager
def serving(environment: dict[str, str], log: Path) -> Iterator[tuple[str, int]]:
    """The address and the pid of a server that is ready."""
    with log.open("wb") as out:
        process = subprocess.Popen([WHENCE, "serve", "--port", "0"], env=environment, stdout=out, stderr=out)
    try:
        while not (found := re.search(r"serves (http://\S+)", log.read_text())):
            if process.poll() is not None:
                raise SystemExit(log.read_text())
            time.sleep(0.1)
        while httpx.get(found[1] + "/readyz", timeout=60).status_code != httpx.codes.OK:
            time.sleep(0.1)
        yield found[1], process.pid
    finally:
        process.terminate()
        process.wait(120)


def used(pid: int) -> tuple[int, int]:
    """Memory in MB and open descriptors of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    memory = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
    return memory // 1024, len(list(Path(f"/proc/{pid}/fd").iterdir()))


async def at_rest(dsn: str) -> None:
    """Wait until no job is open, as long as any is finished from time to time."""
    query = "SELECT count(*) FROM kb.jobs WHERE status IN ('pending', 'processing')"
    fewest, end = None, time.monotonic() + REST
    while fewest != (0,) and time.monotonic() < end:
        with suppress(psycopg.OperationalError), psycopg.connect(dsn) as conn:
            left = conn.execute(query).fetchone()
            if left is not None and (fewest is None or left < fewest):
                fewest, end = left, time.monotonic() + REST
        await asyncio.sleep(0.5)


async def check(run: Run, dsn: str) -> dict[str, int]:
    """How often each invariant is broken."""
    broken: dict[str, int] = {}
    with psycopg.connect(dsn) as conn:
        for name, query in INVARIANTS.items():
            row = conn.execute(query).fetchone()
            broken[name] = int(row[0]) if row else 0
        run.unfinished = conn.execute(UNFINISHED).fetchall()
        texts: dict[str, str] = dict(conn.execute("SELECT id::text, text FROM kb.documents").fetchall())
    broken["4 nothing acknowledged is lost"] = sum(
        ident not in texts or (bool(may) and texts[ident] not in may) for ident, may in run.known.items()
    )
    broken["4 nothing deleted is left"] = len(run.gone & texts.keys())
    return broken


def report(run: Run, before: tuple[int, int], after: tuple[int, int], broken: dict[str, int]) -> bool:
    codes = sorted({code for _, code in run.answers})
    print(" " * 20 + "".join(f"{code:>8}" for code in codes))
    for kind in sorted({kind for kind, _ in run.answers}):
        print(f"{kind:<20}" + "".join(f"{run.answers[kind, code]:>8}" for code in codes))
    print(f"{'kills of worker and database':<46}{run.kills['worker']:>10}{run.kills['database']:>8}")
    print(f"{'memory of the server, MB at start and end':<46}{before[0]:>10}{after[0]:>8}")
    print(f"{'meanwhile':<20}" + "".join(f"{one:>6}" for one in run.memory))
    print(f"{'descriptors of the server':<46}{before[1]:>10}{after[1]:>8}")
    for name, count in broken.items():
        print(f"{name:<46}{'broken':>10}{count:>8}")
    for job in run.unfinished:
        print("unfinished:", *job)
    for line in run.unexpected[:20]:
        print("unexpected:", line)
    flat = after[0] <= before[0] + GROWTH_MB and after[1] <= before[1] + MORE_FILES
    print(
        f"requests {run.answers.total()}, unexpected {len(run.unexpected)}, memory and descriptors {'flat' if flat else 'GREW'}"
    )
    return flat and not run.unexpected and not any(broken.values())


async def load(
    run: Run, projects: list[str], large: str, worker: Worker, data_dir: Path, *, first_seed: int
) -> None:
    """Other seeds give other documents."""
    tasks: list[Awaitable[None]] = [
        *(write(run, project, seed) for seed, project in enumerate(projects * 2, first_seed)),
        *(search(run, project, seed) for seed, project in enumerate(projects)),
        chat(run, projects[0], 1),
        break_off(run, large),
        *(read_slowly(run, large) for _ in range(5)),
        kill(run, worker, data_dir),
    ]
    await asyncio.gather(*tasks)


async def made(run: Run, path: str, field_of: Callable[[Any], str], **options: Any) -> str:
    answer = await run.client.post(API + path, **options)
    answer.raise_for_status()
    return field_of(answer.json()["data"])


async def soak(minutes: float, folder: Path) -> bool:
    data_dir = folder / "data"
    with ChatEndpoint(says(reply)) as model:
        environment = {name: text for name, text in os.environ.items() if not name.startswith("WHENCE_")} | {
            "WHENCE_DATA_DIR": str(data_dir),
            "WHENCE_LLM_BASE_URL": model.url,
            "WHENCE_LLM_MODEL": "test-1",
        }
        worker = Worker(environment, folder / "worker.log")
        with serving(environment, folder / "serve.log") as (url, pid), closing(worker):
            limits = httpx.Limits(max_connections=None)
            async with httpx.AsyncClient(base_url=url, timeout=120, limits=limits) as client:
                run = Run(client, folder, until=0)
                projects = [
                    await made(run, "/projects", lambda data: str(data["id"]), json={"name": f"soak {n}"})
                    for n in (1, 2)
                ]
                content = ("A large text of the soak. " * (LARGE // 26)).encode()
                large = await made(
                    run,
                    "/ingest/upload?wait=true",
                    lambda data: str(data["items"][0]["documentId"]),
                    files={"file": ("large.txt", content)},
                )
                worker.start()
                dsn = EmbeddedPostgres.start(data_dir).dsn
                run.until = time.monotonic() + 15  # warms up: models, pools and caches are loaded once
                await load(run, projects, large, worker, data_dir, first_seed=0)
                before = used(pid)
                run.until = time.monotonic() + minutes * 60
                await asyncio.gather(
                    load(run, projects, large, worker, data_dir, first_seed=10), watch(run, pid)
                )
                await run.ask("delete", "DELETE", f"/documents/{large}")
                await at_rest(dsn)
                after = used(pid)
                broken = await check(run, dsn)
        deep = await asyncio.to_thread(_doctor, environment)
        broken["6 `whence doctor --deep` finds nothing wrong"] = deep.returncode
        if deep.returncode:
            print(deep.stdout)
        return report(run, before, after, broken)


def _doctor(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [str(WHENCE), "doctor", "--deep"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    with tempfile.TemporaryDirectory(prefix="whence-soak-") as folder:
        good = asyncio.run(soak(parser.parse_args().minutes, Path(folder)))
        if not good:
            errors = [
                line for line in (Path(folder) / "serve.log").read_text().splitlines() if " ERROR" in line
            ]
            print(*errors[-20:], sep="\n")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
