"""Maps words of a document to types and properties of the schema."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from whence.extract.schema import Schema
from whence.offline.rules import word_lists as lists
from whence.offline.rules.shapes import is_identifier
from whence.text.names import identifier_key

_key = lru_cache(maxsize=4096)(identifier_key)
_KINDS = {_key(word): kind for kind, words in lists.TYPE_WORDS.items() for word in words}
_SYNONYMS = {_key(word): tuple(map(_key, words)) for words in lists.PROPERTY_WORDS for word in words}
_RELATIONS = {_key(word): tuple(map(_key, words)) for words in lists.RELATION_WORDS for word in words}
_DEMAND = re.compile(r"\b(?:must|shall|should)\b", re.IGNORECASE)


class Vocabulary:
    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._types = _by_key(schema.object_types)
        self._relations = _by_key(schema.relationship_types)
        self._properties = {name: _by_key(kind.properties) for name, kind in schema.object_types.items()}

    def type_of(self, kind: str) -> str | None:
        """The schema's type for a kind, by its name or a synonym."""
        return _first(map(_key, lists.TYPE_WORDS[kind]), self._types)

    def type_named(self, word: str) -> str | None:
        """The type that a key, column head or heading names, by its own name or a synonym, singular or plural."""
        key = _key(word)
        for form in (key, re.sub(r"ies\Z", "y", key), key.removesuffix("s")):
            if found := self._types.get(form):
                return found
            if kind := _KINDS.get(form):
                return self.type_of(kind)
        return None

    def type_identified(self, identifier: str, text: str = "") -> str | None:
        """The type of the object with this identifier, by its prefix; an unknown prefix needs a demand in the text."""
        prefix = re.split(r"[\d-]", identifier, maxsplit=1)[0]
        if found := self._types.get(_key(prefix)):
            return found
        kind = next((kind for kind, prefixes in lists.PREFIXES.items() if prefix in prefixes), None)
        if kind is None and _DEMAND.search(text) and prefix not in lists.LISTS["foreign_prefixes"]:
            kind = "requirement"
        return self.type_of(kind) if kind else None

    def property_of(self, type_name: str, word: str) -> str | None:
        """The type's property for a word such as `Deadline`. An exact name beats a synonym."""
        key = _key(word)
        return _first((key, *_SYNONYMS.get(key, ())), self._properties[type_name])

    def relation_of(self, word: str) -> str | None:
        """The relationship type for a key such as `Depends on`."""
        key = _key(word)
        return _first((key, *_RELATIONS.get(key, ())), self._relations)

    def type_of_rows(self, heads: Sequence[str], names: Sequence[str] = (), heading: str = "") -> str | None:
        """The type of a table's rows: by their identifiers, a head or the heading, else, with names, by properties that one type has."""
        is_identified = names and all(map(is_identifier, names))
        if is_identified and (by_identifier := self.type_identified(names[0])):
            return by_identifier
        if by_head := next((found for head in heads if (found := self.type_named(head))), None):
            return by_head
        owners = [self._types_with(head) for head in heads]
        by_heading = self.type_named(heading) or self.type_named(heading.rpartition(" ")[2])
        has_names = not lists.LISTS["name_heads"].isdisjoint(head.lower() for head in heads)
        if by_heading and (has_names or any(by_heading in names for names in owners)):
            return by_heading
        only = {name for (name, *others) in filter(None, owners) if not others}
        return only.pop() if has_names and len(only) == 1 else None

    def _types_with(self, head: str) -> list[str]:
        """The types with a property for the column head."""
        return [name for name in self._properties if self.property_of(name, head)]


def _by_key(names: Iterable[str]) -> dict[str, str]:
    return {_key(name): name for name in names}


def _first(keys: Iterable[str], names: Mapping[str, str]) -> str | None:
    return next((names[key] for key in keys if key in names), None)
