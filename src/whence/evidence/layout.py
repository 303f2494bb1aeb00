"""Aligns the characters of a page with the stored text, and gives the rectangles of a span. Pure.

Nothing is guessed: a line of the stored text that the page does not have as it is stored has no place, and a span has
rectangles only if each of its characters has a place and the rectangles touch no other character.
"""

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from whence.parse.glyphs import shown_among
from whence.parse.shown import BASE, MARK, SCALE, ShownPage

Reason = Literal["no_layout", "text_differs", "text_overlaps", "unreadable", "no_original"]
"""Why there are no rectangles."""
Places = NDArray[np.int64]
Boxes = NDArray[np.int32]
Corners = NDArray[np.float64]
"""x0, y0, x1, y1."""

_HEADING = re.compile(r"#{1,6} ")
"""The parser adds it to headings; code on the page may also begin so."""
_HYPHEN = re.compile(r"(?<=[^\W_])-(?=[^\W_])")
"""The parser may have added it where a word is broken at a line's end."""
_SURE = 12
"""Characters of a line that occurs once on the page, and so ends a part that differs."""
_UNPLACED, _ADDED = -1, -2
"""Instead of the index of a page's character: the page does not have it; the parser added it."""
_NOWHERE = 2**32 - 1
"""Offset of a character that the stored text does not have."""
_NO_BOX = {_UNPLACED: (SCALE, SCALE, 0, 0), _ADDED: (0, 0, 0, 0)}
_DIGITS = 5
_LEAST = (1 / 2, 1 / 8)
"""Shares of a letter's width and height that a rectangle must cover, tried in this order."""
_WHOLE = 10
"""Units of a letter's width and height that a rectangle must cover in any case; it covers smaller boxes completely."""
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
        codes, placed = _codes(page.text), found >= 0
        of_place = np.full(len(codes), _NOWHERE)
        of_place[found[placed]] = offsets[placed]
        more = np.flatnonzero(of_place == _NOWHERE)
        # A hyphen that the stored text leaves out, and a base line, belong to the character before them.
        for at in more[~_is_plain(codes[more])]:
            of_place[at] = of_place[at - 1] if at and codes[at - 1] != ord(MARK) else _NOWHERE
        every = np.concatenate([offsets, of_place[more]])
        order = np.concatenate([np.where(placed, found, 0), more])
        boxes = np.frombuffer(page.boxes, np.uint16).reshape(-1, 4)[order]
        for kind, box in _NO_BOX.items():
            boxes[: len(found)][found == kind] = box
        by_offset = every.argsort(kind="stable")
        return cls(
            width=page.width,
            height=page.height,
            rotation=page.rotation,
            offsets=every[by_offset].astype(np.uint32),
            lines=np.frombuffer(page.lines, np.uint16)[order][by_offset],
            boxes=boxes[by_offset],
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

    def rects(self, start: int, end: int, *, whole_words: bool = False) -> tuple[Rect, ...] | Reason:
        """One rectangle for each line of `text[start:end]`, or the reason why there is none.

        With `whole_words`, characters outside the span may have the same box as one of its own: recognised words have one box.
        """
        first, last = np.searchsorted(self.offsets, (start, end)).tolist()
        own = self.boxes[first:last].astype(np.int32)
        if (own[:, 0] > own[:, 2]).any():
            return "text_differs"
        shown = own[:, 2] > 0
        lines = _runs(own[shown], self.lines[first:last][shown])
        outside = np.concatenate([self.boxes[:first], self.boxes[last:]]).astype(np.int32)
        if whole_words:
            outside = outside[~(outside[:, None] == own).all(axis=2).any(axis=1)]
        found: list[list[Corners]] = []
        while len(found) < len(lines):
            at = len(found)
            line = lines[at]
            beside = np.concatenate([outside, *lines[:at], *lines[at + 1 :]])
            rects = self._on_line(line, beside, _LEAST[0]) or self._on_line(line, beside, _LEAST[1])
            if rects is not None:
                found.append(rects)
                continue
            # As an integral sign and its limits: lines that lie over each other become one.
            over = [other for other in range(len(lines)) if other != at and _overlap(lines[other], line)]
            if not over:
                return "text_overlaps"
            first, second = sorted((at, over[0]))
            lines[first : first + 1] = [np.concatenate([lines[first], lines.pop(second)])]
            del found[first:]
        return tuple(_rect(rect) for rects in found for rect in rects)

    def printed_lines(self) -> list[tuple[int, int, Rect]]:
        """The span of each printed line in the text of the page, and its box. Lines without a place are left out."""
        placed = (self.boxes[:, 2] > 0) & (self.boxes[:, 0] <= self.boxes[:, 2]) & (self.offsets != _NOWHERE)
        offsets, boxes = self.offsets[placed], self.boxes[placed].astype(np.int32)
        lines = np.split(np.arange(len(boxes)), np.flatnonzero(np.diff(self.lines[placed])) + 1)
        return [
            (int(offsets[line[0]]), int(offsets[line[-1]]) + 1, _rect(_around(boxes[line])))
            for line in lines
            if len(line)
        ]

    def _on_line(self, line: Boxes, others: Boxes, least: float) -> list[Corners] | None:
        """One rectangle, or several where raised or lowered letters and neighbours do not allow it."""
        near = others[_touch(others, _around(line))]
        whole = self._cut(line, near, least)
        return [whole] if whole is not None else self._parts(_levels(line), near, least)

    def _parts(self, parts: Sequence[Boxes], others: Boxes, least: float) -> list[Corners] | None:
        """Halves the parts until each has a rectangle that touches no letters of another part."""
        found: list[Corners] = []
        for at, part in enumerate(parts):
            beside = np.concatenate([others, *parts[:at], *parts[at + 1 :]])
            rect = self._cut(part, beside, least)
            halves = np.array_split(part, 2) if len(part) > 1 else []
            rects = [rect] if rect is not None else self._parts(halves, beside, least)
            if not rects:
                return None
            found += rects
        return found

    def _cut(self, part: Boxes, others: Boxes, least: float) -> Corners | None:
        """The rectangle around the part, cut where others reach into it; None if too little of a letter would be left."""
        rect = _around(part)
        size = np.array([self.width, self.height] * 2)
        for other in others[_touch(others, rect)]:
            if _touch(other[None], rect)[0]:
                edges = other[[2, 3, 0, 1]].astype(float)
                cuts = (_moved(rect, side, edges[side]) for side in (abs(edges - rect) * size).argsort())
                kept = next((cut for cut in cuts if _keeps(cut, part, least)), None)
                if kept is None:
                    return None
                rect = kept
        return rect


def align(text: str, shown: str) -> tuple[Places, Places]:
    """The offsets of the visible characters of `text`, and for each its index in `shown` or the reason why it has none."""
    codes = _codes(text)
    offsets = np.flatnonzero(shown_among(codes))
    whole = codes[offsets].tobytes().decode("utf-32-le")
    own = np.flatnonzero(_is_plain(_codes(shown)))
    plain = shown.replace(MARK, "").replace(BASE, "")
    found = np.full(len(offsets), _UNPLACED)
    reached, is_sure = 0, True
    for head, start, end in _lines(text, codes, offsets):
        for added in {0: None, head: None}:
            places = _find(whole[start + added : end], plain, reached, whole, is_sure=is_sure)
            if places is not None:
                found[start : start + added] = _ADDED
                found[start + added : end] = places
                reached, is_sure = int(places[-1]) + 1, True
                break
        else:
            is_sure = False
    found[found >= 0] = own[found[found >= 0]]
    return offsets, _with_hyphens(found, whole, shown)


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le"), np.uint32)


def _is_plain(codes: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Whether each is a character of the page's text, neither a mark nor a base line."""
    is_plain: NDArray[np.bool_] = (codes != ord(MARK)) & (codes != ord(BASE))
    return is_plain


def _lines(text: str, codes: NDArray[np.uint32], offsets: Places) -> Iterator[tuple[int, int, int]]:
    """The start and end of each line among the visible characters, and the length of a heading's mark."""
    ends = [*np.flatnonzero(codes == ord("\n")).tolist(), len(text)]
    begin = start = 0
    for after, end in zip(ends, np.searchsorted(offsets, ends).tolist(), strict=True):
        if start < end:
            heading = _HEADING.match(text, begin)
            yield heading.end() - begin - 1 if heading else 0, start, end
        begin, start = after + 1, end


def _find(wanted: str, shown: str, reached: int, whole: str, *, is_sure: bool) -> Places | None:
    """The index of each character of a line, also if some of its hyphens are not there."""
    if is_sure and wanted and shown.startswith(wanted, reached):
        return np.arange(reached, reached + len(wanted))
    is_once = len(wanted) >= _SURE and whole.count(wanted) == 1
    if is_once and shown.count(wanted) == 1 and (place := shown.find(wanted, reached)) >= 0:
        return np.arange(place, place + len(wanted))
    parts = _HYPHEN.split(wanted)
    if len(parts) == 1:
        return None
    pattern = re.compile("(-?)".join(map(re.escape, parts)))
    found = pattern.match(shown, reached) if is_sure else None
    if found is None and is_once and len(every := list(pattern.finditer(shown))) == 1:
        found = every[0] if every[0].start() >= reached else None
    return None if found is None else _without_hyphens(parts, found)


def _without_hyphens(parts: Sequence[str], found: re.Match[str]) -> Places:
    places = list(range(found.start(), found.start() + len(parts[0])))
    for number, part in enumerate(parts[1:], 1):
        places += [found.start(number) if found[number] else _ADDED]
        places += range(found.end(number), found.end(number) + len(part))
    return np.array(places)


def _with_hyphens(found: Places, whole: str, shown: str) -> Places:
    """A hyphen that the parser added has the place of the mark after the character before it."""
    for at in np.flatnonzero(found[1:] == _ADDED) + 1:
        place = int(found[at - 1]) + 1
        if whole[at] == "-" and 0 < place < len(shown) and shown[place] == MARK:
            found[at] = place
    return found


def _levels(line: Boxes) -> list[Boxes]:
    """The line in parts of about the same height, for raised and lowered letters."""
    middle = line[:, 1] + line[:, 3]
    is_level = (middle[1:] > 2 * line[:-1, 1]) & (middle[1:] < 2 * line[:-1, 3])
    return np.split(line, np.flatnonzero(~is_level) + 1)


def _around(part: Boxes) -> Corners:
    return np.concatenate([part[:, :2].min(axis=0), part[:, 2:].max(axis=0)]).astype(float)


def _moved(rect: Corners, side: int, edge: float) -> Corners:
    moved = rect.copy()
    moved[side] = edge
    return moved


def _keeps(rect: Corners, part: Boxes, least: float) -> bool:
    """Whether this share of the width and of the height of each letter is inside."""
    inside = np.minimum(part[:, 2:], rect[2:]) - np.maximum(part[:, :2], rect[:2])
    is_wide = (rect[2:] - rect[:2] >= 4 * _INSET).all()
    size = part[:, 2:] - part[:, :2]
    return bool(is_wide and (inside >= np.minimum(np.maximum(least * size, _WHOLE), size)).all())


def _runs(boxes: Boxes, lines: NDArray[np.uint16]) -> list[Boxes]:
    return np.split(boxes, np.flatnonzero(np.diff(lines)) + 1) if len(boxes) else []


def _touch(boxes: Boxes, rect: Corners) -> NDArray[np.bool_]:
    within: NDArray[np.bool_] = (boxes[:, :2] < rect[2:]) & (boxes[:, 2:] > rect[:2])
    return within[:, 0] & within[:, 1]


def _overlap(boxes: Boxes, others: Boxes) -> bool:
    return any(_touch(boxes, other.astype(float)).any() for other in others)


def _rect(box: Corners) -> Rect:
    inset = np.minimum(_INSET, (box[2:] - box[:2]) / 4)
    return Rect(
        *(round(float(one), _DIGITS) for one in np.concatenate([box[:2] + inset, box[2:] - inset]) / SCALE)
    )
