"""The result of extracting one chunk, as frozen data: objects, relationships and aliases with their quotes. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from whence.models import ClaimKey, ObjectKey, TieKey, now


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundValue:
    """A value and the quote that supports it, if the quote was found in the chunk."""

    value: Any
    quote: str | None = None
    start_offset: int | None = None
    end_offset: int | None = None
    is_grounded: bool = True
    """False for a specific value that the chunk does not have. Only lenient projects keep those."""
    is_confirmed: bool = False
    """The object had this value before; the chunk is a further source of it."""
    elements: tuple["FoundElement", ...] = ()
    """The place of each element, if the value is a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundElement:
    value: Any
    quote: str | None = None
    start_offset: int | None = None
    end_offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundObject:
    """A chunk's claims about one object, given by the id of an existing object or by a key. A new key creates it."""

    id: UUID | None = None
    key: ObjectKey | None = None
    name: str | None = None
    """Required with a key; with an id, set only if the chunk names the object."""
    properties: Mapping[str, FoundValue] = field(default_factory=dict)
    """May include `name`, with its quote."""

    @property
    def ref(self) -> UUID | ObjectKey | None:
        return self.id if self.key is None else self.key


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRelationship:
    """Source and target are ids of existing objects, or keys of objects that exist or are found in the same chunk."""

    type: str
    source: UUID | ObjectKey
    target: UUID | ObjectKey
    properties: Mapping[str, Any] = field(default_factory=dict)
    quote: str | None = None
    start_offset: int | None = None
    end_offset: int | None = None
    is_grounded: bool = True
    """False if the chunk does not mention both ends."""
    is_confirmed: bool = False
    """The chunk repeats what was known."""

    @property
    def key(self) -> tuple[str, UUID | ObjectKey, UUID | ObjectKey]:
        return self.type, self.source, self.target


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAlias:
    """Another name that the chunk uses for an object."""

    of: UUID | ObjectKey
    alias: str
    start_offset: int
    end_offset: int


Outcome = Literal["extracted", "empty", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedProposal:
    """A part of a model's reply that was not written to the graph."""

    where: str
    """Path in the reply: `objects[3].priority`."""
    reason: str
    """A one-word code such as `context_only`."""
    message: str
    proposed: str | None = None
    """The rejected JSON, possibly shortened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkExtraction:
    """The result of extracting one chunk once."""

    project_id: UUID
    chunk_id: UUID
    job_id: UUID
    schema_number: int
    outcome: Outcome
    reason: str | None = None
    rejected: int = 0
    """Number of rejected proposals."""
    rejections: Sequence[RejectedProposal] = ()
    """The first of the rejected proposals."""
    objects: Sequence[FoundObject] = ()
    relationships: Sequence[FoundRelationship] = ()
    aliases: Sequence[FoundAlias] = ()
    withdrawn: Sequence[ClaimKey] = ()
    """Earlier claims of the chunk that do not hold any more."""
    withdrawn_ties: Sequence[TieKey] = ()
    """The same of relationships."""
    reader: str | None = None
    """The model or extractor that read the chunk; None if it was only counted as read."""
    is_imported: bool = False
    """The claims come from another system, not from reading the chunk."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    extracted_at: datetime = field(default_factory=now)
