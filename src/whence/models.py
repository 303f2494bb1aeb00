"""The nouns of Whence (docs/glossary.md), as frozen data. No I/O."""

import hashlib
import os
import random
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, get_args
from uuid import UUID

DEFAULT_PROJECT_ID = UUID("00000000-0000-7000-8000-000000000001")
"""The project that exists from the first start. A fixed id, so that it can be renamed and still be found."""

ChunkKey = bytes
"""A chunk's id as its 16 bytes, where it is compared and looked up many times: that takes UUIDs ten times as long."""
JobType = Literal["document_processing", "extraction"]
JobStatus = Literal["pending", "processing", "completed", "failed", "cancelled"]
JobStage = Literal["parsing", "chunking", "embedding", "storing", "extracting"]
ExtractionSwitch = Literal["auto", "manual"]
ExtractorName = str
"""`model`, `rules`, or the name of one that another distribution offers."""
Scope = Literal["read", "write", "admin"]

JOB_TYPES: tuple[JobType, ...] = get_args(JobType)
JOB_STATUSES: tuple[JobStatus, ...] = get_args(JobStatus)
OPEN: frozenset[JobStatus] = frozenset(("pending", "processing"))
"""A job that is one of these will change by itself; the others are ends."""

SCOPES: tuple[Scope, ...] = get_args(Scope)
"""From the least to the most: each scope includes those before it."""


_last_stamp = 0
_chance = random.Random()
os.register_at_fork(after_in_child=_chance.seed)


def new_id() -> UUID:
    """A UUIDv7 that sorts after every id this process made before.

    48 bits of Unix milliseconds and 12 bits of what is left of the millisecond, never standing still; then chance.
    """
    global _last_stamp  # noqa: PLW0603 - two threads at once may share a stamp; chance still tells them apart
    milliseconds, rest = divmod(time.time_ns(), 1_000_000)
    stamp = max((milliseconds << 12) | (rest << 12) // 1_000_000, _last_stamp + 1)
    _last_stamp = stamp
    chance = _chance.getrandbits(62)
    return UUID(int=(stamp >> 12) << 80 | 0x7 << 76 | (stamp & 0xFFF) << 64 | 0x2 << 62 | chance)


def now() -> datetime:
    return datetime.now(UTC)


MAX_NAME = 200


_CONTROLS = r"\u0000-\u001f\u007f-\u009f\u2028\u2029"
# What Unicode calls ignorable: joiners, marks of direction, variants, fillers; and the empty cell of Braille.
_INVISIBLE = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
)
VISIBLE = rf"[^\s{_CONTROLS}{_INVISIBLE}]"
"""A character that can be seen: a pattern that JSON Schema understands too, and so is the next."""
PROJECT_NAME = rf"[^{_CONTROLS}]*{VISIBLE}[^{_CONTROLS}]*"
"""One line, and not a blank one."""

