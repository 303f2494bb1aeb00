"""Documents on a real database, with a chunk for each sentence, and how to ask them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from whence.app import App
from whence.chunk import ChunkingOptions
from whence.ingest import Chunking
from whence.models import DEFAULT_PROJECT_ID
from whence.search import Question, SearchResult

SMALL = Chunking(strategy="sentence", options=ChunkingOptions(max_chunk_size=100, min_chunk_size=10))

WHOLE = Chunking(strategy="sentence", options=ChunkingOptions(max_chunk_size=2_000))

HERONS = (
    "The grey heron stands in the shallow water of the pond all morning long, and waits.",
    "It eats frogs, small fish and sometimes a vole that comes too near to the bank there.",
    "Its nest is built of sticks, high up in old trees near the water, with many others.",
)
TRAINS = (
    "The night train to Narvik leaves Stockholm every evening at ten past six from track ten.",
    "Sleeping cars have three berths in each compartment, and breakfast is served at seven.",
    "Reservations are needed on all long distance trains, and cost nothing with a rail pass.",
)


@dataclass(frozen=True, slots=True)
class Library:
    app: App
    project_id: UUID = DEFAULT_PROJECT_ID

    async def add(
        self,
        name: str,
        sentences: Sequence[str],
        *,
        project_id: UUID | None = None,
        chunking: Chunking = SMALL,
    ) -> UUID:
        """A document with a chunk for each sentence, unless it is to be cut otherwise."""
        project_id = project_id or self.project_id
        with self.app.inbox.file() as file:
            await file.write(" ".join(sentences).encode())
            await file.finish()
            receipt = await self.app.receiver.receive(
                file, name=name, project_id=project_id, chunking=chunking
            )
        assert receipt.job_id is not None
        await self.app.ingest.run(project_id, receipt.job_id)
        return receipt.document_id

    async def replace(self, document_id: UUID, text: str) -> None:
        """A new version of a document."""
        document = await self.app.store.documents.get(document_id)
        with self.app.inbox.file() as file:
            await file.write(text.encode())
            await file.finish()
            receipt = await self.app.receiver.update(document, file=file)
        assert receipt.job_id is not None
        await self.app.ingest.run(document.project_id, receipt.job_id)

    async def find(self, query: str, *, project_id: UUID | None = None, **asked: Any) -> SearchResult:
        return await self.app.search.find(
            project_id or self.project_id, replace(Question(query=query), **asked)
        )


def texts(found: SearchResult) -> list[str]:
    return [hit.chunk["content"] for hit in found.hits]


def told(found: SearchResult) -> tuple[object, ...]:
    hits = [(hit.chunk["id"], hit.score, hit.text, hit.cosine, hit.highlights) for hit in found.hits]
    return (hits, found.total, found.notes)
