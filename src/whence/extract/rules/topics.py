"""A heading with an identifier: whatever stands below it is said of what it identifies."""

from whence.extract.rules.blocks import Block
from whence.extract.rules.cues import REQUIREMENT, STORY
from whence.extract.rules.findings import Findings, Subject
from whence.extract.rules.identifiers import is_standard, is_usual, prefix_of
from whence.extract.rules.modals import demands
from whence.extract.rules.place import Place
from whence.extract.rules.sections import LABEL, unnumbered

_LONGEST = 12
"""Words of a title."""


def is_title(text: str) -> bool:
    """Whether it names what is demanded below, rather than demand it."""
    is_whole = text.rstrip("*_` ").endswith((".", "!", "?", ";"))
    is_said = is_whole or demands(text) or STORY.match(text) is not None
    return not is_said and len(text.split()) <= _LONGEST


def take_for_topic(block: Block, found: Subject | None, place: Place) -> None:
    """A line of its own with an identifier and a title is like a heading; one among others, or with a demand, ends what such a line began."""
    if found is None:
        return
    if not block.is_item and _is_titled(block.text) and not _is_titled(place.before):
        place.topic, place.topic_level = found, LABEL
    elif place.topic_level == LABEL:
        place.topic = None


def _is_titled(line: str) -> bool:
    found = REQUIREMENT.fullmatch(line)
    return found is not None and is_title(found["text"])


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
        if found is None:
            continue
        prefix = prefix_of(found["id"])
        if (
            is_usual(prefix)
            or prefix in findings.trusted
            or (demands(found["text"]) and not is_standard(prefix))
        ):
            place.topic = place.about = findings.speak_of("requirement", found["id"])
        return
