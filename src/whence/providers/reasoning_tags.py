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
"""Longer text is decided: its beginning is known."""

_ONLY_CLOSING = re.compile(rf"</(?:{_NAMES})\s*>", re.IGNORECASE)
_ENDS_THOUGHT = re.compile(
    rf"(?:\n|[.!?…。！？])\s{{0,8}}</(?:{_NAMES})\s{{0,8}}>(?![\"'`”’»)\]])", re.IGNORECASE
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
        """The text so far, while it may be reasoning."""
        self._is_thought = False
        self._is_over = False

    def feed(self, text: str) -> str:
        if self._is_over:
            return text
        is_unchanged = self._is_thought and ">" not in self._held[-1:] + text  # only a tag can end it
        self._held += text
        if is_unchanged and len(self._held) < _LONGEST_THOUGHT:
            return ""
        rest, self._is_over = _leave_out_thought(self._held, is_whole=False)
        self._is_thought = len(rest) > _LONGEST_END
        return rest if self._is_over else ""

    def close(self) -> str:
        """The rest, after the last text. Tagged reasoning without an end is dropped."""
        return "" if self._is_over else _leave_out_thought(self._held, is_whole=True)[0]


def _leave_out_thought(text: str, *, is_whole: bool) -> tuple[str, bool]:
    """The text after the reasoning, and whether that is known: more text may show that it is reasoning as well."""
    start, is_behind = 0, False
    while True:
        bare = text[start:].lstrip()
        if opening := _OPENING.match(bare):
            closing = re.compile(rf"</{opening[1]}\s*>", re.IGNORECASE).search(bare, opening.end())
            if closing is None:
                return ("", True) if is_whole else (bare, False)
            end = closing.end()
        else:
            end = 0 if is_behind else _find_end_of_untagged(bare, is_whole=is_whole)
        if not end:
            break
        start, is_behind = len(text) - len(bare) + end, True
    may_be_thought = not is_behind and _may_be_untagged(bare)
    if not is_whole and (not bare or _MAY_OPEN.match(bare) or may_be_thought):
        return bare, False
    return (bare if is_behind else text), True


def _find_end_of_untagged(text: str, *, is_whole: bool) -> int:
    """The end of untagged reasoning; 0 if there is none, or if more text is needed to know."""
    if at_once := _ONLY_CLOSING.match(text):
        return at_once.end()
    if not _begins_as_thought(text):
        return 0
    for found in _ENDS_THOUGHT.finditer(text, 0, _LONGEST_THOUGHT):
        if found.end() == len(text) and not is_whole:  # a quotation mark may follow
            return 0
        if len(_FENCE.findall(text, 0, found.start())) % 2 == 0:
            return found.end()
    return 0


def _may_be_untagged(text: str) -> bool:
    if len(text) < _LONGEST_END and any(one.startswith(text.casefold()) for one in _BEGINNINGS):
        return True
    return len(text) <= _LONGEST_THOUGHT and _begins_as_thought(text)


def _begins_as_thought(text: str) -> bool:
    return text[:_LONGEST_END].casefold().startswith(_BEGINNINGS)
