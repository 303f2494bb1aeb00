"""A chunk's text as headings, rows of a table, pairs of key and value, and prose."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from whence.chunk import sentences
from whence.extract.rules.cues import DATE_LINE, EVENT_WORDS, IDENTIFIER
from whence.extract.rules.sections import LABEL, kind_of

_HEADING = re.compile(r"\s{0,3}(?P<level>#{1,6})\s+(?P<text>.*?)[\s#]*")
_UNDERLINE = re.compile(r"\s{0,3}(?:(?P<first>=)=+|-{3,})\s*")
_ITEM = re.compile(
    r"\s*(?:(?:[-*+•]|\d{1,3}[.)])(?:\s+\[[ xX]?\])?|\d{1,3}(?:\.\d{1,3})+\.?(?=\s+[A-Z\"“])|\[[ xX]?\]"
    r"|\((?:\d{1,3}|[a-z]|[ivx]{1,4})\)|[a-z]\))\s+(?P<text>\S.*)"
)
_BOX = re.compile(r"\s*(?:[-*+]\s+)?\[[ xX]?\]\s")
_KEY = r"[^\W\d_][\w /&'’()-]{0,58}[\w)]|\w"
_PAIR = re.compile(
    rf"(?:\*\*|__)?(?P<key>{_KEY})(?:\*\*|__)?\s?:(?:\*\*|__)?\s+(?P<value>\S.*)"
    rf"|(?P<mark>\*\*|__|`)(?P<entry>{_KEY})(?P=mark)(?::|\s?[–—-])\s+(?P<meaning>\S.*)"
)
_NEXT_ENTRY = re.compile(r"\s\*\*[^*]{1,40}(?::\*\*|\*\*\s?:)\s")
_BEGINS_ANEW = re.compile(rf"\s*[*_`\[(]*{IDENTIFIER}[*_`\])]*\s*[:.–—-]?\s*")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_SKIPPED = re.compile(r"\s*(?:[|>]|[-=*_]{3,}\s*$|<!--|<h\d)")
_RULE = re.compile(r"[\s|:-]*-[\s|:-]*")
_CELL = re.compile(r"(?<!\\)\|")

# Lines that are headings by their looks.
_BOLD_LINE = re.compile(r"\s*(?:\*\*|__)(?P<text>[^*_:]{2,60}):?(?:\*\*|__):?\s*")
_COLON_LINE = re.compile(r"(?P<text>[A-Z][\w /&'’-]{1,40}):\s*")
_CAPITALS = re.compile(r"(?=.*[A-Z]{3})[A-Z0-9][A-Z0-9 .,&'’/–—-]{2,60}")
_NUMBERED_LINE = re.compile(r"(?:§\s?)?\d{1,2}(?:\.\d{1,2})*\.?\s+[A-Z][^.:;?!]{1,60}")
_PLAIN_LINE = re.compile(r"[A-Z][^.:;?!,|]{1,60}")
_TITLE_LINE = re.compile(r"[A-Z][^.;?!|]{2,80}")
_SAYS_SOMETHING = re.compile(
    r"\b(?:is|are|was|were|has|have|must|shall|should|may|can|will|uses?|depends?|owns?|requires?|needs?|replaces?|means?"
    r"|MUST|SHALL|SHOULD|MAY\sNOT)\b"
)
_FEW = 4
"""Words of a line that is a heading because it stands alone."""
_LONGEST_LABEL = 120
_LONGEST_ROW = 4_000


class Block(NamedTuple):
    kind: Literal["heading", "pair", "sentence", "row"]
    text: str
    """A sentence, a heading's words, or the whole line of a pair."""
    key: str = ""
    value: str = ""
    is_entry: bool = False
    """Of a pair: one with a key in bold, as in a glossary."""
    level: int = 0
    """Of a heading."""
    begins: bool = False
    """Of a sentence: the first of its paragraph or item."""
    is_item: bool = False
    """Of a list."""
    has_box: bool = False
    """To be ticked off: `- [ ] …`."""
    cells: tuple[tuple[str, str], ...] = ()
    """Of a row: what stands under which head."""


def blocks(text: str) -> Iterator[Block]:
    """In their order; code and quotations are passed over."""
    lines = list(_outside_code(text))
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    prose: list[str] = []
    head: tuple[str, ...] = ()
    for at, line in enumerate(lines):
        cells = _cells(line)
        structured = _heading(lines, at, is_first=at == first) or _structured(line) or _row(head, cells)
        head = (head or _head(cells, lines, at)) if cells else ()
        is_prose = structured is None and line.strip() and not _SKIPPED.match(line)
        if not is_prose or _ITEM.fullmatch(line) or _BEGINS_ANEW.match(line):
            yield from _sentences(prose)
        if is_prose:
            prose.append(line)
        elif structured is not None:
            yield structured
    yield from _sentences(prose)


