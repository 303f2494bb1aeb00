"""Whether a failed request is sent again, and when. Pure but for chance and the clock."""

import math
import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

LONGEST_WAIT = 60.0
"""Seconds. An endpoint that asks for more gets its next request after this all the same; attempts are counted."""
_LONGEST_BACKOFF = 20.0

_WORTH_ANOTHER_TRY = {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.CONFLICT,  # some gateways say so when a lock was not to be had
    HTTPStatus.TOO_EARLY,
    HTTPStatus.TOO_MANY_REQUESTS,
}


def may_pass(status: int) -> bool:
    """Whether the same request may be answered another time."""
    return status in _WORTH_ANOTHER_TRY or status >= HTTPStatus.INTERNAL_SERVER_ERROR


def wait_after(failures: int, *, retry_after: str | None, backoff: float) -> float:
    """Seconds to wait: as the endpoint asks, or twice as long after each failure, and never all at the same moment."""
    asked = _seconds(retry_after) if retry_after else None
    if asked is not None:
        return min(asked, LONGEST_WAIT)
    longest = min(math.ldexp(backoff, failures - 1), _LONGEST_BACKOFF)
    return longest * random.uniform(0.5, 1)  # noqa: S311 - to spread requests, not to keep secrets


def _seconds(retry_after: str) -> float | None:
    """`Retry-After` is seconds or a date; None when it is neither."""
    text = retry_after.strip()
    if text.isascii() and text.replace(".", "", 1).isdigit():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:  # "-0000": a date in UTC that says nothing of where it was written
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
