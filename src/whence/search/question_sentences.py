"""Which sentences of a message ask. Pure.

Somebody sends a question with the mail or the log that it is about: then most words of the message are not those of the question.
"""

import re

from whence.chunk import sentences
from whence.chunk.boundaries import line_feeds

_MARK = re.compile("[?\uff1f\u061f][\\s\"'\u201d\u2019»」』)\\]]*\\Z")
"""Also the wide one, and the Arabic; quotes and brackets may close behind it."""

_MOST = 8
"""Questions, of as many as there may be in a text: half from its beginning, half from its end."""
LONG = 300
"""Characters: no question, but lines without any full stop before one."""


def asking(message: str) -> list[str]:
    """Those with a question mark; without any, the first and the last. None where the message is one sentence."""
    found = [sentence.text for sentence in sentences(line_feeds(message))]
    if len(found) <= 1 and len(message) <= LONG:
        return []
    asked = [one for one in found if _MARK.search(one)] or [*found[:1], *found[1:][-1:]]
    brief = [line for one in asked if len(line := _last_line(one)) <= LONG]
    return brief if len(brief) <= _MOST else brief[: _MOST // 2] + brief[-_MOST // 2 :]


def _last_line(sentence: str) -> str:
    return sentence.rstrip().rpartition("\n")[2] if len(sentence) > LONG else sentence
