"""Whether and when a failed request is sent again. Pure, except for randomness and the clock."""

import math
import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

LONGEST_WAIT = 60.0
"""Seconds. An endpoint that asks for a longer wait gets its next request after this."""
_LONGEST_BACKOFF = 20.0

_WORTH_ANOTHER_TRY = {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.CONFLICT,  # some gateways answer this when they could not get a lock
    HTTPStatus.TOO_EARLY,
    HTTPStatus.TOO_MANY_REQUESTS,
}


def may_pass(status: int) -> bool:
    """Whether the same request may succeed later."""
    return status in _WORTH_ANOTHER_TRY or status >= HTTPStatus.INTERNAL_SERVER_ERROR


def wait_after(failures: int, *, retry_after: str | None, backoff: float) -> float:
    """Seconds to wait: as the endpoint asks, or twice as long after each failure, with jitter."""
    asked = _seconds(retry_after) if retry_after else None
    if asked is not None:
        return min(asked, LONGEST_WAIT)
    longest = min(math.ldexp(backoff, failures - 1), _LONGEST_BACKOFF)
    return longest * random.uniform(0.5, 1)


def _seconds(retry_after: str) -> float | None:
    """`Retry-After` is seconds or a date; None when it is neither."""
    text = retry_after.strip()
    if text.isascii() and text.replace(".", "", 1).isdigit():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:  # "-0000": UTC, origin unknown
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
