"""Normalises numbers in digits and in English words: no separators, no needless zeros. Pure."""

import re
from collections.abc import Iterator, Sequence

from whence.text.word_lists import word_list

_CARDINALS = word_list("english", "cardinals")
_TENS = word_list("english", "tens")
_ORDINALS = word_list("english", "ordinals")
_VALUES = (
    {word: number for number, word in enumerate(_CARDINALS)}
    | {word: number for number, word in enumerate(_ORDINALS, 3)}
    | {word: 10 * number for number, word in enumerate(_TENS, 2)}
)
_ZEROS = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_TIMES = {"hundred": 100, "dozen": 12}
_TEN, _TWENTY, _HUNDRED = 10, 20, 100

SCALES = "|".join(_ZEROS)
WORD = "|".join((*_VALUES, *_ZEROS, "dozen"))
ORDINAL = re.compile(rf"\b(?:{'|'.join(_ORDINALS)})\b")

_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?")
_PARTS = re.compile(r"(\d+)(?:[.,](\d+))?")
_FRACTION = re.compile(r"(?:an?|one)[ -]third")
_JOINED = re.compile(r" and |[ -]")


def decimal(written: str, scale: str | None) -> str:
    """The normalised number. One with several points is a chapter or version, and stays as written."""
    found = written
    if _THOUSANDS.fullmatch(written):
        found = (written if "," in written[:4] else written.translate(str.maketrans(".,", ",."))).replace(
            ",", ""
        )
    parts = _PARTS.fullmatch(found)
    if parts is None:
        return written
    whole, part = parts[1], parts[2] or ""
    zeros = _ZEROS[scale] if scale else 0
    whole += part[:zeros].ljust(zeros, "0")
    part = part[zeros:].rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{part}" if part else "")


def numbers(words: str) -> Iterator[str]:
    """The numbers in a run of number words: "two hundred and five" is one, "five and six" are two."""
    if _FRACTION.fullmatch(words):
        return
    run = _JOINED.split(words)
    if _is_scale(run[:1]):
        return  # "several hundred" is no exact number
    if run[0] in {"a", "an"}:
        run = run[1:]
    if run[0] == "one" and not _is_scale(run[1:2]):
        run = run[1:]  # "one" is mostly a pronoun
    if not run:
        return
    whole, part = 0, -1  # `part` is the value since the last scale word; -1 before any word
    for word in run:
        if not _goes_on(part, word):
            yield str(whole + part)
            whole, part = 0, -1
        if word in _VALUES:
            part = max(part, 0) + _VALUES[word]
        elif word in _TIMES:
            part = (part if part > 0 else 1) * _TIMES[word]
        else:
            whole += (part if part > 0 else 1) * 10 ** _ZEROS[word]
            part = 0
    yield str(whole + max(part, 0))


def _is_scale(words: Sequence[str]) -> bool:
    return any(word in _ZEROS or word == "dozen" for word in words)


def _goes_on(part: int, word: str) -> bool:
    """Whether the word continues the number: "one" continues "twenty"; "three" does not continue "two"."""
    if word in _TIMES:
        return part < _HUNDRED
    if part <= 0 or word in _ZEROS:
        return True
    value = _VALUES[word]
    return part % _HUNDRED == 0 or (part % _TEN == 0 and part % _HUNDRED >= _TWENTY and value < _TEN)
