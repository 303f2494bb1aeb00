"""Queues extraction jobs: after an ingest, on request, or after a schema change. Estimates their cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from whence.errors import Conflict
from whence.extract.context import ContextOptions
from whence.extract.default_schema import DEFAULT_SCHEMA
from whence.extract.extractors import Extractor, Extractors
from whence.extract.imported import IMPORTED
from whence.extract.schema import Schema
from whence.extract.schema_diff import needs_model
from whence.extract.schema_migration import changes_between
from whence.extract.schema_reading import read_schema
from whence.models import Document, ExtractionSwitch, ExtractorName, Job, Project, SchemaVersion, new_id, now
from whence.settings import Settings
from whence.store import Store

EXTRACT = "whence:extract"
"""The task that runs an extraction."""

Scope = Literal["stale", "all"]
"""`stale`: chunks not yet read under the current schema. `all`: every chunk."""

SCOPES: tuple[Scope, ...] = ("stale", "all")

_CHARACTERS = 3.5
"""Approximate number of characters per token."""
_OBJECT = 60
"""Approximate tokens of an object in a prompt or a reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices per million tokens, in the currency of the settings."""

    prompt: float | None = None
    completion: float | None = None

    @classmethod
    def of(cls, settings: Settings) -> "Prices":
        return cls(prompt=settings.llm_prompt_price, completion=settings.llm_completion_price)

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """None if no price is configured."""
        if self.prompt is None and self.completion is None:
            return None
        spent = prompt_tokens * (self.prompt or 0) + completion_tokens * (self.completion or 0)
        return round(spent / 1_000_000, 6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    scope: Scope
    schema_version: str | None
    """None if the project has no schema of its own yet."""
    extractor: ExtractorName
    documents: int
    chunks: int
    """Chunks that must be read again."""
    carried_over: int
    """Chunks whose claims only need to be renamed or removed."""
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class Orders:
    store: Store
    extractors: Extractors
    prices: Prices = Prices()

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

    async def plan(self, project_id: UUID, *, scope: Scope, document_id: UUID | None = None) -> Plan:
        project = await self.store.projects.get(project_id)
        name = self.extractor(project)
        options = ContextOptions.chosen(project.config)
        schema, version = await current_schema(self.store, project_id)
        number = 1 if version is None else version.number
        ledger, every = self.store.graph.ledger, scope == "all"
        by_version = await ledger.by_version(project_id, number, document_id=document_id, every=every)
        carried = 0
        for older in [] if every else [each for each in by_version if each is not None]:
            if not needs_model(await changes_between(self.store, project_id, older, number)):
                carried += by_version.pop(older)[0]
        documents = await ledger.stale_documents(project_id, number, document_id=document_id, every=every)
        chunks = sum(count for count, _ in by_version.values())
        characters = sum(size for _, size in by_version.values())
        extractor = self.extractors.get(name, options)
        prompt, completion = _estimate_tokens(extractor, schema, options, chunks, characters)
        return Plan(
            scope=scope,
            schema_version=None if version is None else version.version,
            extractor=name,
            documents=len(documents),
            chunks=chunks,
            carried_over=carried,
            prompt_tokens=prompt,
            completion_tokens=completion,
            cost=self.prices.cost(prompt, completion),
        )

    async def project(self, project_id: UUID, *, scope: Scope) -> list[Job]:
        """Queues a job for each document with chunks to read again, but not while it is being ingested again."""
        self.extractor(await self.store.projects.get(project_id))
        _, version = await current_schema(self.store, project_id)
        number = 1 if version is None else version.number
        ids = await self.store.graph.ledger.stale_documents(project_id, number, every=scope == "all")
        space, _ = await self.store.vectors.spaces(project_id)
        if space is None or not ids:
            return []
        return await self.store.jobs.order_extractions(
            project_id, ids, scope=scope, space_id=space.id, task=EXTRACT
        )

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
    return await _put(tx, document, {"scope": scope})


async def put_import(tx: Store, document: Document, found: Mapping[str, Any]) -> Job:
    """Queues a job that proposes these findings of another system to all chunks. The transaction must hold the document's lock."""
    return await _put(tx, document, {"scope": "import", IMPORTED: dict(found)})


async def _put(tx: Store, document: Document, config: dict[str, Any]) -> Job:
    job = Job(
        project_id=document.project_id,
        id=new_id(),
        document_id=document.id,
        type="extraction",
        name=document.name,
        status="pending",
        config=config,
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


def _estimate_tokens(
    extractor: Extractor, schema: Schema, options: ContextOptions, chunks: int, characters: int
) -> tuple[int, int]:
    """Prompt and completion tokens. Each prompt has the primary chunk and as many context chunks as the options allow."""
    frame, most = extractor.prompt_tokens(schema)
    if not most or not chunks:
        return 0, 0
    shown = 1 + 2 * options.positional_count + options.semantic_chunk_count
    one = frame + shown * characters / chunks / _CHARACTERS + options.related_object_count * _OBJECT
    return round(chunks * min(one, most)), chunks * _OBJECT
