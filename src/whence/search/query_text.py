"""What of a long message is asked of vectors. Pure.

A vector takes time in proportion to its text, and says the less the more there is in it. Where somebody sends a question with a
text, most of the message is not what is asked: so its questions count as much as all of it together. And of what is very long, the
beginning and the end are taken.
"""

from bisect import bisect_right
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from whence.providers import estimate_tokens
from whence.providers.vectors import normalised
from whence.search.question_sentences import LONG, asking

MOST_TOKENS = 600
"""About: two windows of the local model."""


def gists(message: str) -> list[str]:
    """Texts whose vectors together stand for the message: itself, and its questions where it is long and says more than them."""
    whole = _short(message)
    if len(message) <= LONG:
        return [whole]
    questions = " ".join(asking(message))
    return [whole, _short(questions)] if 0 < 2 * len(questions) < len(message) else [whole]


def one_of(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The one row that points where all of them point together."""
    return vectors if len(vectors) == 1 else normalised(vectors.sum(axis=0, keepdims=True))


def _short(text: str) -> str:
    """The text itself, unless it is very long."""
    if estimate_tokens(text) <= MOST_TOKENS:
        return text
    head = _longest(len(text), lambda size: text[:size])
    tail = _longest(len(text), lambda size: text[-size:] if size else "")
    return f"{text[:head]} {text[-tail:]}"


def _longest(size: int, part: Callable[[int], str]) -> int:
    """How long a part may be that has half of the tokens."""
    return bisect_right(range(1, size + 1), MOST_TOKENS // 2, key=lambda one: estimate_tokens(part(one)))
