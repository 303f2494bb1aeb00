"""The nouns of Whence (docs/glossary.md), as frozen data. No I/O."""

import os
import random
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, Protocol, TypeVar
from uuid import UUID

DEFAULT_PROJECT_ID = UUID("00000000-0000-7000-8000-000000000001")
"""The project that exists from the first start. Its id is fixed, so renaming does not lose it."""

ChunkKey = bytes
"""A chunk id as 16 bytes: comparisons and lookups are ten times as fast as with `UUID`."""
JobType = Literal["document_processing", "extraction"]
JobStatus = Literal["pending", "processing", "completed", "failed", "cancelled"]
JobStage = Literal["parsing", "chunking", "embedding", "storing", "extracting"]
ExtractionSwitch = Literal["auto", "manual"]
Grounding = Literal["strict", "lenient"]
Media = Literal["defused", "allowed"]
ExtractorName = str
"""`model`, `rules`, or the name of an extractor from another distribution."""

OPEN: frozenset[JobStatus] = frozenset(("pending", "processing"))
"""Statuses of unfinished jobs; the others are final."""

_last_stamp = 0
_chance = random.Random()
os.register_at_fork(after_in_child=_chance.seed)


def new_id() -> UUID:
    """A UUIDv7 that sorts after every earlier id of this process.

    48 bits of Unix milliseconds and 12 bits for the fraction, always increasing; then 62 random bits.
    """
    global _last_stamp  # noqa: PLW0603 - two threads may share a stamp; the random bits still differ
    milliseconds, rest = divmod(time.time_ns(), 1_000_000)
    stamp = max((milliseconds << 12) | (rest << 12) // 1_000_000, _last_stamp + 1)
    _last_stamp = stamp
    chance = _chance.getrandbits(62)
    return UUID(int=(stamp >> 12) << 80 | 0x7 << 76 | (stamp & 0xFFF) << 64 | 0x2 << 62 | chance)


def now() -> datetime:
    return datetime.now(UTC)


MAX_NAME = 200
_CONTROLS = r"\u0000-\u001f\u007f-\u009f\u2028\u2029"
# Unicode's ignorable characters (joiners, direction marks, variation selectors, fillers) and the blank Braille cell.
_INVISIBLE = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
)
VISIBLE = rf"[^\s{_CONTROLS}{_INVISIBLE}]"
"""Pattern of a visible character. This pattern and the next are valid in JSON Schema, too."""
PROJECT_NAME = rf"[^{_CONTROLS}]*{VISIBLE}[^{_CONTROLS}]*"
"""Pattern of one line that is not blank."""

