"""Finds the questions in a message. Pure.

A message may have a question and the mail or log that it is about. Then most of its words are not from the question.
"""

import re

from whence.chunk import sentences
from whence.chunk.boundaries import line_feeds

_MARK = re.compile("[?\uff1f\u061f][\\s\"'\u201d\u2019»」』)\\]]*\\Z")
"""A question mark (also full-width or Arabic), then optional closing quotes and brackets."""

_MOST = 8
"""Maximum number of questions: half from the start of the message, half from its end."""
LONG = 300
"""Characters. A longer sentence is no question, but may be lines without full stops before one."""


def asking(message: str) -> list[str]:
    """Sentences with a question mark; if there are none, the first and the last. Empty if the message is one short sentence."""
    found = [sentence.text for sentence in sentences(line_feeds(message))]
    if len(found) <= 1 and len(message) <= LONG:
        return []
    asked = [one for one in found if _MARK.search(one)] or [*found[:1], *found[1:][-1:]]
    brief = [line for one in asked if len(line := _last_line(one)) <= LONG]
    return brief if len(brief) <= _MOST else brief[: _MOST // 2] + brief[-_MOST // 2 :]


def _last_line(sentence: str) -> str:
    return sentence.rstrip().rpartition("\n")[2] if len(sentence) > LONG else sentence
