"""The `config` of a document's job (the original and its chunking), and the receipt. Pure."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import UUID

from whence.chunk import DEFAULT_STRATEGY, ChunkingOptions
from whence.errors import BadInput
from whence.models import OPEN, Document, Job, JobStatus, Project, is_blank, new_id, now
from whence.store.document_identity import Original
from whence.text.dates import own_date

MAX_FILE_NAME = 255
_SIZES = {"maxChunkSize": "max_chunk_size", "minChunkSize": "min_chunk_size"}

_WINDOWS_PATH = re.compile(r"[A-Za-z]:\\|\\\\")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunking:
    strategy: str = DEFAULT_STRATEGY
    options: ChunkingOptions = field(default_factory=ChunkingOptions)

    def as_json(self) -> dict[str, Any]:
        return {"strategy": self.strategy, **asdict(self.options)}

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "Chunking":
        sizes = dict(config["chunking"])
        return cls(strategy=sizes.pop("strategy"), options=ChunkingOptions(**sizes))

    @classmethod
    def of_project(cls, project: Project, strategy: str = DEFAULT_STRATEGY) -> "Chunking":
        """The project's own default, else `strategy` with the usual sizes."""
        chosen = project.config.get("chunking") or {"strategy": strategy}
        sizes = {field: chosen[name] for name, field in _SIZES.items() if chosen.get(name) is not None}
        return cls(strategy=chosen["strategy"], options=ChunkingOptions(**sizes))


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    file_name: str
    document_id: UUID
    job_id: UUID | None
    status: JobStatus
    already_exists: bool
    """True if the project already had this document with these bytes and nothing was queued."""
    error: dict[str, Any] | None = None

    @classmethod
    def of(cls, job: Job) -> "Receipt":
        """The receipt of a job that was queued just now."""
        return cls(
            file_name=job.file_name,
            document_id=job.document_id,
            job_id=job.id,
            status=job.status,
            already_exists=False,
        )


def chunking_of(job: Job | None) -> Chunking:
    return Chunking.of(job.config) if job and "chunking" in job.config else Chunking()


def base_name(given: str) -> str:
    """The last part of a name that may be a path on the sender's machine."""
    if _WINDOWS_PATH.match(given):
        given = given.replace("\\", "/")
    return given.rstrip("/").rpartition("/")[2]


def clean_name(given: str) -> str:
    """The name without control characters, shortened to `MAX_FILE_NAME`."""
    name = _CONTROL.sub(" ", given).strip()
    if is_blank(name) or name in {".", ".."}:
        raise BadInput(
            "The file has no name", details={"field": "fileName", "provided": given, "expected": "a name"}
        )
    return name if len(name) <= MAX_FILE_NAME else name[: MAX_FILE_NAME - 32] + "…" + name[-31:]


def original_of(job: Job) -> Original:
    kept = job.config["original"]
    return Original(**{**kept, "sha256": bytes.fromhex(kept["sha256"])})


def is_copy(job: Job) -> bool:
    """Whether another document brought the original: one with the same bytes, and perhaps the same chunks."""
    return original_of(job).key.split("/")[1] != str(job.document_id)


def known_originals(document: Document, last: Job | None) -> list[Original]:
    """The original of an open job, if there is one, then the document's stored original."""
    of_last = original_of(last) if last and "original" in last.config else None
    coming = [of_last] if of_last and last and last.status in OPEN else []
    if document.original_key is None:
        return coming
    stored = Original(
        key=document.original_key,
        name=document.name,
        mime=document.mime,
        size=document.size,
        sha256=document.sha256,
        origin=document.origin,
        fetched=document.fetched,
        declared=of_last.declared if of_last and of_last.key == document.original_key else None,
    )
    return [*coming, stored]


def job_of(project_id: UUID, document_id: UUID, original: Original, chunking: Chunking) -> Job:
    kept = {**asdict(original), "sha256": original.sha256.hex()}
    return Job(
        project_id=project_id,
        id=new_id(),
        document_id=document_id,
        type="document_processing",
        name=original.name,
        status="pending",
        config={"chunking": chunking.as_json(), "original": kept},
        file_name=original.name,
        file_type=original.mime,
        file_size=original.size,
        created_at=now(),
    )


def document_of(job: Job, original: Original, metadata: Mapping[str, Any]) -> Document:
    return Document(
        project_id=job.project_id,
        id=job.document_id,
        name=original.name,
        mime=original.mime,
        size=original.size,
        sha256=original.sha256,
        origin=original.origin,
        original_key=original.key,
        fetched=original.fetched,
        metadata={name: value for name, value in metadata.items() if value is not None},
        valid_from=own_date(metadata),
        current_job_id=job.id,
        created_at=job.created_at,
        updated_at=job.created_at,
    )


def is_same_work(last: Job, original: Original, chunking: Chunking) -> bool:
    known = last.config.get("original", {})
    return (
        known.get("sha256") == original.sha256.hex()
        and known.get("name") == original.name
        and last.config.get("chunking") == chunking.as_json()
    )
