"""How an ingest ends that comes to nothing: the document stays as it was, and so does what is to be done with it.

An extraction that had given way to the new version goes on with the old one.
"""

from typing import Any
from uuid import UUID

from whence.errors import DocumentNotFound
from whence.extract.scheduling import put_order
from whence.ingest.receive import THEN_EXTRACT
from whence.models import OPEN, Document, Job
from whence.store import Store


async def fail(store: Store, job: Job, run_id: UUID, reason: dict[str, Any]) -> bool:
    """False when the run may not write any more."""
    try:
        async with store.transaction() as tx:
            document = await tx.documents.lock(job.project_id, job.document_id)
            ended = await tx.jobs.end(job, run_id, "failed", error=reason)
            if ended:
                await resume(tx, document, job)
            return ended
    except DocumentNotFound:
        return False


async def cancel_ingest(store: Store, job: Job) -> Job:
    async with store.transaction() as tx:
        document = await tx.documents.lock(job.project_id, job.document_id)
        cancelled = await tx.jobs.cancel(job)
        await resume(tx, document, job)
        return cancelled


async def is_under_way(tx: Store, job: Job) -> bool:
    """In a transaction that holds its document."""
    return (await tx.jobs.get(job.id, project_id=job.project_id)).status in OPEN


async def resume(tx: Store, document: Document, job: Job) -> None:
    """In the transaction that ends the job, which holds the document."""
    if job.config.get(THEN_EXTRACT):
        await put_order(tx, document, "stale")
