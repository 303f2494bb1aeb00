"""People in lists: `Attendees: Jane Doe (CTO), John Smith`."""

import re

from whence.extract.rules.cues import ONE_FULL_NAME, OWNER_KEYS, PEOPLE_KEYS
from whence.extract.rules.findings import Findings, Subject

_LISTED = re.compile(r"\s*(?:,|;|\band\b|&)\s*")


def people(key: str, value: str, about: Subject | None, findings: Findings) -> None:
    """Behind a key for people: a list in which every item is a full name, or nobody."""
    if key.lower() not in PEOPLE_KEYS:
        return
    items = [item for item in _LISTED.split(value.rstrip(". ")) if item]
    found = [each for item in items if (each := ONE_FULL_NAME.fullmatch(item))]
    if len(found) < len(items):
        return
    for each in found:
        findings.add("person", each["name"], {"role": each["role"] or ""})
        if about is not None:
            _relate(each["name"], key.lower(), about, findings)


def _relate(name: str, key: str, about: Subject, findings: Findings) -> None:
    """Who is named with an event takes part in it; who is responsible for something has it."""
    if findings.is_of(about, "event"):
        findings.link("takes_part_in", name, findings.name_of(about))
    elif key in OWNER_KEYS:
        findings.link("owns", name, findings.name_of(about))
