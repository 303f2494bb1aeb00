"""Deletes documents, chunks, jobs and projects with everything derived from them, originals included.

Rows are deleted first, then originals: tidying removes an original without a row, but a row without an original is data
loss.
"""

from dataclasses import dataclass
from uuid import UUID

from whence.errors import ChunkNotFound, DocumentNotFound
from whence.ingest.receive import resume
from whence.models import OPEN, Document, Job
from whence.search.index import bury
from whence.store import Store
from whence.store.chunks import ChunkView
from whence.store.storage import Storage


@dataclass(frozen=True, slots=True)
class Remover:
    store: Store
    storage: Storage

    async def document(self, document: Document) -> None:
        await self.storage.ensure_bound()
        async with self.store.transaction(patient=True) as tx:
            await tx.lexical.share(document.project_id)
            await tx.documents.lock(document.project_id, document.id)
            await tx.jobs.hold_all(document.project_id, document.id)
            await tx.graph.removal.chunks_of_document(document.project_id, document.id)
            gone = await tx.chunks.ids_of_document(document.project_id, document.id)
            keys = await tx.inventory.owned(document.project_id, document.id)
            await tx.documents.delete(document.project_id, document.id)
            await bury(tx, document.project_id, gone)
        await self.storage.discard(document.project_id, keys)

    async def chunk(self, project_id: UUID, document_id: UUID, chunk_id: UUID) -> ChunkView:
        """Delete one chunk and return it. The document's text and its other chunks do not change."""
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
        """Delete a job and the chunks it made. The document stays, with its newest remaining job or none.

        Deleting an extraction keeps its claims.
        """
        async with self.store.transaction(patient=True) as tx:
            await tx.lexical.share(job.project_id)
            document = await tx.documents.lock(job.project_id, job.document_id)
            unfinished = (await tx.jobs.get(job.id, project_id=job.project_id)).status in OPEN
            await tx.graph.removal.chunks_of_job(job.project_id, job.id)
            gone = await tx.chunks.ids_of_job(job.project_id, job.id)
            await tx.jobs.delete(job.project_id, job.id)
            await tx.graph.ledger.outlive(job.project_id, job.id)
            await tx.documents.use_newest_job(job.project_id, job.document_id)
            if unfinished:
                await resume(tx, document, job)
            await bury(tx, job.project_id, gone)

    async def project(self, project_id: UUID) -> None:
        await self.storage.ensure_bound()
        keys = await self.store.projects.delete(project_id)
        await self.storage.discard(project_id, keys)
