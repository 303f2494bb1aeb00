"""Rejected proposals in the form that the ledger stores. Pure."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from whence.extract.outcome import Rejection
from whence.extract.reply import ExtractionReply, ObjectProposal, RelationshipProposal
from whence.extract.schema import spelled
from whence.models import RejectedProposal

MOST = 20
"""Rejections stored per chunk. More would show nothing new."""
LONGEST = 300
"""Characters stored of each text."""


def summary(rejections: Sequence[Rejection]) -> str | None:
    """The number of rejected proposals by reason."""
    if not rejections:
        return None
    reasons: Counter[str] = Counter()
    for each in rejections:
        reasons[each.reason] += each.count
    return "Rejected: " + ", ".join(f"{reason} {times}" for reason, times in sorted(reasons.items()))


def count(rejections: Sequence[Rejection]) -> int:
    return sum(each.count for each in rejections)


def kept(rejections: Sequence[Rejection], reply: ExtractionReply) -> tuple[RejectedProposal, ...]:
    """The first rejections, each with the rejected part of the reply."""
    said = _Said(reply)
    return tuple(
        RejectedProposal(
            where=_short(each.where),
            reason=each.reason,
            message=_short(each.message),
            proposed=_as_json(said.at(each.where)),
        )
        for each in rejections[:MOST]
    )


class _Said:
    """Looks up parts of a reply by place, such as `objects[3].priority`."""

    def __init__(self, reply: ExtractionReply) -> None:
        self._dropped = {each.where: each.item for each in reply.dropped}
        self._proposals: dict[str, ObjectProposal | RelationshipProposal] = {
            **{each.where: each for each in reply.objects},
            **{each.where: each for each in reply.relationships},
        }

    def at(self, where: str) -> Any:
        """None if the reply has nothing at this place."""
        if where in self._dropped:
            return self._dropped[where]
        place, _, name = where.partition(".")
        proposal = self._proposals.get(place)
        if proposal is None:
            return None
        return _value(proposal, name) if name else _whole(proposal)


def _value(proposal: ObjectProposal | RelationshipProposal, name: str) -> Any:
    if name == "name" and isinstance(proposal, ObjectProposal):
        return proposal.name
    key = spelled(name, proposal.properties)
    return None if key is None else proposal.properties[key]


def _whole(proposal: ObjectProposal | RelationshipProposal) -> dict[str, Any]:
    if isinstance(proposal, ObjectProposal):
        words = {"id": proposal.id, "type": proposal.type, "name": proposal.name}
    else:
        words = {"type": proposal.type, "source": proposal.source, "target": proposal.target}
    return {**{key: word for key, word in words.items() if word}, **proposal.properties}


def _as_json(value: Any) -> str | None:
    if value is None:
        return None
    try:
        return _short(json.dumps(value, ensure_ascii=False))
    except RecursionError:  # nested too deep for Python, and of no use to a reader
        return None


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
