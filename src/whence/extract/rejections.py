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
    "ungrounded",
    "unknown_end",
    "ambiguous_end",
    "wrong_end",
    "self_relationship",
]

MODEL = "the model"
"""The origin of a value that is in no text."""


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


def unsaid(who: str, what: str = "so") -> Rejected:
    """`who` has it instead of the primary chunk: a part of the context, or only the model."""
    return Rejected(
        "ungrounded" if who == MODEL else "context_only",
        f"only {who} says {what}; the primary chunk does not",
    )
