"""The part of an answer that has arrived so far."""

from typing import NamedTuple


class Incomplete(Exception):
    """The decision depends on text that has not arrived yet."""


class PartialText(NamedTuple):
    text: str
    is_whole: bool

    def peek(self, start: int, size: int = 1) -> str:
        """The next characters. Raises `Incomplete` if they have not arrived yet."""
        if start + size > len(self.text) and not self.is_whole:
            raise Incomplete
        return self.text[start : start + size]