def _outside_code(text: str) -> Iterator[str]:
    """The lines, with an empty one for each line of code."""
    is_code = False
    for line in text.splitlines():
        is_fence = _FENCE.match(line) is not None
        is_code ^= is_fence
        yield "" if is_code or is_fence else line


def _heading(lines: Sequence[str], at: int, *, is_first: bool) -> Block | None:
    line = lines[at]
    if found := _HEADING.fullmatch(line):
        return Block("heading", found["text"].strip(" *_`"), level=len(found["level"]))
    after = lines[at + 1] if at + 1 < len(lines) else ""
    is_apart = at == 0 or not lines[at - 1].strip() or _SKIPPED.match(lines[at - 1]) is not None
    if not line.strip() or len(line) > _LONGEST_LABEL or _SKIPPED.match(line):
        return None
    if is_apart and (underline := _UNDERLINE.fullmatch(after)):
        return Block("heading", line.strip(" *_`"), level=1 if underline["first"] else 2)
    title = _label(line.strip(), after, is_apart=is_apart, is_first=is_first)
    return Block("heading", title, level=LABEL) if title else None


def _label(line: str, after: str, *, is_apart: bool, is_first: bool) -> str | None:
    """The words of a line that is a heading by its looks."""
    if found := _BOLD_LINE.fullmatch(line):
        return found["text"].strip()
    if found := _COLON_LINE.fullmatch(line):
        return found["text"] if len(line.split()) <= _FEW or kind_of(line) else None
    if not is_apart:
        return line if _CAPITALS.fullmatch(line) and kind_of(line) else None
    is_date = DATE_LINE.fullmatch(line) and not EVENT_WORDS.search(line)
    says_something = is_date or _SAYS_SOMETHING.search(line) or _BEGINS_ANEW.match(line)
    return line if not says_something and _is_title(line, after, is_first=is_first) else None


def _is_title(line: str, after: str, *, is_first: bool) -> bool:
    """Of a line with an empty one before it."""
    if _CAPITALS.fullmatch(line):
        return True
    if _ITEM.fullmatch(after):
        return _PLAIN_LINE.fullmatch(line) is not None and kind_of(line) is not None
    if _NUMBERED_LINE.fullmatch(line):
        return True
    if is_first and _TITLE_LINE.fullmatch(line) and not _PAIR.fullmatch(line):
        return not after.strip() or _PAIR.fullmatch(after.strip()) is not None
    return _PLAIN_LINE.fullmatch(line) is not None and not after.strip() and len(line.split()) <= _FEW


def _structured(line: str) -> Block | None:
    bare = _without_bullet(line).strip()
    found = _PAIR.fullmatch(bare)
    if found is None:
        return None
    value = (found["value"] or found["meaning"]).strip()
    following = _NEXT_ENTRY.search(value)
    return Block(
        "pair",
        bare,
        (found["key"] or found["entry"]).strip(),
        value[: following.start()] if following else value,
        is_entry=bare.startswith(("**", "__", "`")),
        is_item=bare != line.strip(),
        has_box=_BOX.match(line) is not None,
    )


def _cells(line: str) -> tuple[str, ...]:
    """Of a row of a table; none of any other line."""
    bare = line.strip()
    if not bare.startswith("|") or len(bare) > _LONGEST_ROW:
        return ()
    return tuple(cell.strip(" *_`") for cell in _CELL.split(bare.strip("|")))


def _head(cells: tuple[str, ...], lines: Sequence[str], at: int) -> tuple[str, ...]:
    """The row, if a rule is below it."""
    after = lines[at + 1] if at + 1 < len(lines) else ""
    return cells if _cells(after) and _RULE.fullmatch(after) else ()


def _row(head: tuple[str, ...], cells: tuple[str, ...]) -> Block | None:
    if not head or len(cells) != len(head) or _RULE.fullmatch("|".join(cells)):
        return None
    return Block("row", " ".join(cells), cells=tuple(zip(head, cells, strict=True)))


def _without_bullet(line: str) -> str:
    found = _ITEM.fullmatch(line)
    return found["text"] if found else line


def _sentences(prose: list[str]) -> Iterator[Block]:
    """The sentences of the lines gathered so far, which are then gone. A leading identifier is not one by itself."""
    if not prose:
        return
    is_item, has_box = _ITEM.fullmatch(prose[0]) is not None, _BOX.match(prose[0]) is not None
    text = "\n".join(map(_without_bullet, prose))
    prose.clear()
    leading = _BEGINS_ANEW.match(text)
    start = leading.end() if leading else 0
    for at, sentence in enumerate(sentences(text[start:])):
        whole = text[:start] + sentence.text if at == 0 else sentence.text
        yield Block(
            "sentence", " ".join(whole.split()), begins=at == 0, is_item=is_item, has_box=has_box and at == 0
        )
