"""Aligns the characters of a page with the stored text, and gives the rectangles of a span. Pure.

Nothing is guessed: a line of the stored text that the page does not have as it is stored has no place, and a span has
rectangles only if each of its characters has a place and the rectangles touch no other character.
"""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from whence.parse.shown import SCALE, ShownPage

Reason = Literal["no_layout", "text_differs", "text_overlaps", "unreadable", "no_original"]
"""Why there are no rectangles."""
Places = NDArray[np.int64]
Boxes = NDArray[np.int32]

_HEADING = re.compile(r"#{1,6} ")
"""The parser adds it to headings; code on the page may also begin so."""
_IS_SHOWN = np.array([not chr(code).isspace() for code in range(0x3002)])
"""By the code of a character; those beyond are no white space."""
_MOST_HYPHENS = 20
_SURE = 12
"""Characters of a line that occurs once on the page, and so ends a part that differs."""
_UNPLACED, _ADDED = -1, -2
"""Instead of the index of a page's character: the page does not have it; the parser added it."""
_NOWHERE = 2**32 - 1
"""Offset of a character that the stored text does not have."""
_NO_BOX = {_UNPLACED: (SCALE, SCALE, 0, 0), _ADDED: (0, 0, 0, 0)}
_DIGITS = 5
_INSET = 1.0
"""Rectangles are this much smaller than the boxes, so that rounding makes none touch a neighbour."""


class Rect(NamedTuple):
    """0 to 1 of the page as it is shown, from its top left corner."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PageLayout:
    """The places of a page's characters. Those that the stored text does not have come last."""

    width: float
    height: float
    rotation: int
    offsets: NDArray[np.uint32]
    """In the text of the page, ascending; white space has none."""
    lines: NDArray[np.uint16]
    boxes: NDArray[np.uint16]

    @classmethod
    def aligned(cls, page: ShownPage, text: str) -> Self:
        """`text` is the stored text of the page."""
        offsets, found = align(text, page.text)
        placed = found >= 0
        is_rest = np.ones(len(page.text), np.bool_)
        is_rest[found[placed]] = False
        rest = np.flatnonzero(is_rest)
        order = np.concatenate([np.where(placed, found, 0), rest])
        boxes = np.frombuffer(page.boxes, np.uint16).reshape(-1, 4)[order]
        for kind, box in _NO_BOX.items():
            boxes[: len(found)][found == kind] = box
        return cls(
            width=page.width,
            height=page.height,
            rotation=page.rotation,
            offsets=np.concatenate([offsets, np.full(len(rest), _NOWHERE)]).astype(np.uint32),
            lines=np.frombuffer(page.lines, np.uint16)[order],
            boxes=boxes,
        )

    def packed(self) -> bytes:
        offsets = np.diff(self.offsets, prepend=np.uint32(0))  # small numbers compress well
        return zlib.compress(offsets.tobytes() + self.lines.tobytes() + self.boxes.tobytes(), 1)

    @classmethod
    def unpacked(cls, width: float, height: float, rotation: int, packed: bytes) -> Self:
        content = zlib.decompress(packed)
        count = len(content) // 14
        return cls(
            width=width,
            height=height,
            rotation=rotation,
            offsets=np.frombuffer(content, np.uint32, count).cumsum(dtype=np.uint32),
            lines=np.frombuffer(content, np.uint16, count, 4 * count),
            boxes=np.frombuffer(content, np.uint16, 4 * count, 6 * count).reshape(count, 4),
        )

    def rects(self, start: int, end: int) -> tuple[Rect, ...] | Reason:
        """One rectangle for each line of `text[start:end]`, or the reason why there is none."""
        first, last = np.searchsorted(self.offsets, (start, end)).tolist()
        own = self.boxes[first:last].astype(np.int32)
        if (own[:, 0] > own[:, 2]).any():
            return "text_differs"
        shown = own[:, 2] > 0
        lines = _runs(own[shown], self.lines[first:last][shown])
        outside = np.concatenate([self.boxes[:first], self.boxes[last:]]).astype(np.int32)
        found: list[Rect] = []
        for at, line in enumerate(lines):
            beside = np.concatenate([outside, *lines[:at], *lines[at + 1 :]])
            # Lines of the span may lie over each other, if there is no other way.
            tries = ((parts, others) for others in (beside, outside) for parts in _partitions(line))
            rects = next((rects for parts, others in tries if (rects := self._free(parts, others))), None)
            if rects is None:
                return "text_overlaps"
            found += rects
        return tuple(found)

    def _free(self, parts: list[Boxes], others: Boxes) -> list[Rect] | None:
        """The rectangle of each part, if it can be free of all others."""
        rects = [rect for part in parts if (rect := self._trimmed(part, others)) is not None]
        return [_rect(rect) for rect in rects] if len(rects) == len(parts) else None

    def _trimmed(self, part: Boxes, others: Boxes) -> NDArray[np.float64] | None:
        """The rectangle around the part, cut where others reach into it; None if it would lose a character's middle."""
        rect = np.concatenate([part[:, :2].min(axis=0), part[:, 2:].max(axis=0)]).astype(float)
        size = np.array([self.width, self.height] * 2)
        inside = others[_touch(others, rect)]
        for other in inside[
            ~(inside[:, None] == part).all(axis=2).any(axis=1)
        ]:  # one glyph may be several characters
            if _touch(other[None], rect)[0]:
                edges = other[[2, 3, 0, 1]].astype(float)
                side = int((abs(edges - rect) * size).argmin())
                rect[side] = edges[side]
        middles = (part[:, :2] + part[:, 2:]) / 2
        is_whole = (middles >= rect[:2]).all() and (middles <= rect[2:]).all()
        return rect if is_whole else None


