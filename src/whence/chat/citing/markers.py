"""Citation markers as models write them: `[1]`, `[1, 3-5]`, `【2】`, `[^1]`, `[Source 2, p. 7]`, `[1, a.md]`, `[<id>]`. Pure grammar.

An id is ours (a UUID) or LightRAG's (`chunk-<md5>`). Three more forms are accepted: `[chunk_<id>_5]`, `[<id>:chunk-5]` and `[chunk id: <id>]`. Ids may have typographic dashes and
zero-width characters. `[LightRAG Answer]` is a marker that names no chunk.

The prompt shows documents with other brackets than they have (see `prompt_escaping`). A number in those is a reference of the document, not
a marker. An id in any brackets is a marker.
"""

import re
from typing import NamedTuple

from whence.text.prompt_escaping import BRACKETS, LIGHTRAG_ID, MASKS, SOURCE_ID, UUID

MAX_MARKER = 400
"""Maximum length. Longer brackets are text, so that a stream need not wait for their end."""

OPENING = frozenset((BRACKETS + MASKS)[::2])
CLOSING = frozenset((BRACKETS + MASKS)[1::2])
_OPEN_OR_CLOSE = re.escape(BRACKETS + MASKS)

GRAPH_LABEL = "lightrag answer"
_LABELS = (
    "passage source document doc chunk excerpt extract reference ref citation cite context id see number"
    " quelle fuente fonte источник 출처 문서 来源 來源 文档 文件 段落 资料 資料 文献 出典 文書"
).split()
_WORDS = frozenset(label + ending for label in _LABELS for ending in ("", "s", "n"))

# Inside the brackets, in one form: plain dashes, single spaces, no zero-width characters.
_ONE_FORM = str.maketrans(
    {
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"),
        **dict.fromkeys("‐‑‒–—―−﹣－~～", "-"),
    }
)
_LABELLED = rf"(?:(?:{'|'.join(_LABELS)})[sn]?[.:：]?[ _-]?){{0,3}}"
_ID = rf"(?:{UUID}(?:[_:#] ?(?:chunk[-_ ]?)?\d{{1,9}})?|{LIGHTRAG_ID})"
_NUMBER = r"\d+(?: ?- ?\d+)?"
_ITEM = rf"[*_]{{0,3}}{_LABELLED}(?:[\^#№] ?)?(?:{_ID}|\d+:\d+(?=†)|{_NUMBER})[*_]{{0,3}}"
_AND = r"and|or|und|oder|et|ou"
_JOIN = rf" ?(?:[,;、，；/&+] ?(?:(?:{_AND})\b|&)?|\b(?:{_AND})\b) ?"
_PAGE = rf" ?[,:(] ?(?:pages?|pp?\.?) ?{_NUMBER}\)?"
_FILE = r" ?[,:;|(-] ?[^?,;:|\\]{1,100}\.[a-z][a-z0-9]{1,7} ?\)?"
_INSIDE = re.compile(
    rf"({_ITEM}(?:{_JOIN}{_ITEM})*)(?:†[^?]*|(?:{_FILE})?(?:{_PAGE})?)(?: ?\\)?", re.IGNORECASE
)
_NAMED = re.compile(
    rf"({SOURCE_ID})(?:[_:#] ?(?:chunk[-_ ]?)?(\d+))?|\d+:\d+|(\d+)(?: ?- ?(\d+))?", re.IGNORECASE
)

_END = re.compile(rf"[\n{_OPEN_OR_CLOSE}]")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_ID_SO_FAR = re.compile(r"[0-9a-f]{1,7}|[0-9a-f]{8}(?:-.*)?")

Item = range | tuple[str, int | None]
"""A range of passage numbers, or an id in lower case with an optional chunk index."""


class Incomplete(Exception):
    """The decision depends on text that has not arrived yet."""


class PartialText(NamedTuple):
    """The part of an answer that has arrived so far."""

    text: str
    is_whole: bool

    def peek(self, start: int, size: int = 1) -> str:
        """The next characters. Raises `Incomplete` if they have not arrived yet."""
        if start + size > len(self.text) and not self.is_whole:
            raise Incomplete
        return self.text[start : start + size]


class Marker(NamedTuple):
    end: int
    items: tuple[Item, ...]
    is_certain: bool
    """Whether it has an id or names the graph's answer, so that it is no array index, year or link."""


def read_marker(seen: PartialText, start: int) -> Marker | None:
    """The marker at an opening bracket. Raises `Incomplete` if the text ends too early to decide."""
    if seen.peek(start, 2) != "[[":
        return _read_single(seen, start)
    inner = _read_single(seen, start + 1) if seen.peek(start + 2) != "[" else None
    # `[[1]]` is one marker. `[[<id>]]` is a citation in brackets: the validator leaves it as it is.
    if inner is None or inner.is_certain or seen.peek(inner.end) != "]":
        return None
    return inner._replace(end=inner.end + 1)


def could_become_marker(text: str) -> bool:
    """Whether the text ends inside brackets that may yet become a marker."""
    start = max(map(text.rfind, OPENING))
    return start >= 0 and not _END.search(text, start + 1) and _begins_marker(text[start + 1 :])


def _read_single(seen: PartialText, start: int) -> Marker | None:
    text, is_whole = seen
    limit = start + MAX_MARKER
    end = _END.search(text, start + 1, limit)
    inside = text[start + 1 : end.start() if end else limit]
    if not _begins_marker(inside):
        return None
    if end is None and not is_whole and len(text) < limit:
        raise Incomplete
    if end is None or end[0] not in CLOSING:
        return None
    marker = _parse(inside, end.end())
    is_masked = not {text[start], end[0]}.isdisjoint(MASKS)
    return None if marker and is_masked and not marker.is_certain else marker


def _parse(inside: str, end: int) -> Marker | None:
    plain = _in_one_form(inside)
    if plain.casefold() == GRAPH_LABEL:
        return Marker(end, (), is_certain=True)
    found = _INSIDE.fullmatch(plain)
    if found is None:
        return None
    items = tuple(_item(one) for one in _NAMED.finditer(found[1]))
    return Marker(end, items, is_certain=any(isinstance(item, tuple) for item in items))


def _item(found: re.Match[str]) -> Item:
    chunk_id, index, first, last = found.groups()
    if chunk_id:
        return chunk_id.lower(), int(index) if index else None
    if not first:  # `4:0†` is a place in a file that was never shown
        return range(0)
    one, other = int(first), int(last or first)
    return range(min(one, other), max(one, other) + 1)


def _begins_marker(inside: str) -> bool:
    """Whether the text after an opening bracket may begin a marker. If not, no continuation does."""
    text = _in_one_form(inside).lstrip(" *_").casefold()
    if not text or text[0].isdigit() or text[0] in "^#№" or GRAPH_LABEL.startswith(text):
        return True
    found = _FIRST_WORD.match(text)
    word = found[0] if found else ""
    if word in _WORDS or _ID_SO_FAR.fullmatch(text):
        return True
    return word == text and any(label.startswith(word) for label in _WORDS)


def _in_one_form(inside: str) -> str:
    return " ".join(inside.translate(_ONE_FORM).split())
