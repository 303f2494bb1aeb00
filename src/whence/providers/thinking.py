"""What a model thought aloud before its answer: some endpoints give it as part of the text, between tags. Pure."""

import re

_NAMES = "think|thinking|thought|reasoning"
_OPENING = re.compile(rf"<({_NAMES})\s*>", re.IGNORECASE)
_MAY_OPEN = re.compile(r"<[a-z]{0,9}\s*\Z", re.IGNORECASE)
_LONGEST_END = 32
"""Characters of a closing tag, with white space in it."""


class WithoutThought:
    """Text as it comes, without what stands between `<think>` and `</think>` at its beginning, once or several times."""

    def __init__(self) -> None:
        self._held = ""
        """What may yet turn out to be, or to end, a thought; without white space before it."""
        self._before = ""
        """White space before anything else; behind a thought it belongs to neither."""
        self._is_behind = False
        self._closing: re.Pattern[str] | None = None
        """What ends the thought that has begun."""
        self._is_over = False

    def feed(self, text: str) -> str:
        if self._is_over:
            return text
        self._held += text
        while self._closing is not None or self._opens():
            if self._closing is None or (end := self._closing.search(self._held)) is None:
                self._held = self._held[-_LONGEST_END:]
                return ""
            self._held = self._held[end.end() :]
            self._before, self._closing, self._is_behind = "", None, True
        if not self._held or _MAY_OPEN.match(self._held):
            return ""
        self._is_over = True
        return self._before + self._held

    def close(self) -> str:
        """The rest, once nothing more comes. A thought without an end was no answer."""
        return "" if self._is_over or self._closing else self._before + self._held

    def _opens(self) -> bool:
        bare = self._held.lstrip()
        self._before += "" if self._is_behind else self._held[: len(self._held) - len(bare)]
        self._held = bare
        opening = _OPENING.match(bare)
        if opening is None:
            return False
        self._held = bare[opening.end() :]
        self._closing = re.compile(rf"</{opening[1]}\s*>", re.IGNORECASE)
        return True


def without_thought(text: str) -> str:
    reader = WithoutThought()
    return reader.feed(text) + reader.close()
