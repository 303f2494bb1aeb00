"""Who orders an extraction: the end of an ingest, a person, or a schema that changed. Each order is a job in the queue."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from whence.errors import Conflict, DocumentNotFound
from whence.extract.default_schema import DEFAULT_SCHEMA
from whence.extract.registry import Extractors
from whence.extract.schema import Schema
from whence.extract.schema_reading import read_schema
from whence.models import Document, ExtractionSwitch, ExtractorName, Job, Project, SchemaVersion, new_id, now
from whence.store import Store

EXTRACT = "whence:extract"
"""The task that runs an extraction."""

Scope = Literal["stale", "all"]
"""The chunks that were not yet read under the current schema, or all of them."""

SCOPES: tuple[Scope, ...] = ("stale", "all")


@dataclass(frozen=True, slots=True)
class Orders:
    store: Store
    extractors: Extractors

    @property
    def has_model(self) -> bool:
        return self.extractors.model is not None

    async def follow(self, tx: Store, project: Project, document: Document, *, wanted: bool) -> None:
        """In the transaction that makes the document's embeddings complete: the extraction, unless only people order it."""
        if wanted or self.switch(project) == "auto":
            await put_order(tx, document, "stale")

    async def document(self, document: Document, *, scope: Scope) -> Job:
        """One that waits already for the same is given instead of another."""
        self.extractor(await self.store.projects.get(document.project_id))
        async with self.store.transaction() as tx:
            document = await tx.documents.lock(document.project_id, document.id)
            await require_embedded(tx, document.project_id, document.id)
            return await put_order(tx, document, scope)

    async def documents(self, project_id: UUID, ids: Iterable[UUID], *, scope: Scope) -> list[Job]:
        """Likewise for several; one that was deleted meanwhile, or is being ingested anew, is passed over."""
        ordered: list[Job] = []
        for document_id in ids:
            try:
                document = await self.store.documents.get(document_id, project_id=project_id)
                ordered.append(await self.document(document, scope=scope))
            except (DocumentNotFound, Conflict):
                continue
        return ordered

    async def retry(self, job: Job) -> Job:
        """What it could not read is read again; what it has read is not."""
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
    """In a transaction that holds the document: a job, unless one waits already for the same."""
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
    """Objects and chunks are found by vectors: without them an extraction would be blind."""
    space, _ = await store.vectors.spaces(project_id)
    laid = [] if space is None else await store.chunks.layout(project_id, document_id, space.id)
    if laid and all(chunk.embedded for chunk in laid):
        return
    if not laid and await _is_ingested(store, project_id, document_id):
        return  # its chunks were deleted: there is nothing to read, which is soon done
    raise Conflict(
        "The document has no embeddings yet: it can be extracted once they are complete",
        details={"document_id": str(document_id)},
    )


async def _is_ingested(store: Store, project_id: UUID, document_id: UUID) -> bool:
    """False where that is still to come; raises Conflict where nothing came of it."""
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
    """As it is now. A project that has none goes by the default one, which becomes its v1 with the first extraction."""
    version = await store.schemas.current(project_id)
    return (DEFAULT_SCHEMA, None) if version is None else (read_schema(version.body), version)


async def settled_schema(store: Store, project_id: UUID) -> SchemaVersion:
    """The same for who is about to extract by it."""
    body: dict[str, Any] = DEFAULT_SCHEMA.body
    return await store.schemas.first(project_id, body=body, sha256=bytes.fromhex(DEFAULT_SCHEMA.sha256))


async def _enqueue(tx: Store, job: Job) -> None:
    """Under the lock of the document: an update and an extraction of it do not run at once."""
    await tx.queue.defer(
        EXTRACT,
        lock=str(job.document_id),
        queue="extraction",
        project_id=str(job.project_id),
        job_id=str(job.id),
    )
