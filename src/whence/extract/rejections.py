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
"""The origin given for a value that is in no text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    where: str
    """The path in the reply: `objects[3].priority`."""
    reason: Reason
    message: str
    count: int = 1
    """Number of items at that path."""
    item: Any = None
    """The rejected part as given, if it is not a proposal."""


class Rejected(Exception):
    """Raised to reject a proposal or one of its properties."""

    def __init__(self, reason: Reason, message: str) -> None:
        self.reason: Reason = reason
        self.message = message
        super().__init__(message)

    def at(self, where: str) -> Rejection:
        return Rejection(where=where, reason=self.reason, message=self.message)


def unsaid(who: str, what: str = "so") -> Rejected:
    """A rejection because the primary chunk does not state `what`. `who` does: a part of the context, or only the model."""
    return Rejected(
        "ungrounded" if who == MODEL else "context_only",
        f"only {who} says {what}; the primary chunk does not",
    )
