"""Turns a model's proposals into claims of the primary chunk. Pure: the same input gives the same outcome.

`docs/extraction.md` has the rules as tables. A proposal adds to the known object with its id, or its type and name. A value that the
object already has is an echo and changes nothing; a different value is an update, and the older claim stays recorded.

Grounding. A value in the primary chunk is accepted with its quote, a description that paraphrases one of its sentences with that
sentence. A specific value (a digit, a name, three words) that the chunk does not have is rejected: `context_only` if the context has
it, else `ungrounded`; a lenient project keeps the latter and marks it. The same holds for the name of a new object. A common word,
a boolean or a choice of the schema may be an interpretation: it is accepted without a quote, unless only the context has the
object's name. The context is the other chunks and the other known objects in the prompt. Items of lists and properties of
relationships are judged one by one.

Confirmation. Without anybody's word, the chunk becomes a further source of a known object that it names, and of a known value that
it states: a specific one if it also names the object, or one of three content words. A proposal without an `id` may also confirm a
common word that the chunk has. A confirmation repeats the known value and changes nothing now, but may outlive the first source.

Reading again. What the chunk claimed before, and its text still has, counts as read again. What it does not have is withdrawn if the
model was shown the object and does not repeat it.

Everything that is not accepted, except echoes, becomes a rejection with its reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from whence.extract.context import ChunkText, EarlierClaim, KnownObject
from whence.extract.evidence import Evidence, Where
from whence.extract.grounding import Span, place_of
from whence.extract.links import Node, Ref, as_uuid, link
from whence.extract.mentions import Mentions
from whence.extract.rejections import Rejected, Rejection, unsaid
from whence.extract.reply import ExtractionReply, ObjectProposal
from whence.extract.schema import ObjectType, Schema, spelled
from whence.extract.values import WrongValue, accumulate, fit_properties, fitted, is_among, missing, same
from whence.models import (
    MAX_NAME,
    ClaimKey,
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
    withdrawn: tuple[ClaimKey, ...] = ()
    """Earlier claims of the chunk that do not hold."""
    rejections: tuple[Rejection, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the chunk says nothing new."""
        found = (value for each in self.objects for value in each.properties.values())
        return not self.relationships and all(value.is_confirmed for value in found)


def merge(
    *,
    schema: Schema,
    known: Sequence[KnownObject],
    primary: ChunkText,
    context: Sequence[str],
    reply: ExtractionReply,
    shown: Sequence[KnownObject] | None = None,
    earlier: Sequence[EarlierClaim] = (),
    blind: bool = False,
    lenient: bool = False,
    preceding: str = "",
) -> Outcome:
    """`known` are the objects in the context. Any other id, such as one of another project, is unknown.

    `shown` are the known objects that fitted into the prompt, by default all. `earlier` are the claims of the chunk's last reading.
    `blind`: the extractor did not see the values of known objects. `lenient`: specific values that are in no text are kept.
    `preceding` is the text of the chunk before the primary one.
    """
    seen = () if blind else known if shown is None else shown
    evidence = Evidence(primary.text, context, seen, lenient=lenient)
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
    before = {each.claimed for each in earlier}
    found: dict[Ref, FoundObject] = {}
    repeated: dict[ClaimKey, Any] = {}
    for draft in drafts.all():
        judge = _Judge(draft, schema.object_types[draft.type], evidence, mentions, blind=blind)
        try:
            ref, judged = judge.judge_new() if draft.known is None else judge.judge_known(draft.known)
            found |= {ref: judged} if judged.properties else {}
            repeated |= judge.repeated
            rejections += judge.rejections
        except Rejected as rejected:
            rejections += [*judge.rejections, *map(rejected.at, draft.wheres)]
    nodes = [
        *(
            Node(*each.key, name=each.name or "", ref=each.key, is_touched=True)
            for each in found.values()
            if each.key
        ),
        *(Node(each.type, each.name_key, each.name, each.id, each.id in found) for each in known),
    ]
    relationships, unlinked = link(
        reply.relationships, nodes, schema=schema, evidence=evidence, mentions=mentions
    )
    meant = {*found, *(end for each in relationships for end in (each.source, each.target))}
    own = {
        claim.claimed: [item for item in claim.value if evidence.place(item, of=claim.name)]
        for claim in earlier
        if isinstance(claim.value, list)
    }
    for each in known:
        if each.type in schema.object_types:
            kind = schema.object_types[each.type]
            named = evidence.naming(each, known) or mentions.alias(each.type, each.name)
            stated = _confirm(each, named, kind, evidence)
            said = found.get(each.id, FoundObject(id=each.id))
            lists = {
                name: _add_elements(
                    given, [*own.get((each.id, name), ()), *_items(stated.get(name))], each.name, evidence
                )
                for name, given in said.properties.items()
                if isinstance(given.value, list) and given.is_grounded and _accumulates(kind, name)
            }
            stated = {name: stated[name] for name in stated if (each.id, name) not in before}
            if stated or lists:
                found[each.id] = replace(said, properties={**stated, **said.properties, **lists})
    return Outcome(
        objects=tuple(found.values()),
        relationships=relationships,
        aliases=mentions.aliases((each.type, each.name_key) for each in nodes if each.ref in meant),
        withdrawn=()
        if reply.is_cut
        else _withdraw(earlier, seen, found, repeated, evidence=evidence, mentions=mentions),
        rejections=(*rejections, *unlinked),
    )


