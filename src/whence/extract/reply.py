"""Parses a model's reply into proposals. Any text gives an ExtractionReply or raises UnreadableReply, nothing else.

Accepts `{"objects": [...], "relationships": [...]}`, a bare list of objects, and single objects one after another, also in a
fence, with prose around or trailing commas. Of a truncated reply, the complete proposals are kept. An invalid value or part is
dropped, and the rest is kept.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from whence.errors import UnreadableReply
from whence.extract.schema import UNSTORABLE
from whence.extract.values import from_pairs
from whence.text.names import display_name

MAX_REPLY = 1_000_000
"""In characters."""
MAX_OBJECTS = 200
MAX_RELATIONSHIPS = 400
MAX_PROPERTIES = 100
MAX_DEPTH = 8
MAX_INTEGER = 2**63 - 1
MAX_TRIES = 100
"""Maximum failed attempts to parse JSON at a bracket."""

_THOUGHT_ENDS = "</think>"
_FENCED = re.compile(r"^[ \t]*(```|~~~)\w*[ \t]*\n(.*?)(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
_OUTSIDE = re.compile(r"[\[{]")
_INSIDE = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|[\[\]{}]', re.DOTALL)
_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+(?:"|\Z))|,(?=\s*[\]}])', re.DOTALL)
# Open brackets where proposals may begin: none, a list, the whole reply, or one of its two lists.
_READ_IN: tuple[list[str], ...] = ([], ["["], ["{"], ["{", "["])
# Open brackets around the items of a list.
_ITEM_OF: tuple[list[str], ...] = (["["], ["{", "["])
_PARTS = ("objects", "relationships")
_FROM_TO = frozenset(("type", "from", "to"))
_SHOWN = 100
"""Characters shown of an object that is not JSON."""
_LONGEST_NUMBER = 300
"""Digits. Python refuses to parse much longer numbers, and with them the JSON around them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectProposal:
    """A new object, or new properties of a known one if it has an `id`. Nothing in it is checked yet."""

    where: str
    """Its place in the reply: `objects[3]`."""
    id: str | None = None
    type: str | None = None
    name: str | None = None
    properties: Mapping[str, Any] = field(default_factory=dict)

    @property
    def given(self) -> dict[str, Any]:
        words = {"id": self.id, "type": self.type, "name": self.name}
        return {**{key: word for key, word in words.items() if word}, **self.properties}


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipProposal:
    where: str
    type: str
    source: str
    target: str
    properties: Mapping[str, Any] = field(default_factory=dict)

    @property
    def given(self) -> dict[str, Any]:
        return {"type": self.type, "source": self.source, "target": self.target, **self.properties}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A part of the reply that is not a proposal, and why."""

    where: str
    why: str
    item: Any = None
    """The part as given; None for surplus items and broken JSON."""
    count: int = 1
    """Number of dropped items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionReply:
    objects: tuple[ObjectProposal, ...] = ()
    relationships: tuple[RelationshipProposal, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    is_cut: bool = False
    """The reply was truncated; there may have been more."""


_Proposal = TypeVar("_Proposal", ObjectProposal, RelationshipProposal)


class _WrongShape(ValueError):
    """The message says what is wrong."""


def read_reply(text: str) -> ExtractionReply:
    if len(text) > MAX_REPLY:
        raise _unreadable(f"it is longer than {MAX_REPLY} characters")
    if not text.strip():
        raise _unreadable("it is empty")
    scan = _Scan()
    answer = text.rpartition(_THOUGHT_ENDS)[2]
    parts = [found[2] for found in _FENCED.finditer(answer)] or [answer]
    if all(part.strip() == "null" for part in parts):
        return ExtractionReply()
    for part in parts:
        scan.read(_TRAILING_COMMA.sub(lambda found: found[1] or "", part))
    if not scan.is_usable:
        raise _unreadable("there is no JSON in it with objects or relationships")
    return _reply(scan)


def proposals(body: Mapping[str, Any]) -> ExtractionReply:
    """Like `read_reply`, for JSON that is already parsed."""
    scan = _Scan()
    if not scan.take(dict(body)):
        raise _unreadable("it has neither objects nor relationships")
    return _reply(scan)


class _Scan:
    """Collects proposals from a text with JSON somewhere in it."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self.relationships: list[Any] = []
        self.dropped: list[Dropped] = []
        self.is_usable = False
        self.is_cut = False
        self._tries = 0

    def read(self, text: str) -> None:
        """Takes every valid JSON value; inside an invalid one, the valid values that it contains.

        `path` holds the open brackets around a place, each of an invalid value.
        """
        path: list[str] = []
        starts: list[int] = []
        at = 0
        while found := (_INSIDE if path else _OUTSIDE).search(text, at):
            at, token = found.end(), found[0]
            if token in {"[", "{"}:
                value, end = self._decoded(text, found.start()) if path in _READ_IN else (None, 0)
                if end and (not path or path[-1] == "[" or isinstance(value, list)):
                    self.take(value)
                if end:
                    at = end
                else:
                    path.append(token)
                    starts.append(found.start())
            elif token in {"]", "}"}:
                path.pop()
                self._miss(path, text[starts.pop() : at])
        self.is_cut |= bool(path) and self.is_usable

    def _miss(self, path: list[str], broken: str) -> None:
        """Records an invalid value as dropped if it is an object in a list of proposals."""
        if path in _ITEM_OF and broken.startswith("{") and '"' in broken:
            why = f"an object in it is not JSON: {_storable(broken[:_SHOWN])}"
            self.dropped.append(Dropped(where="reply", why=why))

    def take(self, value: Any) -> bool:
        """Takes the proposals of a value. False if its form is unknown."""
        if isinstance(value, list) and (
            all(isinstance(item, dict) for item in value) or any(_is_proposal(item) for item in value)
        ):
            for item in value:
                self._sort(item)
        elif isinstance(value, dict) and not value.keys().isdisjoint(_PARTS):
            self._take_parts(value)
        elif _is_proposal(value):
            self._sort(value)
        elif isinstance(value, dict) and (wrapped := list(filter(_has_parts, value.values()))):
            for inner in wrapped:
                self._take_parts(inner)
        else:
            return False
        self.is_usable = True
        return True

    def _take_parts(self, value: dict[str, Any]) -> None:
        """Drops a part that is not a list. Raises UnreadableReply if the other part is no list either."""
        wrong = {part: value[part] for part in _PARTS if not isinstance(value.get(part, []), list | None)}
        if wrong and not any(isinstance(value.get(part), list) for part in _PARTS):
            raise _unreadable(f"it has no list of {' or '.join(wrong)}")
        self.dropped += [
            Dropped(where=part, why="it is not a list", item=item) for part, item in wrong.items()
        ]
        self.objects += [] if "objects" in wrong else value.get("objects") or []
        self.relationships += [] if "relationships" in wrong else value.get("relationships") or []

    def _sort(self, item: Any) -> None:
        (self.relationships if _is_between(item) else self.objects).append(item)

    def _decoded(self, text: str, start: int) -> tuple[Any, int]:
        """The value that begins here and its end; an end of 0 if it cannot be parsed."""
        if self._tries >= MAX_TRIES:
            return None, 0
        try:
            return _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            self._tries += 1
            return None, 0


def _is_proposal(value: Any) -> bool:
    return isinstance(value, dict) and not value.keys().isdisjoint(("id", "type", "name"))


def _is_between(item: Any) -> bool:
    """Whether the item is a relationship. An object with `from` and `to` as properties has a name or an id."""
    if not isinstance(item, dict) or item.get("name"):
        return False
    return {"source", "target"} <= item.keys() or (item.keys() >= _FROM_TO and not item.get("id"))


def _has_parts(value: Any) -> bool:
    """Whether the value is a whole reply. Some models wrap it: `{"result": {"objects": [...]}}`."""
    return isinstance(value, dict) and any(isinstance(value.get(part), list) for part in _PARTS)


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_NUMBER else math.inf


# `NaN` and `Infinity` are not JSON, but Python's encoder writes them. They invalidate one value, not the whole reply.
_DECODER = json.JSONDecoder(strict=False, parse_int=_integer)


def _unreadable(reason: str) -> UnreadableReply:
    return UnreadableReply(f"The model's reply cannot be read: {reason}", details={"reason": reason})


def _reply(scan: _Scan) -> ExtractionReply:
    dropped = [*scan.dropped]
    objects = _proposals("objects", scan.objects, MAX_OBJECTS, _object, dropped)
    relationships = _proposals("relationships", scan.relationships, MAX_RELATIONSHIPS, _relationship, dropped)
    return ExtractionReply(
        objects=objects, relationships=relationships, dropped=tuple(dropped), is_cut=scan.is_cut
    )


def _proposals(
    part: str,
    items: list[Any],
    most: int,
    read: Callable[[str, dict[str, Any], list[Dropped]], _Proposal],
    dropped: list[Dropped],
) -> tuple[_Proposal, ...]:
    if len(items) > most:
        why = f"{len(items)} {part} in one reply; only the first {most} count"
        dropped.append(Dropped(where=f"{part}[{most}:]", why=why, count=len(items) - most))
    found: list[_Proposal] = []
    for at, item in enumerate(items[:most]):
        where = f"{part}[{at}]"
        if not isinstance(item, dict):
            dropped.append(Dropped(where=where, why="it is not an object", item=item))
            continue
        try:
            found.append(read(where, item, dropped))
        except _WrongShape as wrong:
            dropped.append(Dropped(where=where, why=str(wrong), item=item))
    return tuple(found)


def _object(where: str, item: dict[str, Any], dropped: list[Dropped]) -> ObjectProposal:
    return ObjectProposal(
        where=where,
        id=_word(item, "id"),
        type=_word(item, "type"),
        name=display_name(_word(item, "name") or "") or None,
        properties=_properties(where, item, ("id", "type", "name"), dropped),
    )


def _relationship(where: str, item: dict[str, Any], dropped: list[Dropped]) -> RelationshipProposal:
    words = {"type": _word(item, "type") or ""}
    known = ["id", "type", "source", "target"]
    for key, other in (("source", "from"), ("target", "to")):
        words[key] = _end(item, key) or ""
        if not words[key]:  # else `other` is a property
            words[key] = _end(item, other) or ""
            known.append(other)
    missing = [key for key, word in words.items() if not word]
    if missing:
        raise _WrongShape(f"it has no {' and no '.join(missing)}")
    return RelationshipProposal(where=where, **words, properties=_properties(where, item, known, dropped))


def _end(item: dict[str, Any], key: str) -> str | None:
    """An id or a name, also as `{"id": …}` or `{"name": …}`."""
    said = item.get(key)
    return (_word(said, "id") or _word(said, "name")) if isinstance(said, dict) else _word(item, key)


def _word(item: dict[str, Any], key: str) -> str | None:
    said = item.get(key)
    if isinstance(said, int) and not isinstance(said, bool):
        said = str(said)
    if said is not None and not isinstance(said, str):
        raise _WrongShape(f"its {key} is not a text")
    return (_storable(said).strip() or None) if said else None


def _properties(
    where: str, item: dict[str, Any], known: Iterable[str], dropped: list[Dropped]
) -> dict[str, Any]:
    """All other fields of the item, with `properties` and `extra` flattened. Drops values that cannot be stored."""
    spread = {key: value for key, value in item.items() if key not in {"properties", "extra", *known}}
    for nest in ("properties", "extra"):
        inner = from_pairs(item.get(nest))
        if isinstance(inner, dict):
            spread = {**{key: value for key, value in inner.items() if key not in known}, **spread}
        elif inner:
            why = "it is neither an object nor a list of names and values"
            dropped.append(Dropped(where=f"{where}.{nest}", why=why, item=inner))
    if len(spread) > MAX_PROPERTIES:
        why = f"it has {len(spread)} properties; only the first {MAX_PROPERTIES} count"
        dropped.append(Dropped(where=where, why=why, count=len(spread) - MAX_PROPERTIES))
    result: dict[str, Any] = {}
    for key, value in list(spread.items())[:MAX_PROPERTIES]:
        try:
            result[_storable(str(key))] = _storable_value(value)
        except _WrongShape as wrong:
            dropped.append(Dropped(where=f"{where}.{_storable(str(key))}", why=str(wrong), item=value))
    return result


def _storable(text: str) -> str:
    """Removes what PostgreSQL cannot store in a text: NUL and lone surrogates."""
    return UNSTORABLE.sub("", text)


def _storable_value(value: Any, depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        raise _WrongShape(f"it is nested more than {MAX_DEPTH} deep")
    if isinstance(value, str):
        return _storable(value)
    if isinstance(value, list):
        return [_storable_value(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {_storable(str(key)): _storable_value(item, depth + 1) for key, item in value.items()}
    is_endless = isinstance(value, float) and not math.isfinite(value)
    if is_endless or (isinstance(value, int) and abs(value) > MAX_INTEGER):
        raise _WrongShape("it is no number, or one too large to be kept")
    return value
