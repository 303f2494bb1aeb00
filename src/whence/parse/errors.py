"""Why a document cannot be read, before it is known which document that is."""

from whence.errors import UnreadableReason


class Refused(Exception):
    """A document cannot be read"""

    def __init__(self, reason: UnreadableReason, message: str, *, cause: str = "") -> None:
        """`message` is for whoever sent the document; `cause`, in foreign words, for the log alone."""
        super().__init__(message)
        self.reason, self.message, self.cause = reason, message, cause
