"""Values that the steps of an extraction exchange."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkText:
    id: UUID
    text: str
    headings: tuple[str, ...] = ()
    """The headings above it, its own included."""
    table_head: str = ""
    """The head of the table, if the chunk begins in the middle of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownObject:
    """An object of the graph, with all its data."""

    id: UUID
    type: str
    name: str
    name_key: str
    properties: Mapping[str, Any]
    """All properties but the name."""


class ObjectKey(NamedTuple):
    """Identifies an object in its project before it has an id."""

    type: str
    name_key: str
