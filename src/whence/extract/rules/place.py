"""Where the reader is: under which headings, and what was spoken of last."""

from dataclasses import dataclass
from typing import Literal

from whence.extract.rules.findings import Subject
from whence.extract.rules.sections import Sections

Part = Literal["status", "context", "decision", "rationale", "other"]
"""Of a decision record."""


@dataclass(slots=True)
class Place:
    sections: Sections
    about: Subject | None = None
    """What pairs tell more about."""
    event: Subject | None = None
    """What those who are present take part in."""
    decision: Subject | None = None
    """The last one, which a reason may follow."""
    is_numbered: bool = False
    """The paragraph began with a requirement's identifier: what it goes on to demand belongs to that."""
    topic: Subject | None = None
    """What the heading identifies: all that stands below it is said of that."""
    topic_level: int | None = None
    """Of that heading; None where only its words are stored with the chunk."""
    before: str = ""
    """The line before, unless it is a heading."""
    is_record: bool = False
    """The text has the sections of a decision record."""
    record: Subject | None = None
    """The decision whose record this is."""
    record_level: int | None = None
    """Of its heading; None where only its words are stored with the chunk."""
    part: Part | None = None
