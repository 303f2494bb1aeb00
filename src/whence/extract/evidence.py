"""Separates statements of the primary chunk from those of its context: other chunks, and the known objects shown with it."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

from whence.extract.contracts import KnownObject
from whence.extract.copied_values import Shown
from whence.extract.grounding import MAX_QUOTE, Ground, Span
from whence.extract.mentions import Words
from whence.extract.schema import Property
from whence.extract.specificity import is_specific, is_telling
from whence.extract.values import is_choice, parts, same

Where = Literal["primary", "context", "nowhere"]
"""Where something is said: in the primary chunk, only in context chunks, or in neither."""

_CHUNK = "a context chunk"
_OBJECT = "the known object {!r}"


class Evidence:
    def __init__(self, primary: str, context: Sequence[str], shown: Sequence[KnownObject] = ()) -> None:
        self._primary = Ground(primary)
        self._primary_words = Words(primary)
        self._context_texts = tuple(context)
        self._shown = Shown(shown)
        self._around: dict[str, str | None] = {}

    def find(self, value: Any, *, near: str | None = None) -> Span | None:
        """The span of the value in the primary chunk."""
        return self._primary.find(value, near=near)

    def is_around(self, value: Any, wanted: Property | None = None) -> bool:
        """Whether a context chunk has a part of the value that is not one of the schema's choices."""
        return any(self._beside(part) for part, of in parts(value, wanted) if not is_choice(part, of))

    def _beside(self, part: Any) -> str | None:
        """The words of a context chunk that state the part. Cached: parts missing from the primary chunk are looked up repeatedly."""
        key = repr(part)
        if key not in self._around:
            found = next(filter(None, (ground.find(part) for ground in self._context)), None)
            self._around[key] = found.quote if found else None
        return self._around[key]

    def speaks(self, value: Any) -> bool:
        """Whether the primary chunk has a part of the value. A common word counts only if no context chunk has it."""
        return any(
            self.find(part) and (is_telling(part) or self._beside(part) is None) for part, _ in parts(value)
        )

    def leak(
        self,
        value: Any,
        *,
        before: Any = None,
        own: KnownObject | None = None,
        wanted: Property | None = None,
    ) -> str | None:
        """The origin of a specific part (a number, a name, several words) that only the context has; None without such a part.

        `before` is the earlier value; repeating it is no leak. `own` is the object of the value; one of its values may recur in another
        of its properties. A choice of the schema is never a leak.
        """
        known = [] if before is None else [part for part, _ in parts(before)]
        for part, of in parts(value, wanted):
            if not is_telling(part) or any(same(part, each) for each in known) or self.find(part):
                continue
            if is_choice(part, of):
                continue
            beside = self._beside(part)
            who = self._holder(part, own) if beside is None else _CHUNK if is_specific(part, beside) else None
            if who is not None:
                return who
        return None

    def sift(
        self,
        value: list[Any],
        *,
        before: Any = None,
        own: KnownObject | None = None,
        wanted: Property | None = None,
    ) -> tuple[list[Any], dict[str, list[Any]]]:
        """The list without its leaked items, and these by origin. If every item leaks, the list stays unchanged."""
        of = wanted.items if wanted else None
        leaks = [self.leak(item, before=before, own=own, wanted=of) for item in value]
        if all(leaks):
            return value, {}
        leaked: dict[str, list[Any]] = {}
        for item, leak in zip(value, leaks, strict=True):
            if leak:
                leaked.setdefault(leak, []).append(item)
        return [item for item, leak in zip(value, leaks, strict=True) if not leak], leaked

    def leaked_name(self, name: str) -> str | None:
        """The known object that a new object's name was copied from: it has the name, or a value that contains it."""
        if not is_telling(name) or self.of_name(name) != "nowhere":
            return None
        return _OBJECT.format(name) if self._shown.names(name) else self._holder(name, None)

    def _holder(self, part: Any, own: KnownObject | None) -> str | None:
        """The known object that has the part as a value.

        None if the part is the name of an object and the primary chunk has a word of it: then the chunk refers to that object.
        """
        if self._shown.names(part) and self._primary_words.has_word_of(part):
            return None
        holder = self._shown.holder(part, own=own)
        return None if holder is None else _OBJECT.format(holder)

    def of_name(self, name: str) -> Where:
        """Where the name is mentioned, in full or in part. In the primary chunk, its words may be in any order."""
        if self.find(name) or self._primary_words.mentions(name):
            return "primary"
        is_around = self.is_around(name) or any(words.names(name) for words in self._context_words)
        return "context" if is_around else "nowhere"

    def between(self, one: str, other: str) -> Span | None:
        """The span from one name to the other in the primary chunk, if they are near each other."""
        first, second = self.find(one, near=other), self.find(other, near=one)
        if first is None or second is None:
            return None
        start, end = min(first.start, second.start), max(first.end, second.end)
        return self._primary.span(start, end) if end - start <= MAX_QUOTE else None

    @cached_property
    def _context(self) -> list[Ground]:
        # Built on demand: most replies do not need them.
        return [Ground(text) for text in self._context_texts]

    @cached_property
    def _context_words(self) -> list[Words]:
        return [Words(text) for text in self._context_texts]
