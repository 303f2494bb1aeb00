"""Jobs, requests for extraction, and their results for each chunk."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, Self
from uuid import UUID

from pydantic import ConfigDict, Field

from whence.api.base import AnswerShape, CamelShape, RequestShape, StoredError
from whence.api.values import Flag
from whence.chunk_findings import Outcome, RejectedProposal
from whence.extract.scheduling import Plan, Scope
from whence.models import OPEN, ExtractorName, Job, JobStage, JobStatus, JobType
from whence.store.jobs import ParentJob

_NOTHING_NOTED: dict[str, Any] = {
    **dict.fromkeys(("extracted", "empty", "failed", "rejected", "prompt_tokens", "completion_tokens"), 0),
    **dict.fromkeys(("extractor", "model", "cost")),
}


_SCOPE = "`stale`: chunks that were not read under the current schema. `all`: every chunk."


class ChunkingModel(AnswerShape):
    strategy: str
    max_chunk_size: int
    min_chunk_size: int


class ExtractionModel(AnswerShape):
    scope: Literal["stale", "all", "import"]
    schema_version: str | None = Field(description="Null until the job begins.", examples=["v2"])
    extractor: ExtractorName | None
    model: str | None
    extracted: int = Field(description="Chunks that yielded objects or relationships.")
    empty: int = Field(description="Chunks that yielded nothing.")
    failed: int = Field(description="Chunks that could not be read; `error` has the reason.")
    rejected: int = Field(description="Proposals that were rejected; `readings` lists them.")
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = Field(description="An estimate; null if no price is configured.")

    @classmethod
    def of(cls, job: Job, /, **more: Any) -> Self:
        noted = {**_NOTHING_NOTED, **job.config.get("extraction", {})}
        version = None if job.schema_number is None else f"v{job.schema_number}"
        return super().of(noted, scope=job.config.get("scope", "all"), schema_version=version, **more)


class JobCounts(AnswerShape):
    pending: int
    processing: int
    completed: int
    failed: int
    cancelled: int


class StageModel(AnswerShape):
    stage: JobStage
    started_at: datetime
    ended_at: datetime | None

    @classmethod
    def list_of(cls, job: Job) -> list[Self]:
        """The stages in the order in which they began. Each ends when the next one begins, the last one with the job."""
        begun = {stage: datetime.fromisoformat(at) for stage, at in job.config.get("stages", {}).items()}
        # The first stage begins when the job is taken.
        if job.started_at is not None and ("chunking" in begun or job.stage == "parsing"):
            begun.setdefault("parsing", job.started_at)
        ordered = sorted(begun.items(), key=lambda each: each[1])
        ends = [at for _, at in ordered[1:]] + [job.completed_at] * bool(ordered)
        return [
            cls(stage=stage, started_at=at, ended_at=end)
            for (stage, at), end in zip(ordered, ends, strict=True)
        ]


class JobModel(AnswerShape):
    id: UUID
    project_id: UUID
    document_id: UUID | None = Field(description="Null for several extractions as one job.")
    job_type: JobType
    job_name: str
    status: JobStatus
    stage: JobStage | None = Field(description="The current step, or the last one.")
    stages: list[StageModel] = Field(description="The steps begun so far, with their times.")
    done: int = Field(
        description="Chunks that are embedded, or read by an extraction; for a parent job, documents that are finished."
    )
    total: int | None = Field(
        description="All chunks; null until the document was chunked. For a parent job, all documents."
    )
    attempts: int
    error: StoredError | None = Field(description="The reason why the job failed or is tried again.")
    chunking: ChunkingModel | None
    extraction: ExtractionModel | None = Field(description="Only for extractions.")
    file_name: str
    file_type: str
    file_size: int
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    jobs: JobCounts | None = Field(
        default=None, description="For several extractions as one job: the number in each state."
    )

    @classmethod
    def of_parent(cls, parent: ParentJob) -> Self:
        """Extractions that were ordered together, as one job."""
        counts = JobCounts.of(parent)
        return super().of(
            parent,
            document_id=None,
            job_type="extraction",
            job_name=f"Extraction of {parent.total} documents",
            stage="extracting" if parent.started_at else None,
            stages=[],
            attempts=1,
            error=None,
            chunking=None,
            extraction=None,
            file_name="",
            file_type="",
            file_size=0,
            completed_at=None if parent.status in OPEN else parent.last_completed_at,
            jobs=counts,
        )

    @classmethod
    def of(cls, job: Job, /, **more: Any) -> Self:
        """Shows only the chunking or the extraction of the job's `config`."""
        return super().of(
            job,
            job_type=job.type,
            job_name=job.name,
            stages=StageModel.list_of(job),
            error=job.error_details,
            chunking=job.config.get("chunking"),
            extraction=ExtractionModel.of(job) if job.type == "extraction" else None,
            **more,
        )


class ReadingModel(AnswerShape):
    chunk_id: UUID
    chunk_index: int
    page: int | None = Field(description="The page that the chunk begins on.")
    schema_version: str
    outcome: Outcome
    reason: str | None = Field(
        description="The reason of a failure, or the reasons of all rejections with their counts."
    )
    rejected: int = Field(description="Number of rejected proposals.")
    rejections: list[RejectedProposal] = Field(
        description="The first twenty: the path in the model's reply, the reason, and the beginning of the proposal as JSON."
    )
    prompt_tokens: int
    completion_tokens: int
    extracted_at: datetime


class ExtractRequest(RequestShape):
    model_config = ConfigDict(json_schema_extra={"example": {"scope": "all", "wait": True}})

    scope: Scope = Field(default="stale", description=_SCOPE)
    wait: Flag | None = Field(default=None, description="Answer when the job has ended.")


class ReextractRequest(RequestShape):
    model_config = ConfigDict(json_schema_extra={"example": {"dryRun": True}})

    scope: Scope = Field(default="stale", description=_SCOPE)
    dry_run: Flag | None = Field(default=None, description="Only estimate the cost.")


class ExtractionOrdered(CamelShape):
    document_id: UUID
    job_id: UUID
    status: JobStatus
    scope: Scope
    error: StoredError | None

    @classmethod
    def of(cls, job: Job, /, **more: Any) -> Self:
        return super().of(job, job_id=job.id, scope=job.config["scope"], error=job.error_details, **more)


class OrderedJob(CamelShape):
    document_id: UUID
    job_id: UUID


class ReextractionAnswer(CamelShape):
    dry_run: bool
    scope: Scope
    schema_version: str | None
    documents: int
    chunks: int = Field(description="Chunks to read again, by a model or by rules.")
    carried_over: int = Field(
        description="Chunks that need no reading: their properties are only removed or renamed."
    )
    extractor: ExtractorName
    prompt_tokens: int = Field(description="An estimate, like the next two fields.")
    completion_tokens: int
    cost: float | None = Field(description="Null if no price is configured.")
    job_id: UUID | None = Field(description="All jobs as one: `GET /jobs/{job_id}` has their progress.")
    jobs: list[OrderedJob]

    @classmethod
    def planned(cls, plan: Plan, jobs: Sequence[Job] | None = None) -> Self:
        """The answer for a plan; without jobs, a dry run."""
        ordered = [OrderedJob(document_id=job.document_id, job_id=job.id) for job in jobs or ()]
        parents = [job.config["parent"] for job in jobs or () if "parent" in job.config]
        return cls.of(plan, dry_run=jobs is None, job_id=parents[-1] if parents else None, jobs=ordered)
