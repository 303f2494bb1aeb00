"""Turns a model's proposals into claims of the primary chunk. Pure: the same input gives the same outcome.

`docs/extraction.md` has the rules as tables. A proposal adds to the known object with its id, or its type and name. A value that the
object already has is an echo and changes nothing; a different value is an update, and the older claim stays recorded.

Support. A proposal without an `id` may repeat the name or values of a known object. If the primary chunk has the words, the chunk
becomes a second source: it changes nothing now, but may outlive the first. A repetition with an `id`, or without words in the
chunk, only echoes the prompt and does not count. A blind extractor has not seen the values and cannot echo them, so there
grounding decides.

Grounding. A value in the primary chunk is accepted with its quote. A value that is nowhere is a paraphrase, accepted without a
quote unless only the context has the object's name. A specific value that only the context has is rejected, as is a common word of
an object whose name only the context has. The context is the other chunks and the other known objects in the prompt; a choice of
the schema never counts as found there. Items of lists and properties of relationships are judged one by one.

Everything that is not accepted, except echoes, becomes a rejection with its reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from whence.extract.context import ChunkText, KnownObject
from whence.extract.evidence import Evidence, Where
from whence.extract.grounding import place_of
from whence.extract.links import Node, Ref, as_uuid, link
from whence.extract.mentions import Mentions
from whence.extract.rejections import Rejected, Rejection, context_only
from whence.extract.reply import ExtractionReply, ObjectProposal
from whence.extract.schema import ObjectType, Schema, spelled
from whence.extract.values import WrongValue, fit_properties, fitted, is_among, missing, same
from whence.models import (
    MAX_NAME,
    FoundAlias,
    FoundElement,
    FoundObject,
    FoundRelationship,
    FoundValue,
    ObjectKey,
)
from whence.text.aliases import TypedName, is_abbreviation
from whence.text.names import name_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    objects: tuple[FoundObject, ...] = ()
    """New objects by key, known ones by id, each with new values and with known values that this chunk states, too."""
    relationships: tuple[FoundRelationship, ...] = ()
    aliases: tuple[FoundAlias, ...] = ()
    rejections: tuple[Rejection, ...] = ()


def merge(
    *,
    schema: Schema,
    known: Sequence[KnownObject],
    primary: ChunkText,
    context: Sequence[str],
    reply: ExtractionReply,
    shown: Sequence[KnownObject] | None = None,
    blind: bool = False,
    preceding: str = "",
) -> Outcome:
    """`known` are the objects in the context. Any other id, such as one of another project, is unknown.

    `shown` are the known objects that fitted into the prompt, by default all. `blind`: the extractor did not see their values.
    `preceding` is the text of the chunk before the primary one.
    """
    evidence = Evidence(primary.text, context, () if blind else known if shown is None else shown)
    drafts = _Drafts(schema, known)
    for proposal in reply.objects:
        drafts.take(proposal)
    mentions = Mentions(
        primary.text,
        context,
        before=preceding,
        known=known,
        proposed=(TypedName(each.type, each.name) for each in drafts.all()),
        evidence=evidence,
    )
    rejections = [*reply.dropped, *drafts.rejections]
    objects: list[FoundObject] = []
    for draft in drafts.all():
        judge = _Judge(draft, schema.object_types[draft.type], evidence, mentions, blind=blind)
        try:
            found = judge.judge_new() if draft.known is None else judge.judge_known(draft.known)
            objects += [found] if found.properties else []
            rejections += judge.rejections
        except Rejected as rejected:
            rejections += [*judge.rejections, *map(rejected.at, draft.wheres)]
    touched = {each.ref for each in objects}
    nodes = [
        *(
            Node(*each.key, name=each.name or "", ref=each.key, is_touched=True)
            for each in objects
            if each.key
        ),
        *(Node(each.type, each.name_key, each.name, each.id, each.id in touched) for each in known),
    ]
    relationships, unlinked = link(
        reply.relationships, nodes, schema=schema, evidence=evidence, mentions=mentions
    )
    meant = {each.ref for each in objects} | {
        end for each in relationships for end in (each.source, each.target)
    }
    return Outcome(
        objects=tuple(objects),
        relationships=relationships,
        aliases=mentions.aliases((each.type, each.name_key) for each in nodes if each.ref in meant),
        rejections=(*rejections, *unlinked),
    )


@dataclass(slots=True, kw_only=True)
class _Draft:
    """All that the reply says of one object."""

    type: str
    name: str
    known: KnownObject | None
    wheres: list[str] = field(default_factory=list)
    """Places of its proposals in the reply."""
    given: dict[str, Any] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    """The place of each property in the reply."""
    is_named: bool = False
    """The reply gives its name, not only its id."""
    is_shown: bool = True
    """Every proposal for it has its id, so the model has seen its values."""


class _Drafts:
    def __init__(self, schema: Schema, known: Sequence[KnownObject]) -> None:
        self._schema = schema
        self._by_id = {each.id: each for each in known}
        self._by_key: dict[ObjectKey, KnownObject] = {(each.type, each.name_key): each for each in known}
        self._by_alias: dict[ObjectKey, list[KnownObject]] = {}
        for each in known:
            for alias in filter(is_abbreviation, each.aliases):
                self._by_alias.setdefault((each.type, name_key(alias)), []).append(each)
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
        ref = draft.known.id if draft.known else (draft.type, name_key(draft.name))
        draft = self._drafts.setdefault(ref, draft)
        draft.wheres.append(proposal.where)
        draft.is_named |= name_key(proposal.name or "") == name_key(draft.name)
        draft.is_shown &= proposal.id is not None
        self._add(draft, proposal)

    def _known(self, proposal: ObjectProposal) -> _Draft:
        ident = as_uuid(proposal.id or "")
        known = self._by_id.get(ident) if ident else None
        if known is None:
            raise Rejected(
                "unknown_id", f"the context has no object with the id {(proposal.id or '')[:100]!r}"
            )
        if known.type not in self._schema.object_types:
            raise Rejected("unknown_type", f"its type {known.type!r} is not in the schema any more")
        if proposal.type and spelled(proposal.type, self._schema.object_types) != known.type:
            raise Rejected("type_changed", f"{known.name!r} is {known.type}, not {proposal.type[:100]!r}")
        if proposal.name and name_key(proposal.name) != known.name_key:
            message = f"the object of this id is {known.name!r}, not {proposal.name[:100]!r}; its name stays"
            self.rejections.append(Rejected("name_changed", message).at(f"{proposal.where}.name"))
        return _Draft(type=known.type, name=known.name, known=known)

    def _named(self, proposal: ObjectProposal) -> _Draft:
        kind = spelled(proposal.type or "", self._schema.object_types)
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
        called = self._by_alias.get((kind, key), [])
        known = self._by_key.get((kind, key)) or (called[0] if len(called) == 1 else None)
        return _Draft(type=kind, name=known.name if known else name, known=known)

    def _add(self, draft: _Draft, proposal: ObjectProposal) -> None:
        has = draft.known.properties if draft.known else {}
        kind = self._schema.object_types[draft.type]
        properties, rejections = fit_properties(
            proposal.properties, kind, where=proposal.where, in_use=(*draft.given, *has)
        )
        self.rejections += rejections
        for name, value in properties.items():
            where = f"{proposal.where}.{name}"
            if name in draft.given and not same(draft.given[name], value):
                message = f"the reply gives {name} two values; the first one counts"
                self.rejections.append(Rejected("contradiction", message).at(where))
                continue
            draft.given.setdefault(name, value)
            draft.places.setdefault(name, where)


class _Judge:
    """Finds the name and values of one object in the chunks, and decides which values to accept."""

    def __init__(
        self, draft: _Draft, kind: ObjectType, evidence: Evidence, mentions: Mentions, *, blind: bool
    ) -> None:
        self._draft = draft
        self._kind = kind
        self._evidence = evidence
        self._blind = blind
        self.rejections: list[Rejection] = []
        self._leaked: dict[str, dict[str, list[Any]]] = {}
        """For each list, its items that only the context has, by origin."""
        self._given = {name: self._sift(name, value) for name, value in draft.given.items()}
        self._spans = {name: evidence.find(value, near=draft.name) for name, value in self._given.items()}
        self._spans["name"] = mentions.find(draft.type, draft.name)

    def judge_new(self) -> FoundObject:
        """Raises Rejected."""
        self._require_new()
        draft, accepted = self._draft, self._accept()
        lacking = missing(accepted, self._kind)
        if lacking:
            raise Rejected("missing_required", f"a new {draft.type} needs {', '.join(lacking)}")
        return FoundObject(
            key=(draft.type, name_key(draft.name)),
            name=draft.name,
            properties=self._found({"name": draft.name, **accepted}),
        )

    def judge_known(self, known: KnownObject) -> FoundObject:
        has = {"name": known.name, **known.properties}
        echoed = [
            name for name, value in self._given.items() if name in has and self._repeats(name, has[name])
        ]
        accepted = self._accept(but=echoed)
        supported: list[str] = []
        if self._blind or not self._draft.is_shown:
            repeated = ["name", *echoed] if self._draft.is_named else echoed
            supported = [name for name in repeated if self._spans[name] or self._allow_blind(name)]
        return FoundObject(
            id=known.id,
            properties=self._found(accepted | {name: self._repeated(has, name) for name in supported}),
        )

    def _found(self, values: Mapping[str, Any]) -> dict[str, FoundValue]:
        return {
            name: FoundValue(value=value, elements=self._elements(value), **place_of(self._spans[name]))
            for name, value in values.items()
        }

    def _elements(self, value: Any) -> tuple[FoundElement, ...]:
        """The place of each element of a list."""
        if not isinstance(value, list):
            return ()
        found = ((item, self._evidence.find(item, near=self._draft.name)) for item in value)
        return tuple(FoundElement(value=item, **place_of(span)) for item, span in found)

    def _repeats(self, name: str, has: Any) -> bool:
        """Whether the object has the value, or all elements of a list that accumulates."""
        value = self._given[name]
        if isinstance(value, list) and self._accumulates(name):
            return all(is_among(item, has) for item in value)
        return same(has, value)

    def _accumulates(self, name: str) -> bool:
        wanted = self._kind.properties.get(name)
        return wanted is None or wanted.merge == "accumulate"

    def _repeated(self, has: Mapping[str, Any], name: str) -> Any:
        """The known value; of a list only the elements that the reply repeats."""
        return self._given[name] if isinstance(has[name], list) else has[name]

    @property
    def _has_span(self) -> bool:
        """Whether the primary chunk has a value of the object."""
        return any(self._spans[name] for name in self._given)

    @cached_property
    def _of_name(self) -> Where:
        return "primary" if self._spans["name"] else self._evidence.of_name(self._draft.name)

    def _allow_blind(self, name: str) -> bool:
        """Whether the chunk supports a value of a blind extractor as a paraphrase."""
        is_spoken_of = self._of_name == "primary" or self._has_span
        return self._blind and is_spoken_of and (name == "name" or self._refusal(name) is None)

    def _accept(self, *, but: Sequence[str] = ()) -> dict[str, Any]:
        accepted: dict[str, Any] = {}
        for name, value in self._given.items():
            for who, items in self._leaked.get(name, {}).items():
                self._reject(name, Rejected("context_only", f"only {who} says {', '.join(map(repr, items))}"))
            if name in but:
                continue
            refusal = self._refusal(name)
            if refusal is None:
                accepted[name] = value
            else:
                self._reject(name, refusal)
        return accepted

    def _reject(self, name: str, why: Rejected) -> None:
        self.rejections.append(why.at(self._draft.places[name]))

    def _require_new(self) -> None:
        """Raises Rejected if the object itself does not come from the primary chunk."""
        evidence, name = self._evidence, self._draft.name
        if self._of_name == "context" and not any(map(evidence.speaks, self._given.values())):
            raise Rejected("context_only", f"only a context chunk speaks of {name!r}")
        if self._of_name == "primary" or self._has_span:
            return
        for each, value in self._given.items():
            who = evidence.leak(value, wanted=self._kind.properties.get(each))
            if who is not None:
                raise Rejected("context_only", f"only {who} says what is said of it")
        who = evidence.leaked_name(name)
        if who is not None:
            raise Rejected("context_only", f"only {who} speaks of {name!r}")

    def _refusal(self, name: str) -> Rejected | None:
        value, span, wanted = self._given[name], self._spans[name], self._kind.properties.get(name)
        is_scalar = not isinstance(value, list | Mapping)
        if is_scalar and span:
            return None
        before = None if is_scalar else self._before(name)
        who = self._evidence.leak(value, before=before, own=self._draft.known, wanted=wanted)
        if who is not None:
            return context_only(who)
        if span or self._of_name != "context":
            return None
        is_paraphrase = not self._evidence.is_around(value, wanted)
        if is_paraphrase and (self._has_span or (self._draft.known and self._draft.is_shown)):
            return None
        return Rejected("context_only", f"only a context chunk speaks of {self._draft.name!r}")

    def _before(self, name: str) -> Any:
        return self._draft.known.properties.get(name) if self._draft.known else None

    def _sift(self, name: str, value: Any) -> Any:
        """A list without its leaked items, unless all leak or the rest would violate the schema.

        A list that accumulates also loses known elements that the chunk does not have: they are claims of other chunks.
        """
        before, wanted = self._before(name), self._kind.properties.get(name)
        if not isinstance(value, list) or (before is not None and same(before, value)):
            return value
        if self._accumulates(name):
            new = [item for item in value if not is_among(item, before) or self._evidence.find(item)]
            value = new or value
        leaked: dict[str, list[Any]] = {}
        kept: list[Any] = []
        for item in value:
            who = self._evidence.leak(
                item, before=before, own=self._draft.known, wanted=wanted.items if wanted else None
            )
            (leaked.setdefault(who, []) if who else kept).append(item)
        try:
            result = fitted(kept, wanted) if kept else value
        except WrongValue:
            return value
        self._leaked[name] = leaked if kept else {}
        return result
