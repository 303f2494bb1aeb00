"""What is there of an answer, which may be still on its way."""

from typing import NamedTuple


class Unclear(Exception):
    """What comes next decides."""


class Seen(NamedTuple):
    text: str
    is_whole: bool

    def peek(self, start: int, size: int = 1) -> str:
        """What follows; raises `Unclear` where that is still to come."""
        if start + size > len(self.text) and not self.is_whole:
            raise Unclear
        return self.text[start : start + size]
