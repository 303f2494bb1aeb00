"""Chooses the text of a message to embed. Pure.

Embedding takes time in proportion to the text, and a vector of a long text is less specific. Most of a message that has a
question and a text is not the question, so its questions weigh as much as the whole. Of a very long message only the start
and the end are embedded.
"""

from bisect import bisect_right
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from whence.providers import estimate_tokens
from whence.providers.windows import normalised
from whence.search.question_sentences import LONG, asking

MOST_TOKENS = 600
"""About two windows of the local model."""


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
    head = _longest(len(text), lambda size: text[:size])
    tail = _longest(len(text), lambda size: text[-size:] if size else "")
    return f"{text[:head]} {text[-tail:]}"


def _longest(size: int, part: Callable[[int], str]) -> int:
    """Length of the longest part with at most half of `MOST_TOKENS`."""
    return bisect_right(range(1, size + 1), MOST_TOKENS // 2, key=lambda one: estimate_tokens(part(one)))
