"""Decides whether a sentence states a known value in the same way as the sentence from which it was claimed. Pure.

The sentence names the object, or has a word of the other sentence or of the property's name beside the value; a bare number needs such
a word in any case. Words around the object's name must not change the subject ("a rival of York", "York's rival", "Hull, unlike
York, ...") or the truth ("It is a myth that York ...", "False: York ..."), nor may the year of a quantity be another one.
docs/benchmarks.md has the measurement.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from whence.matching import read
from whence.matching.reading import COMMA, Token
from whence.text.content_words import words
from whence.text.word_lists import word_list

_SAID = re.compile(r"\w,?\s+(?:that|whether|dass|ob|che|dat)\b", re.IGNORECASE)
_HEAD = re.compile(r"(\w+)\s+(?:of|von|van|de|du|di)\s+(?:(?:the|an?)\s+)?\Z", re.IGNORECASE)
_OWNED = re.compile(r"['\u2019]s?\s+(\w+(?:\s\w+)?)")
_INTRODUCED = re.compile(r"\W*(\w+)\s?:\s")
_ASIDE = re.compile(r"[^\W\d_a-z]\w*,\s[^\W\d_A-Z]\w*\s[^,]*\Z")
"""Before a name between commas: another name, and the word that begins the aside."""
_YEAR = re.compile(r"\b(?:1\d|20)\d\d\b(?![.,]?\d)")
_NUMBER = re.compile(r"[\d.,\s]+")
_CASED = re.compile(r"(?<=[a-z])(?=[A-Z])|_")
_FORMS = frozenset(word_list("english", "legal_forms"))

Place = tuple[int, int]


class Said(NamedTuple):
    sentences: str
    """The sentence that the value was claimed from, and the other elements of its list."""
    labels: str
    """The names of the property and the type."""


def label(name: str) -> str:
    """The words of the name of a type or property."""
    return _CASED.sub(" ", name)


def is_restated(
    sentence: str, value: Place, names: Sequence[Place], said: Said, *, is_long: bool = False
) -> bool:
    """Whether the sentence states the value in the same way. `names` are the places of its object's name. A long value needs no
    further evidence.
    """
    known = _keys(said.sentences) | _keys(said.labels)
    own = [value, *names]
    first = min(own)[0]
    if _is_turned(sentence, first, names, known) or _is_of_another_year(sentence, value, said.sentences):
        return False
    near = _segment(_content(sentence), value)
    if names and not _is_joined(sentence, value, names, near=near, known=known, said=said.sentences):
        return False
    inside = {*words(" ".join(sentence[start:end] for start, end in own))}
    beside = [sentence[each.start : each.end] for each in _content(sentence) if not _is_in(each, own)]
    before = {*words(said.sentences)}
    is_shared = not before.union(words(said.labels)).isdisjoint(words(" ".join(beside)))
    has_no_more = bool(before) and before <= inside
    is_telling = bool(names) and not _NUMBER.fullmatch(sentence, *value)
    return is_long or is_telling or is_shared or has_no_more or all(_is_in(each, own) for each in near)


def _is_turned(sentence: str, first: int, names: Sequence[Place], known: set[str]) -> bool:
    """Whether unknown words before the first place, or around a name, change the subject or the truth of the sentence."""
    introduced = _INTRODUCED.match(sentence, 0, first)
    others = (
        _HEAD.search(sentence, 0, first),
        introduced,
        *(_OWNED.match(sentence, end) for _, end in names),
    )
    return (
        _SAID.search(sentence, 0, first) is not None
        or any(other and not _keys(other[1]) <= known for other in others)
        or any(sentence.startswith(",", end) and _ASIDE.search(sentence, 0, start) for start, end in names)
    )


def _is_of_another_year(sentence: str, value: Place, said: str) -> bool:
    """Whether a quantity has a year beside it that the known sentence does not have. A date has years of its own."""
    start, end = value
    inside, beside = sentence[start:end], f"{sentence[:start]} {sentence[end:]}"
    is_quantity = any(map(str.isdigit, inside)) and not _YEAR.search(inside)
    return is_quantity and not set(_YEAR.findall(said)).issuperset(_YEAR.findall(beside))


def _is_joined(
    sentence: str,
    value: Place,
    names: Sequence[Place],
    *,
    near: Sequence[Token],
    known: set[str],
    said: str,
) -> bool:
    """Whether the words between name and value fit. A number needs words of the known sentence; for a name, they must not be the
    same words in another order.
    """
    name = min(names, key=lambda each: abs(each[0] - value[0]))
    (_, low), (high, _) = sorted((name, value))
    between = {each.key for each in near if low <= each.start < high}
    if between - known - _FORMS:
        return not _NUMBER.fullmatch(sentence, *value)
    one, other = (said.find(sentence[slice(*each)]) for each in (name, value))
    is_turned = one >= 0 and other >= 0 and (one < other) != (name < value)
    return not (between and is_turned and sentence[value[0]].isupper())


@lru_cache(maxsize=256)  # all places of a value are compared with the same sentences
def _content(text: str) -> tuple[Token, ...]:
    return read(text).content


def _keys(text: str) -> set[str]:
    return {each.key for each in _content(text)}


def _segment(content: Sequence[Token], value: Place) -> Sequence[Token]:
    """The words around the value up to the next pause on both sides."""
    inside = [at for at, each in enumerate(content) if _is_in(each, [value])] or [0]
    first, last = inside[0], inside[-1]
    while first and content[first - 1].after < COMMA:
        first -= 1
    while last + 1 < len(content) and content[last].after < COMMA:
        last += 1
    return content[first : last + 1]


def _is_in(word: Token, places: Sequence[Place]) -> bool:
    return any(start < word.end and word.start < end for start, end in places)
