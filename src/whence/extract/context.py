"""The context of a chunk."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from whence.models import ClaimKey, TieKey

OPTION_NAMES = {
    "positionalCount": "positional_count",
    "semanticChunkCount": "semantic_chunk_count",
    "relatedObjectCount": "related_object_count",
    "objectSimilarityThreshold": "object_similarity_threshold",
}
"""Maps the names in a project's config to the fields here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextOptions:
    positional_count: int = 1
    """Number of chunks before the primary one, and the same number after it."""
    semantic_chunk_count: int = 3
    related_object_count: int = 10
    object_similarity_threshold: float = 0.7
    """Minimum similarity of an object, unless its name occurs in the chunk."""

    @classmethod
    def chosen(cls, config: Mapping[str, Any]) -> "ContextOptions":
        """The options in a project's `config`, with defaults for the rest."""
        given = config.get("context") or {}
        return cls(**{OPTION_NAMES[name]: value for name, value in given.items() if value is not None})

    def as_config(self) -> dict[str, int | float]:
        """The options by their names in a project's config."""
        return {name: getattr(self, field) for name, field in OPTION_NAMES.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkText:
    id: UUID
    text: str
    headings: tuple[str, ...] = ()
    """The headings above the chunk, including its own."""
    table_head: str = ""
    """The table's header row, if the chunk begins in the middle of a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownObject:
    """An object of the graph, with all its data."""

    id: UUID
    type: str
    name: str
    name_key: str
    properties: Mapping[str, Any]
    """All properties but the name."""
    aliases: Sequence[str] = ()
    """Aliases in chunks."""
    ungrounded: Sequence[str] = ()
    """Properties whose value is in no chunk."""
    asked_again: frozenset[str] = frozenset()
    """Properties left out of the prompt: only this chunk claims them, and its text does not contain them."""


@dataclass(frozen=True, slots=True)
class EarlierClaim:
    """A claim of an earlier reading of the primary chunk."""

    object_id: UUID
    said_of: UUID
    """The object that was meant: another one after a merge."""
    name: str
    """Name of the object."""
    property_name: str
    value: Any

    @property
    def claimed(self) -> ClaimKey:
        return self.object_id, self.property_name


@dataclass(frozen=True, slots=True)
class EarlierTie:
    """A relationship that an earlier reading of the primary chunk claimed."""

    type: str
    source_id: UUID
    target_id: UUID
    said_source: UUID
    """The object that was meant: another one after a merge."""
    said_target: UUID
    source_name: str
    target_name: str
    quote: str | None = None
    """The quote that stated it."""

    @property
    def key(self) -> TieKey:
        return self.type, self.source_id, self.target_id


@dataclass(frozen=True, slots=True)
class KnownTie:
    """A relationship between two known objects, and the quote of a chunk that states it."""

    type: str
    source_id: UUID
    target_id: UUID
    quote: str


@dataclass(frozen=True, slots=True)
class KnownClaim:
    """A value of a known object, and its place in another chunk that states it."""

    object_id: UUID
    property_name: str
    value: Any
    quote: str
    text: str
    """Text of the other chunk."""
    start: int
    end: int
    is_quoted: bool = True
    """Otherwise the place is the whole chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionContext:
    """Every list is ordered by relevance: nearest chunks, most similar chunks and best objects first."""

    primary: ChunkText
    """The only chunk to extract from. The others help to understand it."""
    previous: tuple[ChunkText, ...] = ()
    next: tuple[ChunkText, ...] = ()
    semantic: tuple[ChunkText, ...] = ()
    objects: tuple[KnownObject, ...] = ()
    earlier: tuple[EarlierClaim, ...] = ()
    earlier_ties: tuple[EarlierTie, ...] = ()
    known_ties: tuple[KnownTie, ...] = ()
    """Relationships between the objects that other chunks state."""
    known_claims: tuple[KnownClaim, ...] = ()
    """Values of the objects whose quote from another chunk is also in the primary chunk."""

    @property
    def chunks(self) -> tuple[ChunkText, ...]:
        """All chunks but the primary one."""
        return self.previous + self.next + self.semantic


def amended(config: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A project's config after these changes. Absent keys keep their values, also those of its context."""
    context = changes.get("context")
    kept = {"context": {**(config.get("context") or {}), **context}} if context else {}
    return {**config, **changes, **kept}