_VISIBLE = re.compile(
    rf"[^\s{_CONTROLS}{_INVISIBLE}\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def is_blank(text: str) -> bool:
    """Whether there is nothing to see in it: what looks empty counts as empty, wherever somebody sends it."""
    return _VISIBLE.search(text) is None


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def project_name(text: str) -> str:
    """A name as it is kept, or a ValueError that says what a name must be."""
    if is_blank(text) or not re.fullmatch(PROJECT_NAME, text) or _LONE_SURROGATE.search(text):
        raise ValueError("a name with at least one visible character and no control characters")
    if len(text) > MAX_NAME:
        raise ValueError(f"a name of at most {MAX_NAME} characters")
    if _is_id(text.strip()):
        raise ValueError("a name that is no UUID: that would be taken for the id of a project")
    return text.strip()


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    id: UUID
    name: str
    description: str | None = None
    config: dict[str, Any] = field(default_factory=dict)
    """What was chosen for it: `extraction` (an ExtractionSwitch), `extractor` (an ExtractorName), `language` (of the text
    index). Null is no choice."""
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
    metadata: dict[str, Any] = field(default_factory=dict)
    """What its owner says of it; searches can ask for it."""
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
    schema_number: int | None = None
    """Of an extraction that has begun: the schema it goes by, to its end."""


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
    def digest(self) -> bytes:
        """sha256 of the content."""
        return hashlib.sha256(self.content.encode()).digest()

    @property
    def content_hash(self) -> str:
        """The same in hex."""
        return self.digest.hex()


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


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaVersion:
    """What a project's objects are to look like, from one change of mind to the next."""

    project_id: UUID
    number: int
    sha256: bytes
    body: dict[str, Any]
    created_at: datetime

    @property
    def version(self) -> str:
        return f"v{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphObject:
    project_id: UUID
    id: UUID
    type: str
    name: str
    name_key: str
    """The name without what does not tell two things apart; with the type it is the object's identity."""
    properties: dict[str, Any]
    """All but the name: of each the value that was claimed last."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Relationship:
    """Wholly made of its claims: it begins with the first of them and ends with the last."""

    project_id: UUID
    id: UUID
    type: str
    source_id: UUID
    source_type: str
    source_name: str
    target_id: UUID
    target_type: str
    target_name: str
    properties: dict[str, Any]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where in which document a chunk is."""

    chunk_id: UUID
    chunk_index: int
    document_id: UUID
    document_name: str
    page: int | None
    """On which what the chunk says begins; the chunk's first, where its words were not found."""
    start: int | None
    """`document.text[start:end]` is the chunk; None for chunks of before there was metadata."""
    end: int | None
    read_at: datetime | None
    """When the chunk was last read under the schema of what it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One chunk says that one object has this property."""

    id: UUID
    object_id: UUID
    property_name: str
    value: Any
    operation: Literal["created", "updated"]
    schema_number: int
    quote: str | None
    start_offset: int | None
    """Where the quote is in the chunk; None where it was not found."""
    end_offset: int | None
    extracted_at: datetime
    current: bool
    """The newest of its property: the one whose value the object has."""
    place: Place

    @property
    def schema_version(self) -> str:
        return f"v{self.schema_number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipClaim:
    """One chunk says that two objects are related."""

    id: UUID
    relationship_id: UUID
    properties: dict[str, Any]
    schema_number: int
    quote: str | None
    start_offset: int | None
    end_offset: int | None
    extracted_at: datetime
    place: Place

    @property
    def schema_version(self) -> str:
        return f"v{self.schema_number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundValue:
    """A value, and the words of the chunk that it stands on, where they could be found."""

    value: Any
    quote: str | None = None
    start_offset: int | None = None
    end_offset: int | None = None


ObjectKey = tuple[str, str]
"""Type and normalised name: what makes two objects of a project the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundObject:
    """What a chunk says of one object: an existing one by its id, or one by its key, which is made where it is new."""

    id: UUID | None = None
    key: ObjectKey | None = None
    name: str | None = None
    """Needed with a key; with an id, only where the chunk names the object too."""
    properties: Mapping[str, FoundValue] = field(default_factory=dict)
    """`name` may be among them, with its quote."""

    @property
    def ref(self) -> UUID | ObjectKey | None:
        return self.id if self.key is None else self.key


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRelationship:
    """Each end is the id of an existing object or the key of one, which must exist or be found in the same chunk."""

    type: str
    source: UUID | ObjectKey
    target: UUID | ObjectKey
    properties: Mapping[str, Any] = field(default_factory=dict)
    quote: str | None = None
    start_offset: int | None = None
    end_offset: int | None = None


Outcome = Literal["extracted", "empty", "failed"]

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedProposal:
    """Something in a model's reply that the graph did not take over."""

    where: str
    """Its place in the reply: `objects[3].priority`."""
    reason: str
    """In one word, such as `context_only`."""
    message: str
    proposed: str | None = None
    """What stood there, as JSON, as far as it is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkExtraction:
    """Everything that came of reading one chunk once."""

    project_id: UUID
    chunk_id: UUID
    job_id: UUID
    schema_number: int
    outcome: Outcome
    reason: str | None = None
    rejected: int = 0
    """How many proposals were not taken over."""
    rejections: Sequence[RejectedProposal] = ()
    """The first of them."""
    objects: Sequence[FoundObject] = ()
    relationships: Sequence[FoundRelationship] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    extracted_at: datetime = field(default_factory=now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """A person said that two objects are one."""

    project_id: UUID
    id: UUID
    kept_id: UUID
    """The object that has the claims of both now."""
    kept_name: str
    dropped_id: UUID
    dropped_type: str
    dropped_name: str
    merged_at: datetime
