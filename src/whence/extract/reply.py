"""Parses a model's reply into proposals. Any text gives an ExtractionReply or raises UnreadableReply, nothing else.

Accepts `{"objects": [...], "relationships": [...]}`, a bare list of objects, and single objects one after another, also in a
fence, with prose around or trailing commas. An invalid value or part is dropped, and the rest is kept. A truncated reply has its
complete proposals and is marked, or raises CutOffReply if it has none.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, TypeVar

from whence.errors import CutOffReply, UnreadableReply
from whence.extract.rejections import Rejection
from whence.extract.schema import UNSTORABLE
from whence.extract.values import from_pairs
from whence.text.names import display_name
from whence.text.prompt_escaping import MASKS, restore_brackets

MAX_REPLY = 1_000_000
"""Maximum length of a reply, in characters."""
MAX_OBJECTS = 200
MAX_RELATIONSHIPS = 400
MAX_PROPERTIES = 100
MAX_DEPTH = 8
MAX_INTEGER = 2**63 - 1
MAX_TRIES = 100
"""Maximum failed attempts to parse JSON at a bracket."""

_THOUGHT_ENDS = "</think>"
_ESCAPED_MASK = re.compile("|".join(rf"\\u{ord(mask):04x}" for mask in MASKS), re.IGNORECASE)
"""A bracket that the prompt replaced, as some models write it in JSON."""
_FENCED = re.compile(r"^[ \t]*(```|~~~)\w*[ \t]*\n(.*?)(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
_OUTSIDE = re.compile(r"[\[{]")
_OPENED = re.compile(r'\{\s*(?:"|\Z)|\[\s*(?:\{|\Z)')
"""The start of a JSON object, or of a list of them."""
_CLOSED = re.compile(r"[\]}]\s*(?:```|~~~)?\s*\Z")
_INSIDE = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|[\[\]{}]', re.DOTALL)
_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+(?:"|\Z))|,(?=\s*[\]}])', re.DOTALL)
# Sequences of open brackets inside which proposals may begin: none, a list, the whole reply, or one of its two lists.
_READ_IN: tuple[list[str], ...] = ([], ["["], ["{"], ["{", "["])
# Open brackets around the items of a list.
_ITEM_OF: tuple[list[str], ...] = (["["], ["{", "["])
_FROM_TO = frozenset(("type", "from", "to"))
_SHOWN = 100
"""Characters shown of an object that is not JSON."""
_LONGEST_NUMBER = 300
"""Maximum number of digits. Python refuses to parse JSON with much longer numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectProposal:
    """A new object, or new properties of a known one if it has an `id`. Nothing in it is checked yet."""

    where: str
    """Its path in the reply: `objects[3]`."""
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
class ExtractionReply:
    objects: tuple[ObjectProposal, ...] = ()
    relationships: tuple[RelationshipProposal, ...] = ()
    dropped: tuple[Rejection, ...] = ()
    """Parts that are not proposals, and `cut_off` for a truncated reply."""
    is_cut: bool = False
    """Whether the reply ends in the middle of a proposal."""


_Proposal = TypeVar("_Proposal", ObjectProposal, RelationshipProposal)
_Placed = TypeVar("_Placed", ObjectProposal, RelationshipProposal, Rejection)


class _WrongShape(ValueError):
    """Raised with the fault as its message."""


def read_reply(text: str) -> ExtractionReply:
    if len(text) > MAX_REPLY:
        raise _unreadable(f"it is longer than {MAX_REPLY} characters")
    if not text.strip():
        raise _unreadable("it is empty")
    unescaped = _ESCAPED_MASK.sub(lambda found: str(json.loads(f'"{found[0]}"')), text)
    answer = restore_brackets(unescaped).rpartition(_THOUGHT_ENDS)[2]
    parts = [found[2] for found in _FENCED.finditer(answer)] or [answer]
    if all(part.strip() == "null" for part in parts):
        return ExtractionReply()
    reader = _Reader()
    for part in parts:
        reader.scan(_TRAILING_COMMA.sub(lambda found: found[1] or "", part))
    if not reader.is_usable and reader.is_open:
        raise CutOffReply(
            "The model's reply ends before its first object", details={"reason": "it is cut off"}
        )
    if not reader.is_usable:
        raise _unreadable("there is no JSON in it with objects or relationships")
    return replace(reader.reply(), is_cut=reader.is_open and not _CLOSED.search(answer))


