"""Converts the outcome of a merge to rows of the store. Pure."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from whence.chunk_findings import FoundObject, RejectedProposal
from whence.extract.context import KnownObject
from whence.extract.links import Ref
from whence.extract.rejections import Rejection
from whence.extract.reply import ExtractionReply
from whence.extract.schema import spelled
from whence.extract.values import accumulate, same
from whence.models import GraphObject, grounded

MAX_TEXT = 2_000
"""Maximum length of an object's text for embedding, in characters."""
MOST = 20
"""Maximum rejections stored per chunk. More would show nothing new."""
LONGEST = 300
"""Maximum characters stored of each text of a rejection."""


def texts_of(found: Sequence[FoundObject], known: Sequence[KnownObject]) -> dict[Ref, str]:
    """The text to embed for each object that is new or gets another value, without ungrounded values."""
    by_id = {each.id: each for each in known}
    texts: dict[Ref, str] = {}
    for each in found:
        values = {
            name: given.value
            for name, given in each.properties.items()
            if name != "name" and given.is_grounded and not given.is_confirmed
        }
        if each.key is not None:
            texts[each.key] = text_of(each.key[0], each.name or "", values)
        elif each.id is not None and values:
            old = by_id[each.id]
            new = {name: _with(old.properties.get(name), value) for name, value in values.items()}
            if any(name not in old.properties or not same(old.properties[name], new[name]) for name in new):
                texts[each.id] = text_of(old.type, old.name, {**grounded(old), **new})
    return texts


def _with(before: Any, value: Any) -> Any:
    """The value; a list with the elements that it had before."""
    return accumulate(before, value) if isinstance(before, list) and isinstance(value, list) else value


def object_text(found: GraphObject | KnownObject) -> str:
    """The text to embed for an object as it is."""
    return text_of(found.type, found.name, grounded(found))


def text_of(kind: str, name: str, properties: Mapping[str, Any]) -> str:
    """A short text of an object for embedding. Every word adds to the waiting time.

    Texts need no label; numbers and booleans mean nothing without the name of their property.
    """
    said = [
        value if isinstance(value, str) else f"{key}: {value}" for key, value in sorted(properties.items())
    ]
    return "\n".join([f"{name} {kind}", *said])[:MAX_TEXT]


def summary(rejections: Sequence[Rejection]) -> str | None:
    """The number of rejected proposals by reason."""
    if not rejections:
        return None
    reasons: Counter[str] = Counter()
    for each in rejections:
        reasons[each.reason] += each.count
    return "Rejected: " + ", ".join(f"{reason} {times}" for reason, times in sorted(reasons.items()))


def kept(rejections: Sequence[Rejection], reply: ExtractionReply) -> tuple[RejectedProposal, ...]:
    """The first rejections, each with the rejected part of the reply."""
    proposals = {each.where: each.given for each in reply.objects}
    proposals |= {each.where: each.given for each in reply.relationships}

    def proposed(rejection: Rejection) -> Any:
        at, _, name = rejection.where.partition(".")
        if rejection.item is not None or at not in proposals:
            return rejection.item
        given = proposals[at]
        return given.get(spelled(name, given) or "") if name else given

    return tuple(
        RejectedProposal(
            where=_shorten(each.where),
            reason=each.reason,
            message=_shorten(each.message),
            proposed=_as_json(proposed(each)),
        )
        for each in rejections[:MOST]
    )


def _as_json(value: Any) -> str | None:
    if value is None:
        return None
    try:
        return _shorten(json.dumps(value, ensure_ascii=False))
    except RecursionError:  # nested too deeply for Python, and of no use to a reader
        return None


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
