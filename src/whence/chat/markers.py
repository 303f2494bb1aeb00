"""What a citation looks like when a model writes it: `[1]`, `[1, 3-5]`, `[3]-[5]`, `【2】`, `[^1]`, `[Source 2, p. 7]`, `[1, a.md]`, `[<uuid>]`.

Pure grammar: which numbers and ids a marker names. What becomes of them is decided in `citations`.

Documents are shown to a model with other brackets than they have (see `fences`). A number between those is a reference of
the documents and no marker. An id is one, between whatever brackets: no document shows a model an id in any.
"""

import re
from typing import NamedTuple

from whence.chat.links import begins_link
from whence.chat.seen import Seen, Unclear

MAX_MARKER = 400
"""Characters. What is longer is no marker: a stream need not wait for its end."""

_FIRST_YEAR = 1000
"""Numbers of four digits are text: `[2023]` is rather a year than one of so many passages."""

BRACKETS = "[]【】［］"
MASKS = "⁅⁆⦋⦌⦍⦎"
"""What a model is shown in their place. Hardly any document has these, and a model that copies a reference copies them with it."""
OPENING = frozenset((BRACKETS + MASKS)[::2])
CLOSING = frozenset((BRACKETS + MASKS)[1::2])
_OPEN = re.escape("".join(sorted(OPENING)))
_CLOSE = re.escape("".join(sorted(CLOSING)))

UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_SPACE = r"[^\S\n]*"
_DASHES = frozenset("-‐‑‒–—−~～")
DASH = f"[{re.escape(''.join(sorted(_DASHES)))}]"
_LABELS = (
    *(
        "passage",
        "source",
        "document",
        "doc",
        "chunk",
        "excerpt",
        "extract",
        "reference",
        "ref",
        "citation",
        "cite",
    ),
    *("context", "id", "see", "number", "quelle", "fuente", "fonte", "источник", "출처", "문서"),
    *("来源", "來源", "文档", "文件", "段落", "资料", "資料", "文献", "出典", "文書"),
)


def _any_case(word: str) -> str:
    # Not by a flag: without regard to case, some letters of other alphabets would pass for these.
    return "".join(f"[{letter}{letter.upper()}]" for letter in word)


_LABEL = rf"(?:{'|'.join(map(_any_case, _LABELS))})[sSnN]?[.:：]?"
_LABELLED = rf"(?:{_LABEL}(?:{_SPACE}|[-_]))?"
_PAGE = rf"(?:{_any_case('page')}[sS]?|[pP]{{1,2}}\.?)"
_JOINS = ("and", "or", "und", "oder", "et", "ou")
_WORD_BETWEEN = "|".join(map(_any_case, _JOINS))
_JOINED = rf"[,;、，；]{_SPACE}(?:{_WORD_BETWEEN}|&)(?![a-zA-Z])|[,;、，；/&+]|{_WORD_BETWEEN}"
_EMPHASIS = r"[*_]{0,3}"
# Some models add where in the passage, after a dagger; then the number may have two parts.
_PLACE = rf"†[^\n\[{_CLOSE}]*"
_NUMBER = rf"\d+(?:{_SPACE}{DASH}{_SPACE}\d+)?"
_ITEM = (
    rf"{_EMPHASIS}{_LABELLED}(?:[\^#№]{_SPACE})?"
    rf"(?:{UUID}|\d+:\d+{_PLACE}|{_NUMBER}(?:{_PLACE})?){_EMPHASIS}"
)
_ON_PAGE = rf"(?:{_SPACE}[,:]{_SPACE}{_PAGE}{_SPACE}{_NUMBER}|{_SPACE}\({_PAGE}{_SPACE}{_NUMBER}\))?"
_MARKER = re.compile(
    rf"[{_OPEN}]{_SPACE}{_ITEM}(?:{_SPACE}(?:{_JOINED}){_SPACE}{_ITEM})*{_ON_PAGE}{_SPACE}\\?[{_CLOSE}]"
)
# Passages are shown with the names of their files, and some models repeat them behind the number: `[1, manual.md]`.
_BEFORE_NAME = rf"[{_OPEN}]{_SPACE}({_ITEM}){_SPACE}(?:[,:;|(]|{DASH}){_SPACE}"
_IN_NAME = rf"[^\n?,;:|\\{_OPEN}{_CLOSE}]"
_WITH_NAME = re.compile(
    rf"{_BEFORE_NAME}{_IN_NAME}{{1,100}}\.[a-zA-Z][a-zA-Z0-9]{{1,7}}{_SPACE}\)?{_ON_PAGE}{_SPACE}\\?[{_CLOSE}]"
)
_WITH_NAME_SO_FAR = re.compile(rf"{_BEFORE_NAME}[^\n?{_OPEN}{_CLOSE}]*")
_MARKER_END = re.compile(rf"[\n?{_OPEN}{_CLOSE}]")
_NAMED = re.compile(
    rf"({UUID})|{_PAGE}{_SPACE}{_NUMBER}|\d+:\d+{_PLACE}|(\d+)(?:{_SPACE}{DASH}{_SPACE}(\d+))?(?:{_PLACE})?"
)

