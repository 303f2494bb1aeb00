"""Patterns as in `.gitignore`, with git's own answer to every one of them.

`GitIgnoreSpec` says of a file whether it or a folder above it is ignored. That is not enough for git's rules across
several files: a folder that one file ignores may be taken back by another. So each entry is asked for itself, on
the way down, and pathspec only translates the patterns.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # loaded when there is a pattern to read
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern


@dataclass(frozen=True, slots=True)
class Patterns:
    """Patterns of one origin, in their order; the last that matches an entry decides."""

    _patterns: "tuple[tuple[str, GitIgnoreSpecPattern], ...]"

    @classmethod
    def of(cls, lines: Iterable[str]) -> "Patterns":
        """ValueError for a pattern that git would not understand either."""
        return cls(tuple(compiled for line in lines for compiled in _compiled(line)))

    @classmethod
    def of_file(cls, text: str) -> "Patterns":
        """As git reads a file: without the lines that are no patterns."""
        found: list[tuple[str, GitIgnoreSpecPattern]] = []
        for line in text.split("\n"):
            with suppress(ValueError):
                found += _compiled(line.removesuffix("\r"))
        return cls(tuple(found))

    def decide(self, entry: str) -> bool | None:
        """Whether the entry matches, None where no pattern says so. Relative; a folder ends with a slash."""
        return next((p.include for text, p in reversed(self._patterns) if _matches(text, p, entry)), None)


def _compiled(line: str) -> "list[tuple[str, GitIgnoreSpecPattern]]":
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    pattern = GitIgnoreSpecPattern(line)
    blank = pattern.include is None  # an empty line or a comment
    return [] if blank else [(line.rstrip().removeprefix("!"), pattern)]


def _matches(text: str, pattern: "GitIgnoreSpecPattern", entry: str) -> bool:
    """Whether the pattern means this entry, and not only a folder above it."""
    bare = entry.rstrip("/")
    if text.endswith(("/**", "/**/")) and text.strip("*/"):
        # What is inside a folder: not the folder itself, for which pathspec would take it.
        return pattern.match_file(bare) is not None and (text.endswith("**") or entry != bare)
    if "/" not in text.rstrip("/"):
        return pattern.match_file(entry[bare.rfind("/") + 1 :]) is not None
    found = pattern.match_file(entry)
    return found is not None and found.match.end() == len(entry)
