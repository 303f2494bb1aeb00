"""The word lists of `words.toml`."""

import tomllib
from collections.abc import Mapping
from importlib.resources import files

from whence.text.dates import MONTHS

_DATA = tomllib.loads((files(__package__) / "words.toml").read_text(encoding="utf-8"))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split(", ") if ", " in text else text.split())


TYPE_WORDS: Mapping[str, tuple[str, ...]] = {kind: _words(text) for kind, text in _DATA["types"].items()}
NOUNS: Mapping[str, tuple[str, ...]] = {kind: _words(text) for kind, text in _DATA["nouns"].items()}
PREFIXES: Mapping[str, tuple[str, ...]] = {kind: _words(text) for kind, text in _DATA["prefixes"].items()}
PROPERTY_WORDS = tuple(map(_words, _DATA["synonyms"]["properties"]))
RELATION_WORDS = tuple(map(_words, _DATA["synonyms"]["relationships"]))
LISTS: Mapping[str, frozenset[str]] = {name: frozenset(_words(text)) for name, text in _DATA["lists"].items()}

PEOPLE_KEYS = LISTS["people_keys"] | LISTS["owner_keys"]
NO_NAMES = LISTS["no_names"]
NO_TERMS = LISTS["no_terms"] | NO_NAMES
ORGANIZATION_ENDINGS = LISTS["organization_endings"]
NO_PEOPLE = NO_NAMES.union(MONTHS, map(str.lower, ORGANIZATION_ENDINGS))