# The same, word by word: how far a text may yet become a marker.
_WORDS = frozenset(
    (
        *(label + ending for label in _LABELS for ending in ("", "s", "n")),
        *_JOINS,
        "page",
        "pages",
        "p",
        "pp",
    )
)
_WORD = "|".join(map(_any_case, sorted(_WORDS, key=len, reverse=True)))
_SO_FAR = re.compile(
    rf"(?:{UUID}|{_PLACE}|[\d,;:.、，；：/&+^#№*_()\\]|{DASH}|[^\S\n]|(?:{_WORD})(?![a-zA-Z]))*"
)
_PLAIN = re.compile(r"\[(\d{1,9})\]")
_PART_OF_ID = re.compile(r"[0-9a-fA-F-]{1,36}")
_LONGEST_PART = 36


class Marker(NamedTuple):
    """What a marker names: chunk ids in lower case, and numbers as ranges, in their order."""

    end: int
    first_end: int
    """Where its first bracket is closed: of a range with brackets at both its ends, the first of the two."""
    items: tuple[str | range, ...]

    @property
    def has_ids(self) -> bool:
        return any(isinstance(item, str) for item in self.items)


def read_marker(seen: Seen, start: int) -> Marker | None:
    """The marker that begins at an opening bracket; a range may have brackets at both its ends.

    Raises `Unclear` where the text ends too early to tell, unless it is whole.
    """
    marker = _read_one(seen, start)
    first = _number_of(marker.items[-1]) if marker else None
    if marker is None or first is None or seen.peek(marker.end) not in _DASHES:
        return marker
    if seen.peek(marker.end + 1) not in OPENING:
        return marker
    other = _read_one(seen, marker.end + 1)
    last = _number_of(other.items[0]) if other else None
    if other is None or last is None or begins_link(seen, other.end):
        return marker
    return Marker(other.end, marker.first_end, (*marker.items[:-1], _range(first, last), *other.items[1:]))


def _read_one(seen: Seen, start: int) -> Marker | None:
    """Also one in two pairs of brackets, unless it names an id: what became of `[[[1]]]` must stay what it is."""
    if seen.peek(start, 2) != "[[" or seen.peek(start + 2) == "[":
        return _read_single(seen, start)
    inner = _read_single(seen, start + 1)
    is_doubled = inner is not None and not inner.has_ids and seen.peek(inner.end) == "]"
    return inner._replace(end=inner.end + 1, first_end=inner.end + 1) if inner and is_doubled else None


def _read_single(seen: Seen, start: int) -> Marker | None:
    text, is_whole = seen
    if plain := _PLAIN.match(text, start):
        number = int(plain[1])
        return Marker(plain.end(), plain.end(), (range(number, number + 1),))
    limit = start + MAX_MARKER
    so_far = _SO_FAR.match(text, start + 1, limit)
    end = so_far.end() if so_far else start + 1
    if not is_whole and len(text) < limit and _may_go_on(text, end):
        raise Unclear
    if text[end : end + 1] not in CLOSING or not _MARKER.fullmatch(text, start, end + 1):
        return _read_with_name(seen, start)
    marker = Marker(end + 1, end + 1, tuple(_items(text[start : end + 1])))
    return marker if marker.has_ids or not (text[start] in MASKS or text[end] in MASKS) else None


def _read_with_name(seen: Seen, start: int) -> Marker | None:
    text, is_whole = seen
    limit = start + MAX_MARKER
    found = _MARKER_END.search(text, start + 1, limit)
    if found is None:
        if not is_whole and len(text) < limit and _WITH_NAME_SO_FAR.fullmatch(text, start):
            raise Unclear
        return None
    end = found.end()
    named = _WITH_NAME.fullmatch(text, start, end)
    if named is None or not {text[start], text[end - 1]}.isdisjoint(MASKS):
        return None
    return Marker(end, end, tuple(_items(named[1])))


def could_become_marker(text: str) -> bool:
    """Whether the text ends in an opening bracket and nothing but what a marker may hold."""
    start = max(text.rfind(bracket) for bracket in OPENING)
    return start >= 0 and bool(_SO_FAR.fullmatch(text, start + 1) or _WITH_NAME_SO_FAR.fullmatch(text, start))


def _may_go_on(text: str, end: int) -> bool:
    rest = text[end : end + _LONGEST_PART + 1]
    if not rest:
        return True
    if end + len(rest) < len(text):
        return False
    return bool(_PART_OF_ID.fullmatch(rest)) or any(word.startswith(rest.lower()) for word in _WORDS)


def _number_of(item: str | range) -> int | None:
    """If it may be one end of a range."""
    return item.start if isinstance(item, range) and len(item) == 1 and item.start < _FIRST_YEAR else None


def _range(one: int, other: int) -> range:
    return range(min(one, other), max(one, other) + 1)


def _items(marker: str) -> list[str | range]:
    items: list[str | range] = []
    for found in _NAMED.finditer(marker):
        chunk_id, first, last = found.groups()
        if chunk_id:
            items.append(chunk_id.lower())
        elif first:
            items.append(_range(_number(first), _number(last or first)))
        elif "†" in found[0]:
            items.append(range(0))
    return items


def _number(digits: str) -> int:
    return int(digits) if len(digits) < 10 else 10**9  # noqa: PLR2004 - no answer has so many passages
