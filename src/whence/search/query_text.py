"""Finds the questions in a message, and chooses its text to embed. Pure.

A message may have a question and the mail or log that it is about. Then most of its words are not from the question.
Embedding takes time in proportion to the text, and a vector of a long text is less specific, so the questions of such a message
weigh as much as the whole. Of a very long message only the start and the end are embedded.
"""

import re

import numpy as np
from numpy.typing import NDArray

from whence.chunk import sentences
from whence.chunk.boundaries import line_feeds
from whence.providers import estimate_tokens
from whence.providers.windows import normalised

MOST_TOKENS = 600
"""About two windows of the local model."""

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


def gists(message: str) -> list[str]:
    """The texts to embed: the message, and its questions if the message is long and mostly something else."""
    whole = _short(message)
    if len(message) <= LONG:
        return [whole]
    questions = " ".join(asking(message))
    return [whole, _short(questions)] if 0 < 2 * len(questions) < len(message) else [whole]


def one_of(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The normalised sum of the vectors, as one row."""
    return vectors if len(vectors) == 1 else normalised(vectors.sum(axis=0, keepdims=True))


def _short(text: str) -> str:
    """The text, or the start and the end of a very long one."""
    if estimate_tokens(text) <= MOST_TOKENS:
        return text
    half = len(text) * MOST_TOKENS // (2 * estimate_tokens(text))
    return f"{text[:half]} {text[-half:]}"


def _last_line(sentence: str) -> str:
    return sentence.rstrip().rpartition("\n")[2] if len(sentence) > LONG else sentence
