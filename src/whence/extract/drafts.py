"""Collects the proposals of a reply by object of the context. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from whence.extract.context import KnownObject
from whence.extract.links import Ref, as_uuid
from whence.extract.rejections import Rejected, Rejection
from whence.extract.reply import ObjectProposal
from whence.extract.schema import Schema, spelled
from whence.extract.values import fit_properties, same
from whence.models import MAX_NAME, ObjectKey
from whence.text.aliases import is_abbreviation
from whence.text.names import name_key


@dataclass(slots=True, kw_only=True)
class ObjectDraft:
    """Everything that the reply says about one object."""

    type: str
    name: str
    known: KnownObject | None
    wheres: list[str] = field(default_factory=list)
    """Paths of its proposals in the reply."""
    given: dict[str, Any] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    """The path of each property in the reply."""
    is_named: bool = False
    """Whether the reply gives its name, not only its id."""
    is_shown: bool = True
    """Whether every proposal for it has its id, so that the model has seen its values."""


class Drafts:
    def __init__(
        self, schema: Schema, known: Sequence[KnownObject], proposals: Sequence[ObjectProposal] = ()
    ) -> None:
        self._schema = schema
        self._by_id = {each.id: each for each in known}
        self._by_key: dict[ObjectKey, KnownObject] = {(each.type, each.name_key): each for each in known}
        self._by_alias: dict[ObjectKey, list[KnownObject]] = {}
        for each in known:
            for alias in filter(is_abbreviation, each.aliases):
                self._by_alias.setdefault((each.type, name_key(alias)), []).append(each)
        self._drafts: dict[Ref, ObjectDraft] = {}
        self.rejections: list[Rejection] = []
        for proposal in proposals:
            self.take(proposal)

    def all(self) -> list[ObjectDraft]:
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

    def _known(self, proposal: ObjectProposal) -> ObjectDraft:
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
        return ObjectDraft(type=known.type, name=known.name, known=known)

    def _named(self, proposal: ObjectProposal) -> ObjectDraft:
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
        return ObjectDraft(type=kind, name=known.name if known else name, known=known)

    def _add(self, draft: ObjectDraft, proposal: ObjectProposal) -> None:
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
