"""From files to chunks that can be found: what Whence adds to the embedder's own time, and what it takes of memory.

    python -m benchmarks.ingest [--documents 1000] [--skip-memory] [--senders 1]

1. `documents` files of five kinds are ingested by a worker in this process; before and after, the embedder alone embeds
   the same chunks. The ratio of the two rates is what is left of the embedder's speed.
2. With an embedder that costs nothing: how many chunks a second are stored.
3. A server's memory at its highest while it takes in 50 MB of text, a PDF of 1,000 pages, and an upload of 1 GB.
4. How long the local model takes to load.
"""

import argparse
import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
import uvloop
from tests.files.every import long_pdf
from tests.files.office import docx
from tests.files.pdf import pdf

from whence.app import App
from whence.chunk import ChunkingOptions
from whence.ingest import Chunking
from whence.models import DEFAULT_PROJECT_ID, new_id
from whence.providers import Embedded, Embedder
from whence.providers.minilm import MiniLMEmbedder
from whence.settings import Settings

ROOT = Path(__file__).parents[1]
CHUNKING = Chunking(strategy="sentence", options=ChunkingOptions(max_chunk_size=600, min_chunk_size=100))
MEGABYTE = 1024 * 1024
LEAST_RATIO = 0.85
LEAST_STORED = 3000
MOST_MEMORY = 700


@dataclass(frozen=True, slots=True)
class File:
    name: str
    content: bytes


