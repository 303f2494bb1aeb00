"""Puts one document into a project of its own and asks for its chunks, as a client does: `make demo`.

With `make run` going in another terminal it talks to that server; without, it starts one for as long as it takes.
Nothing of yours is touched, and a second run finds the document there already. `whence projects delete demo` takes it
away again.
"""

import asyncio
import hashlib
import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from whence.app import App
from whence.chunk import ChunkingOptions, chunk_metadata, strategy
from whence.errors import ChunkNotFound, ProjectNotFound
from whence.ingest import Chunking
from whence.ingest.reembed import space_of
from whence.models import Chunk, Document, Job, Project, new_id, now
from whence.search.index import segments_of
from whence.settings import Settings
from whence.store.halfvec import halfvecs
from whence.text.lexer import DEFAULT_LANGUAGE

REPORT = Path(__file__).parent / "documents" / "quarterly_report_2024.md"
PROJECT = "demo"
JOB = UUID("550e8400-e29b-41d4-a716-446655440000")
CHUNKS = {3: UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8"), 4: UUID("7cb8c921-aead-22e2-91c5-11d15fd541d9")}
"""Two chunks have ids that the documentation can name; the others get new ones."""
ABSENT = UUID("8dc9da32-bfbe-33f3-02d6-22e26fe652ea")
CHUNKING = Chunking(strategy="paragraph", options=ChunkingOptions(max_chunk_size=600))


async def load(settings: Settings) -> UUID:
    """The project that has the document."""
    async with App.open(settings) as app:
        project = await own_project(app)
        try:
            await app.store.chunks.get(str(CHUNKS[3]), project_id=None)
        except ChunkNotFound:
            await store(app, project)
        return project.id


async def own_project(app: App) -> Project:
    try:
        return await app.store.projects.named(PROJECT)
    except ProjectNotFound:
        return await app.store.projects.create(name=PROJECT, description="What `make demo` shows")


async def store(app: App, project: Project) -> None:
    """As ingest leaves a document, but for the ids: with its original, its vectors and its words."""
    document, job, chunks = prepare(REPORT, project.id)
    space = await space_of(app.store, app.embedders, project.id)
    embedded = await app.embedders.of(space).embed([chunk.content for chunk in chunks])
    vectors = zip((chunk.id for chunk in chunks), halfvecs(embedded.vectors), strict=True)
    language = project.config.get("language") or DEFAULT_LANGUAGE
    await app.originals.put(str(document.original_key), REPORT.read_bytes())
    async with app.store.transaction() as tx:
        await tx.documents.insert(document)
        await tx.jobs.insert(job)
        await tx.chunks.insert(chunks)
        await tx.vectors.insert(project.id, space.id, vectors)
        await tx.lexical.insert(
            project.id, segments_of([(chunk.id, chunk.content) for chunk in chunks], language)
        )


def prepare(file: Path, project_id: UUID) -> tuple[Document, Job, list[Chunk]]:
    content = file.read_bytes()
    text = content.decode()
    moment = now()
    document_id = new_id()
    document = Document(
        project_id=project_id,
        id=document_id,
        name=file.name,
        mime="text/markdown",
        size=len(content),
        sha256=hashlib.sha256(content).digest(),
        text=text,
        original_key=f"{project_id}/{document_id}/{new_id()}",
        current_job_id=JOB,
        created_at=moment,
        updated_at=moment,
    )
    job = Job(
        project_id=project_id,
        id=JOB,
        document_id=document_id,
        type="document_processing",
        name=file.name,
        status="completed",
        config={"chunking": CHUNKING.as_json()},
        file_name=file.name,
        file_type=document.mime,
        file_size=document.size,
        created_at=moment,
        started_at=moment,
        completed_at=now(),
    )
    cut = strategy(CHUNKING.strategy).chunk(text, CHUNKING.options)
    chunks = [
        Chunk(
            project_id=project_id,
            id=CHUNKS.get(index) or new_id(),
            document_id=document_id,
            job_id=JOB,
            chunk_index=index,
            content=piece.text,
            metadata=chunk_metadata(piece, strategy=CHUNKING.strategy),
            created_at=moment,
        )
        for index, piece in enumerate(cut)
    ]
    return document, job, chunks


@contextmanager
def server(settings: Settings) -> Iterator[str]:
    """The one that is running, or one of our own."""
    base = f"http://{settings.host}:{settings.port}"
    process = None
    if not answers(base):
        whence = Path(sys.executable).with_name("whence")
        process = subprocess.Popen([whence, "serve"], stderr=subprocess.DEVNULL)
        while not answers(base):
            if process.poll() is not None:
                sys.exit("The server did not start; `whence serve` says why.")
            time.sleep(0.1)
    try:
        yield base
    finally:
        if process is not None:
            process.terminate()
            process.wait()


def answers(base: str) -> bool:
    try:
        with urllib.request.urlopen(f"{base}/healthz", timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def show(base: str, path: str, body: dict[str, Any] | None = None) -> None:
    """The request as one would type it, and the answer with long texts cut short."""
    data = None if body is None else json.dumps(body)
    option = "" if data is None else f" -d '{data}'"
    print(f"\n$ curl -s '{base}{path}'{option}")
    request = urllib.request.Request(base + path, data=None if data is None else data.encode())
    try:
        with urllib.request.urlopen(request) as answer:
            content = json.load(answer)
    except urllib.error.HTTPError as exc:
        content = json.load(exc)
    print(json.dumps(short(content), indent=2, ensure_ascii=False))


def short(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: short(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [short(inner) for inner in value]
    if isinstance(value, str) and len(value) > 70:
        return value[:60] + "…"
    return value


def main() -> None:
    settings = Settings.from_environment()
    with server(settings) as base:
        project_id = asyncio.run(load(settings))
        chunk = f"/api/v1/jobs/{JOB}/chunks/{CHUNKS[3]}"
        show(base, f"{chunk}?include_source=true")
        show(base, f"/api/v1/jobs/{JOB}/chunks?limit=2&include_source=true")
        ids = [str(ident) for ident in (*CHUNKS.values(), ABSENT)]
        show(base, "/api/v1/chunks/bulk", {"chunk_ids": ids, "include_source": True})
        show(base, f"{chunk}?include_source=maybe")
        preview = {"text": "Dr. Lindqvist paid 3.5 million. Really?", "chunkingStrategy": "sentence"}
        show(base, "/api/v1/chunking/preview", preview)
        question = {"projectId": str(project_id), "query": "Why did repairs go over budget?", "limit": 1}
        show(base, "/api/v1/search", question)


if __name__ == "__main__":
    main()