_VISIBLE = re.compile(
    rf"[^\s{_CONTROLS}{_INVISIBLE}\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def is_blank(text: str) -> bool:
    """Whether the text has no visible character."""
    return _VISIBLE.search(text) is None


def project_name(text: str) -> str:
    """The stripped name. Raises `ValueError` with the expected form if it is invalid."""
    if is_blank(text) or not re.fullmatch(PROJECT_NAME, text) or re.search("[\ud800-\udfff]", text):
        raise ValueError("a name with at least one visible character and no control characters")
    if len(text) > MAX_NAME:
        raise ValueError(f"a name of at most {MAX_NAME} characters")
    try:
        UUID(text.strip())
    except ValueError:
        return text.strip()
    raise ValueError("a name that is no UUID: that would be taken for the id of a project")


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    id: UUID
    name: str
    description: str | None = None
    config: dict[str, Any] = field(default_factory=dict)
    """Project settings: `extraction` (an ExtractionSwitch), `extractor` (an ExtractorName), `language` (of the text
    index). Null means the default."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of a PDF or a slide: `text[start:end]`, in code points. A blank one is an empty span."""

    number: int
    start: int
    end: int
    confidence: float | None = None
    """From 0 to 1, of a page whose text was recognised (OCR)."""


VALID_FROM = "validFrom"
"""The metadata with the document's own date."""


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
    """Metadata set by the owner; searches can filter by it."""
    current_job_id: UUID | None = None
    """Its newest `document_processing` job."""
    valid_from: datetime | None = None
    """Its own date: from its metadata, else from the file."""
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
    """The schema version of an extraction, fixed when it begins."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSpace:
    id: UUID
    provider: str
    model: str
    dimensions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Limits a search to documents that meet every given condition."""

    document_ids: tuple[UUID, ...] | None = None
    mimes: tuple[str, ...] = ()
    """Media types, or prefixes that end with a slash: `text/`."""
    extensions: tuple[str, ...] = ()
    """Name suffixes, in lower case with the dot. A document must match one of these or one of the types."""
    metadata: dict[str, Any] | None = None
    """Values that the document's metadata must contain."""
    created_from: datetime | None = None
    created_before: datetime | None = None
    updated_from: datetime | None = None
    updated_before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaVersion:
    """One version of a project's extraction schema."""

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
    """The normalised name. Type and name key identify the object in its project."""
    properties: dict[str, Any]
    """All properties except the name, each with its current value."""
    created_at: datetime
    updated_at: datetime
    aliases: Sequence[str] = ()
    """Other names that chunks use for it."""
    ungrounded: Sequence[str] = ()
    """Properties whose value no chunk has; `name` if no chunk has the name."""


class WithProperties(Protocol):
    """An object of the graph, in any of its forms."""

    @property
    def properties(self) -> Mapping[str, Any]: ...

    @property
    def ungrounded(self) -> Sequence[str]: ...


AnyObject = TypeVar("AnyObject", bound=WithProperties)


def grounded(found: WithProperties) -> dict[str, Any]:
    """The properties without ungrounded values."""
    return {name: value for name, value in found.properties.items() if name not in found.ungrounded}


def only_grounded(found: Iterable[AnyObject]) -> list[AnyObject]:
    """The objects without ungrounded values. An object without a grounded name is left out."""
    return [replace(each, properties=grounded(each)) for each in found if "name" not in each.ungrounded]  # type: ignore[type-var]  # all are dataclasses


@dataclass(frozen=True, slots=True, kw_only=True)
class Relationship:
    """A typed edge between two objects. It exists as long as it has a claim."""

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
    ungrounded: bool
    """No chunk mentions both ends."""


OrderedBy = Literal["valid_from", "version"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The position of a chunk in its document."""

    chunk_id: UUID
    chunk_index: int
    document_id: UUID
    document_name: str
    page: int | None
    """The page where the claim's quote begins; the chunk's first page if the quote was not found."""
    start: int | None
    """`document.text[start:end]` is the chunk; None for chunks stored without metadata."""
    end: int | None
    read_at: datetime | None
    """When the chunk was last extracted under the claim's schema version."""
    as_of: datetime
    """The time that orders its claims: the document's own date, else that of its version."""
    ordered_by: OrderedBy
    document_version: int


Operation = Literal["created", "updated", "confirmed", "imported", "set"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One chunk, or a person, says that one object has this property."""

    id: UUID
    object_id: UUID
    property_name: str
    value: Any
    operation: Operation
    schema_number: int
    quote: str | None
    start_offset: int | None
    """Start of the quote in the chunk; None if the quote was not found."""
    end_offset: int | None
    elements: list[dict[str, Any]] | None
    """The place of each element of a list, with the fields of `FoundElement`."""
    is_grounded: bool
    """False if the chunk does not have the value."""
    extracted_at: datetime
    current: bool
    """True if the object has its value, or its elements: the newest claim, except for names and lists."""
    origin: Place | None
    word: "Word | None" = None
    """The person who set the value (then there is no place) or rejected the claim."""

    @property
    def place(self) -> Place:
        assert self.origin is not None, "a value that a person set has no place"
        return self.origin

    @property
    def schema_version(self) -> str:
        return f"v{self.schema_number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipClaim:
    """One chunk says that two objects are related."""

    id: UUID
    relationship_id: UUID
    properties: dict[str, Any]
    operation: Operation
    schema_number: int
    quote: str | None
    start_offset: int | None
    end_offset: int | None
    is_grounded: bool
    """False if the chunk does not mention both ends."""
    extracted_at: datetime
    place: Place

    @property
    def schema_version(self) -> str:
        return f"v{self.schema_number}"


ClaimKey = tuple[UUID, str]
"""The object and the property that identify a claim of a chunk."""
TieKey = tuple[str, UUID, UUID]
"""The type and the ends that identify a relationship claim of a chunk."""
ObjectKey = tuple[str, str]
"""Type and normalised name, which identify an object in its project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """The author of a correction, and the reason."""

    author: str
    reason: str | None = None
    curation_id: UUID | None = None
