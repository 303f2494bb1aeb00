"""Decides which proposed values of an object to accept, by comparing them with the chunks. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from whence.chunk_findings import FoundElement, FoundObject, FoundValue
from whence.extract.context import KnownObject
from whence.extract.drafts import ObjectDraft
from whence.extract.evidence import ChunkEvidence, Where
from whence.extract.grounding import place_of
from whence.extract.links import Ref
from whence.extract.mentions import Mentions
from whence.extract.rejections import Rejected, Rejection, unsaid
from whence.extract.schema import ObjectType
from whence.extract.values import WrongValue, fitted, is_among, missing, same
from whence.models import ClaimKey
from whence.text.names import name_key


def accumulates(kind: ObjectType, name: str) -> bool:
    """Whether a list of this name keeps the elements of all its claims."""
    wanted = kind.properties.get(name)
    return wanted is None or wanted.merge == "accumulate"


def elements_of(value: Any, evidence: ChunkEvidence, name: str) -> tuple[FoundElement, ...]:
    """The place of each element of a list. `name` is that of its object."""
    if not isinstance(value, list):
        return ()
    found = ((item, evidence.find(item, near=name)) for item in value)
    return tuple(FoundElement(value=item, **place_of(span)) for item, span in found)


class Judge:
    """Finds the name and values of one object in the chunks, and decides which values to accept."""

    def __init__(
        self,
        draft: ObjectDraft,
        kind: ObjectType,
        evidence: ChunkEvidence,
        mentions: Mentions,
        *,
        blind: bool,
    ) -> None:
        self._draft = draft
        self._kind = kind
        self._evidence = evidence
        self._blind = blind
        self.rejections: list[Rejection] = []
        self._leaked: dict[str, dict[str, list[Any]]] = {}
        """For each list, the items that are only in the context, by origin."""
        self._given = {name: self._sift(name, value) for name, value in draft.given.items()}
        self._spans = {name: evidence.place(value, of=draft.name) for name, value in self._given.items()}
        self._spans["name"] = mentions.find(draft.type, draft.name)
        self.repeated = dict[ClaimKey, Any]()
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
        # For a list, only the elements that the reply repeats.
        echoes = {name: self._given[name] if isinstance(has[name], list) else has[name] for name in echoed}
        self.repeated = {
            (known.id, name): value for name, value in echoes.items() if self._refusal(name) is None
        }
        if self._blind or not self._draft.is_shown:
            echoes |= {"name": known.name} if self._draft.is_named else {}
            accepted |= {
                name: replace(found, is_confirmed=True)
                for name, found in self._found(echoes).items()
                if self._evidence.states(found.value, of=self._draft.name)
            }
        return known.id, FoundObject(id=known.id, properties=accepted)

    def _found(self, values: Mapping[str, Any]) -> dict[str, FoundValue]:
        return {
            name: FoundValue(
                value=value,
                elements=elements_of(value, self._evidence, self._draft.name),
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
        if isinstance(value, list) and accumulates(self._kind, name):
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
            return unsaid(who, f"so of {draft.name!r}")
        if span or self._of_name != "context":
            return None
        is_paraphrase = not self._evidence.is_around(value, wanted)
        if is_paraphrase and (self._has_span or (self._draft.known and self._draft.is_shown)):
            return None
        return Rejected("context_only", f"only a context chunk speaks of {self._draft.name!r}")

    def _before(self, name: str) -> Any:
        return self._draft.known.properties.get(name) if self._draft.known else None

    def _sift(self, name: str, value: Any) -> Any:
        """Removes leaked items from a list, unless all leak or the rest would violate the schema.

        A list that accumulates also loses known elements that the chunk does not have: they are claims of other chunks.
        """
        before, wanted = self._before(name), self._kind.properties.get(name)
        if not isinstance(value, list) or (before is not None and same(before, value)):
            return value
        if accumulates(self._kind, name):
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
