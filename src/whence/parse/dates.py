"""Reads a file's own date: from the front matter of Markdown, or from a document's properties. Pure."""

import re
from datetime import UTC, datetime
from typing import Any

from whence.text.dates import read_moment

_LONGEST = 20_000
"""Maximum length of front matter, in characters."""
_FRONT_MATTER = re.compile(
    r"\A\ufeff?(---|\+\+\+)[ \t]*\r?\n(?P<lines>.*?)^(?:\1|\.\.\.)[ \t]*\r?$", re.DOTALL | re.MULTILINE
)
_DATE = re.compile(r"(?P<name>\w+)[ \t]*[:=][ \t]*[\"']?(?P<moment>[\d+:.TZ -]+\b)")
_NAMES = ("validFrom", "updated", "date")
_DAY = len("2024-01-15")
_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
"""Earlier dates are default values of programs."""


def front_matter_date(text: str) -> datetime | None:
    """`validFrom`, else `updated`, else `date` of YAML or TOML front matter."""
    found = _FRONT_MATTER.match(text[:_LONGEST])
    lines = (_DATE.match(line) for line in found["lines"].splitlines()) if found else ()
    said = {line["name"]: line["moment"].strip() for line in lines if line}
    dates = (read_moment(said[name]) or read_moment(said[name][:_DAY]) for name in _NAMES if name in said)
    return next((date for date in dates if date), None)


def file_date(*properties: Any) -> datetime | None:
    """The first plausible date: neither in the future nor older than the formats."""
    dates = (each if isinstance(each, datetime) else read_moment(each) for each in properties)
    utc = (date.replace(tzinfo=date.tzinfo or UTC) for date in dates if date)
    return next((date for date in utc if _EARLIEST <= date <= datetime.now(UTC)), None)
