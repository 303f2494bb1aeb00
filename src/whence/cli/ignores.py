"""Patterns as in `.gitignore`, with the same results as git.

`GitIgnoreSpec` tells whether a file or a folder above it is ignored. That is not enough for git's rules across
several ignore files: one may re-include a folder that another ignores. So each entry is checked by itself on the way
down, and pathspec only translates the patterns.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported only if there is a pattern
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern


@dataclass(frozen=True, slots=True)
class Patterns:
    """Patterns of one origin, in order; the last one that matches an entry decides."""

    _patterns: "tuple[tuple[str, GitIgnoreSpecPattern], ...]"

    @classmethod
    def of(cls, lines: Iterable[str]) -> "Patterns":
        """Raises ValueError for a pattern that git would not accept either."""
        return cls(tuple(compiled for line in lines for compiled in _compiled(line)))

    @classmethod
    def of_file(cls, text: str) -> "Patterns":
        """Reads an ignore file as git does: skips lines that are no patterns."""
        found: list[tuple[str, GitIgnoreSpecPattern]] = []
        for line in text.split("\n"):
            with suppress(ValueError):
                found += _compiled(line.removesuffix("\r"))
        return cls(tuple(found))

    def decide(self, entry: str) -> bool | None:
        """True for a match, False for a match with `!`, None for none. `entry` is relative; a folder ends in a slash."""
        return next((p.include for text, p in reversed(self._patterns) if _matches(text, p, entry)), None)


def _compiled(line: str) -> "list[tuple[str, GitIgnoreSpecPattern]]":
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    pattern = GitIgnoreSpecPattern(line)
    blank = pattern.include is None  # an empty line or a comment
    return [] if blank else [(line.rstrip().removeprefix("!"), pattern)]


def _matches(text: str, pattern: "GitIgnoreSpecPattern", entry: str) -> bool:
    """Whether the pattern matches this entry itself, not only a folder above it."""
    bare = entry.rstrip("/")
    if text.endswith(("/**", "/**/")) and text.strip("*/"):
        # Matches the content of a folder, but not the folder itself, which pathspec would match.
        return pattern.match_file(bare) is not None and (text.endswith("**") or entry != bare)
    if "/" not in text.rstrip("/"):
        return pattern.match_file(entry[bare.rfind("/") + 1 :]) is not None
    found = pattern.match_file(entry)
    return found is not None and found.match.end() == len(entry)
