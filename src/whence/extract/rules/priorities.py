"""Priorities as people write them, `Must have`, `P1`, `1 - High`, `Hoch`, in the values that a schema has for them."""

import re
from collections.abc import Mapping, Sequence

from whence.extract.schema import Property
from whence.extract.values import WrongValue, fitted
from whence.names import fold, identifier_key

# The first of a level that a schema has is its value.
_CHOICES: Sequence[Sequence[str]] = (
    ("critical", "blocker", "urgent", "highest"),
    ("must", "musthave", "high", "mandatory", "required", "essential"),
    ("should", "shouldhave", "medium", "recommended", "normal"),
    ("may", "low", "optional", "could", "couldhave", "nicetohave"),
    ("won't", "wont", "won'thave"),
)
_CRITICAL, _HIGH, _MEDIUM, _LOW, _NEVER = range(len(_CHOICES))
_INSTEAD: Mapping[int, int] = {_CRITICAL: _HIGH, _NEVER: _LOW}
"""Where a schema does not tell the outermost levels apart."""
_SAID: Mapping[int, str] = {
    _CRITICAL: "critical blocker urgent highest very_high showstopper p0 kritisch critique sehr_hoch",
    _HIGH: "must must_have mandatory required essential high major p1 hoch muss haute élevée alta",
    _MEDIUM: "should should_have medium normal moderate recommended p2 mittel soll sollte moyenne media",
    _LOW: "could could_have may nice_to_have optional low lowest minor trivial p3 p4 niedrig gering kann basse faible baja bassa",
    _NEVER: "won't won't_have wont wont_have will_not_have",
}
_LEVELS = {phrase.replace("_", " "): level for level, said in _SAID.items() for phrase in said.split()}
_NUMBER = re.compile(r"p?\d{1,2}")
_WORD = re.compile(r"[\w']+")
_MODALS = {"must": _HIGH, "shall": _HIGH, "should": _MEDIUM, "may": _LOW, "could": _LOW}


def of_modal(modal: str, wanted: Property) -> str | None:
    level = _MODALS.get(modal.lower())
    return None if level is None else _choice(level, wanted)


def as_priority(said: str, wanted: Property) -> str:
    """The schema's value for it, where that is plain; else what was said."""
    if not wanted.choices or fits(said, wanted):
        return said
    level = _level(said)
    return said if level is None else _choice(level, wanted) or said


def fits(said: str, wanted: Property) -> bool:
    try:
        fitted(said, wanted)
    except WrongValue:
        return False
    return True


def _is_as_it_stands(word: str, wanted: Property) -> bool:
    return fits(word, wanted) and bool(fitted(word, wanted) == word)


def _level(said: str) -> int | None:
    """By all of its words; a number beside them, `1 - High`, only orders them."""
    words = _WORD.findall(fold(said))
    named = " ".join(word for word in words if _NUMBER.fullmatch(word) is None)
    return _LEVELS.get(named or " ".join(words))


def _choice(level: int, wanted: Property) -> str | None:
    if not wanted.choices:
        return next((word for word in _CHOICES[level][:1] if _is_as_it_stands(word, wanted)), None)
    choices = [choice for choice in wanted.choices if isinstance(choice, str)]
    found = next(
        (choice for word in _CHOICES[level] for choice in choices if identifier_key(choice) == word), None
    )
    instead = _INSTEAD.get(level)
    return _choice(instead, wanted) if found is None and instead is not None else found
