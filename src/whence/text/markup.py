"""Defuses markup of an answer that could load or run something: images, embedded pages, script links. Pure.

A model or a document may add an address that reports the question to its owner, or a link that runs code. A character that the markup
needs is replaced by its full-width form, so the address is shown as text. No offset changes.

Code is not exempt: renderers disagree about where code begins and ends.
"""

import re

_AHEAD = 80
"""Number of characters after a mark that decide whether it is unsafe."""
_TAGS = (
    "a|applet|area|audio|base|button|embed|form|frame|iframe|image|img|input|link|math|meta|object|picture|script|source|style|svg|"
    "track|video"
)
_TAG = re.compile(rf"(?!https?:|mailto:)/?(?:(?:{_TAGS})(?![\w-])|[a-z][\w:.-]{{0,40}}[\s/])", re.IGNORECASE)
"""Tags that load or run something, and any tag that may have attributes."""
_AUTOLINK = re.compile(r"(?!https?:|mailto:)[a-z][a-z0-9+.-]{1,31}:", re.IGNORECASE)
_SAFE = re.compile(r"\s*+<?+(?:https?:|mailto:|tel:|ftp:|[^\s:&\\<]*(?:[/?#)>\s]|\Z))", re.IGNORECASE)
"""The start of a harmless link target: a common scheme, or no scheme."""
_TARGET = re.compile(r"\s{0,9}<?(?:[a-z][a-z0-9+.-]{1,31}:|//|/|&)", re.IGNORECASE)
"""The start of the target of a link reference definition."""
_MARK = re.compile(r"!\[|\]\(|\]:|<|\n[ \t>]*\n")
_OPEN_END = re.compile(r"(?:!|\]|\n[ \t>]{0,9})\Z")
"""The end of a text that may be the start of a mark."""
_WIDE = {"](": "（", "]:": "：", "<": "＜"}


class MarkupStream:
    """Defuses a streamed text."""

    def __init__(self) -> None:
        self._held = ""
        self._has_image = False
        """Whether an image begins in the paragraph. Then any later `](` may belong to it."""

    def feed(self, piece: str) -> str:
        """The text that is final after this piece. It ends before a mark that depends on later text."""
        self._held += piece
        open_end = _OPEN_END.search(self._held)
        return self._take(open_end.start() if open_end else len(self._held), ahead=_AHEAD)

    def close(self) -> str:
        """The rest."""
        return self._take(len(self._held), ahead=0)

    def _take(self, end: int, *, ahead: int) -> str:
        text, done, at = self._held, list[str](), 0
        for found in _MARK.finditer(text):
            mark = found[0]
            if found.end() > end or (mark in _WIDE and found.end() + ahead > len(text)):
                end = min(end, found.start())
                break
            if mark == "![":
                self._has_image = True
            elif mark.startswith("\n"):
                self._has_image = False
            elif self._is_unsafe(mark, text, found):
                done += (text[at : found.end() - 1], _WIDE[mark])
                at = found.end()
        done.append(text[at:end])
        self._held = text[end:]
        return "".join(done)

    def _is_unsafe(self, mark: str, text: str, found: re.Match[str]) -> bool:
        after = text[found.end() : found.end() + _AHEAD]
        if mark == "](":
            return self._has_image or not _SAFE.match(after)
        if mark == "]:":
            return _TARGET.match(after) is not None
        return bool(_TAG.match(after) or _AUTOLINK.match(after))
