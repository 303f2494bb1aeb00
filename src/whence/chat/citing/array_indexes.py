"""Distinguishes array indexes from citations right behind a word. Pure.

Many models cite without a space: "It weighs 214 kg[1]." So brackets behind a word are a citation unless one of these indicates
code: the number 0, the text that follows (`args[1].name`, `users[1] = x`), the form of the word (`x`, `user_names`, `userNames`,
`sys.argv`), a common name of arrays (`args`, `items`), or the same name as code elsewhere in the answer or the passages. The form
does not count for a word of the passages: "iPhone[1]", "H2O[1]".
"""

import re

from whence.chat.citing.markers import Marker
from whence.chat.citing.partial_text import PartialText
from whence.chat.citing.passage_index import PassageIndex

_WORD = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
_NEAR = 40
# A call, a subscript, or an index that was kept: validated citations have an id.
_CALL = re.compile(r"\w\([^()\[\]\n]{0,40}\)\Z")
_PLURAL = re.compile(r"[^\W\d_]{3}\((?:e?s|e?n|in|innen)\)\Z")
_SUBSCRIPT = re.compile(
    r"""\w\[(?:"[^"\[\]\n]{0,40}"|'[^'\[\]\n]{0,40}'|[a-zA-Z_]\w{0,40}|\[?\d[\d, ]{0,20}\]?)\](?:\[\d{1,9}\])*\Z""",
    re.ASCII,
)
_GOES_ON = re.compile(r"[a-zA-Z0-9=+^@$%#]|\.[a-z_]|[*~_][a-zA-Z0-9]")
_ASSIGNED = re.compile(r"[ \t]{1,2}(?:[-+*/%&|^!<>]?=|\+\+)")
_OPERATOR = re.compile(r"[ \t]?[-+*/%<>&|]{1,2}[ \t]?")
_OPERATOR_SIZE = 4

_ATTRIBUTE = re.compile(r"(?:[\w)\]](?:\.(?=[a-z_])|->|::)|[$@])\w+\Z")
_DOTTED = re.compile(r"\w+(?:\.\w+)+\Z")
_ENDINGS = "md txt pdf doc docx html htm csv tsv json yaml yml toml xml js py com org net io de"
_FILE_OR_SITE = frozenset(_ENDINGS.split())
_MIXED = re.compile(r"[a-z][A-Z]|[a-zA-Z]\d")
_FIGURE = re.compile(r"\d[ \u00a0\u202f]?\w+\Z")
_PARTS_WORD = frozenset(["", *' \t\n([{=+*/<>,;:|"'])
_TWO_WORDS = re.compile(r"\w+ \w\Z")
_ARRAYS = (
    "arr args argv kwargs lst vec buf ptr idx nums params tmp str obj elem dict df vals cols array matrix list"
    " tuple vector users items values elements rows"
)
_NAMES_OF_ARRAYS = frozenset(_ARRAYS.split())
_CODE_NAME = re.compile(
    r"(?<!\w)(?:(?<=`)(\w{1,40}+)[`\[]|(\w{1,40}+)(?:\[(?:\d{1,4}|[ijkn])\]|\(\)|[ ]?=[ ]?[\[{(]))"
)


def is_array_index(
    seen: PartialText, start: int, marker: Marker, before: str, passages: PassageIndex
) -> bool:
    """`before` is the validated text in front of the brackets."""
    if seen.text[start] != "[":
        return False
    near = before[-_NEAR:]
    if near[-1:] in {")", "]"}:
        return bool(
            _SUBSCRIPT.search(before[-2 * _NEAR :])
            or (_CALL.search(before[-2 * _NEAR :]) and not _PLURAL.search(near))
        )
    found = _WORD.search(near)
    word = found[0] if found else ""
    if not word.strip("_") or before[-len(word) - 1 : -len(word)].isalnum():
        return False
    if marker.items[:1] == (range(1),) or _goes_on(seen, marker.end):
        return True
    return not seen.text.startswith("[^", start) and (
        _is_computed_with(word, seen, marker.end)
        or passages.has_text(word + seen.text[start : marker.end])
        or passages.has_code(word)
        or word in code_names(before)
        or _has_form_of_code(word, near, passages)
    )


def code_names(text: str) -> frozenset[str]:
    """Names that the text uses as code: in back ticks, indexed, called, or assigned a list."""
    return frozenset(found[found.lastindex or 0] for found in _CODE_NAME.finditer(text))


def _goes_on(seen: PartialText, end: int) -> bool:
    """Whether code continues behind the brackets."""
    return bool(_GOES_ON.match(seen.peek(end, 2 if seen.peek(end) in {".", "*", "~", "_"} else 1)))


def _is_computed_with(word: str, seen: PartialText, end: int) -> bool:
    """Whether the element is assigned to or computed with: `a[1] = x`, `a[1] - a[2]`."""
    following = seen.peek(end, 2)
    if following[:1] not in {" ", "\t"} and not _OPERATOR.match(following):
        return False
    if not _OPERATOR.match(following) and following[1:].isalnum():
        return False
    following = seen.peek(end, _OPERATOR_SIZE + len(word) + 2)
    if _ASSIGNED.match(following):
        return True
    operator = _OPERATOR.match(following)
    again = following[operator.end() :] if operator else ""
    return again.startswith(f"{word}[") and again[len(word) + 1 : len(word) + 2].isdigit()


def _has_form_of_code(word: str, near: str, passages: PassageIndex) -> bool:
    if _ATTRIBUTE.search(near):
        dotted = _DOTTED.search(near)
        return dotted is None or not (word.lower() in _FILE_OR_SITE or passages.has_text(dotted[0]))
    if len(word) == 1:
        return _is_variable(near, passages)
    if "_" in word.strip("_"):
        return True
    if not (_MIXED.search(word) or word.lower() in _NAMES_OF_ARRAYS):
        return False
    return not passages.has_word(word) and not _FIGURE.search(near)


def _is_variable(near: str, passages: PassageIndex) -> bool:
    """Whether a letter is no unit ("5 m"), part of a word ("°C", "don't") or name in the passages ("vitamin C")."""
    if near[-2:-1] not in _PARTS_WORD or _FIGURE.search(near):
        return False
    two = _TWO_WORDS.search(near)
    return two is None or not passages.has_text(two[0])
