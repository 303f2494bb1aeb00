"""Converts the outcome of a merge to the store's types. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from whence.extract.contracts import KnownObject
from whence.extract.grounding import Span
from whence.extract.outcome import NewClaim, NewRelationship, Outcome, Ref
from whence.models import FoundObject, FoundRelationship, FoundValue

MAX_TEXT = 2_000
"""Maximum length of an object's text for embedding, in characters."""


def texts_of(outcome: Outcome, known: Sequence[KnownObject]) -> dict[Ref, str]:
    """The text to embed for each new or updated object."""
    by_id = {each.id: each for each in known}
    texts: dict[Ref, str] = {new.ref: text_of(new.type, new.name, new.properties) for new in outcome.objects}
    for update in outcome.updates:
        each = by_id[update.id]
        texts[update.id] = text_of(each.type, each.name, {**each.properties, **update.properties})
    return texts


def text_of(kind: str, name: str, properties: Mapping[str, Any]) -> str:
    """A short text of an object for embedding. Every word adds to the waiting time.

    Texts need no label; numbers and booleans mean nothing without the name of their property.
    """
    said = [
        value if isinstance(value, str) else f"{key}: {value}" for key, value in sorted(properties.items())
    ]
    return "\n".join([f"{name} {kind}", *said])[:MAX_TEXT]


def found_objects(outcome: Outcome) -> list[FoundObject]:
    """One for each object with claims or support, in order of mention."""
    claims: dict[Ref, dict[str, FoundValue]] = {}
    for claim in (*outcome.claims, *outcome.support):
        claims.setdefault(claim.object, {})[claim.property] = _found(claim)
    names = {new.ref: new.name for new in outcome.objects}
    return [
        FoundObject(
            id=ref if isinstance(ref, UUID) else None,
            key=None if isinstance(ref, UUID) else ref,
            name=names.get(ref) if not isinstance(ref, UUID) else None,
            properties=properties,
        )
        for ref, properties in claims.items()
    ]


def found_relationships(outcome: Outcome) -> list[FoundRelationship]:
    return [_relationship(each) for each in outcome.relationships]


def _found(claim: NewClaim) -> FoundValue:
    return FoundValue(value=claim.value, **_place(claim.span))


def _relationship(each: NewRelationship) -> FoundRelationship:
    return FoundRelationship(
        type=each.type,
        source=each.source,
        target=each.target,
        properties=each.properties,
        **_place(each.span),
    )


def _place(span: Span | None) -> dict[str, Any]:
    if span is None:
        return {}
    return {"quote": span.quote, "start_offset": span.start, "end_offset": span.end}
