"""Re-extraction under the current schema: what it would cost, and its jobs."""

from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from whence.errors import Conflict, DocumentNotFound
from whence.extract.context import ContextOptions
from whence.extract.costs import Prices
from whence.extract.extractors import Extractor
from whence.extract.scheduling import Orders, Scope, current_schema
from whence.extract.schema import Schema
from whence.extract.schema_diff import needs_model
from whence.extract.schema_migration import changes_between
from whence.models import ExtractorName, Job
from whence.store import Store

_CHARACTERS = 3.5
"""Characters per token, roughly."""
_OBJECT = 60
"""Tokens of an object in a prompt or a reply, for ordinary documents."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Reextraction:
    store: Store
    orders: Orders
    prices: Prices

    async def plan(self, project_id: UUID, *, scope: Scope, document_id: UUID | None = None) -> Plan:
        project = await self.store.projects.get(project_id)
        name = self.orders.extractor(project)
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
        extractor = self.orders.extractors.get(name, options)
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
        """Queues a job for each document with chunks to read again, but not if it was deleted or is being ingested again."""
        _, version = await current_schema(self.store, project_id)
        number = 1 if version is None else version.number
        ids = await self.store.graph.ledger.stale_documents(project_id, number, every=scope == "all")
        ordered: list[Job] = []
        for document_id in ids:
            with suppress(DocumentNotFound, Conflict):
                document = await self.store.documents.get(document_id, project_id=project_id)
                ordered.append(await self.orders.document(document, scope=scope))
        return ordered


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
