"""People, alone and in lists: `Attendees: Jane Doe (CTO), John Smith`."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from whence.extract.rules.cues import A_ROLE, FULL_NAME, ONE_FULL_NAME, ONE_NAME, ORGANIZATION, PERSON_OF
from whence.extract.rules.findings import Findings, Subject
from whence.extract.rules.vocabulary import Role
from whence.extract.rules.words import NO_DOERS, NO_PEOPLE, OWNER_KEYS, PEOPLE_KEYS, PRESENT_KEYS

# Not within brackets: "Jane Doe (CTO, Acme), John Smith".
_LISTED = re.compile(r"\s*(?:,|;|\band\b|&)(?![^()]{0,60}\))\s*")
_NEXT_KEY = re.compile(r"[.;]\s(?=[A-Z]\w+:\s)")
_FULL_NAME = re.compile(FULL_NAME)
_ASIDE = re.compile(r"\s\([^()]{1,40}\)\Z")
_HOW_PRESENT = re.compile(
    r"(?:partly|remote(?:ly)?|online|virtual(?:ly)?|(?:by|via|on)\s.+|(?:from|until|till)\s.+)",
    re.IGNORECASE,
)


class Named(NamedTuple):
    role: Role
    name: str
    properties: Mapping[str, str]


def is_person(name: str) -> bool:
    """Whether it looks like the full name of a human being, and like nothing else."""
    if _FULL_NAME.fullmatch(name) is None or any(map(str.isdigit, name)):
        return False
    words = name.split()
    shouted = [word for word in words if len(word) > 1 and word.isupper()]
    return len(shouted) in {0, len(words)} and not any(word.lower() in NO_PEOPLE for word in words)


def is_first_name(text: str) -> bool:
    return ONE_NAME.fullmatch(text) is not None and text.lower() not in NO_DOERS and len(text) > 1


def named(text: str) -> Named | None:
    """A person or an organization, if that is all that the text is."""
    found = ONE_FULL_NAME.fullmatch(text)
    if found is not None and is_person(found["name"]):
        role = found["role"] or found["after"] or ""
        is_role = (role[:1].islower() and not _HOW_PRESENT.fullmatch(role)) or A_ROLE.search(role) is not None
        told = {"role": role if is_role else "", "email": found["email"] or ""}
        return Named("person", found["name"], told)
    group = ORGANIZATION.fullmatch(text.removeprefix("the "))
    return Named("organization", group["name"], {}) if group else None


def people(
    key: str, value: str, about: Subject | None, findings: Findings, *, event: Subject | None = None
) -> None:
    """Behind a key for people: a list in which every item is a person or an organization; of those present, most."""
    key = key.lower()
    if key not in PEOPLE_KEYS:
        return
    value = _NEXT_KEY.split(value, maxsplit=1)[0]
    items = [item for item in _LISTED.split(value.rstrip(". ")) if item]
    is_present = key in PRESENT_KEYS
    by_first_name = is_present and len(items) > 1
    found = [
        each for item in items if (each := named(item) or (_by_first_name(item) if by_first_name else None))
    ]
    if len(found) < len(items) and not (is_present and 2 * len(found) > len(items)):
        return
    for each in found:
        findings.add(each.role, each.name, each.properties)
        if event is not None:
            findings.link("takes_part_in", each.name, findings.name_of(event))
        elif key in OWNER_KEYS and about is not None:
            findings.link("owns", each.name, findings.name_of(about))


def _by_first_name(text: str) -> Named | None:
    name = _ASIDE.sub("", text)
    return Named("person", name, {}) if is_first_name(name) else None


def listed_person(text: str, event: Subject | None, findings: Findings) -> bool:
    """An item below `Participants`: `Jane Doe, project lead`."""
    name = person_of(text, findings)
    found = named(text.rstrip(". ")) if name is None else None
    if found is not None:
        findings.add(found.role, found.name, found.properties)
        name = found.name
    if name is not None and event is not None:
        findings.link("takes_part_in", name, findings.name_of(event))
    return name is not None


def person_of(text: str, findings: Findings) -> str | None:
    """The name of somebody of whom the line says whom they work for: `Helen Carter, CEO, Northwind`."""
    found = PERSON_OF.fullmatch(text)
    if found is None or not is_person(found["name"]):
        return None
    findings.add("person", found["name"], {word: found[word] for word in ("role", "organization")})
    findings.add("organization", found["organization"])
    findings.link("works_for", found["name"], found["organization"])
    return found["name"]
