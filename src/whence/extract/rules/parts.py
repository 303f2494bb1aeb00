"""Parts of a system that give themselves away by what they do, or by who keeps them: `The Auth Service issues tokens`."""

import re

from whence.extract.rules.cues import A_ROLE, ACTING_PART, COMPONENT_WORDS, KEPT_PART, MOVING_PART
from whence.extract.rules.findings import Findings
from whence.extract.rules.words import NO_PARTS, NO_PEOPLE

_LEADING = re.compile(r"(?:The|Our|This|That|Its|Your|An?)\s")
_TECHNICAL = frozenset(COMPONENT_WORDS.lower().split("|")) | {"manager", "controller", "web"}


def parts(text: str, findings: Findings) -> None:
    """In a contract, what has a capital is a term, and no part of anything."""
    if findings.has_parties:
        return
    leading = _LEADING.match(text)
    acting = ACTING_PART.match(text, leading.end() if leading else 0)
    if acting is not None and NO_PARTS.isdisjoint(acting["name"].lower().split()):
        findings.add("component", acting["name"])
    kept = KEPT_PART.match(text)
    if kept is not None and (" " in kept["name"] or not A_ROLE.search(kept["name"])):
        _add(kept["name"], findings)
    moving = MOVING_PART.match(text)
    if moving is not None and not A_ROLE.search(moving["name"].split()[-1]):
        _add(moving["name"], findings)


def _add(name: str, findings: Findings) -> None:
    if (NO_PEOPLE - _TECHNICAL).isdisjoint(name.lower().split()):
        findings.add("component", name)
