"""Re-extraction under the current schema: the dry run and the jobs."""

from dataclasses import dataclass
from uuid import UUID

from whence.extract.context import ContextOptions
from whence.extract.costs import Prices
from whence.extract.estimate import Estimate, estimate
from whence.extract.scheduling import Orders, Scope, current_schema
from whence.models import Document, ExtractorName, Job
from whence.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    scope: Scope
    schema_version: str | None
    """None if the project has no schema of its own yet."""
    extractor: ExtractorName
    estimate: Estimate


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
        expected = await estimate(
            self.store,
            self.orders.extractors.get(name, options),
            self.prices,
            project_id=project_id,
            document_id=document_id,
            schema=schema,
            number=1 if version is None else version.number,
            scope=scope,
            options=options,
        )
        return Plan(
            scope=scope,
            schema_version=None if version is None else version.version,
            extractor=name,
            estimate=expected,
        )

    async def document(self, document: Document, *, scope: Scope) -> list[Job]:
        return [await self.orders.document(document, scope=scope)]

    async def project(self, project_id: UUID, *, scope: Scope) -> list[Job]:
        """Queues a job for each document with chunks to read again."""
        _, version = await current_schema(self.store, project_id)
        number = 1 if version is None else version.number
        ids = await self.store.graph.ledger.stale_documents(project_id, number, every=scope == "all")
        return await self.orders.documents(project_id, ids, scope=scope)
