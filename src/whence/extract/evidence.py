"""What the primary chunk says, and what only the chunks around it say."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from whence.extract.grounding import MAX_QUOTE, Ground, Span


class Evidence:
    def __init__(self, primary: str, context: Sequence[str]) -> None:
        self._primary = Ground(primary)
        self._context_texts = tuple(context)

    def find(self, value: Any, *, near: str | None = None) -> Span | None:
        """Where the primary chunk says so."""
        return self._primary.find(value, near=near)

    def is_around(self, value: Any) -> bool:
        """Whether a context chunk says so."""
        return any(ground.find(value) for ground in self._context)

    def between(self, one: str, other: str) -> Span | None:
        """From the one name to the other in the primary chunk, if they stand near each other."""
        first, second = self.find(one, near=other), self.find(other, near=one)
        if first is None or second is None:
            return None
        start, end = min(first.start, second.start), max(first.end, second.end)
        return self._primary.span(start, end) if end - start <= MAX_QUOTE else None

    @cached_property
    def _context(self) -> list[Ground]:
        # Most replies never ask for these.
        return [Ground(text) for text in self._context_texts]
