"""What the rules have found so far, in the shape of a model's reply."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from whence.extract.base import KnownObject
from whence.extract.rules.vocabulary import Role, Vocabulary
from whence.names import name_key

MAX_NAME = 120
_MAX_SAID = 200
"""Characters of a name that is a sentence."""
_SAID: frozenset[Role] = frozenset(["requirement", "task", "decision"])


class Subject(NamedTuple):
    """An object that was found, to be told more about."""

    type: str
    name_key: str


class Findings:
    def __init__(self, vocabulary: Vocabulary, known: Sequence[KnownObject]) -> None:
        self._vocabulary = vocabulary
        self._known = {name_key(each.name): each for each in reversed(known)}
        self._known_types = {(each.type, name_key(each.name)) for each in known}
        self.noted: list[str] = []
        """Sentences that relate something, to be read when everything is found."""
        self.trusted: frozenset[str] = frozenset()
        """Prefixes of identifiers that are those of requirements here."""
        self._found: dict[Subject, dict[str, Any]] = {}
        self._ranks: dict[Subject, tuple[str, str]] = {}
        self._spoken_of: dict[Subject, str] = {}
        self._titles: dict[Subject, dict[str, str]] = {}
        self._links: dict[tuple[str, str, str], None] = {}
        self._names: dict[str, str] = {key: each.name for key, each in self._known.items()}
        self._terms: set[str] = set()
        self._types: dict[str, str] = {key: each.type for key, each in self._known.items()}
        self._people: dict[str, set[str]] = {}
        for each in known:
            self._note_person(each.type, each.name)

    def add(self, role: Role, name: str, properties: Mapping[str, str] | None = None) -> Subject | None:
        """None where the schema has no such type. Properties are words of the vocabulary."""
        subject = self.speak_of(role, name)
        if subject is None:
            return None
        self._find(subject)
        for word, value in (properties or {}).items():
            self.tell(subject, word, value)
        return subject

    def speak_of(self, role: Role, name: str) -> Subject | None:
        """What is found only once something is told of it."""
        name = _bare(" ".join(name.split())).strip(" \"“”'’:;,")
        type_name = self._vocabulary.type_of(role)
        longest = _MAX_SAID if role in _SAID else MAX_NAME
        if type_name is None or not 1 < len(name) <= longest or not any(map(str.isalnum, name)):
            return None
        subject = self._as_known(Subject(type_name, name_key(name)))
        self._spoken_of.setdefault(subject, name)
        return subject

    def tell(self, subject: Subject, word: str, value: str) -> bool:
        """Whether the schema has a property for it. The first value counts."""
        name = self._vocabulary.property_of(subject.type, word)
        text = _bare(" ".join(value.split()))
        if name is None or not text:
            return False
        self._find(subject).setdefault(name, self._vocabulary.said(subject.type, name, text))
        return True

    def entitle(self, subject: Subject, word: str, value: str) -> None:
        """What stands for a property of which nothing is told."""
        name = self._vocabulary.property_of(subject.type, word)
        if name is not None and (text := _bare(" ".join(value.split()))):
            self._titles.setdefault(subject, {}).setdefault(name, text)

    def rank(self, subject: Subject, modal: str) -> None:
        """What `must` or `should` says about how important it is, unless the text says so itself."""
        if found := self._vocabulary.priority(subject.type, modal):
            self._ranks.setdefault(subject, found)

    def add_spoken_of(self, subject: Subject) -> None:
        self._find(subject)

    def link(self, word: str, source: str, target: str) -> None:
        """Between two that are found, or known."""
        type_name = self._vocabulary.link_of(word)
        if type_name is not None and name_key(source) != name_key(target):
            self._links.setdefault((type_name, source, target))

    def has_link(self, word: str) -> bool:
        return self._vocabulary.link_of(word) is not None

    def call(self, name: str, term: str) -> None:
        """Another name that a text has for something: `(the “Supplier”)`. It names that thing only where it is known."""
        key = name_key(term)
        self._terms.add(key)
        self._names.pop(key, None)
        if (found := self._names.get(name_key(name))) is not None:
            self._names[key] = found

    def abbreviate(self, subject: Subject, short: str) -> None:
        self._names.setdefault(name_key(short), self.name_of(subject))

    @property
    def has_parties(self) -> bool:
        """Whether the text is a contract, as far as it says so."""
        return bool(self._terms)

    def is_called(self, text: str) -> bool:
        """Whether the text is such another name."""
        return name_key(text) in self._terms

    def named(self, text: str) -> str | None:
        """The name of what was found, or was known before, if the text is a name of it."""
        return self._names.get(name_key(text))

    def name_of(self, subject: Subject) -> str:
        return self._spoken_of[subject]

    def by_first_name(self, first: str) -> str | None:
        """The full name of the one person who is called so."""
        found = self._people.get(name_key(first), set())
        return next(iter(found)) if len(found) == 1 else None

    def is_any(self, name: str, roles: Iterable[Role]) -> bool:
        return self._types.get(name_key(name)) in {self._vocabulary.type_of(role) for role in roles}

    def reply(self) -> dict[str, Any]:
        objects = [self._body(subject) for subject in self._found]
        links = [{"type": kind, "source": source, "target": target} for kind, source, target in self._links]
        return {"objects": objects, "relationships": links}

    def _allows(self, subject: Subject, name: str, said: str | None) -> bool:
        return said is not None and self._vocabulary.allows(subject.type, name, said)

    def _find(self, subject: Subject) -> dict[str, Any]:
        if subject not in self._found:
            name = self._spoken_of[subject]
            self._found[subject] = {"name": name}
            self._names.setdefault(subject.name_key, name)
            self._types.setdefault(subject.name_key, subject.type)
            self._note_person(subject.type, name)
        return self._found[subject]

    def _note_person(self, type_name: str, name: str) -> None:
        if type_name == self._vocabulary.type_of("person"):
            key = name_key(name)
            self._people.setdefault(key.partition(" ")[0], set()).add(self._names.get(key, name))

    def _as_known(self, subject: Subject) -> Subject:
        """Under the type that the graph has it under, where it is known by that name as something else."""
        known = self._known.get(subject.name_key)
        if known is None or (subject.type, subject.name_key) in self._known_types:
            return subject
        return (
            Subject(known.type, subject.name_key)
            if known.type in self._vocabulary.schema.object_types
            else subject
        )

    def _body(self, subject: Subject) -> dict[str, Any]:
        """All that was said, also what is known already: the merge counts it as a second source."""
        rank = self._ranks.get(subject)
        said = {**self._titles.get(subject, {}), **self._found[subject]}
        if rank is not None and not self._allows(subject, rank[0], said.get(rank[0])):
            said[rank[0]] = rank[1]
        known = self._known.get(subject.name_key)
        if known is None or known.type != subject.type:
            return {"type": subject.type, **said}
        return {"id": str(known.id), **said}


def _bare(text: str) -> str:
    """Without what only makes it bold, or code; where that is a part of it, as it stands, so that it can be quoted."""
    bare = text.strip(" *_`")
    is_whole = all(bare.count(mark) % 2 == 0 for mark in ("**", "`"))
    return bare if is_whole else text.strip()
