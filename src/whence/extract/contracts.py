"""What the steps of an extraction hand to one another."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkText:
    id: UUID
    text: str
    headings: tuple[str, ...] = ()
    """The titles it stands under, its own included."""
    table_head: str = ""
    """The heads of the table in whose middle it begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownObject:
    """An object that the graph has already, with all its data."""

    id: UUID
    type: str
    name: str
    name_key: str
    properties: Mapping[str, Any]
    """All but the name."""


class ObjectKey(NamedTuple):
    """What an object is known by in its project before it has an id."""

    type: str
    name_key: str
