"""Extractions that a client orders, and what they would cost."""

from collections.abc import Iterable
from typing import Any, Literal, Self
from uuid import UUID

from pydantic import ConfigDict, Field

from whence.api.base import CamelShape, RequestShape, StoredError
from whence.api.values import Flag
from whence.extract.scheduling import Plan, Scope
from whence.models import ExtractorName, Job, JobStatus

_SCOPE = "`stale`: chunks that were not read under the current schema. `all`: every chunk."


class ExtractRequest(RequestShape):
    model_config = ConfigDict(json_schema_extra={"example": {"scope": "all", "wait": True}})

    scope: Scope = Field(default="stale", description=_SCOPE)
    wait: Flag | None = Field(default=None, description="Answer when the job has ended.")


class ReextractRequest(RequestShape):
    model_config = ConfigDict(json_schema_extra={"example": {"dryRun": True}})

    scope: Scope = Field(default="stale", description=_SCOPE)
    dry_run: Flag | None = Field(default=None, description="Only say what it would cost.")


class ExtractionOrdered(CamelShape):
    document_id: UUID
    job_id: UUID
    status: JobStatus
    scope: Literal["stale", "all"]
    error: StoredError | None

    @classmethod
    def of(cls, job: Job, /, **more: Any) -> Self:
        return super().of(job, job_id=job.id, scope=job.config["scope"], error=job.error_details, **more)


class OrderedJob(CamelShape):
    document_id: UUID
    job_id: UUID


class ReextractionAnswer(CamelShape):
    dry_run: bool
    scope: Literal["stale", "all"]
    schema_version: str | None
    documents: int
    chunks: int = Field(description="Chunks to read again, by a model or by rules.")
    carried_over: int = Field(
        description="Chunks that need no reading: their properties are only removed or renamed."
    )
    extractor: ExtractorName
    prompt_tokens: int = Field(description="An estimate, as are the next two.")
    completion_tokens: int
    cost: float | None = Field(description="Null where no price is configured.")
    jobs: list[OrderedJob]

    @classmethod
    def planned(cls, plan: Plan, jobs: Iterable[Job] | None = None) -> Self:
        """Without jobs it is a dry run."""
        ordered = [OrderedJob(document_id=job.document_id, job_id=job.id) for job in jobs or ()]
        return cls.of(plan, dry_run=jobs is None, jobs=ordered)
