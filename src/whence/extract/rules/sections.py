"""Which sort of section a block stands in, by the headings above it."""

import re
from collections.abc import Iterable, Mapping
from typing import Literal

SectionKind = Literal[
    "requirements", "terms", "components", "actions", "tasks", "decisions", "people", "other"
]

_NUMBERED = re.compile(r"\A(?:§\s?)?(?:\d+(?:\.\d+)*[.)]?|[IVX]+\.)\s+")
_WORDS: Mapping[SectionKind, str] = {
    "actions": r"(?:(?:open|new) )?action (?:items|points)",
    # Also what a README tells its readers to do: only where somebody is named, it is a task.
    "tasks": r"actions?|(?:open )?(?:to-?dos?|to do|tasks)|next steps|follow-?ups?",
    "decisions": r"(?:(?:key|main) )?(?:decisions?|resolutions?)(?: (?:made|taken|log))?|agreed",
    "people": r"attendees|participants|present|attendance|maintainers|authors",
    "terms": (
        r"(?:.{0,40}\b)?(?:glossary|definitions?|terminology|vocabulary|abbreviations?|acronyms|key (?:concepts|terms)|interpretation)"
        r"(?:\b.{0,40})?|terms|concepts"
    ),
    "other": (
        r"change ?log|release notes|what.s new|history|unreleased|(?:key )?features?|highlights|roadmap|faq|\[?v?\d+\.\d+.{0,40}"
        r"|introduction|background|purpose|overview|(?:out of )?scope|references|audience|assumptions|risks|open (?:questions|issues)"
        r"|contributing|licen[cs]e|installation|(?:quick|getting) start(?:ed)?|usage|(?:next|any other|other) business|discussion|notes"
    ),
    "components": r"(?:(?:main|core|system|software) )?(?:components?|services|modules|packages|subsystems|building blocks)",
    "requirements": (
        r".{0,80}\b(?:requirements?|user stories|acceptance criteria|obligations|(?<!out of )specifications?|constraints|SRS|PRD"
        r"|anforderungen|lastenheft|pflichtenheft|exigences|requisitos|requisiti|eisen|kravspecifikation)\b.{0,60}"
    ),
}
_KINDS = {kind: re.compile(words, re.IGNORECASE) for kind, words in _WORDS.items()}
TITLE = 1
"""The level of a document's title."""
LABEL = 7
"""That of a line which is a heading by its looks only."""


class Sections:
    """The headings that are above a block."""

    def __init__(self, titles: Iterable[str]) -> None:
        self.titles = tuple(titles)
        """Those that are stored with the chunk."""
        self._trail = [(level, title) for level, title in enumerate(self.titles, start=1)]

    def enter(self, level: int, title: str) -> None:
        while self._trail and self._trail[-1][0] >= level:
            self._trail.pop()
        self._trail.append((level, title))

    def is_resumed(self, title: str) -> bool:
        """Whether the chunk's own headings say so too: it is the innermost one that is stored with it."""
        return self.titles[-1:] == (title,)

    @property
    def kind(self) -> SectionKind | None:
        """By the innermost heading that gives it away."""
        return next((kind for _, title in reversed(self._trail) if (kind := kind_of(title))), None)

    @property
    def kind_of_parent(self) -> SectionKind | None:
        """Of what is right above the innermost heading."""
        return kind_of(self._trail[-2][1]) if len(self._trail) > 1 else None

    def has(self, words: re.Pattern[str]) -> bool:
        """Whether any of them has such a word."""
        return any(words.search(title) for _, title in self._trail)

    @property
    def title(self) -> str | None:
        """The document's own."""
        return self._trail[0][1] if self._trail and self._trail[0][0] == TITLE else None

    @property
    def is_below_title_only(self) -> bool:
        """No heading, or that of the document alone, stands above."""
        return all(level == TITLE for level, _ in self._trail)


def kind_of(title: str) -> SectionKind | None:
    bare = unnumbered(title).strip(" :*_")
    return next((kind for kind, words in _KINDS.items() if words.fullmatch(bare)), None)


def unnumbered(title: str) -> str:
    return _NUMBERED.sub("", title, count=1)
