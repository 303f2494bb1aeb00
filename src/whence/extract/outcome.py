"""The outcome of a merge: changes to the graph, and rejections with reasons."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from uuid import UUID

from whence.extract.contracts import ObjectKey
from whence.extract.grounding import Span

Ref: TypeAlias = UUID | ObjectKey
"""A known object by id, a new one by type and name."""

Operation = Literal["created", "updated"]

Reason = Literal[
    "malformed",
    "cut_off",
    "unknown_id",
    "unknown_type",
    "type_changed",
    "name_changed",
    "bad_name",
    "bad_property",
    "unknown_property",
    "wrong_value",
    "missing_required",
    "contradiction",
    "context_only",
    "unknown_end",
    "ambiguous_end",
    "wrong_end",
    "self_relationship",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    where: str
    """The place in the reply: `objects[3].priority`."""
    reason: Reason
    message: str
    count: int = 1
    """Number of items at that place."""


class Rejected(Exception):
    """A proposal, or a property of one, is rejected."""

    def __init__(self, reason: Reason, message: str) -> None:
        self.reason: Reason = reason
        self.message = message
        super().__init__(message)

    def at(self, where: str) -> Rejection:
        return Rejection(where=where, reason=self.reason, message=self.message)


def context_only(who: str) -> Rejected:
    return Rejected("context_only", f"only {who} says so; the primary chunk does not")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewObject:
    type: str
    name: str
    name_key: str
    properties: Mapping[str, Any]

    @property
    def ref(self) -> ObjectKey:
        return ObjectKey(self.type, self.name_key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    id: UUID
    properties: Mapping[str, Any]
    """Only new properties and changed values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewClaim:
    """A statement of the primary chunk about an object."""

    object: Ref
    property: str
    """`name` for the object's name."""
    value: Any
    operation: Operation
    span: Span | None
    """The words in the primary chunk; None for a paraphrase."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRelationship:
    type: str
    source: Ref
    target: Ref
    properties: Mapping[str, Any]
    span: Span | None
    """From one name to the other, if both are near each other in the primary chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    objects: tuple[NewObject, ...] = ()
    updates: tuple[Update, ...] = ()
    claims: tuple[NewClaim, ...] = ()
    """One for each property of `objects` and `updates`, and for each new name."""
    support: tuple[NewClaim, ...] = ()
    """Known values that this chunk states, too."""
    relationships: tuple[NewRelationship, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    echoes: int = 0
    """Number of repeated values, which change nothing."""
