"""Dates as people write them, and as JSON does. English months; numbers only where there is one reading."""

import re
from collections.abc import Iterator
from datetime import date, datetime

_MONTHS = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
_MONTH = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_WRITTEN = tuple(
    re.compile(pattern, re.IGNORECASE | re.ASCII)
    for pattern in (
        rf"{_YEAR}[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})",
        rf"{_DAY}\.? (?:of )?{_MONTH},? {_YEAR}",
        rf"{_MONTH} {_DAY},? {_YEAR}",
        rf"(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.{_YEAR}",
    )
)


def read_date(text: str) -> date | None:
    """`2024-01-15`, `15 January 2024`, `Jan 15, 2024`, `15.01.2024`; None for `01/02/2024`, which is two dates."""
    plain = " ".join(text.split())
    for pattern in _WRITTEN:
        if found := pattern.fullmatch(plain):
            return _date(found)
    moment = read_datetime(plain)
    return moment.date() if moment else None


def read_datetime(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None


def written(day: date) -> Iterator[str]:
    """How the date may stand in a text, the least ambiguous first."""
    month = _MONTHS[day.month - 1]
    yield day.isoformat()
    for name in (month, month[:3], f"{month[:3]}."):
        for number in (str(day.day), f"{day.day:02}", f"{day.day}{_suffix(day.day)}", f"{day.day}."):
            yield f"{number} {name} {day.year}"
            yield f"{number} of {name} {day.year}"
            yield f"{name} {number}, {day.year}"
            yield f"{name} {number} {day.year}"
    for separator in "./-":
        for numbers in ((day.day, day.month), (day.month, day.day)):
            for width in (2, 1):
                parts = (f"{number:0{width}}" for number in numbers)
                yield separator.join((*parts, str(day.year)))
        yield f"{day.year}{separator}{day.month:02}{separator}{day.day:02}"


def _date(found: re.Match[str]) -> date | None:
    month = found["month"].lower()
    number = (
        int(month) if month.isdigit() else next(n for n, m in enumerate(_MONTHS, 1) if m[:3] == month[:3])
    )
    try:
        return date(int(found["year"]), number, int(found["day"]))
    except ValueError:
        return None


def _suffix(day: int) -> str:
    return "th" if day in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
