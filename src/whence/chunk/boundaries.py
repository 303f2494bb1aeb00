"""Finds sentence ends.

Only the few words around a place decide whether a sentence ends there, never an earlier decision. So `_last_end` can
search backwards from a limit and find the same ends as `sentences` in the whole text: both apply the same rules.

A sentence ends
  * before a blank line, a list item or a markdown header, and after a line that was not wrapped, with or
    without a stop;
  * after `.`, `!`, `?`, `…` (with closing quotes, brackets and footnote marks) before white space, unless
    the words around it show that it continues: abbreviations, initials, ordinals, list numbers, a small letter;
  * after an unambiguous stop such as `。` or `।`, even without white space, but not inside a short quote or title.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from whence.chunk.graphemes import cut_before, first_content, is_inside
from whence.chunk.periods import ENDING_REACH, OPENING, begins_sentences, period_ends, verdict_on

# Sentences end at a pattern's matches, or at the offsets that a callable returns.
SentenceRule = re.Pattern[str] | Callable[[str], Iterable[int]]


class Sentence(NamedTuple):
    text: str
    start_offset: int
    end_offset: int


LastEnd = Callable[[int, int], int]
"""The last sentence end in (low, high], or -1. `high` lies inside the text."""

# Ambiguous stops, and unambiguous ones (full-width, and those of other scripts).
_STOP = ".!?…‼⁇⁈⁉"
_FULL_STOP = "\u037e。！？｡．։؟۔।॥။።፧។៕᠃᭞꓿"
_CLOSING = r"\"'”’»›)\]}*_`」』）】》〉〕］｝＂＇¹²³⁰⁴-⁹"
# Form feed, next line, line and paragraph separators, like the carriage return.
_OTHER_LINE_ENDS = "\r\v\f\x85\u2028\u2029"
_NO_BREAK = "\u00a0\u2007\u202f"
_FOOTNOTE = r" ?\[\d[\d, –-]{0,9}\]"
# Some languages close with quotes that others open with; before white space they close.
_CLOSED = rf"(?:[{_CLOSING}“‘«‹]|{_FOOTNOTE}){{0,8}}(?:[ {_NO_BREAK}]»)?"
_FULLY_CLOSED = rf"(?:[{_CLOSING}]|{_FOOTNOTE}){{0,8}}"
_CLOSED_REACH = 112
_CJK = "⺀-鿿가-힯"
_STOPPED = (
    rf"[{_STOP}]{_CLOSED}(?=[\s{_CJK}])|[{_FULL_STOP}]{_FULLY_CLOSED}(?![{_FULL_STOP}{_STOP}{_CLOSING}])"
)
_AFTER_STOP = re.compile(_STOPPED)
_FORWARD = re.compile(rf"{_STOPPED}|\n\s*")
_BLANK = r"[^\S\n]*"
_BULLETS = r"\-*+•‣◦"
_LINE_BREAK = re.compile(rf"{_BLANK}\n{_BLANK}(?:\n|(?:[{_BULLETS}]|\d{{1,3}}[.)]|#{{1,6}})[^\S\n])")
# Nobody wraps lines as narrow or as wide as this. In proportional type, lines differ by about `_RAGGED` characters.
_NARROW, _WIDE, _RAGGED = 20, 240, 10
_NEXT_LINE = re.compile(rf"{_BLANK}\n{_BLANK}((\S{{1,40}}).{{0,{_WIDE}}})")
# The beginning of the next sentence: quotes and brackets, then a word or a symbol.
_NEXT = re.compile(rf"\s*([{re.escape(OPENING)}]{{0,6}}) ?([^\W_]{{0,24}})(\S?)")
_DASHES = frozenset("–—―-")
_HIRAGANA = re.compile("[ぁ-ゟ]")
_PAUSES = frozenset("、，,；;：:・…")
_STOPS_IN_NUMBERS = frozenset("．।॥")
_QUOTES_OPEN, _QUOTES_CLOSE = "《〈「『“", "》〉」』”"
_QUOTE_MARK = re.compile(f"[{_QUOTES_OPEN}{_QUOTES_CLOSE}\n]")
_QUOTE_REACH = 40
# Greek questions end with `;` and Armenian sentences with `:`, before a capital of the same script. For each language: a letter that
# nearly every text has, its own stop, and the pattern of the typed one.
_OWN_STOPS = [
    (letter, stop, re.compile(rf"{typed}(?={_CLOSED}\s+[{re.escape(OPENING)}]{{0,6}}\s?([{script}]))"))
    for letter, stop, typed, script in [("α", "\u037e", ";", "Ͱ-Ͽἀ-῿"), ("ա", "։", ":", "Ա-և")]
]

_BEFORE_SPACE = re.compile(r"(?s:.*\S)(?=\s)")
_PLAIN_OPENING = " \"'“‘(["
_WORD = re.compile(r"[^\W_]{1,24}")

# Characters directly after a full stop that ends nothing: "example.com", "3.14", "e.g., ".
_INSIDE = "A-Za-z0-9.,@"
_MARK = re.compile(rf"[{_STOP}{_FULL_STOP}\n](?!(?<=\.)[{_INSIDE}])")
_DOT = re.compile(rf"\.(?![{_INSIDE}]|\Z)")
# Characters after a space that continue the sentence: ". . .", "? ,".
_GOES_ON = f"{_STOP},;:)]}}”’"
_INITIALS = r"(?<=\s[A-HJ-Z]\.)(?= [A-Z]\.)"
# Searches backwards at the speed of C: the greedy dot takes everything and gives it back from the end. The last
# character only serves the lookahead.
# Skips stops inside words, between initials and before other stops. The caller checks the rest.
_BACKWARD = re.compile(
    rf"(?s:.*)[{_STOP}{_FULL_STOP}\n](?!\Z)"
    rf"(?:(?<!\n)(?![{_INSIDE}]| [{re.escape(_GOES_ON)}]|{_INITIALS})"
    rf"|(?<=\n)|(?<=[{_FULL_STOP}]))"
)
_GOES_ON_WITH = frozenset([*_GOES_ON, "»", ""])
_DOUBTS = 4
"""After this many stops that end nothing, the `_BACKWARD` search is faster."""


def sentences(text: str, rule: SentenceRule | None = None) -> list[Sentence]:
    """All sentences of the text, without the white space between them."""
    spans = pairwise([0, *_all_ends(text, rule)])
    starts = ((first_content(text, start), end) for start, end in spans)
    return [Sentence(text[start:end], start, end) for start, end in starts]


def sentence_ends(text: str, rule: SentenceRule | None = None) -> LastEnd:
    if rule is None:
        return partial(_last_end, _with_own_stops(line_feeds(text)))
    ends = list(_all_ends(text, rule))

    def last_end(low: int, high: int) -> int:
        at = bisect_right(ends, high) - 1
        return ends[at] if at >= 0 and ends[at] > low else -1

    return last_end


def cut_sentence(text: str, low: int, high: int) -> int:
    """The last line end in (low, high], or else the last white space, or else the last cut between characters."""
    window = line_feeds(text[low : high + 1])
    if (line_end := window.rfind("\n")) > 0:
        return low + len(window[:line_end].rstrip())
    found = _BEFORE_SPACE.match(window)
    return low + found.end() if found else rstrip(text, cut_before(text, low, high))


def line_feeds(text: str) -> str:
    """The text with line feeds as its only line ends. Its length stays the same."""
    if "\r" in text:
        text = text.replace("\r\n", " \n")
    for line_end in _OTHER_LINE_ENDS:
        if line_end in text:
            text = text.replace(line_end, "\n")
    return text


def _with_own_stops(text: str) -> str:
    """The text with the unambiguous stops of Greek and Armenian. Its length stays the same."""
    for letter, stop, typed in _OWN_STOPS:
        if letter in text:
            text = typed.sub(partial(_own_stop, stop), text)
    return text


def _own_stop(stop: str, typed: re.Match[str]) -> str:
    return typed[0] if typed[1].islower() else stop


def _last_end(text: str, low: int, high: int) -> int:
    """Searches backwards from the limit."""
    # In nine of ten windows the last marks are clear, and string methods decide them faster than the pattern.
    limit = high + 1
    doubts = 0
    # White space at the limit may continue as a blank line beyond it.
    while doubts < _DOUBTS and ("!" <= text[high] <= "~" or not text[high : high + 2].isspace()):
        doubts += 1
        stop = text.rfind(". ", low, limit)
        after = text[stop + 2 if stop >= 0 else low : limit]
        if "\n" in after:
            if (gap := _gap(after)) < 0:
                break
            return _end_before(text, limit - len(after) + gap, low)
        if "?" in after or "!" in after:
            if stop < 0 or (asked := _last_asked_end(after)) < 0:
                break
            return limit - len(after) + asked
        if stop < 0 or (("." in after or not after.isascii()) and _may_end(after)):
            break
        begins = after[:1] or text[stop + 2 : stop + 3]
        verdict = verdict_on(text[stop - ENDING_REACH : stop])
        if (verdict == "ends" and begins.isalnum()) or (
            verdict == "ends before a capital" and "A" <= begins <= "Z"
        ):
            return stop + 1
        if begins in {"»", "["}:
            break
        if _ends(text, stop, stop + 1):
            return stop + 1
        limit = stop
    return _searched_end(text, low, high, min(limit, high))


def _searched_end(text: str, low: int, high: int, visible: int) -> int:
    """Like `_last_end`, given that there is no end from `visible` on."""
    if text[high].isspace():
        # White space at the limit may continue as a blank line beyond it.
        end = rstrip(text, high)
        if end > low and _line_ends(text, end):
            return end
    # A stop before `low` may have its closing quotes after it.
    reach = low - _CLOSED_REACH if low > _CLOSED_REACH else 0
    while found := _BACKWARD.match(text, reach, visible + 1):
        visible = found.end() - 1
        if text[visible] == "\n":
            visible = rstrip(text, visible)
            if visible <= low:
                return -1
            if _line_ends(text, visible):
                return visible
            continue
        follows = text[visible + 1 : visible + 3]
        if follows[:1] == " " and follows not in {" »", " ["}:
            end = visible + 1
        elif stopped := _AFTER_STOP.match(text, visible):
            end = stopped.end()
        else:
            continue
        if low < end <= high and _ends(text, visible, end):
            return end
    return -1


def _all_ends(text: str, rule: SentenceRule | None) -> Iterator[int]:
    """Strictly rising ends, each directly after a visible character; the last one is the end of the text."""
    if rule is None:
        found: Iterable[int] = _scan(_with_own_stops(line_feeds(text)))
    elif isinstance(rule, str):
        raise TypeError("A rule is a compiled pattern or a callable; compile the text with re.compile")
    elif isinstance(rule, re.Pattern):
        found = (match.end() for match in rule.finditer(text))
    else:
        found = sorted(rule(text))
    last = 0
    content = len(text.rstrip())
    for offset in found:
        if last < offset < content:
            end = last + len(text[last:offset].rstrip())
            if end > last:
                yield end
                last = end
    if last < content:
        yield content


def _scan(text: str) -> Iterator[int]:
    last = 0
    for match in _FORWARD.finditer(text):
        end = match.end()
        if text[match.start()] == "\n":
            end = rstrip(text, match.start())
            if end <= last or not _line_ends(text, end):
                continue
        elif not _ends(text, match.start(), end):
            continue
        yield end
        last = end


def _gap(text: str) -> int:
    """Start of the last blank line if nothing after it may end a sentence, else -1."""
    before, gap, rest = text.rpartition("\n\n")
    return len(before) if gap and "\n" not in rest and not _may_end(rest) else -1


def _end_before(text: str, white: int, low: int) -> int:
    """End of the text before this white space, or -1 if it is not after `low`."""
    end = white if "!" <= text[white - 1] <= "~" else rstrip(text, white)
    return end if end > low else -1


def _last_asked_end(text: str) -> int:
    """End of the last `?` or `!` if a sentence clearly begins after it and does not end in this text, else -1."""
    end = max(text.rfind("? "), text.rfind("! ")) + 1
    rest = text[end + 1 :]
    return end if end and "A" <= rest[:1] <= "Z" and not _may_end(rest) else -1


def _may_end(text: str) -> bool:
    """Whether a text without line feeds has anything that may end a sentence."""
    if text.isascii():
        return "?" in text or "!" in text or ("." in text and _DOT.search(text) is not None)
    return _MARK.search(text) is not None


def rstrip(text: str, end: int) -> int:
    while end > 0 and text[end - 1].isspace():
        end -= 1
    return end


def _line_ends(text: str, end: int) -> bool:
    """Whether a sentence ends with the line that ends here: the author, and not a wrapping program, ended the line."""
    if _LINE_BREAK.match(text, end):
        return True
    following = _NEXT_LINE.match(text, end)
    if following is None:
        return False
    width = end - max(text.rfind("\n", max(0, end - _WIDE), end) + 1, end - _WIDE)
    line, word = following.groups()
    if width >= _WIDE or word.lstrip(OPENING)[:1].islower():
        return width >= _WIDE
    return max(width, len(line)) < _NARROW or width + len(word) + _RAGGED < len(line)


def _ends(text: str, stop: int, end: int) -> bool:
    """Whether the stop, with its closing marks, ends a sentence. The caller has checked that it may."""
    follows = text[end : end + 2]
    if follows[-1:].isspace() or follows[:1] == "\n":
        if _line_ends(text, end):
            return True
    elif follows[:1] == " ":
        known = _plainly_ends(text, stop, end)
        if known is not None:
            return known
    return _hardly_ends(text, stop, end)


def _hardly_ends(text: str, stop: int, end: int) -> bool:
    """Decides the places that the faster checks leave open."""
    mark = text[stop]
    if mark in _FULL_STOP:
        return _full_stop_ends(text, stop, end)
    if not text[end].isspace():
        # Chinese and Japanese use no space: "真的吗?是的!"
        return mark in "!?" and text[stop - 1 : stop] >= _CJK[0] and _full_stop_ends(text, stop, end)
    if text[end] in _NO_BREAK:
        return False
    opening, word, symbol = _NEXT.match(text, end).groups()  # type: ignore[union-attr]
    if not word and not opening and symbol in _GOES_ON_WITH:
        return not symbol
    # Georgian letters count as lower case, yet sentences begin with them.
    small = word[:1].islower() and not "\u10d0" <= word[0] <= "\u10ff"
    if small and (end > stop + 1 or not _DASHES.isdisjoint(opening)):
        return False  # "Stop!" he said. (So it is.) and so on.
    if mark == "." and text[stop - 1 : stop] != ".":
        return period_ends(text, stop, word, symbol, small=small)
    return not small or mark not in ".…"


def _plainly_ends(text: str, stop: int, end: int) -> bool | None:
    """A fast decision for most places before a space and a capital; None for the others."""
    begins = text[end + 1]
    is_opened = begins in _PLAIN_OPENING
    if is_opened:
        begins = text[end + 2 : end + 5].lstrip(_PLAIN_OPENING)[:1]
    if not "A" <= begins <= "Z":
        return None
    if text[stop] != ".":
        return True
    verdict = verdict_on(text[max(0, stop - ENDING_REACH) : stop])
    if verdict in {"ends", "ends before a capital"}:
        return True
    if verdict == "unclear" or is_opened or end > stop + 1:
        return None
    word = _WORD.match(text, end + 1)
    return (
        verdict == "abbreviates"
        and word is not None
        and begins_sentences(word[0], text[word.end() : word.end() + 1])
    )


def _full_stop_ends(text: str, stop: int, end: int) -> bool:
    following = text[end : end + 1]
    if not following or following.isspace():
        return True
    closed = text[end - 1]
    if closed in "》〉" or (end > stop + 1 and closed != "]" and _HIRAGANA.match(following)):
        return False  # 「はい。」と言った, and any stop that ends a title: 《…。》
    if following.isdigit() and text[stop] in _STOPS_IN_NUMBERS:
        return False
    return following not in _PAUSES and not is_inside(text, end) and not _is_quoted(text, end)


def _is_quoted(text: str, at: int) -> bool:
    """Whether the place is inside a short quote or title: 《…。…》."""
    marks = _QUOTE_MARK.findall(text[max(0, at - _QUOTE_REACH) : at])
    following = _QUOTE_MARK.search(text[at : at + _QUOTE_REACH])
    return bool(marks and following and marks[-1] in _QUOTES_OPEN and following[0] in _QUOTES_CLOSE)
