"""Replies of a model, merged into what is known of OAuth and what it needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from whence.chunk_findings import FoundObject, FoundRelationship, FoundValue
from whence.extract.context import ChunkText, KnownObject
from whence.extract.grounding import FoundQuote
from whence.extract.links import Ref
from whence.extract.merge import Outcome, merge
from whence.extract.rejections import Rejection
from whence.extract.reply import proposals
from whence.extract.schema import Schema
from whence.extract.schema_reading import read_schema
from whence.extract.values import is_among, same
from whence.text.names import name_key

SCHEMA = read_schema(
    {
        "object_types": {
            "Requirement": {
                "properties": {
                    "description": {"type": "string"},
                    "priority": {"enum": ["low", "high"]},
                    "effort": {"type": "integer"},
                }
            },
            "Component": {"properties": {"version": {"required": True}}, "additional_properties": False},
            "Team": {},
        },
        "relationship_types": {
            "depends_on": {"from": ["Requirement"], "to": ["Component"]},
            "concerns": {"properties": {"since": {"format": "date"}}},
            "owned_by": {"properties": {"share": {"type": "number", "required": True}}},
        },
    }
)
OAUTH = UUID("0190e1d0-0000-7000-8000-000000000001")
ZITADEL = UUID("0190e1d0-0000-7000-8000-000000000002")
CHUNK = UUID("0190e1d0-0000-7000-8000-00000000000c")


def known(id_: UUID, type_: str, name: str, **properties: Any) -> KnownObject:
    return KnownObject(id=id_, type=type_, name=name, name_key=name_key(name), properties=properties)


KNOWN = (
    known(OAUTH, "Requirement", "OAuth 2.0", description="Must support OAuth"),
    known(ZITADEL, "Component", "Zitadel IdP", version="2.x"),
)


@dataclass(frozen=True, kw_only=True)
class New:
    """A new object."""

    type: str
    name: str
    ref: Ref
    properties: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Update:
    """Other values of a known object."""

    id: UUID
    properties: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Claim:
    object: Ref
    property: str
    value: Any
    span: FoundQuote | None
    is_grounded: bool = True


@dataclass(frozen=True, kw_only=True)
class Link:
    type: str
    source: Ref
    target: Ref
    properties: Mapping[str, Any]
    span: FoundQuote | None


@dataclass(frozen=True, kw_only=True)
class Merged:
    """An outcome, sorted by what it does to the graph."""

    objects: tuple[New, ...] = ()
    updates: tuple[Update, ...] = ()
    claims: tuple[Claim, ...] = ()
    """Of all that is new or changed."""
    support: tuple[Claim, ...] = ()
    """Of names and values that were known before."""
    relationships: tuple[Link, ...] = ()
    rejections: tuple[Rejection, ...] = ()

    @classmethod
    def of(cls, outcome: Outcome, there: Sequence[KnownObject]) -> "Merged":
        before = {each.id: {"name": each.name, **each.properties} for each in there}
        claims = [_claims(each) for each in outcome.objects]
        fresh = [
            [one for one in some if one.object not in before or not _is_known(one, before[one.object])]  # type: ignore[index]
            for some in claims
        ]
        changed = [{one.property: one.value for one in some if one.property != "name"} for some in fresh]
        found = list(zip(outcome.objects, changed, strict=True))
        _require_confirmed(outcome, before)
        return cls(
            objects=tuple(
                New(type=each.key[0], name=each.name or "", ref=each.key, properties=values)
                for each, values in found
                if each.key
            ),
            updates=tuple(
                Update(id=each.id, properties=values) for each, values in found if each.id and values
            ),
            claims=tuple(one for some in fresh for one in some),
            support=tuple(one for some in claims for one in some if all(one not in each for each in fresh)),
            relationships=tuple(
                Link(
                    type=each.type,
                    source=each.source,
                    target=each.target,
                    properties=each.properties,
                    span=span_of(each),
                )
                for each in outcome.relationships
            ),
            rejections=outcome.rejections,
        )


def _claims(each: FoundObject) -> list[Claim]:
    assert each.ref is not None
    return [
        Claim(
            object=each.ref,
            property=name,
            value=found.value,
            span=span_of(found),
            is_grounded=found.is_grounded,
        )
        for name, found in each.properties.items()
    ]


def _require_confirmed(outcome: Outcome, before: Mapping[Any, Mapping[str, Any]]) -> None:
    """A claim is a confirmation where it repeats what was known, and has a quote then."""
    for each in outcome.objects:
        for name, found in each.properties.items():
            known = before.get(each.ref, {})
            assert found.is_confirmed == (name in known and _has(known[name], found.value))
            assert found.quote or not found.is_confirmed


def _is_known(claim: Claim, before: Mapping[str, Any]) -> bool:
    return claim.property in before and _has(before[claim.property], claim.value)


def _has(known: Any, value: Any) -> bool:
    """Whether it is the known value; of a list, some of its elements."""
    if isinstance(known, list) and isinstance(value, list):
        return all(is_among(item, known) for item in value)
    return same(known, value)


def span_of(found: FoundValue | FoundRelationship) -> FoundQuote | None:
    if found.quote is None or found.start_offset is None or found.end_offset is None:
        return None
    return FoundQuote(quote=found.quote, start=found.start_offset, end=found.end_offset)


def merged(
    text: str,
    *objects: dict[str, Any],
    links: Sequence[dict[str, Any]] = (),
    there: Sequence[KnownObject] = KNOWN,
    context: Sequence[str] = (),
    schema: Schema = SCHEMA,
    blind: bool = False,
    lenient: bool = False,
    shown: Sequence[KnownObject] | None = None,
) -> Merged:
    reply = proposals({"objects": list(objects), "relationships": list(links)})
    primary = ChunkText(id=CHUNK, text=text)
    outcome = merge(
        schema=schema,
        known=there,
        shown=shown,
        primary=primary,
        context=context,
        reply=reply,
        blind=blind,
        lenient=lenient,
    )
    return Merged.of(outcome, there)


def reasons(outcome: Merged) -> list[tuple[str, str]]:
    return [(each.where, each.reason) for each in outcome.rejections]


def changes(outcome: Merged) -> tuple[object, ...]:
    return (*outcome.objects, *outcome.updates, *outcome.claims)
