"""Jobs, and what an extraction made of each chunk."""

from datetime import datetime
from typing import Any, Literal, Self
from uuid import UUID

from pydantic import Field

from whence.api.base import AnswerShape, StoredError
from whence.models import ExtractorName, Job, JobStage, JobStatus, JobType, Outcome

_NOTHING_NOTED: dict[str, Any] = {
    **dict.fromkeys(("extracted", "empty", "failed", "rejected", "prompt_tokens", "completion_tokens"), 0),
    **dict.fromkeys(("extractor", "model", "cost")),
}


class ChunkingModel(AnswerShape):
    strategy: str
    max_chunk_size: int
    min_chunk_size: int


class ExtractionModel(AnswerShape):
    scope: Literal["stale", "all"]
    schema_version: str | None = Field(description="Null until the job begins.", examples=["v2"])
    extractor: ExtractorName | None
    model: str | None
    extracted: int = Field(description="Chunks that gave something.")
    empty: int = Field(description="Chunks that gave nothing.")
    failed: int = Field(description="Chunks that could not be read; `error` says why.")
    rejected: int = Field(description="Proposals that were rejected; `readings` lists them.")
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = Field(description="An estimate; null where no price is configured.")

    @classmethod
    def of(cls, job: Job, /, **more: Any) -> Self:
        noted = {**_NOTHING_NOTED, **job.config.get("extraction", {})}
        version = None if job.schema_number is None else f"v{job.schema_number}"
        return super().of(noted, scope=job.config.get("scope", "all"), schema_version=version, **more)


class JobModel(AnswerShape):
    id: UUID
    project_id: UUID
    document_id: UUID
    job_type: JobType
    job_name: str
    status: JobStatus
    stage: JobStage | None = Field(description="The current step, or the last one.")
    done: int = Field(description="Chunks that are embedded, or read by an extraction.")
    total: int | None = Field(description="All chunks; null until the document was chunked.")
    attempts: int
    error: StoredError | None = Field(description="Why the job failed, or why it is tried again.")
    chunking: ChunkingModel | None
    extraction: ExtractionModel | None = Field(description="Only for extractions.")
    file_name: str
    file_type: str
    file_size: int
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None

    @classmethod
    def of(cls, job: Job, /, **more: Any) -> Self:
        """Of its `config`, only the chunking or the extraction is shown."""
        return super().of(
            job,
            job_type=job.type,
            job_name=job.name,
            error=job.error_details,
            chunking=job.config.get("chunking"),
            extraction=ExtractionModel.of(job) if job.type == "extraction" else None,
            **more,
        )


class RejectionModel(AnswerShape):
    where: str = Field(description="The place in the model's reply.", examples=["objects[3].priority"])
    reason: str = Field(examples=["context_only"])
    message: str
    proposed: str | None = Field(description="The proposal as JSON, its first 300 characters.")


class ReadingModel(AnswerShape):
    chunk_id: UUID
    chunk_index: int
    page: int | None = Field(description="The page that the chunk begins on.")
    schema_version: str
    outcome: Outcome
    reason: str | None = Field(
        description="Why it failed, or the reasons of all rejections with their counts."
    )
    rejected: int = Field(description="Number of rejected proposals.")
    rejections: list[RejectionModel] = Field(description="The first twenty of them.")
    prompt_tokens: int
    completion_tokens: int
    extracted_at: datetime