def align(text: str, shown: str) -> tuple[Places, Places]:
    """The offsets of the visible characters of `text`, and for each its index in `shown` or the reason why it has none."""
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    offsets = np.flatnonzero(_IS_SHOWN[np.minimum(codes, len(_IS_SHOWN) - 1)])
    found = np.full(len(offsets), _UNPLACED)
    whole = "".join(text.split())
    at = reached = 0
    is_sure = True
    for line in text.split("\n"):
        wanted = "".join(line.split())
        if not wanted:
            continue
        for added in _added(line, wanted):
            own = [place for place in range(len(wanted)) if place not in added] if added else slice(None)
            rest = "".join(wanted[place] for place in own) if isinstance(own, list) else wanted
            place = _find(rest, shown, reached, whole, is_sure=is_sure)
            if place >= 0:
                found[at : at + len(wanted)] = _ADDED
                found[at : at + len(wanted)][own] = np.arange(place, place + len(rest))
                reached, is_sure = place + len(rest), True
                break
        else:
            is_sure = False
        at += len(wanted)
    return offsets, found


def _added(line: str, wanted: str) -> Iterator[set[int]]:
    """The places of characters that the parser may have added: none, the marks of a heading, a hyphen at a line's end."""
    heading = _HEADING.match(line)
    heads = [set[int](), *([set(range(heading.end() - 1))] if heading else [])]
    yield from heads
    hyphens = [place for place, one in enumerate(wanted) if one == "-"][:_MOST_HYPHENS]
    yield from (head | {place} for head in heads for place in hyphens)


def _find(wanted: str, shown: str, reached: int, whole: str, *, is_sure: bool) -> int:
    if is_sure and shown.startswith(wanted, reached):
        return reached
    if len(wanted) < _SURE or shown.count(wanted) != 1 or whole.count(wanted) != 1:
        return -1
    return shown.find(wanted, reached)


def _partitions(line: Boxes) -> Iterator[list[Boxes]]:
    """The line as a whole; in parts of about the same height, for raised and lowered letters; letter by letter."""
    yield [line]
    middle = line[:, 1] + line[:, 3]
    is_level = (middle[1:] > 2 * line[:-1, 1]) & (middle[1:] < 2 * line[:-1, 3])
    yield np.split(line, np.flatnonzero(~is_level) + 1)
    yield np.split(line, np.arange(1, len(line)))


def _runs(boxes: Boxes, lines: NDArray[np.uint16]) -> list[Boxes]:
    return np.split(boxes, np.flatnonzero(np.diff(lines)) + 1) if len(boxes) else []


def _touch(boxes: Boxes, rect: NDArray[np.float64]) -> NDArray[np.bool_]:
    within: NDArray[np.bool_] = (boxes[:, :2] < rect[2:]) & (boxes[:, 2:] > rect[:2])
    return within[:, 0] & within[:, 1]


def _rect(box: NDArray[np.float64]) -> Rect:
    inset = np.minimum(_INSET, (box[2:] - box[:2]) / 4)
    return Rect(
        *(round(float(one), _DIGITS) for one in np.concatenate([box[:2] + inset, box[2:] - inset]) / SCALE)
    )
