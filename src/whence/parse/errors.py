"""The error for a document that cannot be read. `Parser` turns it into `UnreadableDocument`, with the file name."""

from whence.errors import UnreadableReason


class Refused(Exception):
    """A document cannot be read"""

    def __init__(self, reason: UnreadableReason, message: str, *, cause: str = "") -> None:
        """`message` is for the sender of the document; `cause`, a library's message, is only for the log."""
        super().__init__(message)
        self.reason, self.message, self.cause = reason, message, cause
