"""Finds how a text refers to something without its full name. Pure.

An alias is an abbreviation that a text defines ("World Health Organization (WHO)"), the initials, or a part of the name: the
surname of a person, "the Commission" for the European Commission. A reference ("the organization", "It") counts only if the text
before names no other candidate. An ambiguous alias is not found.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from whence.text.content_words import foreign_function_words
from whence.text.names import fold, name_key
from whence.text.word_lists import word_list

_NO_NAME = frozenset(word_list("english", "before_names"))
_FOREIGN = frozenset(foreign_function_words())
_OF = frozenset(word_list("english", "inside_names"))
_FORMS = frozenset(word_list("english", "legal_forms"))
"""Often left out at the end of a name."""
_GENERATIONS = frozenset(["jr", "sr", "ii", "iii"])
_PERSONS = frozenset(["person", "people", "human", "individual", "author", "employee"])
_PLACES = frozenset(["place", "location", "country", "city", "region", "state"])
"""A part of such a name is another place: America, York."""
_SHORTEST_PART = 3
_LAST_SENTENCES = 2

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]{2,}|&[^\W_]+)*")
_SHORT = r"(?P<alias>[^\W\d_][\w&./-]{0,13}\w)"
_BRACKETED = r"\s{0,3},?\s{0,3}\((?P<inside>[^()]{2,60})\)"
# Quotes without "the" are most often works: Ken Loach ("I, Daniel Blake").
_CALLED = re.compile(r"(?:\bthe\s+[\"“„‘']|[\"“„‘']the\s+)([A-Z][^\"“”‘’']{1,39})[\"”’']")
_STANDS_FOR = r"(?:\s*\(|,?\s+(?:is\s+)?(?:short|stands|stood|an\s+abbreviation)\s+(?:for|of)\s+)(?:the\s+)?"
_CONTINUED = re.compile(rf"\s(?:of|for)\s(?:the\s)?{_WORD.pattern}")
_LINK = re.compile(r"\s(?:of|de|di|du|von|van)\s(?:the\s)?")
_YEAR = re.compile(r"\d{4}")
_LINE = re.compile(r"[^\n]+")
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+|\n\s*\n")
_PRONOUN = r"(?:\s{{0,9}}#[^\n]*\n){{0,6}}\s*({})\b"
_IT, _HE_OR_SHE = re.compile(_PRONOUN.format("It|Its")), re.compile(_PRONOUN.format("He|She|His|Her"))
"""The first word, behind headings."""


class TypedName(NamedTuple):
    """An object by type and name."""

    type: str
    name: str

    @property
    def is_person(self) -> bool:
        return fold(self.type) in _PERSONS


class Alias(NamedTuple):
    start: int
    end: int
    is_lasting: bool = True
    """Whether it means the same in other texts; "the organization" does not."""


class References:
    """A primary text, in which aliases are found, and the objects that they may refer to."""

    def __init__(
        self,
        primary: str,
        context: Sequence[str] = (),
        *,
        before: str = "",
        known: Collection[TypedName] = (),
        proposed: Collection[TypedName] = (),
    ) -> None:
        """`before` is the text directly before the primary one. Known objects resolve an alias as texts do, proposed ones do not."""
        self._primary = primary
        self._texts = (primary, *context)
        self._before = _SENTENCE_ENDS.split(before.strip())[-_LAST_SENTENCES:]
        self._known = {name_key(each.name) for each in known}
        self._objects = {*known, *proposed}

    def find(self, named: TypedName, stored: Iterable[str] = ()) -> Alias | None:
        """The alias in the primary text, if a text or a known object has the full name. `stored` are aliases from other texts."""
        full = _loosely(named.name)
        if name_key(named.name) not in self._known and not any(map(full.search, self._texts)):
            return None
        others = [each for each in self._objects if name_key(each.name) != name_key(named.name)]
        return (
            self._abbreviation(named, full, others, stored)
            or self._part(named, others)
            or self._reference(named)
        )

    def defined(self, name: str) -> Alias | None:
        """The abbreviation that the primary text gives next to the name."""
        for alias in filter(is_abbreviation, _definitions(self._primary, name)):
            if place := _whole(alias).search(self._primary):
                return Alias(*place.span())
        return None

    def _abbreviation(
        self, named: TypedName, full: re.Pattern[str], others: Sequence[TypedName], stored: Iterable[str]
    ) -> Alias | None:
        taken = {name_key(each.name) for each in others}.union(*(_initials(each.name) for each in others))
        inferred = [*filter(is_abbreviation, stored), *([] if named.is_person else _initials(named.name))]
        free = (alias for alias in inferred if taken.isdisjoint((alias, name_key(alias))))
        for alias in (*(each for text in self._texts for each in _definitions(text, named.name)), *free):
            place = _whole(alias).search(self._primary)
            if place and not any(_is_of_another(text, alias, full) for text in self._texts):
                return Alias(*place.span(), is_lasting=is_abbreviation(alias))
        return None

    def _part(self, named: TypedName, others: Sequence[TypedName]) -> Alias | None:
        """The longest part of the name that occurs alone and is no part of another name."""
        whole = _words(named.name)
        for part in () if fold(named.type) in _PLACES else _parts(whole, named.is_person):
            if any(_has(_words(each.name), part) for each in others):
                continue
            runs = [run for run in self._runs if _has(run.words, part)]
            if not all(_has(whole, run.words + run.rest) for run in runs):
                continue
            for run in runs:
                is_alone = run.text is self._primary and run.words == part
                if is_alone and self._is_name(run, named.is_person or part == _without_form(whole)):
                    return Alias(run.start, run.end)
        return None

    @cached_property
    def _runs(self) -> list["_Run"]:
        return [run for text in self._texts for run in capitalised(text)]

    def _is_name(self, run: "_Run", is_proper: bool) -> bool:
        """Whether the capital shows a name. At the start of a sentence any word has one."""
        if not _starts_sentence(run.text, run.start):
            return True
        small = re.compile(rf"\b{re.escape(run.words[0].lower())}\b")
        return is_proper and not any(map(small.search, self._texts))

    def _reference(self, named: TypedName) -> Alias | None:
        """ "The organization" if the last sentences name no other one; a pronoun if the last sentence has no other name at all."""
        noun = re.escape(re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", named.type).lower())
        place = re.search(rf"\b((?:[Tt]he|[Tt]his) {noun})\b", self._primary)
        said = (*self._before, self._primary[: place.start()]) if place else ()
        alike = (each for each in self._objects if each.type == named.type)
        found = {name_key(each.name) for each in alike if any(map(_loosely(each.name).search, said))}
        if place is None or found != {name_key(named.name)}:
            place = (_HE_OR_SHE if named.is_person else _IT).match(self._primary)
            runs = [run.words for run in capitalised(self._before[-1])]
            if not runs or not all(_has(_words(named.name), run) for run in runs):
                return None
        return Alias(*place.span(1), is_lasting=False) if place else None


def is_abbreviation(alias: str) -> bool:
    return sum(map(str.isupper, alias)) > 1 and " " not in alias


def is_short_for(short: str, name: str) -> bool:
    """Whether the name has the words side by side, or these are its initials."""
    return short in _initials(name) or _has(_words(fold(name)), _words(fold(short)))


def _parts(words: tuple[str, ...], is_person: bool) -> Iterator[tuple[str, ...]]:
    """Without its legal form; a surname or first name; the words up to "of", and their ends. Capitalised, the longest first."""
    core = _without_form(words, _GENERATIONS if is_person else _FORMS)
    head = core[: next((at for at, word in enumerate(core) if at and word.lower() in _OF), len(core))]
    ends = [core[-1:], core[:1]] if is_person else [head[at:] for at in range(len(head))]
    for part in dict.fromkeys((core, *ends)):
        if part != words and len("".join(part)) >= _SHORTEST_PART and all(word[0].isupper() for word in part):
            yield part


def _without_form(words: tuple[str, ...], forms: Collection[str] = _FORMS) -> tuple[str, ...]:
    return _without_form(words[:-1], forms) if len(words) > 1 and words[-1].lower() in forms else words


def _definitions(text: str, name: str) -> Iterator[str]:
    """Short names that the text gives next to the full name."""
    full = _loosely(name).pattern
    if not re.search(full, text, re.IGNORECASE):
        return
    for found in re.finditer(full + _BRACKETED, text, re.IGNORECASE):
        yield from _CALLED.findall(found["inside"])
        last_words = (piece.split()[-1:] for piece in re.split(r"[,;]|\bor\b", found["inside"]))
        words = (word.strip("\"“”„‘’'") for words in last_words for word in words)
        yield from (word for word in words if _abbreviates(word, name))
    said = (found["alias"] for found in re.finditer(f"{_SHORT}{_STANDS_FOR}(?i:{full})", text))
    yield from (alias for alias in said if _abbreviates(alias, name))


def _abbreviates(alias: str, name: str) -> bool:
    """Whether the name has the letters in this order, the first at the start of a word: "CTO" does not abbreviate Jane Doe."""
    first, *rest = re.findall(r"[^\W_]", fold(alias)) or [""]
    whole = fold(name)
    behind = (iter(whole[word.end() :]) for word in re.finditer(rf"\b{first}", whole))
    return is_abbreviation(alias) and any(all(letter in letters for letter in rest) for letters in behind)


def _is_of_another(text: str, alias: str, full: re.Pattern[str]) -> bool:
    """Whether the text defines the alias for another name: "Another Name (ABC)" or "ABC (Another Name)"."""
    named = {place.end() for place in full.finditer(text)}
    short = re.escape(alias)
    bracketed = re.finditer(rf"(?<=\w)\W{{0,3}}\((?:the\s+)?[\"“]?{short}[\"”]?\)", text)
    spelled = re.finditer(rf"(?<!\w){short}\s?\((?:the\s+)?([^()]+)\)", text)
    return any(found.start() not in named for found in bracketed) or any(
        not full.search(found[1]) and any(len(run.words) > 1 for run in capitalised(found[1]))
        for found in spelled
    )


@lru_cache(maxsize=1024)
def _initials(name: str) -> list[str]:
    """Of the capitalised words, and of all words as in "DoD". At least two."""
    every = [word[0] for word in re.findall(r"[^\W\d_]+", name)]
    capitals = "".join(filter(str.isupper, every))
    found = dict.fromkeys((capitals, "".join(every), "".join(every).upper()))
    return list(found) if len(capitals) > 1 else []


class _Run(NamedTuple):
    """Capitalised words and numbers side by side: "49th Brigade" is not the Brigade."""

    text: str
    start: int
    end: int
    words: tuple[str, ...]

    @property
    def rest(self) -> tuple[str, ...]:
        """The words of a name that goes on with "of"."""
        found = _CONTINUED.match(self.text, self.end)
        words = _words(found[0]) if found else ()
        return words if words and words[-1][0].isupper() else ()


def capitalised(text: str) -> Iterator[_Run]:
    """Capitalised words side by side, with the numbers between them. Some words, such as "The", do not begin a name."""
    run: _Run | None = None
    for word in _WORD.finditer(text):
        is_name = word[0].lower() not in _NO_NAME and (
            word[0][0].isupper() or (word[0][0].isdigit() and not _YEAR.fullmatch(word[0]))
        )
        if run and is_name and text[run.end : word.start()] in (" ", "\n"):
            run = run._replace(end=word.end(), words=(*run.words, word[0]))
            continue
        if run:
            yield run
        run = _Run(text, *word.span(), (word[0],)) if is_name else None
    if run:
        yield run


def name_places(text: str) -> list[tuple[int, int]]:
    """The places of capitalised words side by side in a line.

    A function word at their start belongs to no name, and a number or legal form at their end to no other name. "Duke of York" is one name
    unless it begins a sentence, where any word has a capital.
    """
    found: list[tuple[int, int]] = []
    head: tuple[int, int] | None = None
    for line in _LINE.finditer(text):
        for run in capitalised(line[0]):
            words = list(_WORD.finditer(line[0], run.start, run.end))
            while len(words) > 1 and words[0][0].lower() in _FOREIGN:
                del words[0]
            while len(words) > 1 and (words[-1][0][0].isdigit() or words[-1][0].lower() in _FORMS):
                del words[-1]
            place = line.start() + words[0].start(), line.start() + words[-1].end()
            if head and _LINK.fullmatch(text, head[1], place[0]) and not _starts_sentence(text, head[0]):
                place = head[0], place[1]
            found.append(place)
            head = place
    return found


@lru_cache(maxsize=1024)
def _words(name: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(name))


def _has(words: Sequence[str], part: Sequence[str]) -> bool:
    """Whether the words have the part, side by side."""
    return any(tuple(words[at : at + len(part)]) == tuple(part) for at in range(len(words) - len(part) + 1))


def _starts_sentence(text: str, at: int) -> bool:
    before = text[:at].rstrip(" \t\"“‘'(*_")
    return not before or before[-1] in ".!?:;|#\n"


def _whole(alias: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(alias)}(?!\w)")


@lru_cache(maxsize=1024)
def _loosely(name: str) -> re.Pattern[str]:
    """Matches the name in any case and with any white space between its words."""
    words = r"\s+".join(map(re.escape, name.split()))
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)
