"""Pairs of names that may mean the same: initials, containment, spelling. Pure.

The cost grows with the number of names, not with the number of pairs: candidates are looked up by initials and words.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from rapidfuzz.distance import OSA

from whence.text.names import fold

_WORD = re.compile(r"\w[\w+#]*")
_DIGIT = re.compile(r"\d")
_MOST_ALIKE = 3
"""A name that more names contain is a general term."""
_LONGEST_SHORT = 8
_LEAST_WORD = 4
"""Length of the shortest word that may be misspelt: "plan a" and "plan b" are two plans."""
_LEAST_SHARE = 0.5
_JOINED = frozenset(("and", "und", "et", "y", "e"))
"""Words that join two names into another one."""

Pairs = Iterator[tuple[int, int, str, float]]
"""Positions of two names, the reason, and a score from 0 to 1."""


def similar_names(names: Sequence[str]) -> Pairs:
    """Pairs of names with a reason (`initials`, `containment`, `spelling`) and a score. Names that differ in a number do not count."""
    folded = [_WORD.findall(fold(name)) for name in names]
    yield from _by_initials(names)
    yield from _by_containment(folded)
    yield from _by_spelling(names, folded)


def _by_initials(names: Sequence[str]) -> Pairs:
    """`ASEAN` and `Association of Southeast Asian Nations`: letters from inside a word may be added to its initial."""
    long = defaultdict[str, list[int]](list)
    for at, name in enumerate(names):
        for words in {tuple(_needed_words(name)), tuple(_WORD.findall(name.lower()))}:
            if len(words) > 1:
                long["".join(word[0] for word in words)].append(at)
    for at, name in enumerate(names):
        if not _is_short(name):
            continue
        letters = name.lower()
        found = [
            other
            for initials in sorted(_subsequences(letters))
            for other in long.get(initials, ())
            if _abbreviates(letters, _WORD.findall(names[other].lower()), _needed_words(names[other]))
        ]
        if len(found) <= _MOST_ALIKE:
            score = 0.9 if letters[2:] else 0.7  # two letters are the initials of much
            yield from ((at, other, "initials", score) for other in found)


def _is_short(name: str) -> bool:
    if len(name) > _LONGEST_SHORT or not name.isalpha():
        return False
    capitals = sum(letter.isupper() for letter in name)
    return 1 < capitals <= len(name) <= 2 * capitals


def _needed_words(name: str) -> list[str]:
    """The words without `of` and the like, which begin with a small letter where others have a capital."""
    words = _WORD.findall(name)
    capital = [word.lower() for word in words if word[0].isupper()]
    return capital or [word.lower() for word in words]


def _subsequences(letters: str) -> set[str]:
    """The subsequences with the first letter and at least three quarters of all letters."""
    least = max(2, -(-3 * len(letters) // 4))
    return {
        letters[0] + "".join(rest)
        for length in range(least - 1, len(letters))
        for rest in combinations(letters[1:], length)
    }


def _abbreviates(letters: str, words: Sequence[str], needed: Sequence[str]) -> bool:
    """Whether the letters are the initials of the words in order, each followed by any further letters of its word."""
    ends = {0}
    for word in words:
        reached = {at + 1 for at in ends if letters[at : at + 1] == word[0]}
        for letter in word[1:]:
            reached |= {at + 1 for at in reached if letters[at : at + 1] == letter}
        ends = reached if word in needed else ends | reached
    return len(letters) in ends


def _by_containment(names: Sequence[Sequence[str]]) -> Pairs:
    """`Ministry of Finance` and `Ministry of Finance of Singapore`. The words are adjacent, and no other name is joined."""
    having = defaultdict[str, list[int]](list)
    sets = [frozenset(words) for words in names]
    for at, words in enumerate(sets):
        for word in words:
            having[word].append(at)
    for at, words in enumerate(sets):
        if not words:
            continue
        rarest = having[min(words, key=lambda word: len(having[word]))]
        if len(rarest) > 10 * _MOST_ALIKE:
            continue
        longer = [
            other
            for other in rarest
            if words < sets[other]
            and f" {' '.join(names[at])} " in f" {' '.join(names[other])} "
            and not _has_digit(sets[other] - words)
            and _JOINED.isdisjoint(sets[other] - words)
        ]
        for other in longer if len(longer) <= _MOST_ALIKE else ():
            share = sum(map(len, words)) / sum(map(len, sets[other]))
            if share >= _LEAST_SHARE:
                yield at, other, "containment", share


def _by_spelling(names: Sequence[str], folded: Sequence[Sequence[str]]) -> Pairs:
    """Names that differ only in spaces and punctuation, or in one letter (or two swapped letters) of one word.

    Abbreviations are left out: one letter makes another abbreviation.
    """
    known = {" ".join(words): at for at, words in enumerate(folded) if not _is_short(names[at])}
    joined = dict[str, int]()
    for at, words in enumerate(folded):
        if words and (other := joined.setdefault("".join(words), at)) != at:
            yield other, at, "spelling", 0.95
    near = _misspellings({word for words in folded for word in words})
    for at, words in enumerate(folded):
        for place, word in enumerate(words):
            for other_word in near.get(word, ()):
                other = known.get(" ".join((*words[:place], other_word, *words[place + 1 :])), at)
                if at < other:
                    yield at, other, "spelling", 1 - 1 / sum(map(len, words))


def _misspellings(words: Iterable[str]) -> dict[str, set[str]]:
    """For each word, the words one edit away. Two such words are equal if each loses one letter."""
    shortened, near = defaultdict[str, list[str]](list), defaultdict[str, set[str]](set)
    for word in words:
        if len(word) >= _LEAST_WORD and not _has_digit((word,)):
            for part in {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}:
                shortened[part].append(word)
    for alike in shortened.values():
        for one, other in combinations(alike, 2):
            if OSA.distance(one, other, score_cutoff=1) <= 1:
                near[one].add(other)
                near[other].add(one)
    return near


def _has_digit(words: Iterable[str]) -> bool:
    return _DIGIT.search(" ".join(words)) is not None
