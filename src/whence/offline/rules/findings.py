"""Collects the results of the rules in the shape of a model's reply."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from whence.extract.context import KnownObject
from whence.offline.rules.shapes import bare
from whence.offline.rules.vocabulary import Vocabulary
from whence.text.names import identifier_key, name_key

MAX_NAME = 120
_RESERVED = frozenset(["id", "type", "name"])


class Subject(NamedTuple):
    """An object that was found and may get more properties."""

    type: str
    name_key: str


class Findings:
    def __init__(self, vocabulary: Vocabulary, known: Sequence[KnownObject]) -> None:
        self.vocabulary = vocabulary
        self._known = {name_key(each.name): each for each in reversed(known)}
        self._ids = {Subject(each.type, name_key(each.name)): str(each.id) for each in known}
        self._names = {key: each.name for key, each in self._known.items()}
        self._found: dict[Subject, dict[str, str]] = {}
        self._links: dict[tuple[str, str, str], None] = {}

    def add(
        self, type_name: str | None, name: str, properties: Mapping[str, str] | None = None
    ) -> Subject | None:
        """Adds an object with its properties. None if the schema has no such type, or the name is not usable."""
        name = bare(" ".join(name.split())).strip(" \"“”'’:;,")
        if type_name is None or not 1 < len(name) <= MAX_NAME or not any(map(str.isalnum, name)):
            return None
        subject = self._as_known(Subject(type_name, name_key(name)))
        if subject not in self._found:
            self._found[subject] = {"name": name}
            self._names.setdefault(subject.name_key, name)
        for word, value in (properties or {}).items():
            self.set_property(subject, word, value)
        return subject

    def add_kind(self, kind: str, name: str, properties: Mapping[str, str] | None = None) -> Subject | None:
        return self.add(self.vocabulary.type_of(kind), name, properties)

    def set_property(self, subject: Subject, word: str, value: str, *, is_additional: bool = False) -> bool:
        """Sets a property; the last value counts. False if the type has none for the word and allows no additional one."""
        kind = self.vocabulary.schema.object_types[subject.type]
        name = self.vocabulary.property_of(subject.type, word)
        if is_additional and kind.additional_properties and identifier_key(word) not in _RESERVED:
            name = name or word
        text = bare(" ".join(value.split()))
        if name is None or not text:
            return False
        self._found[subject][name] = text
        return True

    def link(self, relation: str | None, source: str, target: str) -> None:
        """Adds a relationship. Both ends are names of found or known objects."""
        if relation is not None and name_key(source) != name_key(target):
            self._links.setdefault((relation, source, target))

    def named(self, text: str) -> str | None:
        """The name of the found or known object that the text names."""
        return self._names.get(name_key(text))

    def name_of(self, subject: Subject) -> str:
        return self._found[subject]["name"]

    def reply(self) -> dict[str, Any]:
        """Includes values that the graph already has: the merge counts the chunk as a second source."""
        objects = [
            {"id": self._ids[subject], **found} if subject in self._ids else {"type": subject.type, **found}
            for subject, found in self._found.items()
        ]
        links = [
            {"type": relation, "source": source, "target": target} for relation, source, target in self._links
        ]
        return {"objects": objects, "relationships": links}

    def _as_known(self, subject: Subject) -> Subject:
        """The subject with the graph's type, if an object of that name is known under another type."""
        known = self._known.get(subject.name_key)
        if known is None or subject in self._ids:
            return subject
        is_usable = known.type in self.vocabulary.schema.object_types
        return Subject(known.type, subject.name_key) if is_usable else subject
