"""Finds a value in a text: the quote and its offsets, or None.

A value is searched verbatim, then regardless of typography (case, white space, dashes, quotes, ligatures). A quantity also matches
in other notations: see `whence.text.numbers`; `2` also `twice`, a date also `15th of January, 2024`. With `near`, the place nearest
to that name wins, in any notation. Numbers of list items do not count. Matches begin and end at word boundaries: 5 is not in 15,
-5, A-5 or 5:30. Nothing is guessed: paraphrases and booleans are not found.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache
from typing import Any

from whence.text.aliases import name_places
from whence.text.cjk import UNSPACED
from whence.text.dates import dates_in, read_date
from whence.text.names import fold, name_key
from whence.text.numbers import UNIT, Figure, figures, places_of

MAX_QUOTE = 500
"""Maximum characters from the first to the last item of a list. Beyond that, only the first item is quoted."""

_UNSPACED = re.compile(f"[{UNSPACED}]")
"""Scripts without spaces between words: word boundaries do not apply there."""
_PHRASE = 4
"""This many characters of such a script are more than one word."""
_LONG_NUMBER = re.compile(r"\d{2,18}", re.ASCII)
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_GAP = re.compile(r"\s\s+|[^\S ]")
"""White space other than a single space."""
_INVISIBLE = re.compile(r"[\x00-\x08\x0e-\x1b\x7f]")
_TIMES = {"1": "once", "2": "twice"}
_SMALL_NUMBER = re.compile(r"-?\d{1,2}", re.ASCII)
_BEFORE_ITEM = re.compile(r"[ \t>#*(-]*")
_BEHIND_ITEM = re.compile(r"[.)][ \t]+\S")
_IN_NUMBERS = frozenset(".,:'\u2019")
_DASHES = frozenset("-\u2212\u2013")
_SIGNED = re.compile(r"(?:\A|[\s(\[{|:=<>~\"'\u201c\u201e,;])[-\u2212\u2013]\Z")
_CODED = re.compile(r"(?<![\w-])[^\W\d_][\w-]*[-\u2212\u2013]\Z")
_LONGEST_CODE = 40

_NAME_NUMBER = re.compile(r" \d{1,3}(?![\w,]|\.\d{3})")
"""A number behind a name that is part of it; not a year or quantity."""
_HYPHEN = re.compile(r"\w[-\u2010\u2011](?:\d|[^\W\d_a-z\u00df-\u00ff])")
_HIRAGANA = re.compile("[\u3041-\u309f]")
_ONE_SCRIPT = re.compile("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff]{2}|[\u30a1-\u30fa\u30fc]{2}")

Fits = Callable[[int, int], bool]
"""A function of start and end that decides whether a place counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundQuote:
    """`text[start:end] == quote`, in code points."""

    quote: str
    start: int
    end: int


def place_of(span: FoundQuote | None) -> dict[str, Any]:
    """The span as fields of a stored claim."""
    return {"quote": span.quote, "start_offset": span.start, "end_offset": span.end} if span else {}


