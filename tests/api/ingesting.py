"""How tests bring documents in, and what they look at afterwards."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import psycopg
from tests.endpoint import DIMENSIONS, Endpoint

from whence.settings import Settings
from whence.store import Store
from whence.store.originals import MARKER

DOCUMENTS = "/api/v1/documents"
JOBS = "/api/v1/jobs"
UPLOAD, URL, TEXT = (f"/api/v1/ingest/{kind}" for kind in ("upload", "url", "text"))

RECEIPT = {"fileName", "documentId", "jobId", "status", "alreadyExists", "error"}
METADATA = {
    "strategy",
    "startOffset",
    "endOffset",
    "boundaryType",
    "source_page",
    "char_offset",
    "token_count",
}

PROSE = "Dr. Lindqvist paid 3.5 million for it. Was it worth that? 東京は大きい。 Größe, naïve, 🙂. " * 30


def data_of(answer: httpx.Response, status: int = 200) -> Any:
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert body["success"] is True
    return body["data"]


def error_of(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert set(body) == {"success", "error"}
    error: dict[str, Any] = body["error"]
    assert set(error) == {"code", "message", "details"}
    assert error["code"] == code, error
    return error


async def upload(
    client: httpx.AsyncClient, name: str, content: bytes, path: str = UPLOAD, **fields: str
) -> dict[str, Any]:
    """One file, until it has been ingested."""
    fields = {"wait": "true", **fields}
    answer = await client.post(path, files={"file": (name, content)}, data=fields)
    (item,) = data_of(answer, 200 if fields["wait"] == "true" else 202)["items"]
    found: dict[str, Any] = item
    return found


async def ingest(client: httpx.AsyncClient, text: str, **fields: Any) -> dict[str, Any]:
    """A text, until it has been ingested."""
    found: dict[str, Any] = data_of(await client.post(TEXT, json={"text": text, "wait": True, **fields}))
    return found


async def put(client: httpx.AsyncClient, document_id: str, **fields: Any) -> dict[str, Any]:
    """Another content or chunking for a document, until that has been ingested."""
    answer = await client.put(f"{DOCUMENTS}/{document_id}", json={"wait": True, **fields})
    found: dict[str, Any] = data_of(answer)
    return found


async def chunks_of(client: httpx.AsyncClient, document_id: str, **params: Any) -> list[dict[str, Any]]:
    """All of them, with the one promise that never breaks looked after."""
    path = f"{DOCUMENTS}/{document_id}"
    text = data_of(await client.get(f"{path}/text"))["text"]
    found: list[dict[str, Any]] = []
    more = True
    while more:
        page = data_of(
            await client.get(f"{path}/chunks", params={"limit": 100, "offset": len(found), **params})
        )
        found += page["items"]
        more = page["pagination"]["has_more"]
    end = 0
    for index, chunk in enumerate(found):
        metadata = chunk["metadata"]
        assert chunk["chunk_index"] == index
        assert set(metadata) >= METADATA
        assert text[metadata["startOffset"] : metadata["endOffset"]] == chunk["content"]
        assert metadata["char_offset"] == metadata["startOffset"] >= end
        assert not text[end : metadata["startOffset"]].strip()
        end = metadata["endOffset"]
    assert not found or not text[end:].strip()
    return found


async def ended(client: httpx.AsyncClient, job_id: str, *, seconds: float = 60) -> dict[str, Any]:
    """The job when it will not change any more. Asks less and less often: each request takes CPU time from the job."""
    pause = 0.02
    async with asyncio.timeout(seconds):
        while True:
            job: dict[str, Any] = data_of(await client.get(f"{JOBS}/{job_id}"))
            if job["status"] not in ("pending", "processing"):
                return job
            await asyncio.sleep(pause)
            pause = min(1.5 * pause, 0.2)


def events(stream: str) -> list[tuple[str, dict[str, Any]]]:
    """Server-sent events: name and data."""
    found = []
    for block in stream.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


def embedded_by(endpoint: Endpoint, settings: Settings) -> Settings:
    """Vectors come from the endpoint, which is asked once for each."""
    return replace(
        settings,
        embedder="openai",
        embedding_base_url=endpoint.url,
        embedding_model="test",
        embedding_dimensions=DIMENSIONS,
        embedding_attempts=1,
    )


def originals(settings: Settings) -> list[Path]:
    """The files that are kept, wherever below."""
    found = (settings.data_dir / "originals").rglob("*")
    return sorted(path for path in found if path.is_file() and path.name != MARKER)


async def only_original(settings: Settings) -> Path:
    """The one file that is kept. A replaced original goes after the job has ended, and nothing tells of it."""
    async with asyncio.timeout(60):
        while len(found := originals(settings)) != 1:  # noqa: ASYNC110 - the folder has no event
            await asyncio.sleep(0.02)
    return found[0]


async def count(store: Store, table: str, **where: Any) -> int:
    condition = " AND ".join(f"{name} = %({name})s" for name in where) or "true"
    row = await store._queries.one(f"SELECT count(*) FROM {table} WHERE {condition}", where)
    assert row is not None
    return int(row[0])


@asynccontextmanager
async def no_embedding(dsn: str) -> AsyncIterator[None]:
    """Jobs come as far as their vectors, and wait there for as long as the block lasts."""
    async with await psycopg.AsyncConnection.connect(dsn) as conn:
        await conn.execute("LOCK TABLE kb.embedding_spaces")
        yield
        await conn.rollback()
