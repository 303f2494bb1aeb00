"""Finds the schema's own types and properties for the words of a document."""

import re
from collections.abc import Iterator, Sequence

from whence.extract.schema import Schema, spelled
from whence.names import identifier_key
from whence.offline.rules.shapes import is_identifier, prefix_of
from whence.offline.rules.word_lists import (
    ANY_TYPE,
    DECISION_PREFIXES,
    FOREIGN_PREFIXES,
    PROPERTY_WORDS,
    RELATION_WORDS,
    REQUIREMENT_PREFIXES,
    TYPE_WORDS,
)

_KINDS = {identifier_key(word): kind for kind, words in TYPE_WORDS.items() for word in words}
_SYNONYMS = {identifier_key(word): words for words in PROPERTY_WORDS for word in words}
_RELATIONS = {identifier_key(word): words for words in RELATION_WORDS for word in words}
_DEMAND = re.compile(r"\b(?:must|shall|should)\b", re.IGNORECASE)
_TYPE_BY_NAME, _TYPE_BY_HEADING = 3.0, 2.0
_ENOUGH = 1.0
"""The score that a type of a table's rows needs: one property that no other type has."""


class Vocabulary:
    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def type_of(self, kind: str) -> str | None:
        """The schema's type for a kind of thing; else the only one whose description begins with that word."""
        types = self.schema.object_types
        for word in TYPE_WORDS[kind]:
            if found := spelled(word, types):
                return found
        begins = re.compile(rf"(?:an? |the )?{kind}s?\b", re.IGNORECASE)
        described = [name for name, each in types.items() if begins.match(each.description)]
        return described[0] if len(described) == 1 else None

    def type_named(self, word: str) -> str | None:
        """The type that a key, a column head or a heading names: its own name, or a usual word for its kind; also in the plural."""
        for form in _singulars(word):
            if found := self.schema.object_type_named(form):
                return found
            if kind := _KINDS.get(identifier_key(form)):
                return self.type_of(kind)
        return None

    def type_identified(self, identifier: str, text: str, *, is_expected: bool) -> str | None:
        """The type of what an identifier stands for. `is_expected` says that the heading speaks of requirements."""
        prefix = prefix_of(identifier)
        if found := self.schema.object_type_named(prefix):
            return found
        if prefix in DECISION_PREFIXES:
            return self.type_of("decision")
        is_demand = is_expected or _DEMAND.search(text) is not None
        is_requirement = prefix in REQUIREMENT_PREFIXES or (is_demand and prefix not in FOREIGN_PREFIXES)
        return self.type_of("requirement") if is_requirement else None

    def property_of(self, type_name: str, word: str) -> str | None:
        """The type's property for a word such as `Deadline`. Its own name goes before any synonym."""
        properties = self.schema.object_types[type_name].properties
        if found := spelled(word, properties):
            return found
        synonyms = _SYNONYMS.get(identifier_key(word), ())
        return next((found for each in synonyms if (found := spelled(each, properties))), None)

    def relation_of(self, word: str) -> str | None:
        """The relationship type for a key such as `Depends on`."""
        types = self.schema.relationship_types
        synonyms = (word, *_RELATIONS.get(identifier_key(word), ()))
        return next((found for each in synonyms if (found := spelled(each, types))), None)

    def type_of_rows(self, heads: Sequence[str], names: Sequence[str], heading: str) -> str | None:
        """The type that the rows of a table have: the one best match of heads, heading and identifiers."""
        scores = {name: self._score(name, heads, heading) for name in self.schema.object_types}
        if names and all(map(is_identifier, names)):
            prefix_type = self.type_identified(names[0], "", is_expected=False)
            if prefix_type:
                scores[prefix_type] += _TYPE_BY_NAME
        best = max(scores.values(), default=0.0)
        winners = [name for name, score in scores.items() if score == best]
        return winners[0] if best >= _ENOUGH and len(winners) == 1 else None

    def _score(self, type_name: str, heads: Sequence[str], heading: str) -> float:
        named = next((head for head in heads if self.type_named(head)), "")
        score = _TYPE_BY_NAME if named and self.type_named(named) == type_name else 0.0
        words = heading.split()
        if words and type_name in (self.type_named(heading), self.type_named(words[-1])):
            score += _TYPE_BY_HEADING
        return score + sum(self._weight(type_name, head) for head in heads)

    def _weight(self, type_name: str, head: str) -> float:
        """A property that many types have says little about which one it is."""
        name = self.property_of(type_name, head)
        if name is None or identifier_key(name) in ANY_TYPE or identifier_key(head) in ANY_TYPE:
            return 0.0
        return 1 / sum(self.property_of(each, head) is not None for each in self.schema.object_types)


def _singulars(word: str) -> Iterator[str]:
    yield word
    if word.endswith("ies"):
        yield f"{word[:-3]}y"
    if word.endswith("s"):
        yield word[:-1]
    if word.endswith("criteria"):
        yield f"{word[:-1]}on"