class SearchableText:
    """A text prepared for the search of many values."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _folded(self) -> tuple[str, list[int], list[int]]:
        # Built on demand, because verbatim matches do not need it.
        return _folded_with_places(self.text)

    def find(self, value: Any, *, near: str | None = None, fits: Fits = lambda *_: True) -> FoundQuote | None:
        """`near` is the name of the value's object. Of several places that fit, the nearest to it wins."""
        if isinstance(value, Mapping | list | tuple):
            return self._find_all(value.values() if isinstance(value, Mapping) else value, near, fits)
        if value is None or isinstance(value, bool):
            return None
        is_amount = isinstance(value, float)
        places = self._places(written_plainly(value), everywhere=near is not None, is_amount=is_amount)
        places = [place for place in places if fits(*place)]
        anchors = self._places(near) if near and len(places) > 1 else []
        if anchors:
            # By distance alone, the last cell of the row above could win.
            rows = {self._row_of(start) for start, _ in anchors} - {None}
            places = [place for place in places if self._row_of(place[0]) in rows] or places
            places = [min(places, key=lambda place: _distance(place, anchors))]
        return self.span(*places[0]) if places else None

    def places(self, name: str) -> list[tuple[int, int]]:
        """All places of a name."""
        return self._all_places(name)

    def is_whole_name(self, start: int, end: int) -> bool:
        """Whether the place is no part of a longer name: "York" in "New York", "Heron" in "Heron 2" and "Heron-X"."""
        number = _NAME_NUMBER.match(self.text, end)
        return (
            not any(low < start < high or low < end < high for low, high in self._names)
            and not (number and not UNIT.match(self.text, number.end()))
            and not _is_inside_word(self.text, start)
            and not _is_inside_word(self.text, end)
        )

    @cached_property
    def _names(self) -> list[tuple[int, int]]:
        return name_places(self.text)

    def has(self, text: str) -> bool:
        """Whether the text contains these characters, also inside a word."""
        return fold(text) in self._folded[0]

    def _row_of(self, at: int) -> int | None:
        """The start of the markdown row around a place; None outside a table."""
        start = self.text.rfind("\n", 0, at) + 1
        return start if self.text.startswith("|", start) else None

    def span(self, start: int, end: int) -> FoundQuote:
        return FoundQuote(quote=self.text[start:end], start=start, end=end)

    def _find_all(self, values: Iterable[Any], near: str | None, fits: Fits) -> FoundQuote | None:
        """The span from the first to the last value found."""
        found = [span for value in values if (span := self.find(value, near=near, fits=fits))]
        if not found:
            return None
        start, end = min(span.start for span in found), max(span.end for span in found)
        return self.span(start, end) if end - start <= MAX_QUOTE else found[0]

    def _places(
        self, wanted: str, *, everywhere: bool = False, is_amount: bool = False
    ) -> list[tuple[int, int]]:
        """The places of the value as written. If there are none, or `everywhere`, also of quantities and dates in other notations.

        For an amount, `2.10` is 2.1. In a text it may be a version or section.
        """
        plain = wanted.strip()
        places = self._all_places(wanted)
        quantities = figures(plain, keep_zeros=not is_amount)
        has_number = any(each.is_number for each in quantities)
        if is_small_number(wanted) or (has_number and not any(map(str.isdigit, plain))):
            places = self._whole(places)
        # "One" is often not a number, so it counts only if there is no `1`.
        if places and not (everywhere and plain != "1"):
            return places
        said = self._amounts if is_amount else self._figures
        found = places_of(quantities, said) if has_number else ()
        in_words = (place for place in found if _is_apart(self.text, *place))
        often = self._all_places(_TIMES[plain]) if plain in _TIMES else ()
        return [*places, *self._whole([*in_words, *often]), *self._places_of_date(plain)]

    @cached_property
    def _figures(self) -> list[Figure]:
        return figures(self.text, keep_zeros=True)

    @cached_property
    def _amounts(self) -> list[Figure]:
        return figures(self.text)

    def _places_of_date(self, plain: str) -> list[tuple[int, int]]:
        day = read_date(plain) if _ISO_DATE.match(plain) else None
        if day is None:
            return []
        _, starts, ends = self._folded
        return [(starts[start], ends[end - 1]) for each, start, end in self._dates if each == day]

    @cached_property
    def _dates(self) -> list[tuple[date, int, int]]:
        folded = self._folded[0]
        return [
            (day, start, end)
            for day, start, end in dates_in(folded)
            if not _joined(folded, start) and not _joined(folded, end)
        ]

    def _is_item(self, start: int, end: int) -> bool:
        """Whether the place is the number of a list item, at the start of a line."""
        line = self.text.rfind("\n", 0, start) + 1
        is_first = _BEFORE_ITEM.fullmatch(self.text, line, start) is not None
        return is_first and self.text[start:end].isdigit() and _BEHIND_ITEM.match(self.text, end) is not None

    def _whole(self, places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """The places, except numbers of list items and parts of numbers in words: `five` is not in `twenty-five`."""
        numbers = (each for each in self._figures if each.is_number and self.text[each.start].isalpha())
        inside = {at for each in numbers for at in range(each.start + 1, each.end)}
        return [place for place in places if inside.isdisjoint(place) and not self._is_item(*place)]

    def _all_places(self, wanted: str) -> list[tuple[int, int]]:
        exact = list(_occurrences(wanted.strip(), self.text))
        if exact:
            return exact
        folded, starts, ends = self._folded
        for notation in _folded_notations(wanted):
            found = list(_occurrences(notation, folded))
            if found:
                return [(starts[start], ends[end - 1]) for start, end in found]
        # Two digits or more are a number with its unit: 55 is in "55kW", but 2 is not in "2FA".
        number = _LONG_NUMBER.fullmatch(wanted.strip())
        attached = re.finditer(rf"(?<![\w.,]){number[0]}(?=[^\W\d_]{{1,4}}\b)", self.text) if number else ()
        return [found.span() for found in attached if self._is_value(found.start(), number)]

    def _is_value(self, at: int, number: re.Match[str] | None) -> bool:
        """Whether the quantity at a place is this number: 48 is not 48k."""
        return (
            number is not None
            and not _is_behind_dash(self.text, at)
            and any(each.start <= at < each.end and each.key == number[0] for each in self._figures)
        )


def is_phrase(text: str) -> bool:
    """Whether a text in a script without spaces is more than one word."""
    return len(_UNSPACED.findall(text)) >= _PHRASE


def is_small_number(value: Any) -> bool:
    """Whether the value is an integer of one or two digits, which may occur anywhere."""
    return _SMALL_NUMBER.fullmatch(written_plainly(value).strip()) is not None


def written_plainly(value: Any) -> str:
    """The value as a text writes it: a float without trailing zeros."""
    return f"{value:f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _occurrences(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    """The occurrences as whole words."""
    if not any(character.isalnum() for character in wanted):
        return
    start = text.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if _is_apart(text, start, end):
            yield start, end
        start = text.find(wanted, start + 1)


def _is_apart(text: str, start: int, end: int) -> bool:
    return not (_joined(text, start) or _joined(text, end) or _is_behind_dash(text, start))


def _is_behind_dash(text: str, at: int) -> bool:
    """Whether a number has another sign there or is the end of a code: 5 in "-5" and "AB-5", -5 in "3-5"."""
    if text[at : at + 1] in _DASHES:
        return text[at + 1 : at + 2].isdigit() and text[at - 1 : at].isalnum()
    if not text[at : at + 1].isdigit() or text[at - 1 : at] not in _DASHES:
        return False
    before = text[max(0, at - _LONGEST_CODE) : at]
    return bool(_SIGNED.search(before) or _CODED.search(before))


def _is_inside_word(text: str, at: int) -> bool:
    """Whether a hyphen joins another capitalised word or a number there, or, in Japanese, a character of the same script."""
    hyphens = (_HYPHEN.match(text, start) for start in (at - 1, at - 2) if start >= 0)
    return any(hyphens) or bool(at and _ONE_SCRIPT.match(text, at - 1) and _HIRAGANA.search(text))


def _joined(text: str, at: int) -> bool:
    """Whether the characters on both sides of a place belong to one word or number."""
    before, after = text[at - 1 : at] if at else "", text[at : at + 1]
    if not before or not after:
        return False
    if before.isdigit() and after in _IN_NUMBERS:
        return text[at + 1 : at + 2].isdigit()
    if after.isdigit() and before in _IN_NUMBERS:
        return at > 1 and text[at - 2].isdigit()
    is_word = (before.isalnum() or before == "_") and (after.isalnum() or after == "_")
    return is_word and not _UNSPACED.match(before) and not _UNSPACED.match(after)


def _distance(place: tuple[int, int], anchors: list[tuple[int, int]]) -> int:
    return min(max(anchor[0] - place[1], place[0] - anchor[1], 0) for anchor in anchors)


@lru_cache(maxsize=1024)
def _folded_notations(wanted: str) -> tuple[str, ...]:
    """The folded notations, each once. Cached, because a value is searched in several texts."""
    return tuple(dict.fromkeys((fold(wanted), fold(name_key(wanted)))))


def _folded_with_places(text: str) -> tuple[str, list[int], list[int]]:
    """The folded text, and the start and end of each of its characters in the original."""
    if text.isascii() and not _INVISIBLE.search(text):
        return _plain_with_places(text)
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end in _clusters(text):
        piece = _folded(text[start:end])
        if not piece:
            # White space or invisible characters. The first white space of several represents them all.
            if not text[start].isspace() or (pieces and pieces[-1] == " "):
                continue
            piece = " "
        pieces += piece
        starts += [start] * len(piece)
        ends += [end] * len(piece)
    return "".join(pieces), starts, ends


def _plain_with_places(text: str) -> tuple[str, list[int], list[int]]:
    """Like `_folded_with_places`, for plain ASCII, the most common case: folds only case and white space."""
    lowered = text.lower()
    pieces: list[str] = []
    places: list[int] = []
    at = 0
    for gap in _GAP.finditer(text):
        pieces += (lowered[at : gap.start()], " ")
        places += range(at, gap.start() + 1)
        at = gap.end()
    pieces.append(lowered[at:])
    places += range(at, len(text))
    return "".join(pieces), places, [place + 1 for place in places]


@lru_cache(maxsize=4096)
def _folded(cluster: str) -> str:
    return fold(cluster)


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Characters with their combining marks: `e` and its accent fold together."""
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or not unicodedata.combining(text[at]):
            yield start, at
            start = at
