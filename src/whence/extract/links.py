"""Turns proposed relationships into relationships between known or new objects."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import UUID

from whence.chunk_findings import FoundRelationship
from whence.extract.context import KnownObject, KnownTie
from whence.extract.evidence import ChunkEvidence
from whence.extract.grounding import FoundQuote, place_of
from whence.extract.mentions import Mentions
from whence.extract.rejections import MODEL, Reason, Rejected, Rejection, unsaid
from whence.extract.reply import RelationshipProposal
from whence.extract.schema import Schema, spelled
from whence.extract.values import fit_properties, missing
from whence.models import ObjectKey
from whence.text.names import name_key

Ref: TypeAlias = UUID | ObjectKey
"""A known object by id, a new one by type and name."""

_ARTICLE = re.compile(r"\A(?:the|an?) (?=\S)")


@dataclass(frozen=True, slots=True)
class Node:
    """An object that a relationship may start from or lead to."""

    type: str
    name_key: str
    name: str
    ref: Ref
    is_touched: bool
    """Whether a value of it was accepted from the same reply."""


def link(
    proposals: Sequence[RelationshipProposal],
    nodes: Sequence[Node],
    *,
    schema: Schema,
    evidence: ChunkEvidence,
    mentions: Mentions,
) -> tuple[tuple[FoundRelationship, ...], tuple[Rejection, ...]]:
    """The relationships, one per type and pair of ends, and the rejections."""
    ends = _Ends(nodes, mentions)
    found: dict[tuple[str, Ref, Ref], FoundRelationship] = {}
    rejections: list[Rejection] = []
    for proposal in proposals:
        try:
            relationship, refused = _relationship(proposal, ends, schema, evidence, mentions)
        except Rejected as rejected:
            rejections.append(rejected.at(proposal.where))
            continue
        found.setdefault((relationship.type, relationship.source, relationship.target), relationship)
        rejections += refused
    return tuple(found.values()), tuple(rejections)


def _relationship(
    proposal: RelationshipProposal, ends: "_Ends", schema: Schema, evidence: ChunkEvidence, mentions: Mentions
) -> tuple[FoundRelationship, list[Rejection]]:
    name = spelled(proposal.type, schema.relationship_types)
    if name is None:
        known = ", ".join(schema.relationship_types) or "no type of relationship"
        raise Rejected(
            "unknown_type", f"{proposal.type[:100]!r} is no type of relationship; the schema has {known}"
        )
    kind = schema.relationship_types[name]
    source = ends.find(proposal.source, kind.sources or tuple(schema.object_types))
    target = ends.find(proposal.target, kind.targets or tuple(schema.object_types))
    if source.ref == target.ref:
        raise Rejected("self_relationship", f"{source.name!r} would be related to itself")
    span = _find_evidence(source, target, evidence, mentions)
    given, rejections = fit_properties(proposal.properties, kind, where=proposal.where)
    properties: dict[str, Any] = {}
    for each, value in given.items():
        wanted = kind.properties.get(each)
        who = evidence.leak(value, of=source.name, wanted=wanted)
        if who is None and not evidence.is_grounded(value, of=source.name, wanted=wanted):
            who = MODEL  # a property of a relationship cannot be marked
        if who is None:
            properties[each] = value
        else:
            rejections.append(unsaid(who).at(f"{proposal.where}.{each}"))
    lacking = missing(properties, kind)
    if lacking:
        raise Rejected("missing_required", f"it lacks {', '.join(lacking)}")
    relationship = FoundRelationship(
        type=name,
        source=source.ref,
        target=target.ref,
        properties=properties,
        is_grounded=span is not None,
        **place_of(span),
    )
    return relationship, rejections


def confirm_ties(
    ties: Sequence[KnownTie],
    known: Sequence[KnownObject],
    types: Collection[str],
    evidence: ChunkEvidence,
    mentions: Mentions,
) -> list[FoundRelationship]:
    """The known relationships of these types whose quote the primary chunk repeats, even if the reply does not mention them."""
    found: dict[tuple[str, Ref, Ref], FoundRelationship] = {}
    by_id = {each.id: each for each in known}
    for tie in ties:
        ends = by_id.get(tie.source_id), by_id.get(tie.target_id)
        one, other = (each and mentions.find(each.type, each.name) for each in ends)
        span = evidence.repeats(tie.quote, one, other) if one and other and tie.type in types else None
        if span is not None:
            found[tie.type, tie.source_id, tie.target_id] = FoundRelationship(
                type=tie.type,
                source=tie.source_id,
                target=tie.target_id,
                is_confirmed=True,
                **place_of(span),
            )
    return list(found.values())


def mention_of(kind: str, name: str, evidence: ChunkEvidence, mentions: Mentions) -> FoundQuote | None:
    """The object's name in the primary chunk, or the alias or reference used instead."""
    return mentions.find(kind, name) or evidence.mention(name)


def _find_evidence(
    source: Node, target: Node, evidence: ChunkEvidence, mentions: Mentions
) -> FoundQuote | None:
    """The passage that states both ends. Raises `Rejected` if there is none. In a lenient project, returns None if the chunk
    mentions one end, or the context mentions neither.
    """
    one, other = (mention_of(end.type, end.name, evidence, mentions) for end in (source, target))
    if one and other:
        return evidence.between(one, other)
    lacking = source if one is None else target
    is_around = "context" in {evidence.of_name(end.name) for end in (source, target)}
    if evidence.is_lenient and (one or other or not is_around):
        return None
    reason: Reason = "context_only" if is_around else "ungrounded"
    raise Rejected(reason, f"the primary chunk does not mention {lacking.name!r}")


class _Ends:
    def __init__(self, nodes: Sequence[Node], mentions: Mentions) -> None:
        self._nodes = nodes
        self._mentions = mentions
        self._by_id = {node.ref: node for node in nodes if isinstance(node.ref, UUID)}
        self._by_name: dict[str, list[Node]] = {}
        self._by_bare_name: dict[str, list[Node]] = {}
        for node in nodes:
            self._by_name.setdefault(node.name_key, []).append(node)
            self._by_bare_name.setdefault(_bare(node.name_key), []).append(node)

    def find(self, said: str, allowed: Sequence[str]) -> Node:
        """The object with this id or name. Of several, the one of an allowed type; then the one that the reply added to."""
        as_id = as_uuid(said)
        key = name_key(said)
        candidates = (
            [self._by_id[as_id]]
            if as_id in self._by_id
            else self._by_name.get(key) or self._by_bare_name.get(_bare(key)) or self._called(_bare(key))
        )
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

    def _called(self, key: str) -> list[Node]:
        return [node for node in self._nodes if self._mentions.is_called(node.type, node.name, key)]


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
