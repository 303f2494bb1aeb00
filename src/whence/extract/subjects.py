"""Decides which object a sentence is about, by the names in it. Pure.

A sentence is about the objects that it names. A sentence without names continues the one before it, in the same paragraph or its
heading. Rows of tables and items of lists are sentences. docs/benchmarks.md has the measurement.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from whence.chunk.boundaries import Sentence
from whence.extract.grounding import SearchableText
from whence.extract.mentions import Mentions
from whence.text.aliases import TypedName, capitalised, is_short_for
from whence.text.names import fold, identifier_key, name_key

_BLANK_LINE = re.compile(r"\n\s*\n")

Place = tuple[int, int]


class Subjects:
    """Finds the subjects of sentences. `objects` are the candidates."""

    def __init__(
        self,
        text: SearchableText,
        sentences: Sequence[Sentence],
        objects: Iterable[TypedName],
        mentions: Mentions,
    ) -> None:
        self._text = text
        self._sentences = [(each.start_offset, each.end_offset) for each in sentences]
        self._objects = list(dict.fromkeys(objects))
        self._mentions = mentions
        self._places: dict[TypedName, list[Place]] = {}
        self._sides: dict[str, tuple[list[Place], list[Place]]] = {}

    def is_about_another(self, start: int, of: str) -> bool:
        """Whether the words at this place are about another object of the same type, and not about the one named `of`.

        A name counts if it precedes the words in their sentence. Without one, the sentence before decides.
        """
        own, others = self._find_sides(of)
        if not others:
            return False
        index = self._at(start)
        low, high = self._sentences[index]
        if _any(own, low, high) or _any(others, low, high):
            return not _any(own, low, high) and _any(others, low, start)
        before = self._before(index)
        return before is not None and not _any(own, *before) and _any(others, *before)

    def is_about(self, start: int, end: int, of: str, label: str) -> bool | None:
        """Whether the words are about the object; None if no name is near. `label`, the name of a property, is not taken for a
        name.

        If their sentence also names others of the type, the last name before the words counts.
        """
        own, others = self._whole(of), self._find_sides(of)[1]
        index = self._at(start)
        low, high = self._sentences[index]
        if _any(own, low, high):
            nearest = max((each for each in (*own, *others) if low <= each[0] < start), default=None)
            return nearest is None or nearest in own
        strangers = _outside(self._names(label), [*own, (start, end)])
        if _any(strangers, low, high):
            return False
        while (before := self._before(index)) is not None:
            if _any(own, *before):
                return not _any(others, *before)
            if _any(strangers, *before):
                return False
            index -= 1
        return None

    def names_in(self, low: int, high: int, of: str) -> list[Place]:
        """The places of the object's name between two offsets. A part of a longer name does not count."""
        return [each for each in self._whole(of) if low <= each[0] < high]

    def _whole(self, of: str) -> list[Place]:
        return [each for each in self._find_sides(of)[0] if self._text.is_whole_name(*each)]

    def _find_sides(self, of: str) -> tuple[list[Place], list[Place]]:
        """The places of the object's name, and of other names of its type."""
        if of not in self._sides:
            key = name_key(of)
            selves = [each for each in self._objects if name_key(each.name) == key]
            types = {each.type for each in selves}
            rivals = [
                each
                for each in self._objects
                if each.type in types and name_key(each.name) != key and not _may_be_one(each.name, of)
            ]
            own = [place for each in selves or [TypedName("", of)] for place in self._find(each)]
            others = [place for each in rivals for place in self._find(each)]
            self._sides[of] = _outside(own, others, but_equal=True), _outside(others, own)
        return self._sides[of]

    def _find(self, named: TypedName) -> list[Place]:
        if named not in self._places:
            alias, found = self._mentions.alias(*named), self._mentions.find(*named)
            called = [found] if found and fold(found.quote) != fold(named.name) else []
            self._places[named] = [
                *filter(self._is_spelled_like(named.name), self._text.places(named.name)),
                *(self._text.places(alias.quote) if alias else ()),
                *((each.start, each.end) for each in called),
            ]
        return self._places[named]

    def _is_spelled_like(self, name: str) -> Callable[[Place], bool]:
        """A single word must have its capitals: "target" does not name Target."""
        is_any = " " in name or name == fold(name)
        return lambda place: is_any or self._text.text[slice(*place)] == name

    def _names(self, label: str) -> list[Place]:
        """Capitalised words, except the label of a value."""
        return [place for place, words in self._capitalised if words not in identifier_key(label)]

    @cached_property
    def _capitalised(self) -> list[tuple[Place, str]]:
        return [
            ((run.start, run.end), identifier_key(fold(" ".join(run.words))))
            for run in capitalised(self._text.text)
            if any(word[0].isupper() for word in run.words)
        ]

    def _at(self, place: int) -> int:
        return max(0, bisect_right(self._sentences, place, key=lambda each: each[0]) - 1)

    def _before(self, index: int) -> Place | None:
        """Index of the sentence that this one may continue."""
        if index == 0:
            return None
        low, high = self._sentences[index - 1]
        between = self._text.text[low : self._sentences[index][0]]
        return (low, high) if between.startswith("#") or not _BLANK_LINE.search(between) else None


def _any(places: Iterable[Place], low: int, high: int) -> bool:
    return any(low <= start < high for start, _ in places)


def _outside(places: list[Place], others: list[Place], *, but_equal: bool = False) -> list[Place]:
    """The places that are not inside others: not "Target" in "Target Field"."""
    return [
        (start, end)
        for start, end in places
        if not any(
            low <= start and end <= high and not (but_equal and (start, end) == (low, high))
            for low, high in others
        )
    ]


def _may_be_one(one: str, other: str) -> bool:
    return is_short_for(one, other) or is_short_for(other, one)
