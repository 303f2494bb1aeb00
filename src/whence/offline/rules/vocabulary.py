"""Maps words of a document to types and properties of the schema."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from whence.extract.schema import Schema
from whence.offline.rules import word_lists as lists
from whence.offline.rules.shapes import is_identifier, prefix_of
from whence.text.names import identifier_key

_key = lru_cache(maxsize=4096)(identifier_key)
_KINDS = {_key(word): kind for kind, words in lists.TYPE_WORDS.items() for word in words}
_SYNONYMS = {_key(word): tuple(map(_key, words)) for words in lists.PROPERTY_WORDS for word in words}
_RELATIONS = {_key(word): tuple(map(_key, words)) for words in lists.RELATION_WORDS for word in words}
_DEMAND = re.compile(r"\b(?:must|shall|should)\b", re.IGNORECASE)
# Scores for the type of a table's rows. A property that only one type has is enough, and so is the type's name in the head.
_ENOUGH = 1.0
_NAMED_IN_HEAD, _NAMED_IN_HEADING, _HAS_NAMES = 3.0, 0.75, 0.25


class Vocabulary:
    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._types = _by_key(schema.object_types)
        self._relations = _by_key(schema.relationship_types)
        self._properties = {name: _by_key(kind.properties) for name, kind in schema.object_types.items()}

    def type_of(self, kind: str) -> str | None:
        """The schema's type for a kind, by name; else the only type whose description begins with the kind."""
        if found := _first(map(_key, lists.TYPE_WORDS[kind]), self._types):
            return found
        begins = re.compile(rf"(?:an? |the )?{kind}s?\b", re.IGNORECASE)
        described = [
            name for name, each in self.schema.object_types.items() if begins.match(each.description)
        ]
        return described[0] if len(described) == 1 else None

    def type_named(self, word: str) -> str | None:
        """The type that a key, column head or heading names, by its own name or a synonym, singular or plural."""
        for form in _singulars(_key(word)):
            if found := self._types.get(form):
                return found
            if kind := _KINDS.get(form):
                return self.type_of(kind)
        return None

    def type_identified(self, identifier: str, text: str, *, is_expected: bool) -> str | None:
        """The type of the object with this identifier. `is_expected`: the heading announces requirements."""
        prefix = prefix_of(identifier)
        if found := self._types.get(_key(prefix)):
            return found
        if prefix in lists.DECISION_PREFIXES:
            return self.type_of("decision")
        is_demand = is_expected or _DEMAND.search(text) is not None
        is_requirement = prefix in lists.REQUIREMENT_PREFIXES or (
            is_demand and prefix not in lists.FOREIGN_PREFIXES
        )
        return self.type_of("requirement") if is_requirement else None

    def property_of(self, type_name: str, word: str) -> str | None:
        """The type's property for a word such as `Deadline`. An exact name beats a synonym."""
        key = _key(word)
        return _first((key, *_SYNONYMS.get(key, ())), self._properties[type_name])

    def relation_of(self, word: str) -> str | None:
        """The relationship type for a key such as `Depends on`."""
        key = _key(word)
        return _first((key, *_RELATIONS.get(key, ())), self._relations)

    def type_of_rows(self, heads: Sequence[str], names: Sequence[str] = (), heading: str = "") -> str | None:
        """The type of a table's rows: the one with the highest score from column heads, heading and identifiers."""
        scores = {name: sum(self._weight(name, head) for head in heads) for name in self.schema.object_types}
        by_head = next((found for head in heads if (found := self.type_named(head))), None)
        if names and all(map(is_identifier, names)):
            by_head = self.type_identified(names[0], "", is_expected=False) or by_head
        by_heading = self.type_named(heading) or self.type_named(heading.rpartition(" ")[2])
        has_names = not lists.NAME_HEADS.isdisjoint(head.lower() for head in heads)
        if by_head:
            scores[by_head] += _NAMED_IN_HEAD
        if by_heading:
            scores[by_heading] += _NAMED_IN_HEADING + (_HAS_NAMES if has_names else 0)
        best = max(scores.values(), default=0.0)
        winners = [name for name, score in scores.items() if score == best]
        return winners[0] if best >= _ENOUGH and len(winners) == 1 else None

    def _weight(self, type_name: str, head: str) -> float:
        """The score of a column head for a type. A property of many types counts little."""
        name = self.property_of(type_name, head)
        if name is None or not lists.ANY_TYPE.isdisjoint((_key(name), _key(head))):
            return 0.0
        return 1 / sum(self.property_of(each, head) is not None for each in self._properties)


def _by_key(names: Iterable[str]) -> dict[str, str]:
    return {_key(name): name for name in names}


def _first(keys: Iterable[str], names: Mapping[str, str]) -> str | None:
    return next((names[key] for key in keys if key in names), None)


def _singulars(word: str) -> Iterator[str]:
    yield word
    if word.endswith("ies"):
        yield f"{word[:-3]}y"
    if word.endswith("s"):
        yield word[:-1]
    if word.endswith("criteria"):
        yield f"{word[:-1]}on"