def _withdraw(
    earlier: Sequence[EarlierClaim],
    seen: Sequence[KnownObject],
    found: Mapping[Ref, FoundObject],
    repeated: Mapping[ClaimKey, Any],
    *,
    evidence: Evidence,
    mentions: Mentions,
) -> tuple[ClaimKey, ...]:
    """The earlier claims about seen objects that the reply neither replaces nor repeats, and that the text does not have."""
    given = {(ref, name) for ref, each in found.items() for name in each.properties}
    by_id = {each.id: each for each in seen}

    def is_stated(claim: EarlierClaim) -> bool:
        if claim.property_name != "name":
            return evidence.place(claim.value, of=claim.name) is not None
        known = by_id[claim.object_id]
        return evidence.of_name(claim.name) == "primary" or mentions.find(known.type, known.name) is not None

    return tuple(
        (each.said_of, each.property_name)
        for each in earlier
        if each.object_id in by_id
        and each.claimed not in given
        and not _is_repeated(each.value, repeated.get(each.claimed))
        and not is_stated(each)
    )


def _confirm(
    known: KnownObject, named: Span | None, kind: ObjectType, evidence: Evidence
) -> dict[str, FoundValue]:
    """The name and the values of the object that the primary chunk states; of a list that accumulates, its elements.

    `named` is the name or an alias in the chunk.
    """
    found = {"name": FoundValue(value=known.name, is_confirmed=True, **place_of(named))} if named else {}
    for name, value in known.properties.items():
        items = value if isinstance(value, list) else [value]
        places = [
            (item, evidence.confirming(item, of=known.name, is_named=named is not None)) for item in items
        ]
        stated = [item for item, span in places if span]
        if stated and (len(stated) == len(items) or _accumulates(kind, name)):
            found[name] = FoundValue(
                value=stated if isinstance(value, list) else value,
                elements=_elements(stated, evidence, known.name) if isinstance(value, list) else (),
                is_confirmed=True,
                **place_of(next(span for _, span in places if span)),
            )
    return found


def _items(found: FoundValue | None) -> list[Any]:
    return found.value if found is not None and isinstance(found.value, list) else []


def _add_elements(given: FoundValue, before: list[Any], name: str, evidence: Evidence) -> FoundValue:
    """A list with the elements that the chunk stated before: a reply gives only new ones."""
    value = accumulate(before, given.value)
    return replace(given, value=value, elements=_elements(value, evidence, name))


def _accumulates(kind: ObjectType, name: str) -> bool:
    wanted = kind.properties.get(name)
    return wanted is None or wanted.merge == "accumulate"


def _elements(value: Any, evidence: Evidence, name: str) -> tuple[FoundElement, ...]:
    """The place of each element of a list. `name` is that of its object."""
    if not isinstance(value, list):
        return ()
    found = ((item, evidence.find(item, near=name)) for item in value)
    return tuple(FoundElement(value=item, **place_of(span)) for item, span in found)


