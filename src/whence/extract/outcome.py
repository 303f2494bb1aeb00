"""What became of a model's reply: what the graph takes over, and what not and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from uuid import UUID

from whence.extract.contracts import ObjectKey
from whence.extract.grounding import Span

Ref: TypeAlias = UUID | ObjectKey
"""A known object by its id, a new one by its type and name."""

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
    """How many things at that place."""


class Rejected(Exception):
    """A proposal is not taken over, as a whole."""

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
    """Only what is new or has another value than before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewClaim:
    """The primary chunk says this of an object."""

    object: Ref
    property: str
    """`name` for the name of a new object."""
    value: Any
    operation: Operation
    span: Span | None
    """Where the primary chunk says so; None where the words are not there, as in a paraphrase."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRelationship:
    type: str
    source: Ref
    target: Ref
    properties: Mapping[str, Any]
    span: Span | None
    """From the one name to the other, where both stand near each other in the primary chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    objects: tuple[NewObject, ...] = ()
    updates: tuple[Update, ...] = ()
    claims: tuple[NewClaim, ...] = ()
    """One for each property, and name, of `objects` and `updates`."""
    support: tuple[NewClaim, ...] = ()
    """What is known already, and this chunk says too."""
    relationships: tuple[NewRelationship, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    echoes: int = 0
    """How many values were repeated; they change nothing."""
