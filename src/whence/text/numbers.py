"""Reads quantities in one form: 8.50 is 8.5, 1.2 million and 1,2 Mio. are 1,200,000, 48k is 48,000, twenty-five is 25, $5 is 5 dollars. Pure.

5 pm is 17:00, 12% is 12 percent, a dozen is 12, and fourteenth is 14. Number words are those of English and of `FOREIGN`.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from typing import NamedTuple

from whence.text.cjk import UNSPACED
from whence.text.names import fold
from whence.text.word_lists import FOREIGN_SCALES, NUMBERS, SMALL, TENS, ZEROS, word_list


def _any_of(words: Iterable[str]) -> str:
    """A pattern of these words in any case. ASCII letters only: without case, a long s would match `s`, and the look-up would fail."""
    longest_first = sorted(words, key=len, reverse=True)
    return "(?ai:" + "|".join(re.escape(word).replace(r"\ ", r"\s") for word in longest_first) + ")"


_ORDINALS = {word: number for number, word in enumerate(word_list("english", "ordinals"), 4)}
_ONES = {"first": 1, "second": 2, "third": 3, **_ORDINALS}
_VALUES = NUMBERS | _ONES
_ABBREVIATED = {"k": 3, "m": 6, "mn": 6, "b": 9, "bn": 9, "tn": 12}
_SCALES = {word: 10**zeros for word, zeros in (ZEROS | FOREIGN_SCALES | _ABBREVIATED).items()} | {"dozen": 12}
_SCALE_WORD = _any_of((*ZEROS, *FOREIGN_SCALES, "dozen"))
_TENS = _any_of(word for word, number in NUMBERS.items() if number in range(20, 100, 10))
_BELOW_TEN = _any_of(word for word, number in NUMBERS.items() if 0 < number < len(SMALL[:10]))
_BELOW_HUNDRED = rf"(?:{_TENS}(?:(?:\s+(?:(?:y|e|et)\s+)?|-){_BELOW_TEN})?|{_any_of(NUMBERS)})\b"
_SPELLED = re.compile(
    rf"(?:{_any_of(TENS)}-{_any_of(list(_ONES)[:9])}|{_any_of(_ORDINALS)})\b"
    rf"|(?:{_BELOW_HUNDRED}|(?:half\s+)?an?(?=\s+(?:{_SCALE_WORD})\b))(?:\s+hundred\b(?:(?:\s+and)?\s+{_BELOW_HUNDRED})?)?"
    rf"(?:(?:\s+|-)(?P<scale>{_SCALE_WORD})\b)?",
    re.IGNORECASE,
)
"""Number words: ordinals, and up to hundreds with a scale."""
_SPELLED_WORD = re.compile(rf"{_any_of((*_VALUES, 'hundred', 'half', 'a', 'an'))}(?!\w)")
_FIRST_WORDS = frozenset((*(re.split(r"\W", word)[0] for word in _VALUES), "half", "a", "an"))
_SCALE = (
    rf"(?:(?:\s*|-)(?:(?P<scale>{_SCALE_WORD})|(?P<short>(?-i:[Mm]n|[Bb]n|tn)))|(?-i:(?P<suffix>[kKM]))"
    r"|\s?(?(unit)(?P<letter>[mb])|(?!)))\b"
)
"""A word or letters behind digits that multiply them. `m` and `b` do so only behind a currency."""
_DASH = "-\u2212\u2013"
_SIGN = rf"(?:(?<![\w)\]])[{_DASH}](?=[\d$€£¥])|\bminus\s)"
_DIGITS = r"\d{1,3}(?:[\u00a0\u2009\u202f ]\d{3})+(?![.,]?\d)|\d{1,3}(?:['\u2019]\d{3})+(?!\d)|\d+(?:[.,:/]\d+)*|(?<![\w.])\.\d+"
_PERCENT = r"per\s?cento?|pour\s?cent|por\s?c(?:ie|e)nto|prozent|procent"
QUANTITY = (
    r"(?<![\w.,:/])(?P<hour>\d{1,2})(?:[:.](?P<minute>[0-5]\d))?\s*(?:(?P<half>[ap])\.?\s?m|(?-i:Uhr))\b"
    rf"|(?=[{_DASH}\d$€£¥.mMUEGJ])(?P<sign>{_SIGN})?(?P<unit>US\$|[$€£¥]|\b(?-i:USD|EUR|GBP|JPY)\s?(?=\d))?"
    rf"(?P<number>{_DIGITS})(?:(?:st|nd|rd|th)\b)?(?:{_SCALE})?"
    rf"|\b(?:(?P<percent>{_PERCENT})|(?P<dollars>US[\s-]dollars?))\b"
)
"""Matches a quantity in digits, a time of day, or a unit of several spellings, with `re.IGNORECASE`. `quantity_keys` reads a match."""
UNIT = re.compile(
    r"\s?(?:[%‰°$€£¥]|(?i:per\s?cent|dollars?|euros?|pounds?|USD|EUR|GBP)\b|[kMGTmcdµ]?(?:m|g|l|Wh?|V|Hz|Pa|s|h|B)[²³]?\b)"
)
"""Matches a unit behind an amount."""
UNITS = {"%": "percent", "$": "dollar", "€": "euro", "£": "pound", "¥": "yen"}
_CODES = {"us$": "dollar", "usd": "dollar", "eur": "euro", "gbp": "pound", "jpy": "yen"}
_WRITTEN_UNITS = UNITS | {f"{unit}s": unit for unit in UNITS.values()} | _CODES

_FIGURE = re.compile(
    rf"{QUANTITY}"
    rf"|(?P<word>[{UNSPACED}]|[^\W\d_{UNSPACED}]+|[\d.,:/]+|[%$€£¥])",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_CONTINENTAL = re.compile(r"\d{1,3}(?:(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})")
_FULL_HOUR = re.compile(r"(\d{1,2}:\d\d):00")


class Figure(NamedTuple):
    """A number, a unit or a word."""

    key: str
    """The form to compare."""
    start: int
    end: int

    @property
    def is_number(self) -> bool:
        return self.key[-1].isdigit()


def plain_number(written: str, scale: str | None = None, *, keep_zeros: bool = False) -> str:
    """Without separators and, unless `keep_zeros`, needless zeros. A version, ratio or time stays as written.

    So does 23.000, which is 23 in some languages and 23,000 in others.
    """
    if scale is None and _GROUPED.fullmatch(written):
        return written
    digits = re.sub(r"[\s'\u2019]", "", unicodedata.normalize("NFKC", written))
    if _CONTINENTAL.fullmatch(digits) or (scale or "").lower() in FOREIGN_SCALES:
        digits = digits.replace(".", "").replace(",", ".") if "," in digits else _without_groups(digits)
    digits = re.sub(r",(?=\d{3}(?!\d))", "", digits).replace(",", ".")
    if not digits.replace(".", "", 1).isdigit():
        return _FULL_HOUR.sub(r"\1", re.sub(r"\A0(?=\d)", "", digits))
    if scale:
        digits = f"{Decimal(digits) * _SCALES[' '.join(scale.lower().split())]:f}"
    whole, _, part = digits.partition(".")
    part = part if keep_zeros and not scale else part.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{part}" if part else "")


def _without_groups(digits: str) -> str:
    return re.sub(r"\.(?=\d{3}(?!\d))", "", digits)


def _spelled_number(found: re.Match[str]) -> str:
    spelled = (found[0].removesuffix(found["scale"]) if found["scale"] else found[0]).lower()
    words = _SPELLED_WORD.findall(spelled)
    if words[-1] in ("a", "an"):
        return plain_number("0.5" if "half" in words else "1", found["scale"])
    value = 0
    for word in words:
        value = max(value, 1) * 100 if word == "hundred" else value + _VALUES.get(word, 0)
    return plain_number(str(value), found["scale"])


def figures(text: str, *, keep_zeros: bool = False) -> list[Figure]:
    """The words of a text, its numbers and units in one form, a currency behind its amount.

    `keep_zeros` keeps the last zeros of a number that has no unit: section 2.10 is not section 2.1.
    """
    return list(scan(_FIGURE, text, partial(_keys, keep_zeros=keep_zeros)))


def scan(
    pattern: re.Pattern[str], text: str, keys: Callable[[re.Match[str]], Iterable[str]]
) -> Iterator[Figure]:
    """The numbers in words, and the `keys` of what else the pattern matches. Its group `word` matches words."""
    at = 0
    for found in pattern.finditer(text):
        if found.start() < at:
            continue
        is_first = found["word"] is not None and found["word"].lower() in _FIRST_WORDS
        spelled = _SPELLED.match(text, found.start()) if is_first else None
        if spelled:
            at = spelled.end()
            yield Figure(_spelled_number(spelled), spelled.start(), at)
        else:
            yield from (Figure(key, *found.span()) for key in keys(found))


def has_number(text: str) -> bool:
    """Whether the text has a number in digits or words, except "zero", or a word such as "million"."""
    return any((each.is_number and each.key != "0") or each.key in _SCALES for each in figures(text))


def numbers_in(text: str) -> list[str]:
    """The numbers of a text in order, without units. "One" is often not a number."""
    return [
        each.key for each in figures(text) if each.is_number and fold(text[each.start : each.end]) != "one"
    ]


def quantity_keys(found: re.Match[str], *, keep_zeros: bool = False) -> Iterator[str]:
    """The number of a match of `QUANTITY` and its unit; nothing for another match."""
    if found["hour"]:
        half = found["half"]
        hour = int(found["hour"]) % 12 + 12 * (half in "pP") if half else int(found["hour"])
        yield f"{hour}:{found['minute'] or '00'}"
    elif found["number"]:
        scale = found["scale"] or found["short"] or found["suffix"] or found["letter"]
        is_amount = found["unit"] or UNIT.match(found.string, found.end())
        number = plain_number(found["number"], scale, keep_zeros=keep_zeros and not is_amount)
        yield ("-" if found["sign"] else "") + number
        if found["unit"]:
            yield _WRITTEN_UNITS[found["unit"].strip().lower()]
    elif found["percent"] or found["dollars"]:
        yield "percent" if found["percent"] else "dollar"


def _keys(found: re.Match[str], *, keep_zeros: bool) -> Iterator[str]:
    if found["word"]:
        word = fold(found["word"])
        yield _WRITTEN_UNITS.get(word, word)
    else:
        yield from quantity_keys(found, keep_zeros=keep_zeros)


def places_of(wanted: Sequence[Figure], text: Sequence[Figure]) -> Iterator[tuple[int, int]]:
    """The spans of the text that have the same words and numbers in the same order. `48.000` also counts as 48000."""
    for at, each in enumerate(text):
        if _is_same(wanted[0].key, each.key):
            said = text[at : at + len(wanted)]
            if len(said) == len(wanted) and all(
                _is_same(a.key, b.key) for a, b in zip(wanted, said, strict=True)
            ):
                yield each.start, said[-1].end


def _is_same(one: str, other: str) -> bool:
    return one == other or any(
        _GROUPED.fullmatch(a) and a.replace(".", "") == b for a, b in ((one, other), (other, one))
    )
