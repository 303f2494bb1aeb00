"""The exceptions of the client:

WhenceClientError
├── NoAnswer              refused, unknown host, broken connection
│   └── TimedOut
├── UnexpectedAnswer      something else than Whence answered
└── APIError              the server's error: code, message, details
    ├── BadRequest        400, 413 and the like
    ├── Unauthorized      401
    ├── Forbidden         403
    ├── NotFound          404
    ├── Conflict          409
    ├── RateLimited       429
    └── ServerFailed      500 and above, and errors in a stream
"""

from collections.abc import Mapping
from typing import Any


class WhenceClientError(Exception):
    """Every exception of this package."""


class NoAnswer(WhenceClientError):
    """The server did not answer."""


class TimedOut(NoAnswer):
    """The server did not answer in time."""


class UnexpectedAnswer(WhenceClientError):
    """The answer does not come from a server of Whence, or from one too old or too new."""


class APIError(WhenceClientError):
    """An error that the server reports. `code` is stable, `message` is for people."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        details: Mapping[str, Any],
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.details = details
        self.status = status
        """HTTP status; None for an error within a stream."""
        self.retry_after = retry_after
        """Seconds to wait, where the server says so."""

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class BadRequest(APIError):
    """The request is wrong."""


class Unauthorized(APIError):
    """A valid API key is required."""


class Forbidden(APIError):
    """The API key does not allow this."""


class NotFound(APIError):
    """No such thing for this key."""


class Conflict(APIError):
    """It conflicts with what is stored."""


class RateLimited(APIError):
    """The key has used up its minute."""


class ServerFailed(APIError):
    """The server, or the model behind it, failed."""


_BY_STATUS: dict[int, type[APIError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    429: RateLimited,
}
_SERVER_ERROR = 500


def api_error(body: Any, *, status: int | None, retry_after: float | None = None) -> APIError | None:
    """The exception for an error body; None if it is not of Whence's shape."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict) or not isinstance(error.get("code"), str):
        return None
    is_server_error = status is None or status >= _SERVER_ERROR
    kind = ServerFailed if is_server_error else _BY_STATUS.get(status or 0, BadRequest)
    details = error.get("details")
    return kind(
        str(error.get("message")),
        code=error["code"],
        details=details if isinstance(details, dict) else {},
        status=status,
        retry_after=retry_after,
    )
