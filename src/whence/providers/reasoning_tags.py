"""Removes a model's reasoning from its answer: some endpoints send it as text between tags. Pure.

Some endpoints send only the closing tag, because the opening tag is in the prompt. Text that was sent to a client cannot be taken back, so
such reasoning must be held back from its first word. Holding back every answer would defeat streaming. So only text that begins like
reasoning is held back until the closing tag; without that tag it was the answer.
"""

# ruff: noqa: RUF001 - models reason in several scripts

import re

_NAMES = "think|thinking|thought|reasoning"
_OPENING = re.compile(rf"<({_NAMES})\s*>", re.IGNORECASE)
_MAY_OPEN = re.compile(r"</?[a-z]{0,9}\s*\Z", re.IGNORECASE)
_LONGEST_END = 32
"""Maximum length of a closing tag, including white space."""

_ONLY_CLOSING = re.compile(rf"</(?:{_NAMES})\s*>", re.IGNORECASE)
_ENDS_THOUGHT = re.compile(
    rf"(?:\A|\n|[.!?…。！？])\s{{0,8}}</(?:{_NAMES})\s{{0,8}}>(?![\"'`”’»)\]])", re.IGNORECASE
)
"""A closing tag at the end of a line or sentence; not one that is quoted."""
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_LONGEST_THOUGHT = 100_000
"""Maximum number of characters held back."""

_BEGINNINGS = (
    *("okay", "ok,", "ok so", "alright", "hmm", "wait,", "let me ", "let's ", "let’s ", "got it"),
    *("so, ", "so the user", "the user ", "user asks", "the question asks", "first, i ", "first, let"),
    *("we need to ", "i need to ", "i should ", "i have to "),
    *("好的", "好，", "嗯", "首先", "用户", "我需要", "我们需要", "让我"),
)
"""Typical first words of reasoning, in lower case. An answer that begins like this arrives late, in one piece."""


class WithoutThought:
    """Text as it arrives, without `<think>` … `</think>` at its beginning, once or several times."""

    def __init__(self) -> None:
        self._held = ""
        """Text that may be reasoning, or the end of it; without leading white space."""
        self._before = ""
        """Leading white space; after reasoning it is dropped."""
        self._is_behind = False
        self._closing: re.Pattern[str] | None = None
        """Matches the end of the reasoning that has begun."""
        self._looked_at = 0
        """Length of the held text that was searched for the end of untagged reasoning."""
        self._is_over = False

    def feed(self, text: str) -> str:
        if self._is_over:
            return text
        self._held += text
        while self._closing is not None or self._opens():
            if self._closing is None or (end := self._closing.search(self._held)) is None:
                self._held = self._held[-_LONGEST_END:]
                return ""
            self._leave_out(end.end())
        if not self._held or _MAY_OPEN.match(self._held) or self._may_be_thought():
            return ""
        self._is_over = True
        return self._before + self._held

    def close(self) -> str:
        """The rest, after the last text. Reasoning without an end is dropped."""
        if self._is_over or self._closing:
            return ""
        if end := self._end_of_unopened(is_whole=True):
            self._leave_out(end)
            return self.feed("") + self.close()
        self._is_over = True
        return self._before + self._held

    def _leave_out(self, end: int) -> None:
        self._held = self._held[end:]
        self._before, self._closing, self._is_behind, self._looked_at = "", None, True, 0

    def _opens(self) -> bool:
        """Whether tagged reasoning begins; untagged reasoning that ends is removed first."""
        while True:
            bare = self._held.lstrip()
            self._before += "" if self._is_behind else self._held[: len(self._held) - len(bare)]
            self._held = bare
            if not (end := self._end_of_unopened(is_whole=False)):
                break
            self._leave_out(end)
        opening = _OPENING.match(bare)
        if opening is None:
            return False
        self._held = bare[opening.end() :]
        self._closing = re.compile(rf"</{opening[1]}\s*>", re.IGNORECASE)
        return True

    def _end_of_unopened(self, *, is_whole: bool) -> int:
        """The end of untagged reasoning; 0 if there is none, or if more text is needed to know."""
        held = self._held
        if self._is_behind:
            return 0
        if at_once := _ONLY_CLOSING.match(held):
            return at_once.end()
        if not _begins_as_thought(held):
            return 0
        for found in _ENDS_THOUGHT.finditer(held, self._looked_at, _LONGEST_THOUGHT):
            if found.end() == len(held) and not is_whole:  # a quotation mark may follow
                return 0
            if len(_FENCE.findall(held, 0, found.start())) % 2 == 0:
                return found.end()
        self._looked_at = max(len(held) - 2 * _LONGEST_END, 0)
        return 0

    def _may_be_thought(self) -> bool:
        if self._is_behind or len(self._held) > _LONGEST_THOUGHT:
            return False
        return _begins_as_thought(self._held) or _may_begin_as_thought(self._held)


def without_thought(text: str) -> str:
    reader = WithoutThought()
    return reader.feed(text) + reader.close()


def _begins_as_thought(text: str) -> bool:
    return text[:_LONGEST_END].casefold().startswith(_BEGINNINGS)


def _may_begin_as_thought(text: str) -> bool:
    return len(text) < _LONGEST_END and any(one.startswith(text.casefold()) for one in _BEGINNINGS)
