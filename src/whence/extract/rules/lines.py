"""Headings, and pairs of key and value below them."""

import re
from collections.abc import Mapping, Sequence

from whence.chunk import sentences
from whence.extract.rules.blocks import Block
from whence.extract.rules.cues import (
    COMPONENT,
    DATE,
    DATE_LINE,
    DECISION_KEY,
    EVENT_WORDS,
    SINGLE,
    TASK_KEY,
)
from whence.extract.rules.findings import Findings, Subject
from whence.extract.rules.people import people
from whence.extract.rules.place import Place
from whence.extract.rules.records import record, record_pair
from whence.extract.rules.relations import as_sentence
from whence.extract.rules.sections import LABEL, unnumbered
from whence.extract.rules.sentences import add_decision, is_task_number, requirement, sentence
from whence.extract.rules.tasks import is_doer, task
from whence.extract.rules.topics import leave_topic, take_for_topic
from whence.extract.rules.vocabulary import Role
from whence.extract.rules.words import NO_COMPONENTS, NO_NAMES, NO_TERMS, PRESENT_KEYS

TYPED: Mapping[str, Role] = {
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
_COMPONENT = re.compile(COMPONENT)
_NAME_OF_PART = re.compile(r"[^\W_][\w.+/-]*(?:\s[^\W_][\w.+/-]*){0,3}")
_MEANING = re.compile(r"(?:an?|the|any|every|each|all|one|what|who|whoever|whatever)\s", re.IGNORECASE)
_SAYS_SOMETHING = re.compile(r"\b(?:is|are|was|must|should|can|has|does)\b")
_DATE_KEYS = frozenset(["date", "when", "held on", "meeting date"])
_TO_DO = frozenset(["todo", "to do", "to-do"])
_AT_LEAST = 3
"""Words of a text that explains something."""


def heading(block: Block, below: Sequence[Block], place: Place, findings: Findings) -> None:
    """What the section is about, if its heading gives that away. `below` is what stands in it."""
    place.sections.enter(block.level, block.text)
    place.decision, place.is_numbered = None, False
    leave_topic(block, place)
    found = record(block, place, findings) or _subject(block, below, place, findings)
    if found is not None or block.level < LABEL:
        place.about = found or place.topic


def pair(block: Block, below: Sequence[Block], place: Place, findings: Findings) -> None:
    about, key = place.about, block.key
    if record_pair(block, place, findings):
        return
    if _stands_for_itself(block, place, findings) or key.lower() in NO_TERMS - TYPED.keys() - {"status"}:
        return
    people(key, block.value, about, findings, event=place.event if key.lower() in PRESENT_KEYS else None)
    if about is not None and findings.tell(about, key, block.value):
        return
    if about is not None and (said := as_sentence(findings.name_of(about), key, block.value)):
        findings.add_spoken_of(about)
        findings.noted.append(said)
    elif role := TYPED.get(key.lower()):
        place.about = _typed(role, block.value, below, place, findings) or about
    elif key.split()[0].lower() in NO_NAMES or not _entry(block, place, findings):
        _prose(block.value, place, findings)


def _subject(block: Block, below: Sequence[Block], place: Place, findings: Findings) -> Subject | None:
    title = unnumbered(block.text)
    if found := requirement(title, findings, is_sentence=False):
        place.topic, place.topic_level = found, block.level
        return found
    key, colon, rest = title.partition(":")
    if colon and rest.strip():
        if DECISION_KEY.fullmatch(key.strip()):
            place.decision = findings.add("decision", rest)
            return place.decision
        if role := TYPED.get(key.strip().lower()):
            return _typed(role, rest.strip(), below, place, findings)
    if EVENT_WORDS.search(title) and (event := _event(title, below, findings)):
        place.event = event
        return event
    if _COMPONENT.fullmatch(title) or _is_part(title, block, place):
        return findings.add("component", title)
    return None


def _typed(role: Role, name: str, below: Sequence[Block], place: Place, findings: Findings) -> Subject | None:
    """A meeting that is named below another heading for it is the same."""
    if role != "event":
        return findings.add(role, name)
    if place.event is None:
        place.event = _event(name, below, findings) or findings.add(role, name)
    return place.event


def _event(title: str, below: Sequence[Block], findings: Findings) -> Subject | None:
    """With its date in the heading, or right below it: `Date: 14 March 2025`, or on a line of its own."""
    in_title = DATE.search(title)
    date = in_title[0] if in_title else _date(below)
    if date is None:
        return None
    bare = title.replace(date, "").strip(" ,:–—-()")
    if SINGLE.fullmatch(bare):
        return findings.add("event", bare, {"date": date})
    return findings.add("event", title if in_title else f"{title}, {date}", {"date": date})


def _date(below: Sequence[Block]) -> str | None:
    pairs = [each for each in below if each.kind == "pair" and each.key.lower() in _DATE_KEYS]
    if pairs:
        found = DATE.search(pairs[0].value)
        return found[0] if found else None
    line = DATE_LINE.fullmatch(below[0].text) if below and below[0].kind == "sentence" else None
    return line["date"] if line else None


def _is_part(title: str, block: Block, place: Place) -> bool:
    """Below `Components`, a heading that is a name."""
    return block.level < LABEL and place.sections.kind_of_parent == "components" and _is_name_of_part(title)


def _is_name_of_part(text: str) -> bool:
    return _NAME_OF_PART.fullmatch(text) is not None and NO_COMPONENTS.isdisjoint(text.lower().split())


def _stands_for_itself(block: Block, place: Place, findings: Findings) -> bool:
    """Whether the line is a requirement, a decision or a task, whatever stands above it."""
    kind, key = place.sections.kind, block.key
    found: Subject | None
    is_known = " " in key or kind == "actions" or findings.by_first_name(key) is not None
    is_task = kind in {"actions", "tasks"} and is_known and is_doer(key)
    if is_task or block.has_box or is_task_number(block.text):
        found = task(block.text, findings, is_listed=kind == "actions")
    elif TASK_KEY.fullmatch(key) or (kind == "actions" and key.lower() in _TO_DO):
        found = task(block.value, findings, is_listed=True)
    else:
        found = requirement(block.text, findings, is_sentence=False)
        take_for_topic(block, found, place)
    if found is None and DECISION_KEY.fullmatch(key):
        found = place.decision = add_decision(block.value, findings)
    place.about = found or place.about
    return found is not None


def _entry(block: Block, place: Place, findings: Findings) -> bool:
    """Whether it is a term with its meaning, or below `Components` a part with what it does."""
    kind = place.sections.kind
    told = {"description": block.value}
    if kind == "terms":
        return findings.add("concept", block.key, told) is not None
    words = len(block.value.split())
    if not block.is_entry or _SAYS_SOMETHING.search(block.key):
        return False
    if kind == "components" and words > 1 and _is_name_of_part(block.key):
        return findings.add("component", block.key, told) is not None
    if words < _AT_LEAST:
        return False
    is_apart = kind is None and place.sections.is_below_title_only and not block.text.startswith("`")
    return (
        is_apart
        and _MEANING.match(block.value) is not None
        and findings.add("concept", block.key, told) is not None
    )


def _prose(text: str, place: Place, findings: Findings) -> None:
    """Behind a colon that says nothing: "Three were considered: A, B and C. It was decided to …"."""
    for each in sentences(text):
        sentence(Block("sentence", " ".join(each.text.split())), place, findings)
