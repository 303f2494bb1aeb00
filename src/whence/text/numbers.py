"""Reads numbers in one form: 8.50 is 8.5, 1.2 million is 1,200,000, twenty-five is 25, 12% is 12 percent, $5 is 5 dollars. Pure.

Number words are English.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from whence.text.cjk import UNSPACED
from whence.text.names import fold
from whence.text.word_lists import NUMBERS, SMALL, TENS, ZEROS

# ASCII letters only: without case, a long s would match `s`, and the look-up of the word would fail.
_BELOW_HUNDRED = rf"(?ai:(?:{'|'.join(TENS)})(?:(?:\s+|-)(?:{'|'.join(SMALL[1:10])}))?|{'|'.join(SMALL)})\b"
SPELLED = rf"(?:{_BELOW_HUNDRED}|a(?=\s+hundred\b))(?:\s+hundred\b(?:(?:\s+and)?\s+{_BELOW_HUNDRED})?)?"
"""Matches number words below a thousand."""
SCALE = rf"(?:\s+|-)(?P<scale>(?ai:{'|'.join(ZEROS)}))\b"
"""Matches the word behind a number that multiplies it."""
UNIT = re.compile(
    r"\s?(?:[%‰°$€£¥]|(?i:per\s?cent|dollars?|euros?|pounds?)\b|[kMGTmcdµ]?(?:m|g|l|Wh?|V|Hz|Pa|s|h|B)[²³]?\b)"
)
"""Matches a unit behind an amount."""
UNITS = {"%": "percent", "$": "dollar", "€": "euro", "£": "pound"}
_WRITTEN_UNITS = UNITS | {f"{unit}s": unit for unit in UNITS.values()} | {"per cent": "percent"}

_FIGURE = re.compile(
    rf"(?P<unit>[$€£])?(?P<number>(?<![\w.,])[-−]?\d+(?:[.,:/]\d+)*)(?:{SCALE})?"
    rf"|\b(?P<spelled>{SPELLED})(?:{SCALE.replace('scale', 'spelled_scale')})?"
    rf"|(?P<word>per\s+cent\b|[{UNSPACED}]|[^\W\d_{UNSPACED}]+|[\d.,:/]+|%)",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"[1-9]\d{0,2}\.\d{3}")


class Figure(NamedTuple):
    """A number, a unit or a word."""

    key: str
    """The form to compare."""
    start: int
    end: int


def plain_number(written: str, scale: str | None, *, keep_zeros: bool = False) -> str:
    """Without separators and, unless `keep_zeros`, needless zeros. A version, ratio or time stays as written.

    So does 23.000, which is 23 in some languages and 23,000 in others.
    """
    if scale is None and _GROUPED.fullmatch(written):
        return written
    digits = re.sub(r",(?=\d{3}(?!\d))", "", unicodedata.normalize("NFKC", written)).replace(",", ".")
    whole, _, part = digits.partition(".")
    if not (whole + part).isdigit():
        return re.sub(r"\A0(?=\d)", "", digits)
    zeros = ZEROS[scale.lower()] if scale else 0
    whole, part = whole + part[:zeros].ljust(zeros, "0"), part[zeros:]
    part = part if keep_zeros else part.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{part}" if part else "")


def spelled_number(text: str) -> str:
    """The digits of a match of `SPELLED`."""
    value = 0
    for word in re.split(r"[\s-]+", text.lower()):
        value = max(value, 1) * 100 if word == "hundred" else value + NUMBERS.get(word, 0)
    return str(value)


def figures(text: str) -> list[Figure]:
    """The words of a text, its numbers and units in one form, a currency behind its amount."""
    return [Figure(key, *found.span()) for found in _FIGURE.finditer(text) for key in _keys(found)]


def _keys(found: re.Match[str]) -> Iterator[str]:
    if found["number"]:
        sign, digits = re.fullmatch("([-−]?)(.*)", found["number"]).groups()  # type: ignore[union-attr]  # matches any text
        yield ("-" if sign else "") + plain_number(digits, found["scale"])
        if found["unit"]:
            yield UNITS[found["unit"]]
    elif found["spelled"]:
        yield plain_number(spelled_number(found["spelled"]), found["spelled_scale"])
    else:
        word = fold(found["word"])
        yield _WRITTEN_UNITS.get(word, word)


def places_of(wanted: Sequence[Figure], text: Sequence[Figure]) -> Iterator[tuple[int, int]]:
    """The spans of the text that have the same words and numbers in the same order."""
    keys, size = [each.key for each in wanted], len(wanted)
    for at, each in enumerate(text):
        if each.key == keys[0] and [one.key for one in text[at : at + size]] == keys:
            yield each.start, text[at + size - 1].end
