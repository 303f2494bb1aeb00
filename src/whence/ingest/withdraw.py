"""What goes out: documents, chunks, jobs and projects are deleted with all that came of them, the originals included."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from whence.errors import ChunkNotFound, DocumentNotFound
from whence.ingest.giving_up import is_under_way, resume
from whence.search.index import bury
from whence.store import Store
from whence.store.chunks import ChunkView
from whence.store.originals import Originals
from whence.types import Document, Job, now

_ABANDONED = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Remover:
    store: Store
    originals: Originals

    async def document(self, document: Document) -> None:
        async with self.store.transaction(patient=True) as tx:
            await tx.lexical.share(document.project_id)
            await tx.documents.lock(document.project_id, document.id)
            await tx.graph.removal.chunks_of_document(document.project_id, document.id)
            gone = await tx.chunks.ids_of_document(document.project_id, document.id)
            await tx.documents.delete(document.project_id, document.id)
            await bury(tx, document.project_id, gone)
        await self._forget(f"{document.project_id}/{document.id}/")

    async def chunk(self, project_id: UUID, document_id: UUID, chunk_id: UUID) -> ChunkView:
        """As it was, out of a document that stays: the others keep their places, and so does the text that it was a span of."""
        async with self.store.transaction(patient=True) as tx:
            await tx.lexical.share(project_id)
            try:
                await tx.documents.lock(project_id, document_id)
            except DocumentNotFound as exc:
                raise ChunkNotFound(details={"chunk_id": str(chunk_id)}) from exc
            chunk = await tx.chunks.get(str(chunk_id), project_id=project_id)
            await tx.graph.removal.chunks(project_id, [chunk_id])
            await tx.chunks.remove(project_id, [chunk_id])
            await bury(tx, project_id, [chunk_id])
        self.store.chunks.recount(chunk["job_id"])
        return chunk

    async def job(self, job: Job) -> None:
        """With the chunks that it made; the document stays, as its job before left it or empty. What an extraction gave stays."""
        async with self.store.transaction(patient=True) as tx:
            await tx.lexical.share(job.project_id)
            document = await tx.documents.lock(job.project_id, job.document_id)
            unfinished = await is_under_way(tx, job)
            await tx.graph.removal.chunks_of_job(job.project_id, job.id)
            gone = await tx.chunks.ids_of_job(job.project_id, job.id)
            await tx.jobs.delete(job.project_id, job.id)
            await tx.graph.ledger.outlive(job.project_id, job.id)
            await tx.documents.use_newest_job(job.project_id, job.document_id)
            if unfinished:
                await resume(tx, document, job)
            await bury(tx, job.project_id, gone)

    async def project(self, project_id: UUID) -> None:
        async with self.store.transaction(patient=True) as tx:
            await tx.projects.delete(project_id)
        await self._forget(f"{project_id}/")

    async def tidy(self) -> int:
        """Remove originals that nothing refers to any more; one that has just come may be on its way in."""
        known = await self.store.documents.original_keys()
        before = now() - _ABANDONED
        gone = [key async for key, _, put in self.originals.entries() if key not in known and put < before]
        for key in gone:
            await self.originals.delete(key)
        return len(gone)

    async def _forget(self, prefix: str) -> None:
        """After the rows: an original without a row is tidied away one day, a row without an original is a loss."""
        keys = [key async for key, _ in self.originals.keys(prefix)]
        for key in keys:
            await self.originals.delete(key)
