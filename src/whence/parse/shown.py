"""A page as displayed: its characters with their boxes. The child process makes it, `evidence` reads it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

SCALE = 65_535
"""Boxes are in 1/65535 of the page's width and height, from the top left corner."""
LARGEST = 14_400
"""Points of a side of a PDF's page that is rendered: the largest page that the format provides for."""
# Includes the marks that pdfium leaves where it rejoined a word.
UNWANTED = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ufffe\uffff]")
"""Characters of a PDF that its text leaves out."""
MARK = "\u00ad"
"""In the text of a `ShownPage`: a hyphen at the end of a line, which the stored text may leave out."""
BASE = "\u2060"
"""In the text of a `ShownPage`: the base line of the character before it, which has no outline: pdfium finds it there alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPage:
    number: int
    width: float
    """Width in points, after rotation."""
    height: float
    rotation: int
    """Degrees, clockwise; width, height and boxes already have it."""
    text: str
    """The characters that are shown, in reading order."""
    lines: bytes
    """The number of each character's line, in two bytes."""
    boxes: bytes
    """x0, y0, x1, y1 of each character, in two bytes each."""

    def packed(self) -> tuple[dict[str, Any], bytes]:
        """The input of `unpacked`: a part for JSON, and bytes."""
        head = {"number": self.number, "width": self.width, "height": self.height, "rotation": self.rotation}
        characters = self.text.encode("utf-32-le")
        return head | {"count": len(self.text)}, characters + self.lines + self.boxes

    @classmethod
    def unpacked(cls, head: Mapping[str, Any], content: bytes) -> tuple[Self, bytes]:
        """The page, and the bytes after it."""
        count = head["count"]
        ends = 4 * count, 6 * count, 14 * count
        page = cls(
            number=head["number"],
            width=head["width"],
            height=head["height"],
            rotation=head["rotation"],
            text=content[: ends[0]].decode("utf-32-le"),
            lines=content[ends[0] : ends[1]],
            boxes=content[ends[1] : ends[2]],
        )
        return page, content[ends[2] :]
