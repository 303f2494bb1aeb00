"""The word lists of `words.toml`."""

import tomllib
from collections.abc import Mapping
from importlib.resources import files

_DATA = tomllib.loads((files(__package__) / "words.toml").read_text(encoding="utf-8"))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split(", ") if ", " in text else text.split())


def _listed(name: str) -> frozenset[str]:
    return frozenset(_words(_DATA["lists"][name]))


TYPE_WORDS: Mapping[str, tuple[str, ...]] = {kind: _words(text) for kind, text in _DATA["types"].items()}
NOUNS: Mapping[str, frozenset[str]] = {kind: frozenset(text.split()) for kind, text in _DATA["nouns"].items()}
PROPERTY_WORDS = tuple(map(_words, _DATA["synonyms"]["properties"]))
RELATION_WORDS = tuple(map(_words, _DATA["synonyms"]["relationships"]))

ANY_TYPE = _listed("any_type")
NAME_HEADS = _listed("name_heads")
OWNER_KEYS = _listed("owner_keys")
PRESENT_KEYS = _listed("present_keys")
PEOPLE_KEYS = _listed("people_keys") | OWNER_KEYS | PRESENT_KEYS
TERM_HEADINGS = _listed("term_headings")
PART_HEADINGS = _listed("part_headings")
REQUIREMENT_HEADINGS = _listed("requirement_headings")
EVENT_WORDS = _listed("event_words")
COMPONENT_ENDINGS = _listed("component_endings")
ORGANIZATION_ENDINGS = _listed("organization_endings")
REQUIREMENT_PREFIXES = _listed("requirement_prefixes")
DECISION_PREFIXES = _listed("decision_prefixes")
FOREIGN_PREFIXES = _listed("foreign_prefixes")
AFTER_NOUN = _listed("after_noun")
PHRASE_ENDS = _listed("phrase_ends")
NO_NAMES = _listed("no_names")
NO_TERMS = _listed("no_terms") | NO_NAMES
NO_PARTS = _listed("no_parts") | NO_TERMS
NO_PEOPLE = (
    _listed("no_people") | NO_NAMES | COMPONENT_ENDINGS | {word.lower() for word in ORGANIZATION_ENDINGS}
)