class Null:
    """An embedder that takes no time."""

    provider, model, dimensions = "hash", "words", 384
    is_at_hand = True

    async def embed(self, texts: Sequence[str]) -> Embedded:
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        vectors[:, 0] = 1
        return Embedded(vectors=vectors, token_counts=[len(text) // 4 for text in texts])

    async def check(self) -> str:
        return "nothing"

    async def aclose(self) -> None:
        pass


def prose() -> list[str]:
    """The project's own documentation, sentence by sentence, without its tables and code."""
    text = "\n".join(path.read_text() for path in sorted((ROOT / "docs").rglob("*.md")))
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    text = re.sub(r"^[|#].*$", "", text, flags=re.MULTILINE)
    return [" ".join(part.split()) for part in re.split(r"(?<=\.)\s", text) if len(part) > 40]


def mixed(count: int) -> Iterator[File]:
    """Files of five kinds with 10 to 40 sentences each, no two alike."""
    sentences = prose()
    for number in range(count):
        start, length = number * 7, 10 + number * 13 % 31
        body = [sentences[(start + step) % len(sentences)] for step in range(length)]
        lines = [f"Document {number} of many begins here.", *body]
        match number % 5:
            case 0:
                yield File(f"{number}.txt", " ".join(lines).encode())
            case 1:
                yield File(f"{number}.md", f"# Document {number}\n\n{' '.join(lines)}\n".encode())
            case 2:
                page = "".join(f"<p>{line}</p>" for line in lines)
                yield File(
                    f"{number}.html", f"<html><body><h1>Document {number}</h1>{page}</body></html>".encode()
                )
            case 3:
                yield File(f"{number}.docx", docx(lines))
            case _:
                yield File(f"{number}.pdf", pdf([lines[at : at + 20] for at in range(0, len(lines), 20)]))


@asynccontextmanager
async def opened(folder: Path, embedder: Embedder) -> AsyncIterator[App]:
    async with App.open(Settings(data_dir=folder / str(new_id()), embedder="hash")) as app:
        app.embedders._configured = embedder  # noqa: SLF001 - the one to measure with
        app.embedders._open[embedder.provider, embedder.model, embedder.dimensions] = embedder  # noqa: SLF001
        yield app


async def hand_in(app: App, files: Iterator[File]) -> None:
    """One after the other."""
    for file in files:
        with app.inbox.file() as incoming:
            await incoming.write(file.content)
            await incoming.finish()
            await app.receiver.receive(
                incoming, name=file.name, project_id=DEFAULT_PROJECT_ID, chunking=CHUNKING
            )


async def ingested(app: App, files: Sequence[File], *, senders: int = 1) -> float:
    """Seconds from the first file to the last chunk, with this many senders at once."""
    began = time.perf_counter()
    left = iter(files)
    async with app.working():
        await asyncio.gather(*(hand_in(app, left) for _ in range(senders)))
        while True:
            _, done = await app.store.jobs.page(DEFAULT_PROJECT_ID, limit=1, offset=0, status="completed")
            _, failed = await app.store.jobs.page(DEFAULT_PROJECT_ID, limit=1, offset=0, status="failed")
            assert not failed
            if done == len(files):
                return time.perf_counter() - began
            await asyncio.sleep(0.05)


async def contents(app: App) -> list[str]:
    """Of every chunk, by id."""
    found: list[str] = []
    after, nowhere = None, new_id()  # in a space that is not, every chunk lacks its vector
    while some := await app.store.vectors.following(DEFAULT_PROJECT_ID, nowhere, after=after, limit=1000):
        found += [content for _, content in some if content is not None]
        after = some[-1][0]
    return found


async def bare(embedder: Embedder, texts: Sequence[str]) -> float:
    began = time.perf_counter()
    for start in range(0, len(texts), 256):
        await embedder.embed(texts[start : start + 256])
    return time.perf_counter() - began


async def beside_the_embedder(folder: Path, count: int) -> bool:
    embedder = MiniLMEmbedder()
    began = time.perf_counter()
    await embedder.embed(["The first text loads the model."])
    print(f"The model is loaded, and the first text embedded, in {time.perf_counter() - began:.2f} s.")
    files = list(mixed(count))
    async with opened(folder, Null()) as app:
        await ingested(app, files)
        texts = await contents(app)
    half = len(texts) // 2
    alone = await bare(embedder, texts[:half])
    async with opened(folder, MiniLMEmbedder()) as app:
        await app.embedders.configured.embed(["It is loaded, as the other is."])
        seconds = await ingested(app, files)
        assert len(await contents(app)) == len(texts)
    alone += await bare(embedder, texts[half:])
    ratio = alone / seconds
    print(
        f"{count} documents, {len(texts)} chunks: ingested at {len(texts) / seconds:.1f} chunks/s, "
        f"embedded alone at {len(texts) / alone:.1f}: {ratio:.0%} (at least {LEAST_RATIO:.0%})"
    )
    await embedder.aclose()
    return ratio >= LEAST_RATIO


async def stored(folder: Path, senders: int) -> bool:
    sentences = prose()
    files = []
    for number in range(100):
        lines = [f"{number}.{step} {sentences[(number * 31 + step) % len(sentences)]}" for step in range(500)]
        files.append(File(f"{number}.txt", " ".join(lines).encode()))
    best = 0.0
    for _ in range(3):
        async with opened(folder, Null()) as app:
            seconds = await ingested(app, files, senders=senders)
            count = len(await contents(app))
        best = max(best, count / seconds)
    print(f"Embedding for nothing, {best:,.0f} chunks/s are stored (at least {LEAST_STORED:,}).")
    return best >= LEAST_STORED


@contextmanager
def serving(folder: Path, **settings: str) -> Iterator[tuple[int, str]]:
    """A server, by its process id and its address."""
    environment = {**os.environ, "WHENCE_DATA_DIR": str(folder), "WHENCE_MAX_UPLOAD_MB": "2000", **settings}
    log = folder.with_suffix(".log")
    with log.open("wb") as out:
        server = subprocess.Popen(
            [Path(sys.executable).with_name("whence"), "serve", "--port=0"], env=environment, stderr=out
        )
    try:
        while not (found := re.search(r"serves (http://\S+)", log.read_text())):
            time.sleep(0.1)
        yield server.pid, found[1]
    finally:
        server.terminate()
        server.wait(60)


def highest(pid: int) -> float:
    """The most that a process held, in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024


def memory(folder: Path) -> bool:
    """The model is loaded first; the large documents are in a project of the hash embedder, which is done sooner."""
    data = folder / "server"
    with serving(data, WHENCE_EMBEDDER="hash") as (_, url), httpx.Client(base_url=url, timeout=600) as client:
        project = client.post("/api/v1/projects", json={"name": "large"}).json()["data"]["id"]
        body = {"text": "It begins with little.", "projectId": project, "wait": True}
        client.post("/ingest/text", json=body).raise_for_status()
    text = folder / "large.txt"
    sentences = " ".join(prose())
    text.write_text(
        "".join(f"{number} {sentences}\n\n" for number in range(50 * MEGABYTE // len(sentences) + 1))
    )
    paged = folder / "large.pdf"
    paged.write_bytes(long_pdf(1000))
    good = True
    with (
        serving(data, WHENCE_EMBEDDER="minilm") as (pid, url),
        httpx.Client(base_url=url, timeout=900) as client,
    ):
        client.post("/ingest/text", json={"text": "This loads the model.", "wait": True}).raise_for_status()
        print(f"A server with the model loaded holds {highest(pid):.0f} MB at its highest.")
        for path in (text, paged):
            began = time.perf_counter()
            fields = {"projectId": project, "chunkingStrategy": "paragraph", "wait": "true"}
            with path.open("rb") as file:
                answer = client.post("/ingest/upload", data=fields, files={"file": file}).json()
            item = answer["data"]["items"][0]
            assert item["status"] == "completed", item
            seconds = time.perf_counter() - began
            good &= highest(pid) < MOST_MEMORY
            print(
                f"{path.name} ({path.stat().st_size // MEGABYTE} MB): {item['chunkCount']} chunks in {seconds:.0f} s, "
                f"{highest(pid):.0f} MB at its highest (under {MOST_MEMORY})"
            )
        before = highest(pid)
        upload(url, 1024)
        print(f"Uploading 1 GB takes {highest(pid) - before:.0f} MB more.")
    return good


def upload(url: str, megabytes: int) -> None:
    boundary = b"between"
    head = b'--between\r\nContent-Disposition: form-data; name="file"; filename="large.bin"\r\n\r\n'

    def parts() -> Iterator[bytes]:
        yield head
        for _ in range(megabytes):
            yield os.urandom(MEGABYTE)
        yield b"\r\n--between--\r\n"

    headers = {"Content-Type": f"multipart/form-data; boundary={boundary.decode()}"}
    httpx.post(f"{url}/ingest/upload", content=parts(), headers=headers, timeout=600).raise_for_status()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--skip-memory", action="store_true")
    parser.add_argument(
        "--senders", type=int, default=1, help="number of senders whose files are embedded at no cost"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as name:
        folder = Path(name)
        good = uvloop.run(stored(folder, arguments.senders))
        good &= arguments.skip_memory or memory(folder)
        good &= uvloop.run(beside_the_embedder(folder, arguments.documents))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
