"""What stands before a marker, holds no word, and may go with it. Pure.

The lead of a marker is blanks, what joins it to the words before (", and"), and what was opened for it alone (parentheses,
quotation marks, emphasis, a tag). It is read from its end to its beginning, as the marker is where it becomes one.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from whence.chat.blanks import BLANK, IS_SPACE, MOST_BLANKS, TRAILING, behind_blanks, blanks_start, matched
from whence.chat.lookalikes import REACH
from whence.chat.markers import BRACKETS, DASH, MASKS
from whence.chat.seen import Seen, Unclear

# Between two markers; and as far as it may yet become that.
_JOINS = "and|or|to"
_PARTS = rf"(?:[,;、，；&…]|{DASH})"
GAP = re.compile(rf"{BLANK}(?:{_PARTS}{BLANK})?(?:(?:{_JOINS})(?!\w){BLANK})?")
GAP_SO_FAR = re.compile(
    rf"{BLANK}(?:{_PARTS}{BLANK})?(?:(?:{_JOINS}){BLANK}|an?|o|t)?(?:&[a-zA-Z0-9#]{{0,7}}|\\)?"
)
_LEADING = re.compile(BLANK)
_GAP_WORD = re.compile(rf"(?:{_JOINS})(?!\w){BLANK}\Z")
LONGEST_GAP = 3 * 8 * MOST_BLANKS + 4

# What opens for a marker alone, and what closes it.
_PAIRS = dict(zip("({<（「『〔〈《〖｛“‘«‹", ")}>）」』〕〉》〗｝”’»›", strict=True))
_PAIRS |= dict(zip((BRACKETS + MASKS)[::2], (BRACKETS + MASKS)[1::2], strict=True))
_PAIRS |= {"„": "“”", "‚": "‘’"}
"""Each with what may close it, a character."""
_COMMENT, _COMMENT_END = "<!--", "-->"
_TAG = re.compile(r"<([a-zA-Z][a-zA-Z0-9]{0,9})(?: [^<>\n]{0,40})?>")
_LONGEST_TAG = 53
_SAME = {"*": 3, "_": 3, "~": 2, '"': 1, "'": 1}
"""What opens and closes alike, and how many of it at most."""
_MOST_LAYERS = 4

_SEPARATORS = ",;、，；"
NO_WORD = frozenset(["", *_SEPARATORS])
_IS_DASH = re.compile(DASH)
_MOST_DASHES = 3
_AN_ENTITY = re.compile(r"&#?\w{1,8}\Z")
_CONJUNCTIONS = ("and", "or", "&")
_REFERS = (
    *("see also", "see", "cf.", "cf", "e.g.", "e.g.,", "i.e.", "also", "vgl.", "siehe", "見", "见", "参照"),
    *(
        f"{word}{end}"
        for word in ("source", "sources", "passage", "passages", "来源", "出典")
        for end in ("", ":", "：")
    ),
)
_REFERS += tuple(word.capitalize() for word in _REFERS if word.isascii())
"""Words that say nothing where they lead to nothing."""
LEADING_WORDS = tuple(word for word in (*_CONJUNCTIONS, *_REFERS) if word[-1].isalnum())
"""By which words a marker may take more with it than the space before it."""
LAST_LETTERS = frozenset(word[-1] for word in LEADING_WORDS)
_UNFINISHED = sorted(
    {word[:size] for word in (*_CONJUNCTIONS, *_REFERS) for size in range(1, len(word) + 1)}, reverse=True
)
_LONGEST_WORD = max(map(len, _UNFINISHED))


def _ending(listed: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(map(re.escape, listed))})\Z")


_JOINING = _ending(_CONJUNCTIONS)
_REFERRING = _ending(_REFERS)
_ANY_WORD = _ending((*_CONJUNCTIONS, *_REFERS))
_SO_FAR = re.compile(
    rf"(?:(?<!\w)(?:{'|'.join(map(re.escape, _UNFINISHED))})|&[a-zA-Z0-9#]{{0,7}}|<[^<>\n]{{0,{_LONGEST_TAG}}}|\\)\Z"
)
_SO_FAR_REACH = _LONGEST_TAG + 2
# Inside a word that is none of these, nothing goes with a marker to come.
_INSIDE_WORD = re.compile(r"[^\W\d_]{2}\Z|[^\W_] [^\W_]{1,8}\Z")
_WORD_REACH = 10

_MARKS = r"[-*+•]|\(?(?:[0-9]{1,3}|[a-zA-Z])[.)]|#{1,6}"
_LINE = re.compile(rf"[ \t>]{{0,{MOST_BLANKS}}}(?:(?:{_MARKS})[ \t]{{1,{MOST_BLANKS}}})?")
_LINE_SO_FAR = re.compile(
    rf"[ \t>]{{0,{MOST_BLANKS}}}(?:{_MARKS}|\(?(?:[0-9]{{1,3}}|[a-zA-Z])?)?[ \t]{{0,{MOST_BLANKS}}}"
)
_PAUSES = re.compile(r"[,;:.!?…、，；：。！？]{0,3}")


class Layer(NamedTuple):
    """What was opened right before a marker."""

    opening: str
    """With the blanks and words behind it."""
    closings: Sequence[str]
    is_close: bool
    """It closes only where no blank stands before."""

    def end(self, seen: Seen, at: int) -> int | None:
        """Where it is closed, if nothing else is in it."""
        start = at if self.is_close else behind_blanks(seen, at)
        for pauses in (0, len(matched(_PAUSES, seen.text, start))):
            if (end := self._closed(seen, start + pauses)) is not None:
                return end
        return None

    def _closed(self, seen: Seen, at: int) -> int | None:
        start = at if self.is_close else behind_blanks(seen, at)
        for closing in self.closings:
            found = seen.text[start : start + len(closing)]
            if found == closing:
                return start + len(found)
            if not seen.is_whole and closing.startswith(found):
                raise Unclear
        return None


class Lead(NamedTuple):
    head: str
    """Blanks; or, where a line begins, all that stands before the marker and holds no word."""
    joiner: str = ""
    """With the blanks behind it."""
    layers: tuple[Layer, ...] = ()
    begins_line: bool = False
    ends_paragraph: bool = False
    """The line began with it, and with the mark of a list, say, so that no paragraph went on."""
    follows_citation: bool = False
    """It joins the marker to a citation."""
    gap: str = ""
    """What stood between markers that were taken out, if anything but blanks did."""

    @property
    def text(self) -> str:
        return self.head + self.joiner + "".join(layer.opening for layer in self.layers)

    def with_gap(self, gap: str) -> "Lead":
        """Before the next marker that is taken out."""
        return self._replace(gap=gap) if TRAILING.sub("", gap) else self

    @property
    def joining(self) -> tuple[str, str]:
        """Blanks, and what joins the words before the markers to those behind them."""
        words = TRAILING.sub("", self.joiner)
        if not words and self.gap:
            blanks = matched(_LEADING, self.gap, 0)
            return blanks, self.gap[len(blanks) :]
        word = _GAP_WORD.search(self.gap)
        if word and words[-1:] in _SEPARATORS:
            return self.head, f"{words} {word[0]}"
        return self.head, self.joiner


def lead_before(text: str, floor: int) -> Lead:
    """The lead at the end of a text, of which only what stands behind `floor` may go."""
    end, layers = _layers(text, floor, is_sure=True)
    line = _line_start(text, floor)
    if line is not None and _LINE.fullmatch(text, line, end):
        return Lead(text[line:end], "", layers, begins_line=True)
    joined = _joiner_start(text, floor, end)
    start = blanks_start(text, floor, joined)
    return Lead(text[start:joined], text[joined:end], layers)


def lead_so_far(text: str, floor: int) -> int:
    """How many characters at the end of a text may be the lead of a marker to come."""
    unfinished = _SO_FAR.search(text, max(floor, len(text) - _SO_FAR_REACH))
    if not unfinished and _INSIDE_WORD.search(text, max(0, len(text) - _WORD_REACH)):
        return 0
    starts = [_so_far_start(text, floor)]
    if unfinished:
        starts.append(_so_far_start(text[: unfinished.start()], floor))
    return len(text) - min(starts)


def _so_far_start(text: str, floor: int) -> int:
    end, _ = _layers(text, floor, is_sure=False)
    line = _line_start(text, floor)
    if line is not None and _LINE_SO_FAR.fullmatch(text, line, end):
        return line
    return blanks_start(text, floor, _joiner_start(text, floor, end))


def _line_start(text: str, floor: int) -> int | None:
    """Where the last line begins, unless that is before what may go."""
    start = text.rfind("\n") + 1
    return start if start >= floor and (start > 0 or len(text) < REACH) else None


def _layers(text: str, floor: int, *, is_sure: bool) -> tuple[int, tuple[Layer, ...]]:
    """What was opened at the end of a text, and where that begins; if not `is_sure`, also what may have been closed there."""
    layers: list[Layer] = []
    end = len(text)
    while len(layers) < _MOST_LAYERS:
        layer = _opened(text, floor, end, is_sure=is_sure)
        if layer is None:
            break
        layers.insert(0, layer)
        end -= len(layer.opening)
    return end, tuple(layers)


def _opened(text: str, floor: int, end: int, *, is_sure: bool) -> Layer | None:
    """The last of what was opened."""
    if text[end - 1 : end] in _SAME and end > floor:
        start = _run_start(text, floor, end)
        is_opened = start < end and (not is_sure or _opens(text, start, end))
        return Layer(text[start:end], (text[start:end],), is_close=True) if is_opened else None
    behind = blanks_start(text, floor, end)
    worded = _word_start(text, floor, behind, _ANY_WORD)
    for at in (blanks_start(text, floor, worded), behind):
        if at > floor and text[at - 1] in _PAIRS:
            return Layer(text[at - 1 : end], _PAIRS[text[at - 1]], is_close=False)
    if text.endswith(_COMMENT, floor, behind):
        return Layer(text[behind - len(_COMMENT) : end], (_COMMENT_END,), is_close=False)
    if tag := _tag_before(text, floor, behind):
        return Layer(text[tag.start() : end], (f"</{tag[1]}>",), is_close=False)
    return None


def _tag_before(text: str, floor: int, end: int) -> re.Match[str] | None:
    if end <= floor or text[end - 1] != ">":
        return None
    start = text.rfind("<", max(floor, end - _LONGEST_TAG), end)
    return _TAG.fullmatch(text, start, end) if start >= 0 else None


def _run_start(text: str, floor: int, end: int) -> int:
    """Where the marks begin that end here; `end` where they are too many."""
    mark = text[end - 1]
    start = end
    while start > 0 and text[start - 1] == mark and end - start <= _SAME[mark]:
        start -= 1
    return start if start >= floor and end - start <= _SAME[mark] else end


def _opens(text: str, start: int, end: int) -> bool:
    """Whether what opens and closes alike opens here."""
    before, run = text[start - 1 : start] if start else "", text[start:end]
    if run == "~":
        return False
    if not before or before.isspace() or before in IS_SPACE or before in _PAIRS or before in _SAME:
        return True
    if run[0] in "_'":
        return False
    line = text[text.rfind("\n") + 1 : start]
    return line.count(run) % 2 == 0


def _joiner_start(text: str, floor: int, end: int) -> int:
    """Where what joins the end of a text to its words begins, or `end`."""
    at = blanks_start(text, 0, end)
    at = blanks_start(text, 0, _word_start(text, 0, at, _REFERRING))
    joined = _word_start(text, 0, at, _JOINING)
    separated = _separator_start(text, 0, before_joined := blanks_start(text, 0, joined))
    start = separated if separated < before_joined else joined if joined < at else end
    # At the beginning of a line nothing stands before that it would join.
    before = blanks_start(text, 0, start)
    return start if start >= floor and before > 0 and text[before - 1] != "\n" else end


def _word_start(text: str, floor: int, end: int, listed: re.Pattern[str]) -> int:
    """Where one of these words begins that ends here, or `end`."""
    found = listed.search(text, max(floor, end - _LONGEST_WORD), end)
    is_word = found is not None and found.start() > floor and _parts(text, floor, found.start())
    return found.start() if found is not None and is_word else end


def _parts(text: str, floor: int, end: int) -> bool:
    """Whether a word may begin here."""
    if text[end - 1] in _PAIRS or blanks_start(text, floor, end) < end:
        return True
    return _separator_start(text, floor, end) < end


def _separator_start(text: str, floor: int, end: int) -> int:
    if end <= floor:
        return end
    if text[end - 1] in _SEPARATORS:
        is_entity = text[end - 1] == ";" and _AN_ENTITY.search(text[max(0, end - 11) : end - 1])
        return end if is_entity else end - 1
    start = end
    while start > 0 and end - start <= _MOST_DASHES and _IS_DASH.match(text, start - 1):
        start -= 1
    return start if start >= floor and end - start <= _MOST_DASHES else end
