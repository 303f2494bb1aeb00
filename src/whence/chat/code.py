"""Code in an answer: blocks between fences, and spans between back ticks within one paragraph. Pure."""

import re
from functools import lru_cache
from typing import NamedTuple

from whence.chat.lookalikes import begins_line
from whence.chat.seen import Seen, Unclear

_MAX_RUN = 128
_RUN = re.compile(rf"`{{1,{_MAX_RUN}}}|~{{1,{_MAX_RUN}}}")
_FENCE = 3
_INFO = {"`": re.compile(r"[^`\n]{0,200}"), "~": re.compile(r"[^\n]{0,200}")}
_BLANK = r"[ \t]{0,16}"
_FENCE_END = re.compile(rf"[ \t>]{{0,40}}(`{{3,128}}|~{{3,128}}){_BLANK}\r?\n")
_FENCE_END_SO_FAR = re.compile(rf"[ \t>]{{0,40}}(?:`{{0,128}}|~{{0,128}}){_BLANK}\r?")
_MAX_SPAN = 1000
_PARAGRAPH_END = re.compile(r"\n[ \t>]*(?:\r?\n|```|~~~|[-*+#|]|\d{1,9}[.)])")


class Block(NamedTuple):
    """A code block that was opened."""

    fence: str
    is_line_start: bool
    """Whether a line of it begins where it was last looked at."""


def opened(seen: Seen, start: int, before: str) -> tuple[int, Block | None]:
    """What back ticks or tildes open: where to go on, in the block or behind a span or what was none."""
    found = _RUN.match(seen.text, start)
    run = found[0] if found else ""
    end = start + len(run)
    if end == len(seen.text) and len(run) < _MAX_RUN and not seen.is_whole:
        raise Unclear
    if run[0] == "`" and (len(before) - len(before.rstrip("\\"))) % 2:
        return start + 1, None
    if len(run) >= _FENCE and begins_line(before):
        info = _INFO[run[0]].match(seen.text, end)
        line_end = info.end() if info else end
        following = seen.peek(line_end)
        if following in {"\n", ""}:
            return line_end + len(following), Block(run, bool(following))
    return (_span_end(seen, end, len(run)) if run[0] == "`" else None) or end, None


def passed(seen: Seen, start: int, block: Block) -> tuple[int, Block | None]:
    """Up to where it is code: behind the block, or as far as is known of it."""
    at, is_line_start = start, block.is_line_start
    while at < len(seen.text):
        if is_line_start:
            found = _FENCE_END.match(seen.text, at)
            if found and found[1].startswith(block.fence):
                return found.end(), None
            if not seen.is_whole and _FENCE_END_SO_FAR.fullmatch(seen.text, at):
                break
        line_end = seen.text.find("\n", at)
        is_line_start = line_end >= 0
        at = line_end + 1 if line_end >= 0 else len(seen.text)
    return at, Block(block.fence, is_line_start)


def _span_end(seen: Seen, start: int, ticks: int) -> int | None:
    """Where the code span ends whose text begins here, if it ends within its paragraph."""
    limit = start + _MAX_SPAN
    paragraph_end = _PARAGRAPH_END.search(seen.text, start, limit)
    stop = paragraph_end.start() if paragraph_end else limit
    closing = _ticks(ticks).search(seen.text, start, stop)
    if not seen.is_whole and (
        closing.end() == len(seen.text) if closing else not paragraph_end and len(seen.text) < limit
    ):
        raise Unclear
    return closing.end() if closing else None


@lru_cache(maxsize=_MAX_RUN)
def _ticks(count: int) -> re.Pattern[str]:
    return re.compile(rf"(?<!`)`{{{count}}}(?!`)")
