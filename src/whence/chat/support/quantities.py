"""Normalises the figures of a text: numbers, dates and times of day. Pure.

8.50 is 8.5, 1.2 million is 1,200,000, twenty is 20, 9 May 2025 is 2025-05-09, 6 pm is 18:00. A year is not a count, nor is the
hour of a time or the day of a date. Number words are English; digits are read in any language.

A figure can be written in several ways. `needs` has the ways of each figure of a claim. A text has the figure if it has all the
marks of one way.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from whence.text.cjk import UNSPACED
from whence.text.content_words import plain, words
from whence.text.numerals import ORDINAL, SCALES, WORD, decimal, numbers

Ways = tuple[frozenset[str], ...]


class Figures(NamedTuple):
    rest: str
    """The text without its figures."""
    needs: frozenset[Ways]
    marks: frozenset[str]


class _Figure(NamedTuple):
    ways: Ways
    """Empty if the figure is not required."""
    marks: tuple[str, ...]


_MONTHS = {
    name: f"{number:02}"
    for number, names in enumerate(
        (
            *("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul"),
            *("august aug", "september sept sep", "october oct", "november nov", "december dec"),
        ),
        1,
    )
    for name in names.split()
}
_MONTH = f"(?:{'|'.join(_MONTHS)})"
_START = rf"(?<!\d)(?<!\d[.,])(?<![^\W\d_{UNSPACED}])"  # "a4" is a word
_TO = r" ?(?:[-–—]|to|and|until|till) ?"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR = r"(?: ?,? (?P<year>\d{4})\b(?!,\d))?"
_CLOCK = r"\d{1,2}(?:[:.][0-5]\d)?"
_KINDS = {
    "iso": r"(?P<y>\d{4})-(?P<m>[01]\d)-(?P<d>[0-3]\d)(?![\d-])",
    "east": r"(?:(?P<y>\d{4}) ?[年년] ?)?(?P<m>\d{1,2}) ?[月월] ?(?P<d>\d{1,2}) ?[日号일]",
    "dotted": r"(?P<one>[0-3]?\d)[./](?P<two>[0-3]?\d)[./](?P<y>\d{4})(?!\d|[./]\d)",
    "day_month": rf"(?:(?P<since>{_DAY}){_TO})?(?P<day>{_DAY})\.?(?: of)? (?P<month>{_MONTH})\b\.?{_YEAR}",
    "month_day": rf"(?P<month>{_MONTH})\.? (?P<since>{_DAY})(?:{_TO}(?P<day>{_DAY}))?(?!\d|[:.,]\d|{_TO}\d){_YEAR}",
    "month": rf"(?P<month>{_MONTH})\.?,? (?P<year>\d{{4}})\b(?![,.]\d)",
    "half": rf"(?:(?P<since>{_CLOCK}){_TO})?(?P<at>{_CLOCK}) ?(?P<half>[ap])\.?m\b",
    "clock": r"(?<!\d:)(?:[01]?\d|2[0-4]):[0-5]\d(?![\d:])",
    "digits": rf"(?P<number>\d+(?:[.,]\d+)*)(?P<nth>(?:st|nd|rd|th)\b)?(?:[ -](?P<scale>{SCALES})\b)?",
    "words": rf"(?:an? )?(?:{WORD})(?:(?: and |[ -])(?:{WORD}))*\b",
}
_VERBS = frozenset(("may", "march"))
"""Months that are also verbs: "up to 5 may come"."""
_ONE = re.compile(rf"(?:an? )?one\b(?![ -](?:{SCALES}|dozen)\b)")
"""Mostly a pronoun; but "one year" is 1 year."""
_NO_DIGIT = re.compile(r"\D")
_READ = {kind: re.compile(pattern) for kind, pattern in _KINDS.items()}


def _any_of(kinds: Iterable[str]) -> str:
    """A pattern of alternatives named by kind. Names inside the kinds are dropped, because some repeat."""
    return "|".join(f"(?P<{kind}>{_INNER_NAME.sub('?:', _KINDS[kind])})" for kind in kinds)


_INNER_NAME = re.compile(r"\?P<[a-z]+>")
_FROM_WORDS = ("month_day", "month", "words")
# The look-aheads come first: most letters begin no figure.
_FOUND = re.compile(
    rf"(?=\d){_START}(?:{_any_of(kind for kind in _KINDS if kind not in _FROM_WORDS)})"
    rf"|\b(?=[{''.join(sorted({word[0] for word in (*_MONTHS, *WORD.split('|'), 'a')}))}])(?:{_any_of(_FROM_WORDS)})"
)

_NOON, _MIDNIGHT, _DECEMBER = 12, 24, 12
_FIRST_YEAR, _LAST_YEAR = "1500", "2100"
_BEFORE = re.compile(r"([^\W\d_]+) \Z")
_THING = re.compile(r"[ -]?(?!(?:and|or|to|in|of|the|a|by|for|but|with|as|was|is|had|has|were)\b)[^\W\d_]")
_BEFORE_HOURS = frozenset("at from until till to between before after by and since".split())
_BEFORE_YEARS = frozenset(
    "in since from until till to of by during before after between and year years the this".split()
)
_BEFORE_LONGEST = 10


def figures(text: str) -> Figures:
    """Separates the figures of a text from the rest."""
    joined = " ".join(plain(text).split())
    rest: list[str] = []
    found: list[_Figure] = []
    at = 0
    for one in _FOUND.finditer(joined):
        told = list(_told(one))
        if told:
            rest.append(joined[at : one.start()])
            at = one.end()
            found += told
    rest.append(joined[at:])
    return Figures(
        " ".join(rest),
        frozenset(figure.ways for figure in found if figure.ways),
        frozenset(mark for figure in found for mark in figure.marks),
    )


def tells(ways: Ways, has: frozenset[str]) -> bool:
    return any(way <= has for way in ways)


def _told(found: re.Match[str]) -> Iterator[_Figure]:
    kind = found.lastgroup or ""
    one = _READ[kind].fullmatch(found[0])
    if one is None:  # the match depends on the text around it
        return
    if kind == "half":
        yield from _halves(one["since"], one["at"], one["half"])
    elif kind == "clock":
        yield _time(*map(int, one[0].split(":")))
    elif kind == "digits":
        yield _number(found, one)
    elif kind == "words":
        nth = ORDINAL.search(one[0]) is not None
        for number in numbers(one[0]):
            yield _counted(number, nth=nth, is_hour=_before(found) in _BEFORE_HOURS)
        if _ONE.match(one[0]):
            yield _Figure((), ("1",))
    else:
        yield from _dates(kind, one)


def _dates(kind: str, one: re.Match[str]) -> Iterator[_Figure]:
    if kind == "dotted":
        yield _dotted(one["one"], one["two"], one["y"])
    elif kind == "month":
        yield _month(one["month"], one["year"])
    elif kind in {"day_month", "month_day"}:
        is_doubtful = kind == "day_month" and one["month"] in _VERBS
        for day in filter(None, (one["since"], one["day"])):
            yield _date(day, _MONTHS[one["month"]], one["year"], is_doubtful=is_doubtful)
    else:
        yield _date(one["d"], one["m"].zfill(2), one["y"])


def _date(day: str, month: str, year: str | None, *, is_doubtful: bool = False) -> _Figure:
    number = str(int(_NO_DIGIT.sub("", day)))
    date = f"{month}-{number.zfill(2)}"
    if year:
        # "9 May" under the title "2025" is the same date.
        ways = frozenset((f"{year}-{date}",)), frozenset((f"{date} of some year", f"year {year}"))
        return _Figure(ways, (f"{year}-{date}", date, f"{year}-{month}", f"year {year}", f"day {number}"))
    marks = date, f"{date} of some year", f"day {number}"
    if is_doubtful:
        return _Figure((frozenset((date,)), frozenset((number,))), (*marks, number))
    return _Figure((frozenset((date,)),), marks)


def _month(name: str, year: str) -> _Figure:
    mark, in_year = f"{year}-{_MONTHS[name]}", f"year {year}"
    return _Figure((frozenset((mark,)), frozenset((in_year, *words(name)))), (mark, in_year))


def _dotted(one: str, two: str, year: str) -> _Figure:
    """Accepts both orders, day first and month first."""
    both = [
        _date(day, month.zfill(2), year)
        for day, month in ((one, two), (two, one))
        if 0 < int(month) <= _DECEMBER
    ] or [_date(one, two.zfill(2), year)]
    return _Figure(
        tuple(way for date in both for way in date.ways),
        tuple(mark for date in both for mark in date.marks),
    )


def _halves(since: str | None, until: str, half: str) -> Iterator[_Figure]:
    """The times of a range: "9 to 5 pm" starts in the morning, "2 to 5 pm" in the afternoon."""
    end = _of_day(until, half)
    if since:
        start = _of_day(since, half)
        yield _time(*(start if start < end else _of_day(since, "a" if half == "p" else "p")))
    yield _time(*end)


def _of_day(clock: str, half: str) -> tuple[int, int]:
    hour, _, minute = clock.replace(".", ":").partition(":")
    return int(hour) % _NOON + (_NOON if half == "p" else 0), int(minute or 0)


def _time(hour: int, minute: int) -> _Figure:
    mark = f"{hour % _MIDNIGHT}:{minute:02}"
    return _Figure((frozenset((mark,)),), (mark,))


def _number(found: re.Match[str], one: re.Match[str]) -> _Figure:
    written, scale = one["number"], one["scale"]
    number = decimal(written, scale)
    if scale:
        # A table may have "million" only in its head.
        ways = frozenset((number,)), frozenset((decimal(written, None), scale))
        return _Figure(ways, (number,))
    if len(written) == len(_LAST_YEAR) and _FIRST_YEAR <= written <= _LAST_YEAR and not one["nth"]:
        year = f"year {number}"
        if _before(found) in _BEFORE_YEARS or not _THING.match(found.string, found.end()):
            return _Figure((frozenset((year,)),), (year,))
        return _Figure((frozenset((number,)), frozenset((year,))), (number, year))
    return _counted(number, nth=one["nth"] is not None, is_hour=_before(found) in _BEFORE_HOURS)


def _counted(number: str, *, nth: bool, is_hour: bool) -> _Figure:
    if nth:
        return _Figure((frozenset((number,)), frozenset((f"day {number}",))), (number,))
    if is_hour and len(number) <= len(str(_MIDNIGHT)) and int(number) <= _MIDNIGHT:
        hour = int(number)
        times = [f"{one % _MIDNIGHT}:00" for one in ((hour, hour + _NOON) if hour <= _NOON else (hour,))]
        return _Figure((frozenset((number,)), *(frozenset((time,)) for time in times)), (number, *times))
    return _Figure((frozenset((number,)),), (number,))


def _before(found: re.Match[str]) -> str:
    """The word before the match."""
    start = found.start()
    word = _BEFORE.search(found.string, max(0, start - _BEFORE_LONGEST), start)
    return word[1] if word else ""
