"""Headings, and pairs of key and value below them."""

import re

from whence.extract.rules.blocks import Block
from whence.extract.rules.cues import (
    COMPONENT,
    DATE,
    DECISION_KEY,
    EVENT_WORDS,
    NO_NAMES,
    RECURRING,
)
from whence.extract.rules.findings import Findings, Subject
from whence.extract.rules.people import people
from whence.extract.rules.relations import as_sentence
from whence.extract.rules.sentences import add_decision, requirement
from whence.extract.rules.vocabulary import Role

_TYPED: dict[str, Role] = {
    "component": "component",
    "service": "component",
    "module": "component",
    "system": "system",
    "requirement": "requirement",
    "person": "person",
    "organization": "organization",
    "term": "concept",
    "concept": "concept",
    "definition": "concept",
    "event": "event",
    "meeting": "event",
}
_NUMBERED = re.compile(r"\A\d+(?:\.\d+)*[.)]?\s+")
_COMPONENT = re.compile(COMPONENT)
_AT_LEAST = 3
"""Words of a text that explains something."""


def heading(text: str, findings: Findings) -> Subject | None:
    """What the section is about, if its heading gives that away."""
    title = _NUMBERED.sub("", text, count=1)
    if found := requirement(title, findings, is_certain=False):
        return found
    key, colon, rest = title.partition(":")
    if colon and rest.strip():
        if DECISION_KEY.fullmatch(key.strip()):
            return findings.add("decision", rest)
        if role := _TYPED.get(key.strip().lower()):
            return findings.add(role, rest)
    if (found_date := DATE.search(title)) and EVENT_WORDS.search(title):
        name = (title[: found_date.start()] + title[found_date.end() :]).strip(" ,:–—-()")
        is_told_by_date = not name or RECURRING.fullmatch(name)
        return findings.add("event", title if is_told_by_date else name, {"date": found_date[0]})
    return findings.add("component", title) if _COMPONENT.fullmatch(title) else None


def pair(block: Block, about: Subject | None, findings: Findings) -> Subject | None:
    """What the pairs after this one are about."""
    if found := requirement(block.text, findings, is_certain=False):
        return found
    if DECISION_KEY.fullmatch(block.key):
        return add_decision(block.value, findings) or about
    people(block.key, block.value, about, findings)
    if about is not None and findings.tell(about, block.key, block.value):
        return about
    if about is not None and (said := as_sentence(findings.name_of(about), block.key, block.value)):
        findings.noted.append(said)
        return about
    if role := _TYPED.get(block.key.lower()):
        return findings.add(role, block.value) or about
    is_term = block.is_entry and block.key.split()[0].lower() not in NO_NAMES
    if is_term and len(block.value.split()) >= _AT_LEAST:
        findings.add("concept", block.key, {"description": block.value})
    return about
