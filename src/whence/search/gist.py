"""What of a long question is asked of vectors. Pure.

A vector takes time in proportion to its text, and says the less the more there is in it. Where somebody sends a question with a
text, it stands before or behind it: so the beginning and the end are taken.
"""

from bisect import bisect_right
from collections.abc import Callable

from whence.providers import estimate_tokens

MOST_TOKENS = 600
"""About: two windows of the local model."""


def gist(text: str) -> str:
    """The text itself, unless it is very long."""
    if estimate_tokens(text) <= MOST_TOKENS:
        return text
    head = _longest(len(text), lambda size: text[:size])
    tail = _longest(len(text), lambda size: text[-size:] if size else "")
    return f"{text[:head]} {text[-tail:]}"


def _longest(size: int, part: Callable[[int], str]) -> int:
    """How long a part may be that has half of the tokens."""
    return bisect_right(range(1, size + 1), MOST_TOKENS // 2, key=lambda one: estimate_tokens(part(one)))
