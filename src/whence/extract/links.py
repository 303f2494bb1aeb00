"""Turns proposed relationships into relationships between known or new objects."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from whence.extract.contracts import KnownObject
from whence.extract.evidence import Evidence
from whence.extract.outcome import NewObject, NewRelationship, Ref, Rejected, Rejection, context_only
from whence.extract.properties import fit_properties, missing
from whence.extract.reply import RelationshipProposal
from whence.extract.schema import RelationshipType, Schema
from whence.text.names import name_key

_ARTICLE = re.compile(r"\A(?:the|an?) (?=\S)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """An object that a relationship may start from or lead to."""

    ref: Ref
    type: str
    name: str
    name_key: str
    is_touched: bool
    """Whether the reply added something to it that was accepted."""


def nodes(known: Iterable[KnownObject], new: Iterable[NewObject], touched: frozenset[Ref]) -> list[Node]:
    return [
        *(Node(ref=o.ref, type=o.type, name=o.name, name_key=o.name_key, is_touched=True) for o in new),
        *(
            Node(ref=o.id, type=o.type, name=o.name, name_key=o.name_key, is_touched=o.id in touched)
            for o in known
        ),
    ]


def link(
    proposals: Sequence[RelationshipProposal], there: Sequence[Node], *, schema: Schema, evidence: Evidence
) -> tuple[tuple[NewRelationship, ...], tuple[Rejection, ...]]:
    """The relationships, one for each type and pair of ends, and the rejections."""
    ends = _Ends(there)
    found: dict[tuple[str, Ref, Ref], NewRelationship] = {}
    rejections: list[Rejection] = []
    for proposal in proposals:
        try:
            relationship, refused = _relationship(proposal, ends, schema, evidence)
        except Rejected as rejected:
            rejections.append(rejected.at(proposal.where))
            continue
        found.setdefault((relationship.type, relationship.source, relationship.target), relationship)
        rejections += refused
    return tuple(found.values()), tuple(rejections)


def _relationship(
    proposal: RelationshipProposal, ends: "_Ends", schema: Schema, evidence: Evidence
) -> tuple[NewRelationship, tuple[Rejection, ...]]:
    name = schema.relationship_type_named(proposal.type)
    if name is None:
        known = ", ".join(schema.relationship_types) or "no type of relationship"
        raise Rejected(
            "unknown_type", f"{proposal.type[:100]!r} is no type of relationship; the schema has {known}"
        )
    kind = schema.relationship_types[name]
    source = ends.find(
        proposal.source, [type_ for type_ in schema.object_types if kind.may_start_from(type_)]
    )
    target = ends.find(proposal.target, [type_ for type_ in schema.object_types if kind.may_lead_to(type_)])
    if source.ref == target.ref:
        raise Rejected("self_relationship", f"{source.name!r} would be related to itself")
    _require_evidence(source, target, evidence)
    fitted = fit_properties(proposal.properties, kind, where=proposal.where)
    properties, leaked = _grounded(fitted.properties, kind, evidence, where=proposal.where)
    _require_all(properties, kind)
    relationship = NewRelationship(
        type=name,
        source=source.ref,
        target=target.ref,
        properties=properties,
        span=evidence.between(source.name, target.name),
    )
    return relationship, (*fitted.rejections, *leaked)


def _require_evidence(source: Node, target: Node, evidence: Evidence) -> None:
    if source.is_touched or target.is_touched:
        return
    said = {evidence.of_name(end.name) for end in (source, target)}
    if "primary" not in said and "context" in said:
        raise Rejected("context_only", "the primary chunk speaks of neither end")


def _grounded(
    properties: Mapping[str, Any], kind: RelationshipType, evidence: Evidence, *, where: str
) -> tuple[dict[str, Any], tuple[Rejection, ...]]:
    """The properties without those that leak from the context, and a rejection for each of these."""
    kept: dict[str, Any] = {}
    refused: list[Rejection] = []
    for name, value in properties.items():
        who = evidence.leak(value, wanted=kind.properties.get(name))
        if who is None:
            kept[name] = value
        else:
            refused.append(context_only(who).at(f"{where}.{name}"))
    return kept, tuple(refused)


def _require_all(properties: Mapping[str, object], kind: RelationshipType) -> None:
    lacking = missing(properties, kind)
    if lacking:
        raise Rejected("missing_required", f"it lacks {', '.join(lacking)}")


class _Ends:
    def __init__(self, there: Sequence[Node]) -> None:
        self._by_id = {node.ref: node for node in there if isinstance(node.ref, UUID)}
        self._by_name: dict[str, list[Node]] = {}
        for node in there:
            self._by_name.setdefault(node.name_key, []).append(node)

    def find(self, said: str, allowed: Sequence[str]) -> Node:
        """The object with this id or name. Of several, the one of an allowed type; then the one that the reply added to."""
        as_id = as_uuid(said)
        candidates = [self._by_id[as_id]] if as_id in self._by_id else self._named(said)
        if not candidates:
            raise Rejected("unknown_end", f"neither the reply nor the context has an object {said[:100]!r}")
        fitting = [node for node in candidates if node.type in allowed]
        if not fitting:
            types = ", ".join(node.type for node in candidates)
            raise Rejected("wrong_end", f"{said[:100]!r} is {types}; allowed here: {', '.join(allowed)}")
        chosen = [node for node in fitting if node.is_touched] or fitting
        if len(chosen) > 1:
            types = ", ".join(node.type for node in chosen)
            raise Rejected("ambiguous_end", f"{said[:100]!r} may be any of {types}; an id would tell")
        return chosen[0]

    def _named(self, said: str) -> list[Node]:
        key = name_key(said)
        return self._by_name.get(key) or self._by_bare_name.get(_bare(key), [])

    @cached_property
    def _by_bare_name(self) -> dict[str, list[Node]]:
        bare: dict[str, list[Node]] = {}
        for key, found in self._by_name.items():
            bare.setdefault(_bare(key), []).extend(found)
        return bare


def _bare(key: str) -> str:
    """The name without a leading article."""
    return _ARTICLE.sub("", key)


def as_uuid(text: str) -> UUID | None:
    """Reads canonical UUIDs only; Python accepts other notations, too."""
    try:
        found = UUID(text)
    except ValueError:
        return None
    return found if str(found) == text.lower() else None