def joined(replies: Sequence[ExtractionReply]) -> ExtractionReply:
    """The replies to the parts of a chunk as one. Places in it name the part: `objects[3]` becomes `part 2: objects[3]`."""

    def each(items: Iterable[_Placed], part: int) -> Iterator[_Placed]:
        return (replace(item, where=f"part {part}: {item.where}") for item in items)

    parts = list(enumerate(replies, start=1))
    return ExtractionReply(
        objects=tuple(chain.from_iterable(each(reply.objects, part) for part, reply in parts)),
        relationships=tuple(chain.from_iterable(each(reply.relationships, part) for part, reply in parts)),
        dropped=tuple(chain.from_iterable(each(reply.dropped, part) for part, reply in parts)),
    )


def proposals(body: Mapping[str, Any]) -> ExtractionReply:
    """Like `read_reply`, for JSON that is already parsed."""
    reader = _Reader()
    if not reader.take(dict(body)):
        raise _unreadable("it has neither objects nor relationships")
    return reader.reply()


def _unreadable(reason: str) -> UnreadableReply:
    return UnreadableReply(f"The model's reply cannot be read: {reason}", details={"reason": reason})


class _Reader:
    """Collects items from texts with JSON somewhere in them, and reads them as proposals."""

    def __init__(self) -> None:
        self.is_usable = False
        self.is_open = False
        """Whether the text ended inside JSON."""
        self._items: dict[str, list[Any]] = {"objects": [], "relationships": []}
        self._dropped: list[Rejection] = []
        self._cut_off: list[Rejection] = []
        self._tries = 0

    def reply(self) -> ExtractionReply:
        return ExtractionReply(
            objects=tuple(self._read("objects", MAX_OBJECTS, self._object)),
            relationships=tuple(self._read("relationships", MAX_RELATIONSHIPS, self._relationship)),
            dropped=(*self._dropped, *self._cut_off),
        )

    def scan(self, text: str) -> None:
        """Takes every valid JSON value; inside an invalid one, the valid values that it contains.

        `path` holds the open brackets around a place, each of an invalid value.
        """
        path: list[str] = []
        starts: list[int] = []
        at = 0
        while found := (_INSIDE if path else _OUTSIDE).search(text, at):
            at, token = found.end(), found[0]
            if token in {"[", "{"}:
                value, end = self._decode(text, found.start()) if path in _READ_IN else (None, 0)
                if end and (not path or path[-1] == "[" or isinstance(value, list)):
                    self.take(value)
                if end:
                    at = end
                else:
                    path.append(token)
                    starts.append(found.start())
            elif token in {"]", "}"}:
                path.pop()
                broken = text[starts.pop() : at]
                if path in _ITEM_OF and broken.startswith("{") and '"' in broken:
                    self._drop("reply", f"an object in it is not JSON: {_storable(broken[:_SHOWN])}")
        self.is_open = bool(starts) and _OPENED.match(text, starts[0]) is not None
        if path and self.is_usable:
            message = "the reply ended in the middle; what was complete is kept"
            self._cut_off = [Rejection(where="reply", reason="cut_off", message=message)]

    def take(self, value: Any) -> bool:
        """Takes the proposals of a value. False if its form is unknown."""
        if isinstance(value, list) and (
            all(isinstance(item, dict) for item in value) or any(map(_is_proposal, value))
        ):
            for item in value:
                self._sort(item)
        elif isinstance(value, dict) and not value.keys().isdisjoint(self._items):
            self._take_parts(value)
        elif _is_proposal(value):
            self._sort(value)
        elif isinstance(value, dict) and (wrapped := list(filter(self._has_parts, value.values()))):
            for inner in wrapped:
                self._take_parts(inner)
        else:
            return False
        self.is_usable = True
        return True

    def _has_parts(self, value: Any) -> bool:
        """Whether the value is a whole reply. Some models wrap it: `{"result": {"objects": [...]}}`."""
        return isinstance(value, dict) and any(isinstance(value.get(part), list) for part in self._items)

    def _take_parts(self, value: dict[str, Any]) -> None:
        """Drops a part that is not a list. Raises UnreadableReply if the other part is no list either."""
        given = {part: value[part] for part in self._items if value.get(part) is not None}
        wrong = [part for part, items in given.items() if not isinstance(items, list)]
        if wrong and len(wrong) == len(given):
            raise _unreadable(f"it has no list of {' or '.join(wrong)}")
        for part, items in given.items():
            if part in wrong:
                self._drop(part, "it is not a list", items)
            else:
                self._items[part] += items

    def _sort(self, item: Any) -> None:
        self._items["relationships" if _is_between(item) else "objects"].append(item)

    def _decode(self, text: str, start: int) -> tuple[Any, int]:
        """The value that begins here and its end; an end of 0 if it cannot be parsed."""
        try:
            return _DECODER.raw_decode(text, start) if self._tries < MAX_TRIES else (None, 0)
        except (ValueError, RecursionError):
            self._tries += 1
            return None, 0

    def _drop(self, where: str, why: str, item: Any = None, count: int = 1) -> None:
        dropped = Rejection(where=where, reason="malformed", message=why, item=item, count=count)
        self._dropped.append(dropped)

    def _read(
        self, part: str, most: int, read: Callable[[str, dict[str, Any]], _Proposal]
    ) -> Iterator[_Proposal]:
        items = self._items[part]
        if len(items) > most:
            why = f"{len(items)} {part} in one reply; only the first {most} count"
            self._drop(f"{part}[{most}:]", why, count=len(items) - most)
        for at, item in enumerate(items[:most]):
            where = f"{part}[{at}]"
            if not isinstance(item, dict):
                self._drop(where, "it is not an object", item)
                continue
            try:
                yield read(where, item)
            except _WrongShape as wrong:
                self._drop(where, str(wrong), item)

    def _object(self, where: str, item: dict[str, Any]) -> ObjectProposal:
        return ObjectProposal(
            where=where,
            id=_word(item, "id"),
            type=_word(item, "type"),
            name=display_name(_word(item, "name") or "") or None,
            properties=self._properties(where, item, ("id", "type", "name")),
        )

    def _relationship(self, where: str, item: dict[str, Any]) -> RelationshipProposal:
        words = {"type": _word(item, "type") or ""}
        known = ["id", "type", "source", "target"]
        for key, other in (("source", "from"), ("target", "to")):
            words[key] = _end(item, key) or ""
            if not words[key]:  # otherwise `other` is a property
                words[key] = _end(item, other) or ""
                known.append(other)
        missing = [key for key, word in words.items() if not word]
        if missing:
            raise _WrongShape(f"it has no {' and no '.join(missing)}")
        return RelationshipProposal(where=where, **words, properties=self._properties(where, item, known))

    def _properties(self, where: str, item: dict[str, Any], known: Iterable[str]) -> dict[str, Any]:
        """All other fields of the item, with `properties` and `extra` flattened. Drops values that cannot be stored."""
        spread = {key: value for key, value in item.items() if key not in {"properties", "extra", *known}}
        for nest in ("properties", "extra"):
            inner = from_pairs(item.get(nest))
            if isinstance(inner, dict):
                spread = {**{key: value for key, value in inner.items() if key not in known}, **spread}
            elif inner:
                self._drop(f"{where}.{nest}", "it is neither an object nor a list of names and values", inner)
        if len(spread) > MAX_PROPERTIES:
            why = f"it has {len(spread)} properties; only the first {MAX_PROPERTIES} count"
            self._drop(where, why, count=len(spread) - MAX_PROPERTIES)
        result: dict[str, Any] = {}
        for key, value in islice(spread.items(), MAX_PROPERTIES):
            name = _storable(str(key))
            try:
                result[name] = _storable_value(value)
            except _WrongShape as wrong:
                self._drop(f"{where}.{name}", str(wrong), value)
        return result


def _is_proposal(value: Any) -> bool:
    return isinstance(value, dict) and not value.keys().isdisjoint(("id", "type", "name"))


def _is_between(item: Any) -> bool:
    """Whether the item is a relationship. An object with `from` and `to` as properties has a name or an id."""
    if not isinstance(item, dict) or item.get("name"):
        return False
    return {"source", "target"} <= item.keys() or (item.keys() >= _FROM_TO and not item.get("id"))


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_NUMBER else math.inf


# `NaN` and `Infinity` are not JSON, but Python's encoder writes them. They invalidate one value, not the whole reply.
_DECODER = json.JSONDecoder(strict=False, parse_int=_integer)


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
