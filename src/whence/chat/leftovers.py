"""What stands around a marker that is taken out, holds no word, and goes with it. Pure.

Before the marker stands its lead (see `leads`). What was opened there goes if it is closed with nothing in it; what joins goes
if nothing is left to be joined, on one side or the other. A line that begins with a marker goes if it has nothing else but
the mark of a list, unless what follows belongs to it and would become code.
"""

import re

from whence.chat.blanks import IS_SPACE, MOST_BLANKS, TRAILING, behind_blanks, matched
from whence.chat.leads import NO_WORD, Lead
from whence.chat.markers import OPENING
from whence.chat.seen import Seen

_NEXT_LINE = re.compile(r"((?:[ \t]{0,16}\r?\n){0,16})([ \t]{0,64})")
_EMPTY = re.compile(r"[ \t]{0,16}\r?\n")
_INDENT = re.compile(r"[ \t]*")
_TAB = 4
_ITEM_MARKS = frozenset("-*+•0123456789")
_EMPTY_LINE = frozenset(["", "\r", "\n"])

_NO_SPACE_BEFORE = frozenset(".,;:!?…)]}»”’。，、；：！？）】］」』〕〉》｝%")
# What ends a phrase only where no word follows: ".env", ":smile:" and ".5" are words.
_STOPS = re.compile(r"[.,;:!?%]{1,8}+")
_BEHIND_STOP = _NO_SPACE_BEFORE | OPENING | IS_SPACE | frozenset(["", "\r", "\n", *"\"'*~|<&"])
_LINE_ENDS = frozenset(["", "\n"])
_JOINS_NOTHING = _LINE_ENDS | frozenset("|-–—")
_RUN = re.compile(r"\*{1,3}+|_{1,3}+|~~?+|[\"'<]")
_CLOSES = re.compile(r"(?:\*{1,3}+|_{1,3}+|~~|[\"'])(?!\w)|</")
_FIRST_PAUSE = re.compile(r"[,;、，；：。]|(?:[.:]|-{1,3}|[–—])(?=\s|\Z)")
_RUNS = "`~*_"
_TAG_BEGINS = re.compile(r"<[a-zA-Z/]{0,12}\Z")


def closed(lead: Lead, seen: Seen, at: int) -> tuple[Lead, int]:
    """Without the layers that are closed here, and where the text goes on."""
    while lead.layers and (end := lead.layers[-1].end(seen, at)) is not None:
        lead, at = lead._replace(layers=lead.layers[:-1], gap=""), end
    return lead, at


def mended(lead: Lead, seen: Seen, at: int, before: str) -> tuple[str, int]:
    """What is kept of the lead of a marker that was taken out, and where the text goes on. No other marker follows."""
    if lead.layers or lead.begins_line:
        return _mended_beginning(lead, seen, at, before)
    start, following = _following(seen, at)
    is_end = _is_stop(seen, at, start) or (start == at and _is_closing(seen, start))
    kept, spaces = "", " " if lead.follows_citation else lead.head
    head, joiner = lead.joining
    if joiner and not is_end and following not in _JOINS_NOTHING:
        words = TRAILING.sub("", joiner)
        kept, spaces = head + words, joiner[len(words) :]
    last = (before + kept)[-1:]
    if last in {"", "\n", " ", "\t"}:
        return _parted(before, kept + spaces, following), start
    if is_end:
        return kept, start
    if start > at or following.isspace() or not following:
        return kept, at
    if spaces or last == "\\" or last == following in _RUNS:
        return kept + (spaces if len(spaces) == 1 else " "), at
    return _parted(before, kept, following), at


def kept_before_citation(lead: Lead, gap: str, seen: Seen, end: int) -> str:
    """What is kept of the lead of a marker that was taken out, and of the gap to the citation that follows and ends here."""
    joins_words = not (lead.joiner or lead.gap or lead.layers or lead.begins_line)
    if not joins_words or TRAILING.sub("", gap)[-1:] in NO_WORD:
        return lead.text
    start, following = _following(seen, end)
    if following in _JOINS_NOTHING or following in OPENING or _is_stop(seen, end, start):
        return lead.text
    return gap


def _mended_beginning(lead: Lead, seen: Seen, at: int, before: str) -> tuple[str, int]:
    """Where a line begins, or something that was opened and has more in it: no stop stands there."""
    start, following = _following(seen, at)
    if pause := _FIRST_PAUSE.match(seen.text, start):
        seen.peek(pause.end())
        start, following = _following(seen, pause.end())
    if not lead.layers and following in _LINE_ENDS:
        kept, end = _without_line(lead.head, seen, start + len(following))
        return kept, end if kept else _behind_empty_line(seen, end, before)
    return _parted(before, lead.text, following), start


def _without_line(head: str, seen: Seen, end: int) -> tuple[str, int]:
    """A line ends here that had no word. What belongs to it by its indent must not become code: of an item its mark
    stays, and what goes on with a paragraph takes its place."""
    found = _NEXT_LINE.match(seen.text, end)
    empty, indent = found.groups() if found else ("", "")
    start = end + len(empty) + len(indent)
    following = seen.peek(start, 2)[:1]
    column, own_column = _columns(indent), _columns(matched(_INDENT, head, 0))
    is_next_item = column <= own_column and following in _ITEM_MARKS and not (empty and column >= _TAB)
    if not indent or following in _EMPTY_LINE or is_next_item:
        return "", end
    if head.strip(" \t>"):
        is_text = column < _columns(head) + _TAB
        line_end = "\r\n" if seen.text.endswith("\r\n", 0, end) else "\n"
        return head + line_end, end + len(empty) if is_text else end
    return (head, start) if column > own_column and not empty else ("", end)


def _behind_empty_line(seen: Seen, at: int, before: str) -> int:
    """Where a line went that stood between two empty ones, or before one at the beginning, one empty line is enough."""
    if before and not before.endswith(("\n\n", "\n\r\n")):
        return at
    return at + len(matched(_EMPTY, seen.text, at))


def _columns(text: str) -> int:
    return len(text.expandtabs(_TAB))


def _parted(before: str, kept: str, following: str) -> str:
    """No tag comes about."""
    makes_tag = _TAG_BEGINS.search((before + kept)[-MOST_BLANKS:]) and (
        following.isalpha() or following == "/"
    )
    return kept + " " if makes_tag else kept


def _is_stop(seen: Seen, at: int, start: int) -> bool:
    """Whether what follows stands with the words before; there may be blanks before it that would go."""
    if seen.peek(start) not in _NO_SPACE_BEFORE:
        return False
    stops = matched(_STOPS, seen.text, start) if start > at else ""
    return not stops or seen.peek(start + len(stops)) in _BEHIND_STOP


def _is_closing(seen: Seen, at: int) -> bool:
    """Whether emphasis, a quotation or a tag ends here."""
    run = matched(_RUN, seen.text, at)
    if not run:
        return False
    seen.peek(at + len(run))
    return _CLOSES.match(seen.text, at) is not None


def _following(seen: Seen, at: int) -> tuple[int, str]:
    """Where the next character is that is no blank, and that character."""
    start = behind_blanks(seen, at)
    return start, seen.peek(start)
