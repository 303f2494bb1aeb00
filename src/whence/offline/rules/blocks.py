"""Splits the text of a chunk into headings, `Key: value` pairs, tables and sentences."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from whence.chunk import sentences
from whence.offline.rules.shapes import bare, identified
from whence.text.tables import Table, read_delimited_table, read_pipe_table

LABEL = 7
"""The level of a line that only looks like a heading. Markdown has six levels."""
_LONGEST_LABEL = 60
_FEW_WORDS = 4

_HEADING = re.compile(r"\s{0,3}(?P<level>#{1,6})\s+(?P<text>.*?)[\s#]*")
_UNDERLINE = re.compile(r"\s{0,3}(?:(?P<first>=)=+|-{3,})\s*")
_LABEL = re.compile(
    r"(?:\*\*|__)(?P<bold>[^*_:]{2,60}):?(?:\*\*|__):?|(?P<colon>[A-Z][\w /&'’-]{1,40}):|(?P<capitals>[A-Z0-9§][A-Z0-9 .&'’/-]{3,60})"
)
_ITEM = re.compile(
    r"\s*(?:[-*+•]|\d{1,3}[.)]|\((?:\d{1,3}|[a-z])\)|\d{1,3}(?:\.\d{1,3})+\.?)\s+(?:\[[ xX]?\]\s+)?(?P<text>\S.*)"
)
_KEY = r"[^\W\d_][\w /&'’()-]{0,58}[\w)]"
_PAIR = re.compile(
    rf"(?:\*\*|__)?(?P<key>{_KEY})(?:\*\*|__)?\s?:(?:\*\*|__)?\s+(?P<value>\S.*)"
    rf"|(?P<mark>\*\*|__|`)(?P<entry>{_KEY})(?P=mark)(?::|\s?[–—-])\s+(?P<meaning>\S.*)"
    rf"|(?P<term>{_KEY})\s[–—-]\s(?P<what>\S.*)"
)
_FENCE = re.compile(r"\s*(?:```|~~~)")
_SKIPPED = re.compile(r"\s*(?:[|>]|[-=*_]{3,}\s*$|<!--)")
_NUMBERED = re.compile(r"\A(?:§\s?)?\d+(?:\.\d+)*[.)]?\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    kind: Literal["heading", "pair", "sentence", "table"]
    text: str = ""
    """A sentence, the words of a heading or the whole line of a pair, without its bullet."""
    key: str = ""
    value: str = ""
    is_entry: bool = False
    """A pair with a dash instead of a colon, or with its key in bold: an entry of a glossary."""
    is_dashed: bool = False
    """A pair with a plain key and a dash. Outside glossaries it is a sentence."""
    level: int = 0
    is_item: bool = False
    begins: bool = False
    """The first sentence of its paragraph or item."""
    table: Table | None = None


def split_blocks(
    lines: Sequence[str], head: str, accepts: Callable[[Sequence[str]], bool]
) -> Iterator[Block]:
    """The blocks in order, without quotations.

    `head` is the head of a table that began in an earlier chunk. `accepts` decides whether comma-separated words are the head of a
    table.
    """
    prose: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        table = read_pipe_table(lines, at, head) or read_delimited_table(lines, at, head, accepts=accepts)
        structured = None if table else _read_heading(lines, at) or _read_pair(line)
        is_prose = not table and structured is None and line.strip() and not _SKIPPED.match(line)
        if not is_prose or _ITEM.fullmatch(line) or identified(line):
            yield from _split_sentences(prose)
            prose = []
        if table:
            yield Block(kind="table", table=table)
        elif structured:
            yield structured
        elif is_prose:
            prose.append(line)
        at = table.end if table else at + 1
        head = ""
    yield from _split_sentences(prose)


def drop_number(title: str) -> str:
    """`2.1 Receiving` without its number."""
    return _NUMBERED.sub("", title, count=1)


def drop_code(text: str) -> list[str]:
    """The lines of the text, with an empty one for each line of code."""
    lines: list[str] = []
    is_code = False
    for line in text.splitlines():
        is_fence = _FENCE.match(line) is not None
        is_code ^= is_fence
        lines.append("" if is_code or is_fence else line)
    return lines


def _read_heading(lines: Sequence[str], at: int) -> Block | None:
    line = lines[at]
    if found := _HEADING.fullmatch(line):
        return Block(kind="heading", text=bare(found["text"]), level=len(found["level"]))
    is_apart = at == 0 or not lines[at - 1].strip()
    if not line.strip() or not is_apart or _SKIPPED.match(line):
        return None
    after = lines[at + 1] if at + 1 < len(lines) else ""
    if underline := _UNDERLINE.fullmatch(after):
        return Block(kind="heading", text=bare(line), level=1 if underline["first"] else 2)
    label = _LABEL.fullmatch(line.strip()) if len(line) <= _LONGEST_LABEL else None
    if label is None or (label["colon"] and len(line.split()) > _FEW_WORDS):
        return None
    return Block(kind="heading", text=label["bold"] or label["colon"] or label["capitals"], level=LABEL)


def _read_pair(line: str) -> Block | None:
    text = _drop_bullet(line).strip()
    found = _PAIR.fullmatch(text)
    if found is None or identified(text):
        return None
    return Block(
        kind="pair",
        text=text,
        key=(found["key"] or found["entry"] or found["term"]).strip(),
        value=(found["value"] or found["meaning"] or found["what"]).strip(),
        is_entry=text.startswith(("**", "__", "`")) or found["term"] is not None,
        is_dashed=found["term"] is not None,
        is_item=text != line.strip(),
    )


def _drop_bullet(line: str) -> str:
    found = _ITEM.fullmatch(line)
    return found["text"] if found else line


def _split_sentences(prose: Sequence[str]) -> Iterator[Block]:
    """An identifier that begins a paragraph belongs to its first sentence."""
    if not prose:
        return
    is_item = _ITEM.fullmatch(prose[0]) is not None
    text = " ".join(" ".join(map(_drop_bullet, prose)).split())
    leading = identified(text)
    start = len(text) - len(leading[1]) if leading else 0
    for at, sentence in enumerate(sentences(text[start:])):
        whole = text[:start] + sentence.text if at == 0 else sentence.text
        yield Block(kind="sentence", text=whole.strip(), begins=at == 0, is_item=is_item)
