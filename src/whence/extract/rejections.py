"""Rejections of proposals. Pure."""

from dataclasses import dataclass
from typing import Any, Literal

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
    item: Any = None
    """The rejected part as given, if it is no proposal."""


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