def _is_repeated(value: Any, repeated: Any) -> bool:
    if isinstance(value, list):
        return all(is_among(item, repeated) for item in value)
    return same(value, repeated)


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
        self._spans = {name: evidence.place(value, of=draft.name) for name, value in self._given.items()}
        self._spans["name"] = mentions.find(draft.type, draft.name)
        self.repeated: dict[ClaimKey, Any] = {}
        """Known values that the reply repeats and that the chunk may mean."""

    def judge_new(self) -> tuple[Ref, FoundObject]:
        """Raises Rejected."""
        self._require_new()
        draft, accepted = self._draft, self._accept()
        lacking = missing(accepted, self._kind)
        if lacking:
            raise Rejected("missing_required", f"a new {draft.type} needs {', '.join(lacking)}")
        key = (draft.type, name_key(draft.name))
        name = FoundValue(
            value=draft.name, **place_of(self._spans["name"]), is_grounded=self._of_name == "primary"
        )
        return key, FoundObject(key=key, name=draft.name, properties={"name": name, **self._found(accepted)})

    def judge_known(self, known: KnownObject) -> tuple[Ref, FoundObject]:
        has = {"name": known.name, **known.properties}
        echoed = [
            name for name, value in self._given.items() if name in has and self._repeats(name, has[name])
        ]
        accepted = self._found(self._accept(but=echoed))
        # Of a list, only the elements that the reply repeats.
        echoes = {name: self._given[name] if isinstance(has[name], list) else has[name] for name in echoed}
        self.repeated = {
            (known.id, name): value for name, value in echoes.items() if self._refusal(name) is None
        }
        if self._blind or not self._draft.is_shown:
            echoes |= {"name": known.name} if self._draft.is_named else {}
            accepted |= {
                name: replace(found, is_confirmed=True)
                for name, found in self._found(echoes).items()
                if self._evidence.states(found.value)
            }
        return known.id, FoundObject(id=known.id, properties=accepted)

    def _found(self, values: Mapping[str, Any]) -> dict[str, FoundValue]:
        return {
            name: FoundValue(
                value=value,
                elements=_elements(value, self._evidence, self._draft.name),
                is_grounded=self._evidence.is_grounded(
                    value, of=self._draft.name, wanted=self._kind.properties.get(name)
                ),
                **place_of(self._spans[name]),
            )
            for name, value in values.items()
        }

    def _repeats(self, name: str, has: Any) -> bool:
        """Whether the object has the value, or all elements of a list that accumulates."""
        value = self._given[name]
        if isinstance(value, list) and _accumulates(self._kind, name):
            return all(is_among(item, has) for item in value)
        return same(has, value)

    @property
    def _has_span(self) -> bool:
        """Whether the primary chunk has a value of the object."""
        return any(self._spans[name] for name in self._given)

    @cached_property
    def _of_name(self) -> Where:
        return "primary" if self._spans["name"] else self._evidence.of_name(self._draft.name)

    def _accept(self, *, but: Sequence[str] = ()) -> dict[str, Any]:
        accepted: dict[str, Any] = {}
        for name, value in self._given.items():
            for who, items in self._leaked.get(name, {}).items():
                self._reject(name, unsaid(who, ", ".join(map(repr, items))))
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
        if self._of_name == "primary":
            return
        if not self._has_span:
            self._require_no_leak()
        if not evidence.is_lenient:
            raise Rejected("ungrounded", f"the primary chunk does not name {name!r}")

    def _require_no_leak(self) -> None:
        evidence, name = self._evidence, self._draft.name
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
        draft = self._draft
        who = self._evidence.leak(value, of=draft.name, before=before, own=draft.known, wanted=wanted)
        if who is not None:
            return unsaid(who)
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
        if _accumulates(self._kind, name):
            new = [item for item in value if not is_among(item, before) or self._evidence.find(item)]
            value = new or value
        leaked: dict[str, list[Any]] = {}
        kept: list[Any] = []
        for item in value:
            who = self._evidence.leak(
                item,
                of=self._draft.name,
                before=before,
                own=self._draft.known,
                wanted=wanted.items if wanted else None,
            )
            (leaked.setdefault(who, []) if who else kept).append(item)
        try:
            result = fitted(kept, wanted) if kept else value
        except WrongValue:
            return value
        self._leaked[name] = leaked if kept else {}
        return result
