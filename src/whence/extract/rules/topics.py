"""A heading with an identifier: whatever stands below it is said of what it identifies."""

import re

from whence.extract.rules.blocks import Block
from whence.extract.rules.cues import MODAL, REQUIREMENT, STORY
from whence.extract.rules.findings import Findings, Subject
from whence.extract.rules.place import Place
from whence.extract.rules.sections import LABEL, unnumbered
from whence.extract.rules.words import REQUIREMENT_PREFIXES

_PREFIX = re.compile(r"[A-Z]+")
_LONGEST = 12
"""Words of a title."""


def is_title(text: str) -> bool:
    """Whether it names what is demanded below, rather than demand it."""
    is_whole = text.rstrip("*_` ").endswith((".", "!", "?", ";"))
    is_said = is_whole or MODAL.search(text) is not None or STORY.match(text) is not None
    return not is_said and len(text.split()) <= _LONGEST


def take_for_topic(block: Block, found: Subject | None, place: Place) -> None:
    """A line of its own with an identifier and a title is like a heading; one with a demand ends what such a line began."""
    if found is None:
        return
    identified = REQUIREMENT.fullmatch(block.text)
    if identified is not None and not block.is_item and is_title(identified["text"]):
        place.topic, place.topic_level = found, LABEL
    elif place.topic_level == LABEL:
        place.topic = None


def leave_topic(heading: Block, place: Place) -> None:
    """Where another section begins that is no part of it."""
    if place.topic_level is None and place.topic is not None and heading.level < LABEL:
        place.topic_level = heading.level - 1 if place.sections.is_resumed(heading.text) else LABEL
    if place.topic_level is not None and heading.level <= place.topic_level:
        place.topic = place.topic_level = None


def resume_topic(place: Place, findings: Findings) -> None:
    """The chunk goes on with what a heading before it identifies."""
    for title in reversed(place.sections.titles):
        found = REQUIREMENT.fullmatch(unnumbered(title))
        prefix = _PREFIX.match(found["id"]) if found else None
        if found is None or prefix is None:
            continue
        if prefix[0] in REQUIREMENT_PREFIXES or MODAL.search(found["text"]):
            place.topic = place.about = findings.speak_of("requirement", found["id"])
        return
