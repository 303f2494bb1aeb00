"""The nouns of Whence (docs/glossary.md), as frozen data. No I/O."""

import hashlib
import os
import re
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, get_args
from uuid import UUID

DEFAULT_PROJECT_ID = UUID("00000000-0000-7000-8000-000000000001")
"""The project that exists from the first start. A fixed id, so that it can be renamed and still be found."""

JobType = Literal["document_processing", "extraction"]
JobStatus = Literal["pending", "processing", "completed", "failed", "cancelled"]
JobStage = Literal["parsing", "chunking", "embedding", "storing"]
Scope = Literal["read", "write", "admin"]

JOB_TYPES: tuple[JobType, ...] = get_args(JobType)
JOB_STATUSES: tuple[JobStatus, ...] = get_args(JobStatus)
OPEN: frozenset[JobStatus] = frozenset(("pending", "processing"))
"""A job that is one of these will change by itself; the others are ends."""

SCOPES: tuple[Scope, ...] = get_args(Scope)
"""From the least to the most: each scope includes those before it."""


_last_stamp = 0


def new_id() -> UUID:
    """A UUIDv7 that sorts after every id this process made before.

    48 bits of Unix milliseconds and 12 bits of what is left of the millisecond, never standing still; then chance.
    """
    global _last_stamp  # noqa: PLW0603 - two threads at once may share a stamp; chance still tells them apart
    milliseconds, rest = divmod(time.time_ns(), 1_000_000)
    stamp = max((milliseconds << 12) | (rest << 12) // 1_000_000, _last_stamp + 1)
    _last_stamp = stamp
    chance = int.from_bytes(os.urandom(8), "big") >> 2
    return UUID(int=(stamp >> 12) << 80 | 0x7 << 76 | (stamp & 0xFFF) << 64 | 0x2 << 62 | chance)


def now() -> datetime:
    return datetime.now(UTC)


MAX_NAME = 200


PROJECT_NAME = r"(?=.*\S)[^\u0000-\u001f\u007f-\u009f\u2028\u2029]+"
"""A pattern that JSON Schema understands too."""


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def project_name(text: str) -> str:
    """A name as it is kept, or a ValueError that says what a name must be."""
    if not re.fullmatch(PROJECT_NAME, text) or _LONE_SURROGATE.search(text):
        raise ValueError("a name with at least one visible character and no control characters")
    if len(text) > MAX_NAME:
        raise ValueError(f"a name of at most {MAX_NAME} characters")
    return text.strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    id: UUID
    name: str
    description: str | None = None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """What is known of a key: never the key itself."""

    id: UUID
    name: str
    prefix: str
    """The part of the key that it is looked up by; safe to show."""
    project_id: UUID | None
    """The one project it opens, or None for all."""
    scope: Scope
    created_at: datetime
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks: what the API key of a request allows."""

    project_id: UUID | None
    scope: Scope

    def may(self, scope: Scope) -> bool:
        return SCOPES.index(self.scope) >= SCOPES.index(scope)


EVERYONE = Caller(project_id=None, scope="admin")
"""The caller of a server that needs no keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of a PDF or a slide: `text[start:end]`, in code points. A blank one is an empty span."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """A file as it was given: what is known of it before anyone reads it."""

    key: str
    """Where the bytes are kept."""
    name: str
    mime: str
    size: int
    sha256: bytes
    origin: str | None = None
    """The URL it was fetched from, where there is one."""
    fetched: dict[str, Any] | None = None
    """What the server of that URL wants to hear when it is asked again: `etag`, `last_modified`."""
    declared: str | None = None
    """What its sender said it is, with the encoding: `text/html; charset=…`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    project_id: UUID
    id: UUID
    name: str
    mime: str
    size: int
    sha256: bytes
    text: str | None = None
    origin: str | None = None
    original_key: str | None = None
    fetched: dict[str, Any] | None = None
    current_job_id: UUID | None = None
    """The newest job that works, or worked, on it."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    project_id: UUID
    id: UUID
    document_id: UUID
    type: JobType
    name: str
    status: JobStatus
    file_name: str
    file_type: str
    file_size: int
    created_at: datetime
    started_at: datetime | None = None
    completed_at: datetime | None = None
    stage: JobStage | None = None
    done: int = 0
    total: int | None = None
    attempts: int = 0
    config: dict[str, Any] = field(default_factory=dict)
    error_details: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    project_id: UUID
    id: UUID
    document_id: UUID
    job_id: UUID
    chunk_index: int
    content: str
    metadata: dict[str, Any] | None
    created_at: datetime

    @property
    def content_hash(self) -> str:
        """sha256 of the content, in hex."""
        return hashlib.sha256(self.content.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSpace:
    id: UUID
    provider: str
    model: str
    dimensions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which documents are searched: those that meet every condition that is given."""

    document_ids: tuple[UUID, ...] | None = None
    mimes: tuple[str, ...] = ()
    """Media types, or their beginnings where they end with a slash: `text/`."""
    extensions: tuple[str, ...] = ()
    """What a name ends with, in lower case and with the dot; a document needs one of these or one of the types."""
    metadata: dict[str, Any] | None = None
    """What the metadata of a document has to hold."""
    created_from: datetime | None = None
    created_before: datetime | None = None
    updated_from: datetime | None = None
    updated_before: datetime | None = None
