"""Finds the place where a passage states a sentence: the same content words in the same order. Pure.

A clause may have moved. A part of a sentence counts only if it is a main clause, bounded by the ends of the sentence, a
semicolon, or a comma with "and" or "but", so that no condition, exception or speaker is left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from typing import Literal, NamedTuple

from whence.matching.reading import (
    CLAUSE,
    COMMA,
    END,
    JOINT,
    QUESTION,
    RELATIVE,
    STOP,
    Reading,
    Token,
    is_turn,
    read,
    without_origin,
)

Level = Literal["verbatim", "close", "loose", "none"]
SCORES: Mapping[Level, float] = {"verbatim": 1.0, "close": 0.9, "loose": 0.8, "none": 0.0}
"""The score of each level; for `loose`, the maximum."""

_LEAST = 3  # minimum content words of a part, and of a sentence whose clauses are exchanged
_MOST = 60  # maximum of the same, and of the words around a place that are read
_MOST_STEPS = 100_000
"""Maximum number of places of the first word to try. In a text of one repeated character, every character is one."""


class Verdict(NamedTuple):
    level: Level
    score: float
    start: int
    """Start and end in the passage."""
    end: int


def match(sentence: str, passages: Sequence[Reading]) -> list[Verdict | None]:
    """The place in each passage; at most `close` if "According to the report," was added."""
    said, bare = read(sentence), without_origin(sentence)
    found = [_match(said, passage) for passage in passages]
    if bare != sentence:
        said = read(bare)
        found = [
            one or _match(said, passage, is_same=False) for one, passage in zip(found, passages, strict=True)
        ]
    return found


def _match(sentence: Reading, passage: Reading, *, is_same: bool = True) -> Verdict | None:
    said = sentence.content
    places = [place for place in _places(said, passage) if len(place) == len(said)]
    for place in places:
        if is_same and _is_same(sentence, passage, place):
            return _found("verbatim", passage, place)
    if _LEAST <= len(said) <= _MOST:
        places += _exchanged(said, passage)
    return next((_found("close", passage, place) for place in places if _is_clause(passage, place)), None)


def match_parts(sentence: str, passages: Sequence[Reading]) -> dict[int, Verdict]:
    """The passages that together state the sentence, each a part of it; empty if a part is in none."""
    said = read(without_origin(sentence)).content
    said = said if len(said) <= _MOST else ()
    found: dict[int, Verdict] = {}
    while said:
        parts = [
            (len(place), number, place)
            for number, passage in enumerate(passages)
            if number not in found
            for place in _parts(said, passage)
        ]
        longest = max(parts, default=(0,))[0]
        if not longest:
            return {}
        found |= {n: _found("close", passages[n], place) for length, n, place in parts if length == longest}
        said = said[longest:]
    return found


def _places(said: Sequence[Token], passage: Reading) -> Iterator[list[int]]:
    """For each place of the first word, the indexes of the following words, as long as they are in order."""
    content = passage.content
    starts = passage.places.get(said[0].key, []) if said else []
    for start in starts[: max(100, _MOST_STEPS // max(len(said), 1))]:
        place = [start]
        for before, word in pairwise(said):
            at = place[-1] + 1
            if at == len(content) or content[at].key != word.key:
                break
            if before.after < JOINT and content[at - 1].after >= CLAUSE:
                break  # the end of one sentence and the start of the next
            place.append(at)
        yield place


def _exchanged(said: Sequence[Token], passage: Reading) -> Iterator[list[int]]:
    """The places of the sentence with its clauses exchanged, if one of the texts has two clauses.

    If words stay in their place, something other than clauses was exchanged, and there is no match.
    """
    for cut in range(1, len(said)):
        turned = (*said[cut:], *said[:cut])
        if sum(one.key == other.key for one, other in zip(said, turned, strict=True)) >= len(said) / 3:
            continue
        for place in _places(turned, passage):
            if len(place) == len(said):
                border = passage.content[place[-cut - 1]].after
                if max(border, said[cut - 1].after) >= JOINT and border < END:
                    yield place


def _parts(said: Sequence[Token], passage: Reading) -> Iterator[list[int]]:
    """For each place of the first word, the longest clause that begins there."""
    for place in _places(said, passage):
        for length in range(len(place), _LEAST - 1, -1):
            if said[length - 1].after >= JOINT and _is_clause(passage, place[:length]):
                yield place[:length]
                break


def _is_same(sentence: Reading, passage: Reading, place: Sequence[int]) -> bool:
    """Whether it is one or more whole sentences of the passage, word for word."""
    begin = passage.content[place[0]].place - sentence.content[0].place
    end = begin + len(sentence.words)
    return passage.borders.issuperset((begin, end)) and passage.words[begin:end] == sentence.words


def _is_clause(passage: Reading, place: Sequence[int]) -> bool:
    content, first, last = passage.content, place[0], place[-1]
    return _begins(content[max(first - _MOST, 0) : first]) and _ends(content[last : last + _MOST])


def _begins(before: Sequence[Token]) -> bool:
    """Whether a sentence or a later main clause begins here: no comma and no "that" before it in its sentence."""
    if not before or before[-1].after >= STOP:
        return True
    inside = takewhile(lambda one: one.after != END, reversed(before))
    return before[-1].after == CLAUSE and all(one.after not in (RELATIVE, COMMA) for one in inside)


def _ends(behind: Sequence[Token]) -> bool:
    """Whether a sentence or a main clause ends with the first of these words, and the sentence is no question."""
    if behind[0].after != CLAUSE:
        return behind[0].after >= STOP
    end = next((one for one in behind if one.after == END), behind[-1])
    return not is_turn(behind[1].key) and end.key not in QUESTION


def _found(level: Level, passage: Reading, place: Sequence[int]) -> Verdict:
    return Verdict(level, SCORES[level], passage.content[min(place)].start, passage.content[max(place)].end)
