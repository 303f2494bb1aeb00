"""When a request is sent again, and after how long."""

import random
from collections.abc import Mapping

MAX_WAIT = 60.0
"""A server that wants a longer pause gets no second attempt."""

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 8.0
_SAYS_WHEN = frozenset((429, 503))
_MAY_PASS = frozenset((502, 503, 504))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds of `Retry-After`; the servers of Whence send no dates."""
    text = headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() else None


def pause_before(attempt: int) -> float:
    """Seconds before the attempt of this number, from 1: doubled each time, with chance."""
    return min(_FIRST_PAUSE * 2.0 ** (attempt - 1), _LONGEST_PAUSE) * random.uniform(0.75, 1.25)


def pause_after_status(
    status: int, headers: Mapping[str, str], *, attempt: int, idempotent: bool
) -> float | None:
    """Seconds to wait before sending again; None not to."""
    wait = retry_after(headers)
    if status in _SAYS_WHEN and wait is not None:
        return wait if wait <= MAX_WAIT else None
    return pause_before(attempt) if idempotent and status in _MAY_PASS else None
