"""Architecture decision records: `# ADR 7: Use PostgreSQL`, with a section each for its status, its context and the decision."""

import re
from collections.abc import Iterable, Mapping

from whence.extract.rules.blocks import Block
from whence.extract.rules.cues import RATIONALE
from whence.extract.rules.findings import Findings, Subject
from whence.extract.rules.place import Part, Place
from whence.extract.rules.sections import LABEL, TITLE, unnumbered

_RECORD = re.compile(
    r"(?:ADR|Architecture Decision Record)(?:[\s#-]{0,3}\d{1,5}\s?[:.–—-]?|:)\s+(?P<title>\S.*)",
    re.IGNORECASE,
)
_PARTS: Mapping[str, Part] = {
    "status": "status",
    "context": "context",
    "context and problem statement": "context",
    "problem": "context",
    "problem statement": "context",
    "decision": "decision",
    "decision outcome": "decision",
    "rationale": "rationale",
    "justification": "rationale",
    "why": "rationale",
    "consequences": "other",
    "decision drivers": "other",
    "considered options": "other",
    "options": "other",
    "alternatives": "other",
    "alternatives considered": "other",
}


def is_record(found: Iterable[Block]) -> bool:
    """Whether the sections give it away, so that its title needs no `ADR`."""
    return {"status", "decision"} <= {_part(each.text) for each in found if each.kind == "heading"}


def resume_record(place: Place, findings: Findings) -> None:
    """The chunk goes on with a record whose title stands before it."""
    for title in place.sections.titles:
        if named := _RECORD.fullmatch(title):
            place.record = place.about = findings.speak_of("decision", named["title"])
    place.part = _part(place.sections.titles[-1]) if place.record and place.sections.titles else None


def record(block: Block, place: Place, findings: Findings) -> Subject | None:
    """The decision that the heading names, or that it is a section of."""
    named = _RECORD.fullmatch(block.text)
    if named is None and not (place.is_record and block.level == TITLE):
        return _section(block, place, findings)
    title = named["title"] if named else unnumbered(block.text)
    place.part, place.record_level = None, block.level
    place.record = place.decision = findings.add("decision", title)
    return place.record


def tell_record(text: str, place: Place, findings: Findings) -> bool:
    """Whether the sentence says what was decided, or why, or how that stands."""
    return place.record is not None and _tell(place.record, place.part, text, findings)


def record_pair(block: Block, place: Place, findings: Findings) -> bool:
    """The same of a pair: `Decision: We will use …`; what has a colon in the section of the decision belongs to it, too."""
    if place.record is None:
        return False
    if place.part == "decision":
        return tell_record(block.text, place, findings)
    return _tell(place.record, _part(block.key), block.value, findings)


def _tell(decision: Subject, part: Part | None, text: str, findings: Findings) -> bool:
    match part:
        case "status":
            findings.tell(decision, "status", text.rstrip("."))
        case "context":
            findings.entitle(decision, "rationale", text)
        case "rationale":
            findings.tell(decision, "rationale", text)
        case "decision":
            findings.tell(decision, "description", text)
            if reason := RATIONALE.search(text):
                findings.tell(decision, "rationale", reason["why"])
        case _:
            return False
    return True


def _section(block: Block, place: Place, findings: Findings) -> Subject | None:
    if place.record is None:
        return None
    if block.level == LABEL and place.part == "status":  # a word alone looks like a heading
        findings.tell(place.record, "status", block.text)
        return place.record
    part = _part(block.text)
    is_over = part is None if place.record_level is None else block.level <= place.record_level
    if is_over:
        place.record = place.part = place.record_level = None
    elif block.level < LABEL:
        place.part = part
    return place.record


def _part(title: str) -> Part | None:
    return _PARTS.get(unnumbered(title).strip(" :*_").lower())
