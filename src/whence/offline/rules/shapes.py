"""Shapes of names, identifiers and dates in a line of text."""

import re

from whence.offline.rules import word_lists as lists
from whence.text.dates import dates_in

CAPITAL = r"[^\W\d_a-zß-öø-ÿ][\w’'&./-]{0,40}"
NAME = rf"{CAPITAL}(?:\s(?:(?:of|and|for|de|von|van)\s)?(?:{CAPITAL}|\d[\w.]*)){{0,4}}"
_OF_PERSON = r"[^\W\d_a-zß-öø-ÿ](?:\.|[\w’'-]{1,40})"
FULL_NAME = rf"{_OF_PERSON}(?:\s(?:von|van|de|der|la)\b)*(?:\s{_OF_PERSON}){{1,2}}"
# "REQ-12", "SEC-A-7"; with a usual prefix also "FR12".
_IDENTIFIER = r"(?:[A-Z]{1,8}(?:-[A-Z]{1,8})?-|(?:REQ|N?FR|BR|US|AC|UC)(?=\d))\d{1,5}(?:\.\d{1,3})*(?![\w-])"
_IDENTIFIED = re.compile(
    rf"[*_`\[(]*(?P<id>{_IDENTIFIER})[*_`\])]*\s*[:.–—-]?[*_`]*\s*(?P<text>.*)", re.DOTALL
)


def bare(text: str) -> str:
    """The text without surrounding markup. Unbalanced markup stays, so that the text can be quoted."""
    inner = text.strip(" *_`")
    is_whole = inner.count("**") % 2 == 0 and inner.count("`") % 2 == 0
    return inner if is_whole else text.strip()


def identified(line: str) -> tuple[str, str] | None:
    """The identifier that begins a line, and the text after it."""
    found = _IDENTIFIED.fullmatch(line.strip())
    return (found["id"], found["text"].strip()) if found else None


def is_identifier(text: str) -> bool:
    return re.fullmatch(_IDENTIFIER, text) is not None


def is_person(name: str) -> bool:
    """Whether the text is a person's full name and looks like nothing else."""
    if re.fullmatch(FULL_NAME, name) is None or any(map(str.isdigit, name)):
        return False
    return not any(word.lower() in lists.NO_PEOPLE for word in name.split())


def is_name(text: str) -> bool:
    """Whether the text is one to five capitalised words."""
    return re.fullmatch(NAME, text) is not None and text.split(maxsplit=1)[0].lower() not in lists.NO_NAMES


def first_date(text: str) -> str | None:
    """The first date in the text, as it is written."""
    text = " ".join(text.split())
    places = sorted((start, -end) for _, start, end in dates_in(text))
    return text[places[0][0] : -places[0][1]] if places else None
