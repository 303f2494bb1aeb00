"""Ends an ingest as failed or cancelled. The document stays as it was.

An extraction that the ingest displaced is queued again for the old version.
"""

from typing import Any
from uuid import UUID

from whence.errors import DocumentNotFound
from whence.extract.scheduling import put_order
from whence.ingest.receive import THEN_EXTRACT
from whence.models import OPEN, Document, Job
from whence.store import Store


async def fail(store: Store, job: Job, run_id: UUID, reason: dict[str, Any]) -> bool:
    """Return False if the run no longer owns the job."""
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
    """Call in a transaction that holds the document's lock."""
    return (await tx.jobs.get(job.id, project_id=job.project_id)).status in OPEN


async def resume(tx: Store, document: Document, job: Job) -> None:
    """Queue the displaced extraction again. Call in the transaction that ends the job and holds the document's lock."""
    if job.config.get(THEN_EXTRACT):
        await put_order(tx, document, "stale")
