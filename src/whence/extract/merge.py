"""What a model proposes -> what the graph takes over. Pure: the same input gives the same outcome.

Objects. A proposal with an `id` adds to the known object of that id; it must be one of the known, and keeps its type
and its name. A proposal without one is a new object and must be all that the schema asks for, unless an object of its
type and name is known: then it adds to that one. Values that the object has already are echoes and change nothing;
another value for a property is an update, and the older claim stays where it was recorded.

Support. Where a proposal says of a known object what is known already, name included, and the primary chunk has the
words, the chunk is a second source: it changes nothing, but may outlive the first. What the chunk has no words for is an
echo of what the model was shown, and counts for nothing. Who was not shown it cannot echo it: there grounding decides.

Grounding. Whatever is taken over comes from the primary chunk. For each claim, in this order:

    1. its value occurs in the primary chunk                    accepted, with the quote
    2. its object's name occurs in the primary chunk            accepted, without a quote: a paraphrase
    3. its value occurs in a context chunk                      rejected: context_only
    4. another value of its object is accepted by rule 1        accepted, without a quote
    5. its object's name occurs in a context chunk              rejected: context_only
    6. neither occurs anywhere                                  rejected: ungrounded

A new object whose name is rejected is rejected as a whole; for the name, value and name are one. A relationship needs an
end whose name occurs in the primary chunk, or that the same reply gave something accepted.

Whatever is not taken over, echoes apart, is a rejection with its reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whence.extract.base import ChunkText, KnownObject, ObjectKey
from whence.extract.evidence import Evidence
from whence.extract.grounding import Span
from whence.extract.links import as_uuid, link, nodes
from whence.extract.names import name_key
from whence.extract.outcome import Claim, NewObject, Outcome, Ref, Rejected, Rejection, Update
from whence.extract.properties import fit_properties, missing
from whence.extract.reply import ObjectProposal, Reply
from whence.extract.schema import Schema
from whence.extract.values import same
from whence.types import MAX_NAME


def merge(
    *,
    schema: Schema,
    known: Sequence[KnownObject],
    primary: ChunkText,
    context: Sequence[str],
    reply: Reply,
    blind: bool = False,
) -> Outcome:
    """`known` are the objects in the context: an id beyond them, such as another project's, is unknown.

    `blind` where the reply was written without sight of what is known of them.
    """
    evidence = Evidence(primary.text, context)
    drafts = _Drafts(schema, known)
    for proposal in reply.objects:
        drafts.take(proposal)
    ends = [
        _addition(draft, draft.known, evidence, blind=blind)
        if draft.known
        else _creation(draft, schema, evidence)
        for draft in drafts.all()
    ]
    found = _joined(ends)
    touched = frozenset(claim.object for claim in (*found.claims, *found.support))
    there = nodes(known, found.objects, touched)
    relationships, unlinked = link(reply.relationships, there, schema=schema, evidence=evidence)
    return Outcome(
        objects=found.objects,
        updates=found.updates,
        claims=found.claims,
        support=found.support,
        relationships=relationships,
        rejections=(*_unread(reply), *drafts.rejections, *found.rejections, *unlinked),
        echoes=found.echoes,
    )


@dataclass(slots=True, kw_only=True)
class _Draft:
    """All that one reply says of one object."""

    where: str
    type: str
    name: str
    known: KnownObject | None
    given: dict[str, Any] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    """Where in the reply each was given."""
    is_named: bool = False
    """Whether the reply says its name, not just its id."""

    @property
    def ref(self) -> Ref:
        return self.known.id if self.known else ObjectKey(self.type, name_key(self.name))


class _Drafts:
    def __init__(self, schema: Schema, known: Sequence[KnownObject]) -> None:
        self._schema = schema
        self._by_id = {each.id: each for each in known}
        self._by_key = {ObjectKey(each.type, each.name_key): each for each in known}
        self._drafts: dict[Ref, _Draft] = {}
        self.rejections: list[Rejection] = []

    def all(self) -> list[_Draft]:
        return list(self._drafts.values())

    def take(self, proposal: ObjectProposal) -> None:
        try:
            draft = self._known(proposal) if proposal.id else self._named(proposal)
        except Rejected as rejected:
            self.rejections.append(rejected.at(proposal.where))
            return
        draft = self._drafts.setdefault(draft.ref, draft)
        draft.is_named |= name_key(proposal.name or "") == name_key(draft.name)
        self._add(draft, proposal)

    def _known(self, proposal: ObjectProposal) -> _Draft:
        known = self._by_id.get(as_uuid(proposal.id or ""))  # type: ignore[arg-type]
        if known is None:
            raise Rejected(
                "unknown_id", f"the context has no object with the id {(proposal.id or '')[:100]!r}"
            )
        if known.type not in self._schema.object_types:
            raise Rejected("unknown_type", f"its type {known.type!r} is not in the schema any more")
        if proposal.type and self._schema.object_type_named(proposal.type) != known.type:
            raise Rejected("type_changed", f"{known.name!r} is {known.type}, not {proposal.type[:100]!r}")
        if proposal.name and name_key(proposal.name) != known.name_key:
            message = f"the object of this id is {known.name!r}, not {proposal.name[:100]!r}; its name stays"
            self.rejections.append(
                Rejection(where=f"{proposal.where}.name", reason="name_changed", message=message)
            )
        return _Draft(where=proposal.where, type=known.type, name=known.name, known=known)

    def _named(self, proposal: ObjectProposal) -> _Draft:
        kind = self._schema.object_type_named(proposal.type) if proposal.type else None
        if kind is None:
            types = ", ".join(self._schema.object_types)
            raise Rejected(
                "unknown_type", f"{(proposal.type or '')[:100]!r} is no type; the schema has {types}"
            )
        name = " ".join((proposal.name or "").split())
        key = name_key(name)
        if not any(character.isalnum() for character in name) or max(len(name), len(key)) > MAX_NAME:
            raise Rejected(
                "bad_name", f"a name has at least one letter or digit and at most {MAX_NAME} characters"
            )
        known = self._by_key.get(ObjectKey(kind, key))
        return _Draft(where=proposal.where, type=kind, name=known.name if known else name, known=known)

    def _add(self, draft: _Draft, proposal: ObjectProposal) -> None:
        has = draft.known.properties if draft.known else {}
        kind = self._schema.object_types[draft.type]
        fitted = fit_properties(proposal.properties, kind, where=proposal.where, in_use=(*draft.given, *has))
        self.rejections += fitted.rejections
        for name, value in fitted.properties.items():
            where = f"{proposal.where}.{name}"
            if name in draft.given and not same(draft.given[name], value):
                message = f"the reply gives {name} two values; the first one counts"
                self.rejections.append(Rejection(where=where, reason="contradiction", message=message))
                continue
            draft.given.setdefault(name, value)
            draft.places.setdefault(name, where)


def _creation(draft: _Draft, schema: Schema, evidence: Evidence) -> Outcome:
    grounds = _Grounds(draft.name, draft.given, evidence)
    try:
        grounds.check(draft.name)
    except Rejected as rejected:
        return Outcome(rejections=(rejected.at(draft.where),))
    accepted, rejections = grounds.accepted(draft.places)
    lacking = missing(accepted, schema.object_types[draft.type])
    if lacking:
        incomplete = Rejected("missing_required", f"a new {draft.type} needs {', '.join(lacking)}")
        return Outcome(rejections=(*rejections, incomplete.at(draft.where)))
    new = NewObject(type=draft.type, name=draft.name, name_key=name_key(draft.name), properties=accepted)
    claims = tuple(
        Claim(object=new.ref, property=name, value=value, operation="created", span=grounds.span(name))
        for name, value in {"name": draft.name, **accepted}.items()
    )
    return Outcome(objects=(new,), claims=claims, rejections=rejections)


def _addition(draft: _Draft, known: KnownObject, evidence: Evidence, *, blind: bool) -> Outcome:
    grounds = _Grounds(known.name, draft.given, evidence)
    has = {"name": known.name, **known.properties}
    echoed = [name for name, value in draft.given.items() if name in has and same(has[name], value)]
    repeated = ["name", *echoed] if draft.is_named else echoed
    supported = [name for name in repeated if grounds.span(name) or (blind and grounds.allow(name))]
    accepted, rejections = grounds.accepted(draft.places, but=echoed)

    def claim(name: str, value: Any) -> Claim:
        return Claim(
            object=known.id, property=name, value=value, operation="updated", span=grounds.span(name)
        )

    return Outcome(
        updates=(Update(id=known.id, properties=accepted),) if accepted else (),
        claims=tuple(claim(name, value) for name, value in accepted.items()),
        support=tuple(claim(name, has[name]) for name in supported),
        rejections=rejections,
        echoes=len(set(echoed) - set(supported)),
    )


class _Grounds:
    """The six rules, for all that is said of one object."""

    def __init__(self, name: str, given: Mapping[str, Any], evidence: Evidence) -> None:
        self._name = name
        self._given = given
        self._evidence = evidence
        self._spans = {each: evidence.find(value, near=name) for each, value in given.items()}
        self._name_span = evidence.find(name)

    def span(self, name: str) -> Span | None:
        return self._name_span if name == "name" else self._spans[name]

    def allow(self, name: str) -> bool:
        try:
            self.check(self._name if name == "name" else self._given[name], self.span(name))
        except Rejected:
            return False
        return True

    def accepted(
        self, places: Mapping[str, str], *, but: Sequence[str] = ()
    ) -> tuple[dict[str, Any], tuple[Rejection, ...]]:
        accepted: dict[str, Any] = {}
        rejections: list[Rejection] = []
        for name, value in self._given.items():
            if name in but:
                continue
            try:
                self.check(value, self._spans[name])
            except Rejected as rejected:
                rejections.append(rejected.at(places[name]))
            else:
                accepted[name] = value
        return accepted, tuple(rejections)

    def check(self, value: Any, span: Span | None = None) -> None:
        """Raises Rejected for what does not come from the primary chunk."""
        if span or self._name_span:
            return
        if self._evidence.is_around(value):
            raise Rejected("context_only", "only a context chunk says so; the primary chunk does not")
        if any(self._spans.values()):
            return
        if self._evidence.is_around(self._name):
            raise Rejected("context_only", f"only a context chunk speaks of {self._name!r}")
        raise Rejected("ungrounded", f"neither this nor {self._name!r} occurs in any chunk")


def _joined(ends: Sequence[Outcome]) -> Outcome:
    return Outcome(
        objects=tuple(each for end in ends for each in end.objects),
        updates=tuple(each for end in ends for each in end.updates),
        claims=tuple(each for end in ends for each in end.claims),
        support=tuple(each for end in ends for each in end.support),
        rejections=tuple(each for end in ends for each in end.rejections),
        echoes=sum(end.echoes for end in ends),
    )


def _unread(reply: Reply) -> list[Rejection]:
    unread = [Rejection(where=each.where, reason="malformed", message=each.why) for each in reply.dropped]
    if reply.is_cut:
        message = "the reply ended in the middle; what was complete is kept"
        unread.append(Rejection(where="reply", reason="cut_off", message=message))
    return unread
