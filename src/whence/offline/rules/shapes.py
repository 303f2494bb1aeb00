"""Shapes of names, identifiers and dates in a line of text."""

import re

from whence.offline.rules import word_lists as lists
from whence.text.dates import dates_in

CAPITAL = r"[^\W\d_a-zß-öø-ÿ][\w’'&./-]{0,40}"
NAME = rf"{CAPITAL}(?:\s(?:(?:of|and|for|de|von|van)\s)?(?:{CAPITAL}|\d[\w.]*)){{0,4}}"
_OF_PERSON = r"[^\W\d_a-zß-öø-ÿ](?:\.|[\w’'-]{1,40})"
FULL_NAME = rf"{_OF_PERSON}(?:\s(?:von|van|de|der|la)\b)*(?:\s{_OF_PERSON}){{1,2}}"
# "REQ-12", "SEC-A-7"; with a usual prefix also "FR12".
IDENTIFIER = r"(?:[A-Z]{1,8}(?:-[A-Z]{1,8})?-|(?:REQ|N?FR|BR|US|AC|UC)(?=\d))\d{1,5}(?:\.\d{1,3})*(?![\w-])"

_WHOLE_IDENTIFIER = re.compile(IDENTIFIER)
_IDENTIFIED = re.compile(
    rf"[*_`\[(]*(?P<id>{IDENTIFIER})[*_`\])]*\s*[:.–—-]?[*_`]*\s*(?P<text>.*)", re.DOTALL
)
_PREFIX = re.compile(r"[A-Z]+")
_WHOLE_PERSON = re.compile(FULL_NAME)
_WHOLE_NAME = re.compile(NAME)
_MARKS = " *_`"


def bare(text: str) -> str:
    """The text without surrounding markup. Unbalanced markup stays, so that the text can be quoted."""
    inner = text.strip(_MARKS)
    is_whole = inner.count("**") % 2 == 0 and inner.count("`") % 2 == 0
    return inner if is_whole else text.strip()


def identified(line: str) -> tuple[str, str] | None:
    """The identifier that begins a line, and the text after it."""
    found = _IDENTIFIED.fullmatch(line.strip())
    return (found["id"], found["text"].strip()) if found else None


def is_identifier(text: str) -> bool:
    return _WHOLE_IDENTIFIER.fullmatch(text) is not None


def prefix_of(identifier: str) -> str:
    found = _PREFIX.match(identifier)
    return found[0] if found else ""


def is_person(name: str) -> bool:
    """Whether the text is a person's full name and looks like nothing else."""
    if _WHOLE_PERSON.fullmatch(name) is None or any(map(str.isdigit, name)):
        return False
    words = name.split()
    shouted = [word for word in words if len(word) > 1 and word.isupper()]
    return len(shouted) in {0, len(words)} and not any(word.lower() in lists.NO_PEOPLE for word in words)


def is_role(text: str) -> bool:
    """Whether one of the words is a job title."""
    return any(word.lower().strip(".,") in lists.NOUNS["person"] for word in text.split())


def is_name(text: str) -> bool:
    """Whether the text is one to five capitalised words."""
    return _WHOLE_NAME.fullmatch(text) is not None and text.split(maxsplit=1)[0].lower() not in lists.NO_NAMES


def ends_like_component(name: str) -> bool:
    words = name.split()
    return len(words) > 1 and words[-1].lower() in lists.LISTS["component_endings"] and is_name(name)


def ends_like_organization(name: str) -> bool:
    words = name.split()
    return len(words) > 1 and words[-1].rstrip(".") in lists.ORGANIZATION_ENDINGS and is_name(name)


def first_date(text: str) -> str | None:
    """The first date in the text, as it is written."""
    places = sorted((start, -end) for _, start, end in dates_in(" ".join(text.split())))
    return " ".join(text.split())[places[0][0] : -places[0][1]] if places else None
