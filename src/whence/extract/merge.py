"""Turns a model's proposals into changes to the graph. Pure: the same input gives the same outcome.

Objects. A proposal with an `id` adds to the known object with that id. An unknown id is rejected; type and name cannot change. A
proposal without an `id` creates an object and must satisfy the whole schema. If an object of its type and name is known, it adds
to that one instead. A value that the object already has is an echo and changes nothing. A different value is an update; the older
claim stays recorded.

Support. A proposal without an `id` may repeat the name or values of a known object. If the primary chunk has the words, the chunk
becomes a second source: it changes nothing now, but may outlive the first. A repetition with an `id`, or without words in the
chunk, only echoes the prompt and does not count. A blind extractor has not seen the values and cannot echo them, so there
grounding decides.

Grounding. Every accepted value comes from the primary chunk. A value is found in the primary chunk, only in a context chunk, or
nowhere, as in a paraphrase. The same holds for the name of its object:

    the value               its object's name     then
    in the primary chunk    anywhere              accepted, with the quote
    nowhere                 anywhere              accepted, without a quote, if the reply has the object's id
    nowhere                 only in the context   rejected without an id: context_only, unless the primary chunk has another
                                                  value of the object
    nowhere                 elsewhere             accepted, without a quote
    only in the context
      a specific one        anywhere              rejected: context_only
      a common word         only in the context   rejected: context_only
      a common word         elsewhere             accepted, without a quote: the context has the word by chance

Each item of a list and each property of a relationship is judged on its own. A value that is an object is rejected for any of its
fields. `specificity` decides which values are specific. A choice of the schema (`enum`, `const`) never counts as found in the
context.

A new object with its name only in the context is rejected, unless the primary chunk has one of its values. A new object with its
name nowhere is rejected if the context has a specific value of it and the primary chunk has none. A relationship needs one end
that the primary chunk mentions or that got something accepted from the same reply, or two ends that no context chunk mentions.

Other known objects in the prompt are context, too. A specific value that only they have is rejected, unless it is a choice of the
schema. A new object is rejected if the primary chunk has nothing of it and its name, or a specific value, comes from known objects.
The name of a known object is a reference to it, not a copied value.

Everything that is not accepted, except echoes, becomes a rejection with its reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from whence.extract.contracts import ChunkText, KnownObject, ObjectKey
from whence.extract.evidence import Evidence, Where
from whence.extract.grounding import Span
from whence.extract.links import as_uuid, link, nodes
from whence.extract.outcome import (
    NewClaim,
    NewObject,
    Outcome,
    Ref,
    Rejected,
    Rejection,
    Update,
    context_only,
)
from whence.extract.properties import fit_properties, missing
from whence.extract.reply import ExtractionReply, ObjectProposal
from whence.extract.schema import ObjectType, Property, Schema
from whence.extract.values import WrongValue, fitted, same
from whence.models import MAX_NAME
from whence.text.names import name_key


def merge(
    *,
    schema: Schema,
    known: Sequence[KnownObject],
    primary: ChunkText,
    context: Sequence[str],
    reply: ExtractionReply,
    shown: Sequence[KnownObject] | None = None,
    blind: bool = False,
) -> Outcome:
    """`known` are the objects in the context. Any other id, such as one of another project, is unknown.

    `shown` are the known objects that fitted into the prompt, by default all. `blind`: the extractor did not see their values.
    """
    seen = () if blind else known if shown is None else shown
    evidence = Evidence(primary.text, context, seen)
    drafts = _Drafts(schema, known)
    for proposal in reply.objects:
        drafts.take(proposal)
    ends = [
        _addition(draft, draft.known, schema.object_types[draft.type], evidence, blind=blind)
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
    """Everything that a reply says about one object."""

    type: str
    name: str
    known: KnownObject | None
    wheres: list[str] = field(default_factory=list)
    """The places of its proposals in the reply."""
    given: dict[str, Any] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    """The place of each property in the reply."""
    is_named: bool = False
    """The reply gives its name, not only its id."""
    is_shown: bool = True
    """Every proposal for it has its id, so the model has seen its values."""

    @property
    def ref(self) -> Ref:
        return self.known.id if self.known else ObjectKey(self.type, name_key(self.name))

    def rejected(self, why: Rejected) -> tuple[Rejection, ...]:
        """Rejects every proposal for the object."""
        return tuple(why.at(where) for where in self.wheres)


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
        draft.wheres.append(proposal.where)
        draft.is_named |= name_key(proposal.name or "") == name_key(draft.name)
        draft.is_shown &= proposal.id is not None
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
        return _Draft(type=known.type, name=known.name, known=known)

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
        return _Draft(type=kind, name=known.name if known else name, known=known)

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
    grounds = _Grounds(draft.name, draft.given, evidence, schema.object_types[draft.type])
    try:
        grounds.check_new()
    except Rejected as rejected:
        return Outcome(rejections=draft.rejected(rejected))
    accepted, rejections = grounds.accepted(draft.places)
    lacking = missing(accepted, schema.object_types[draft.type])
    if lacking:
        incomplete = Rejected("missing_required", f"a new {draft.type} needs {', '.join(lacking)}")
        return Outcome(rejections=(*rejections, *draft.rejected(incomplete)))
    new = NewObject(type=draft.type, name=draft.name, name_key=name_key(draft.name), properties=accepted)
    claims = tuple(
        NewClaim(object=new.ref, property=name, value=value, operation="created", span=grounds.span(name))
        for name, value in {"name": draft.name, **accepted}.items()
    )
    return Outcome(objects=(new,), claims=claims, rejections=rejections)


def _addition(
    draft: _Draft, known: KnownObject, kind: ObjectType, evidence: Evidence, *, blind: bool
) -> Outcome:
    has = {"name": known.name, **known.properties}
    grounds = _Grounds(known.name, draft.given, evidence, kind, own=known, is_shown=draft.is_shown)
    echoed = [name for name, value in grounds.given.items() if name in has and same(has[name], value)]
    repeated = ["name", *echoed] if draft.is_named else echoed
    if draft.is_shown and not blind:
        repeated = []
    supported = [name for name in repeated if grounds.span(name) or (blind and grounds.allow(name))]
    accepted, rejections = grounds.accepted(draft.places, but=echoed)

    def claim(name: str, value: Any) -> NewClaim:
        return NewClaim(
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
    """Finds the name and values of one object in the chunks, and decides which values to accept."""

    def __init__(
        self,
        name: str,
        given: Mapping[str, Any],
        evidence: Evidence,
        kind: ObjectType,
        *,
        own: KnownObject | None = None,
        is_shown: bool = False,
    ) -> None:
        self._name = name
        self._kind = kind
        self._own = own
        self.given: dict[str, Any] = {}
        """The given values. Lists lack items that only the context has."""
        self._leaked: dict[str, Mapping[str, Sequence[Any]]] = {}
        for each, value in given.items():
            self.given[each], self._leaked[each] = _sifted(
                value, kind.properties.get(each), evidence, own=own, before=self._before(each)
            )
        self._evidence = evidence
        self._is_shown = is_shown
        self._spans = {each: evidence.find(value, near=name) for each, value in self.given.items()}
        self._name_span = evidence.find(name)

    def _before(self, name: str) -> Any:
        return self._own.properties.get(name) if self._own else None

    def span(self, name: str) -> Span | None:
        return self._name_span if name == "name" else self._spans[name]

    @cached_property
    def _of_name(self) -> Where:
        return "primary" if self._name_span else self._evidence.of_name(self._name)

    def allow(self, name: str) -> bool:
        """Whether the chunk supports a value of a blind extractor, also as a paraphrase."""
        is_spoken_of = self._of_name == "primary" or any(self._spans.values())
        return is_spoken_of and (name == "name" or self._refusal(name) is None)

    def accepted(
        self, places: Mapping[str, str], *, but: Sequence[str] = ()
    ) -> tuple[dict[str, Any], tuple[Rejection, ...]]:
        accepted: dict[str, Any] = {}
        rejections: list[Rejection] = []
        for name, value in self.given.items():
            for who, items in self._leaked[name].items():
                message = f"only {who} says {', '.join(map(repr, items))}"
                rejections.append(Rejected("context_only", message).at(places[name]))
            if name in but:
                continue
            refusal = self._refusal(name)
            if refusal is None:
                accepted[name] = value
            else:
                rejections.append(refusal.at(places[name]))
        return accepted, tuple(rejections)

    def check_new(self) -> None:
        """Raises Rejected if the object itself does not come from the primary chunk."""
        if self._of_name == "context" and not any(map(self._evidence.speaks, self.given.values())):
            raise Rejected("context_only", f"only a context chunk speaks of {self._name!r}")
        if self._of_name == "primary" or any(self._spans.values()):
            return
        for name, value in self.given.items():
            who = self._evidence.leak(value, wanted=self._kind.properties.get(name))
            if who is not None:
                raise Rejected("context_only", f"only {who} says what is said of it")
        who = self._evidence.leaked_name(self._name)
        if who is not None:
            raise Rejected("context_only", f"only {who} speaks of {self._name!r}")

    def _refusal(self, name: str) -> Rejected | None:
        value = self.given[name]
        is_scalar = not isinstance(value, list | Mapping)
        if is_scalar and self._spans[name]:
            return None
        who = self._evidence.leak(
            value,
            before=None if is_scalar else self._before(name),
            own=self._own,
            wanted=self._kind.properties.get(name),
        )
        if who is not None:
            return context_only(who)
        if self._spans[name]:
            return None
        is_paraphrase = not self._evidence.is_around(value, self._kind.properties.get(name))
        if is_paraphrase and (self._is_shown or any(self._spans.values())):
            return None
        if self._of_name == "context":
            return Rejected("context_only", f"only a context chunk speaks of {self._name!r}")
        return None


def _sifted(
    value: Any, wanted: Property | None, evidence: Evidence, *, own: KnownObject | None, before: Any
) -> tuple[Any, Mapping[str, Sequence[Any]]]:
    """The value without leaked items, and those items. Removes none if the rest would violate the schema."""
    if not isinstance(value, list) or (before is not None and same(before, value)):
        return value, {}
    kept, leaked = evidence.sift(value, before=before, own=own, wanted=wanted)
    try:
        return fitted(kept, wanted), leaked
    except WrongValue:
        return value, {}


def _joined(ends: Sequence[Outcome]) -> Outcome:
    return Outcome(
        objects=tuple(each for end in ends for each in end.objects),
        updates=tuple(each for end in ends for each in end.updates),
        claims=tuple(each for end in ends for each in end.claims),
        support=tuple(each for end in ends for each in end.support),
        rejections=tuple(each for end in ends for each in end.rejections),
        echoes=sum(end.echoes for end in ends),
    )


def _unread(reply: ExtractionReply) -> list[Rejection]:
    unread = [
        Rejection(where=each.where, reason="malformed", message=each.why, count=each.count)
        for each in reply.dropped
    ]
    if reply.is_cut:
        message = "the reply ended in the middle; what was complete is kept"
        unread.append(Rejection(where="reply", reason="cut_off", message=message))
    return unread
