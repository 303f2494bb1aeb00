"""A document as ingest leaves it, for tests that read."""

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import UUID

from whence.models import Chunk, Document, Job, new_id, now
from whence.store.halfvec import halfvec


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A document with its job and its chunks, as ingest leaves them."""

    document: Document
    job: Job
    chunks: list[Chunk]
    vectors: dict[UUID, list[float]]

    @property
    def halves(self) -> list[tuple[UUID, bytes]]:
        """The vectors as they are stored."""
        return [(ident, halfvec(vector)) for ident, vector in self.vectors.items()]

    @property
    def ids(self) -> list[str]:
        return [str(chunk.id) for chunk in self.chunks]


AddSample = Callable[..., Awaitable[Sample]]


def make_sample(*, chunks: int, project_id: UUID, name: str) -> Sample:
    moment = now()
    texts = [f"Chunk {index} of {name}. Ünïcödé, 漢字, 🙂.\n" for index in range(chunks)]
    text = "".join(texts)
    document = Document(
        project_id=project_id,
        id=new_id(),
        name=name,
        mime="application/pdf",
        size=2_457_600,
        sha256=os.urandom(32),
        text=text,
        created_at=moment,
        updated_at=moment,
    )
    job = Job(
        project_id=project_id,
        id=new_id(),
        document_id=document.id,
        type="document_processing",
        name=name,
        status="completed",
        file_name=name,
        file_type=document.mime,
        file_size=document.size,
        created_at=moment,
        started_at=moment,
        completed_at=moment,
        config={"secret": "never shown"},
    )
    offset = 0
    made = []
    for index, content in enumerate(texts):
        metadata = {"source_page": 1, "char_offset": offset, "token_count": len(content) // 4}
        made.append(
            Chunk(
                project_id=project_id,
                id=new_id(),
                document_id=document.id,
                job_id=job.id,
                chunk_index=index,
                content=content,
                metadata=metadata,
                created_at=moment,
            )
        )
        offset += len(content)
    vectors = {chunk.id: [chunk.chunk_index / 8, 0.5, -0.25, 1.0] for chunk in made}
    return Sample(document=document, job=job, chunks=made, vectors=vectors)
