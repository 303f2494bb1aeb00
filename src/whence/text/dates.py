"""Reads dates in common notations and in ISO 8601. Month names are English."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Any

from whence.models import VALID_FROM
from whence.text.word_lists import word_list

MONTHS = word_list("english", "months")
_MONTH = rf"(?P<month>{'|'.join(name[:3] for name in MONTHS)})[a-z]*\.?"
_NUMBERS = {name[:3]: number for number, name in enumerate(MONTHS, 1)}
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_PLAIN = (
    rf"{_YEAR}[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})",
    rf"{_DAY}(?:-|\.? (?:of )?){_MONTH}(?:-|,? ){_YEAR}",
    rf"{_MONTH} (?:the )?{_DAY},? {_YEAR}",
    rf"(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.{_YEAR}",
)
# Ambiguous: day first or month first, unless one of the two is no valid month.
_OPEN = (
    rf"(?P<day>\d{{1,2}})(?P<sep>[/-])(?P<month>\d{{1,2}})(?P=sep){_YEAR}",
    rf"(?P<month>\d{{1,2}})(?P<sep>[/-])(?P<day>\d{{1,2}})(?P=sep){_YEAR}",
)
_FLAGS = re.IGNORECASE | re.ASCII
_WRITTEN = tuple(re.compile(pattern, _FLAGS) for pattern in _PLAIN)
_IN_TEXT = tuple(re.compile(rf"(?<!\w){pattern}(?!\w)", _FLAGS) for pattern in (*_PLAIN, *_OPEN))


def read_date(text: str) -> date | None:
    """Reads `2024-01-15`, `15th of January, 2024`, `Jan. 15, 2024`, `15.01.2024`; None for `01/02/2024`, which is ambiguous."""
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


def read_moment(value: Any) -> datetime | None:
    """Reads a day or a time in ISO 8601, as UTC if it has no zone."""
    try:
        found = datetime.fromisoformat(value)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        return None


def own_date(metadata: Mapping[str, Any]) -> datetime | None:
    """The date that the owner gave a document in its metadata."""
    return read_moment(metadata.get(VALID_FROM))


def dates_in(text: str) -> Iterator[tuple[date, int, int]]:
    """The dates in a text with single spaces, each with its span; unambiguous notations first.

    `01/02/2024` gives both readings. `01.02.2024` has the day first, as is usual with dots.
    """
    for pattern in _IN_TEXT:
        for found in pattern.finditer(text):
            if day := _date(found):
                yield day, found.start(), found.end()


def _date(found: re.Match[str]) -> date | None:
    month = found["month"].lower()
    number = int(month) if month.isdigit() else _NUMBERS[month[:3]]
    try:
        return date(int(found["year"]), number, int(found["day"]))
    except ValueError:
        return None
