"""What the primary chunk says, and what only the chunks around it say."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

from whence.extract.grounding import MAX_QUOTE, Ground, Span, is_phrase, is_small_number
from whence.extract.mentions import Words
from whence.extract.values import same

Where = Literal["primary", "context", "nowhere"]
"""Where something is said: in the primary chunk, only in chunks around it, or in none of them."""


class Evidence:
    def __init__(self, primary: str, context: Sequence[str]) -> None:
        self._primary = Ground(primary)
        self._primary_words = Words(primary)
        self._context_texts = tuple(context)
        self._around: dict[str, bool] = {}

    def find(self, value: Any, *, near: str | None = None) -> Span | None:
        """Where the primary chunk says so."""
        return self._primary.find(value, near=near)

    def is_around(self, value: Any) -> bool:
        """Whether a context chunk says so. It is asked more than once of what the primary chunk does not say."""
        key = repr(value)
        if key not in self._around:
            self._around[key] = any(ground.find(value) for ground in self._context)
        return self._around[key]

    def leaks(self, value: Any, *, own: Any = None) -> bool:
        """Whether only a context chunk says some part of it, in a way that is no chance: by a number, or several words.

        `own` is what was known before: to say it again is no leak.
        """
        known = [] if own is None else list(_parts(own))
        return any(
            is_specific(part)
            and not any(same(part, each) for each in known)
            and not self.find(part)
            and self.is_around(part)
            for part in _parts(value)
        )

    def sift(self, value: Any, *, own: Any = None) -> tuple[Any, tuple[Any, ...]]:
        """A list without the items that leak, unless all do, and these; anything else as it is."""
        if not isinstance(value, list):
            return value, ()
        leaked = [self.leaks(item, own=own) for item in value]
        if all(leaked):
            return value, ()
        kept = [item for item, is_leak in zip(value, leaked, strict=True) if not is_leak]
        return kept, tuple(item for item, is_leak in zip(value, leaked, strict=True) if is_leak)

    def of_name(self, name: str) -> Where:
        """Who speaks of what has this name, be it not in full. Of the primary chunk less is asked: its words, in any order."""
        if self.find(name) or self._primary_words.mentions(name):
            return "primary"
        is_around = self.is_around(name) or any(words.names(name) for words in self._context_words)
        return "context" if is_around else "nowhere"

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

    @cached_property
    def _context_words(self) -> list[Words]:
        return [Words(text) for text in self._context_texts]


def is_specific(value: Any) -> bool:
    """A date, an amount, a phrase; not a word or a small number that may stand anywhere."""
    if is_small_number(value):
        return False
    text = str(value)
    return len(text.split()) > 1 or any(character.isdigit() for character in text) or is_phrase(text)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _parts(item)
    else:
        yield value
