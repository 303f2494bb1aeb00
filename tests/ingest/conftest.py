"""The write path on a real database, its jobs run by hand: each try ends where the test wants it to."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.endpoint import Endpoint

from whence.app import App
from whence.chunk import ChunkingOptions
from whence.ingest import Chunking, Receipt
from whence.models import DEFAULT_PROJECT_ID, Job
from whence.settings import Secret, Settings

SMALL = Chunking(strategy="sentence", options=ChunkingOptions(max_chunk_size=100, min_chunk_size=10))


def sentences(count: int, *, start: int = 0) -> str:
    """Each is a chunk of its own under `SMALL`."""
    return " ".join(
        f"Sentence number {n} tells of thing {n} and of nothing else at all."
        for n in range(start, start + count)
    )


@dataclass(frozen=True, slots=True)
class Desk:
    """What a test does with an application."""

    app: App

    async def hand_in(
        self,
        text: str | bytes,
        *,
        name: str = "notes.txt",
        chunking: Chunking = SMALL,
        project_id: UUID = DEFAULT_PROJECT_ID,
    ) -> Receipt:
        with self.app.inbox.file() as file:
            await file.write(text.encode() if isinstance(text, str) else text)
            await file.finish()
            return await self.app.receiver.receive(file, name=name, project_id=project_id, chunking=chunking)

    async def change(
        self, receipt: Receipt, text: str | None = None, *, chunking: Chunking | None = None
    ) -> Receipt:
        document = await self.app.store.documents.get(receipt.document_id)
        if text is None:
            return await self.app.receiver.update(document, chunking=chunking)
        with self.app.inbox.file() as file:
            await file.write(text.encode())
            await file.finish()
            return await self.app.receiver.update(document, file=file, chunking=chunking)

    async def run(self, receipt: Receipt, **options: Any) -> Job:
        assert receipt.job_id is not None
        await self.app.ingest.run(DEFAULT_PROJECT_ID, receipt.job_id, **options)
        return await self.job(receipt)

    async def job(self, receipt: Receipt) -> Job:
        assert receipt.job_id is not None
        return await self.app.store.jobs.get(receipt.job_id)

    async def chunks(self, receipt: Receipt) -> list[dict[str, Any]]:
        found, total = await self.app.store.chunks.of_document(
            DEFAULT_PROJECT_ID, receipt.document_id, limit=100_000, offset=0, embedding=True
        )
        assert len(found) == total
        return found

    async def text(self, receipt: Receipt) -> str | None:
        return (await self.app.store.documents.content(receipt.document_id))[0]


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as opened:
        yield opened


@pytest.fixture
def settings(dsn: str, tmp_path: Path, endpoint: Endpoint) -> Settings:
    return Settings(
        database_url=Secret(dsn),
        data_dir=tmp_path / "data",
        pool_size=6,
        embedder="openai",
        embedding_base_url=endpoint.url,
        embedding_model="test",
        embedding_dimensions=64,
        embedding_attempts=1,
    )


@pytest.fixture
async def desk(settings: Settings) -> AsyncIterator[Desk]:
    async with App.open(settings) as app:
        yield Desk(app)
