"""A chunk's text as headings, lines of a list, pairs of key and value, and prose."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from whence.chunk import sentences
from whence.extract.rules.cues import IDENTIFIER

_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?P<text>.*?)[\s#]*")
_ITEM = re.compile(
    r"\s*(?:(?:[-*+•]|\d{1,3}[.)])(?:\s+\[[ xX]?\])?|\d{1,3}(?:\.\d{1,3})+\.?(?=\s+[A-Z\"“])|\[[ xX]?\])\s+(?P<text>\S.*)"
)
_PAIR = re.compile(
    r"(?:\*\*|__)?(?P<key>[^\W\d_][\w /&'’()-]{0,58}[\w)]|\w)(?:\*\*|__)?\s?:(?:\*\*|__)?\s+(?P<value>\S.*)"
)
_BEGINS_ANEW = re.compile(rf"\s*[*_`\[(]*{IDENTIFIER}[*_`\])]*\s*[:.–—-]?\s*")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_SKIPPED = re.compile(r"\s*(?:[|>]|[-=*_]{3,}\s*$|<!--)")


class Block(NamedTuple):
    kind: Literal["heading", "pair", "sentence"]
    text: str
    """A sentence, a heading's words, or the whole line of a pair."""
    key: str = ""
    value: str = ""
    is_entry: bool = False
    """Of a pair: an item of a list with a key in bold, as in a glossary."""


def blocks(text: str) -> Iterator[Block]:
    """In their order; code, tables and quotations are passed over."""
    prose: list[str] = []
    for line in _outside_code(text):
        structured = _structured(line)
        is_prose = structured is None and line.strip() and not _SKIPPED.match(line)
        bare = _without_bullet(line)
        if not is_prose or bare != line or _BEGINS_ANEW.match(bare):
            yield from _sentences(prose)
        if is_prose:
            prose.append(bare)
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


def _structured(line: str) -> Block | None:
    if found := _HEADING.fullmatch(line):
        return Block("heading", found["text"].strip(" *_`"))
    bare = _without_bullet(line).strip()
    if found := _PAIR.fullmatch(bare):
        return Block(
            "pair", bare, found["key"].strip(), found["value"].strip(), bare.startswith(("**", "__"))
        )
    return None


def _without_bullet(line: str) -> str:
    found = _ITEM.fullmatch(line)
    return found["text"] if found else line


def _sentences(prose: list[str]) -> Iterator[Block]:
    """The sentences of the lines gathered so far, which are then gone. A leading identifier is not one by itself."""
    text = "\n".join(prose)
    prose.clear()
    leading = _BEGINS_ANEW.match(text)
    start = leading.end() if leading else 0
    for at, sentence in enumerate(sentences(text[start:])):
        whole = text[:start] + sentence.text if at == 0 else sentence.text
        yield Block("sentence", " ".join(whole.split()))
