"""Queues extraction jobs: after an ingest, on request, or after a schema change."""

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from whence.errors import Conflict
from whence.extract.default_schema import DEFAULT_SCHEMA
from whence.extract.extractors import Extractors
from whence.extract.schema import Schema
from whence.extract.schema_reading import read_schema
from whence.models import Document, ExtractionSwitch, ExtractorName, Job, Project, SchemaVersion, new_id, now
from whence.store import Store

EXTRACT = "whence:extract"
"""The task that runs an extraction."""

Scope = Literal["stale", "all"]
"""`stale`: chunks not yet read under the current schema. `all`: every chunk."""

SCOPES: tuple[Scope, ...] = ("stale", "all")


@dataclass(frozen=True, slots=True)
class Orders:
    store: Store
    extractors: Extractors

    @property
    def has_model(self) -> bool:
        return self.extractors.model is not None

    async def follow(self, tx: Store, project: Project, document: Document, *, wanted: bool) -> None:
        """Queues the extraction in the transaction that completes the embeddings, if it is automatic or `wanted`."""
        if wanted or self.switch(project) == "auto":
            await put_order(tx, document, "stale")

    async def document(self, document: Document, *, scope: Scope) -> Job:
        """Queues an extraction, or returns the waiting job with the same scope."""
        self.extractor(await self.store.projects.get(document.project_id))
        async with self.store.transaction() as tx:
            document = await tx.documents.lock(document.project_id, document.id)
            await require_embedded(tx, document.project_id, document.id)
            return await put_order(tx, document, scope)

    async def retry(self, job: Job) -> Job:
        """Queues the job again. It reads its failed and remaining chunks, but none that it has already read."""
        async with self.store.transaction() as tx:
            await tx.documents.lock(job.project_id, job.document_id)
            retried = await tx.jobs.retry(job)
            await tx.graph.ledger.forget_failures(job.project_id, job.id)
            await _enqueue(tx, retried)
        return retried

    def switch(self, project: Project) -> ExtractionSwitch:
        chosen: ExtractionSwitch | None = project.config.get("extraction")
        return chosen or ("auto" if self.has_model else "manual")

    def extractor(self, project: Project) -> ExtractorName:
        return self.extractors.choose(project.config.get("extractor"))


async def put_order(tx: Store, document: Document, scope: Scope) -> Job:
    """Queues a job, or returns the waiting one with the same scope. The transaction must hold the document's lock."""
    for waiting in await tx.jobs.unbegun(document.project_id, document.id):
        if waiting.config.get("scope") == scope:
            return waiting
    job = Job(
        project_id=document.project_id,
        id=new_id(),
        document_id=document.id,
        type="extraction",
        name=document.name,
        status="pending",
        config={"scope": scope},
        file_name=document.name,
        file_type=document.mime,
        file_size=document.size,
        created_at=now(),
    )
    await tx.jobs.insert(job)
    await _enqueue(tx, job)
    return job


async def require_embedded(store: Store, project_id: UUID, document_id: UUID) -> None:
    """Raises Conflict without embeddings: an extraction finds objects and chunks by vector."""
    space, _ = await store.vectors.spaces(project_id)
    laid = [] if space is None else await store.chunks.layout(project_id, document_id, space.id)
    if laid and all(chunk.embedded for chunk in laid):
        return
    if not laid and await _is_ingested(store, project_id, document_id):
        return  # its chunks were deleted, so there is nothing to read
    raise Conflict(
        "The document has no embeddings yet: it can be extracted once they are complete",
        details={"document_id": str(document_id)},
    )


async def _is_ingested(store: Store, project_id: UUID, document_id: UUID) -> bool:
    """False while the ingest is still to finish. Raises Conflict if it failed, was cancelled or never ran."""
    document = await store.documents.get(document_id, project_id=project_id)
    job = await store.jobs.get(document.current_job_id) if document.current_job_id else None
    if job is None or job.status in {"failed", "cancelled"}:
        why = (job.error_details or {}).get("message") if job else None
        raise Conflict(
            f"The document has no text to extract from: {why or 'it was not ingested'}",
            details={"document_id": str(document_id)},
        )
    return job.status == "completed"


async def current_schema(store: Store, project_id: UUID) -> tuple[Schema, SchemaVersion | None]:
    """The project's schema, read fresh; without one, the default, which becomes v1 with the first extraction."""
    version = await store.schemas.current(project_id)
    return (DEFAULT_SCHEMA, None) if version is None else (read_schema(version.body), version)


async def settled_schema(store: Store, project_id: UUID) -> SchemaVersion:
    """The current version for an extraction. Stores the default schema as v1 if the project has none."""
    body: dict[str, Any] = DEFAULT_SCHEMA.body
    return await store.schemas.first(project_id, body=body, sha256=bytes.fromhex(DEFAULT_SCHEMA.sha256))


async def _enqueue(tx: Store, job: Job) -> None:
    """Uses the document's queue lock, so that its update and its extraction do not run at the same time."""
    await tx.queue.defer(
        EXTRACT,
        lock=str(job.document_id),
        queue="extraction",
        project_id=str(job.project_id),
        job_id=str(job.id),
    )
