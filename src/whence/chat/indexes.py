"""Whether brackets behind a word are an array index, and no citation. Pure.

Many models cite close to a word: "It weighs 214 kg[1]." So a marker behind a word cites, unless something says that this is
code: what follows it (`args[1].name`, `users[1] = x`), the form of the word (`x`, `user_names`, `userNames`, `x1`, `sys.argv`),
the word itself (`args`, `matrix`), or that it is code elsewhere in the answer so far or in the passages. A word of the
passages is not taken for code by its form: "iPhone[1]", "H2O[1]".
"""

import re

from whence.chat.citable import Citable
from whence.chat.links import begins_link
from whence.chat.seen import Seen, Unclear

_LONGEST_WORD = 40
_LONGEST_CALL = 50
_WORD = re.compile(r"\w+\Z")
_CALL = re.compile(r"\w\([^()\[\]\n]{0,40}\)\Z")
_ENDING = re.compile(r"[^\W\d_]{3}\((?:e?s|e?n|in|innen)\)\Z")
_SUBSCRIPT = re.compile(r"""\w\[(?:"[^"\[\]\n]{0,40}"|'[^'\[\]\n]{0,40}'|[a-zA-Z_]\w{0,40})\]\Z""", re.ASCII)

_ZERO = re.compile(r"\[[^\S\n]*0+(?!\d)")
_GOES_ON = re.compile(r"[a-zA-Z0-9=+^@$%#]|\.[a-z_]|[*~_][a-zA-Z0-9]")
_DOUBTFUL = frozenset(".*~_")
_ASSIGNED = re.compile(r"[ \t]{1,2}(?:[-+*/%&|^!<>]?=|\+\+)")
_COMPUTED = re.compile(r"[ \t]?(?:[-+*/%<>&|]{1,2}[ \t]?)?")
_OPERATOR_SO_FAR = re.compile(r"[ \t]{0,2}[-+*/%&|^!<>=]{0,2}[ \t]?")
_OPERATOR_REACH = 6

_ATTRIBUTE = re.compile(r"[\w)\]](?:\.(?=[a-z_])|->|::)\w+\Z|[$@]\w+\Z")
_DOTTED = re.compile(r"\w+(?:\.\w+)+\Z")
_FILE_OR_SITE = frozenset(
    (
        *(
            "md",
            "txt",
            "pdf",
            "doc",
            "docx",
            "html",
            "htm",
            "csv",
            "tsv",
            "json",
            "yaml",
            "yml",
            "toml",
            "xml",
        ),
        *("js", "py", "com", "org", "net", "io", "de"),
    )
)
_MIXED = re.compile(r"[a-z][A-Z]|[a-zA-Z]\d")
_FIGURE = re.compile(r"\d[ \u00a0\u202f]?\w+\Z")
_UNITS = frozenset("mgshlLVAWKCFNJtTdB")
_PARTS_WORD = frozenset(["", *' \t\n([{=+*/<>,;:|"'])
_TWO_WORDS = re.compile(r"\w+ \w\Z")
_IN_CODE = frozenset(
    (
        *("arr", "args", "argv", "kwargs", "lst", "vec", "buf", "ptr", "idx", "nums", "params", "tmp", "str"),
        *("obj", "elem", "dict", "df", "vals", "cols", "array", "matrix", "list", "tuple", "vector", "users"),
        *("items", "values", "elements", "rows"),
    )
)
# A name that is code elsewhere: between back ticks, with an index, called, or given a list.
_CODE = re.compile(
    r"(?<!\w)(?:(?<=`)(\w{1,40}+)[`\[]|(\w{1,40}+)(?:\[(?:\d{1,4}|[ijkn])\]|\(\)|[ ]?=[ ]?[\[{(]))"
)


def is_index(seen: Seen, start: int, end: int, before: str, citable: Citable) -> bool:
    """Whether the brackets from `start` to `end` are one. `before` is the end of the answer so far."""
    if seen.text[start] != "[":
        return False
    if before[-1:] in {")", "]"}:
        near = before[-_LONGEST_CALL:]
        return bool(_SUBSCRIPT.search(near) or (_CALL.search(near) and not _ENDING.search(near)))
    found = _WORD.search(before[-_LONGEST_WORD:])
    # Underscores without a name begin what is emphasised: "_[1]_".
    if not found or not found[0].isascii() or found[0][0].isdigit() or not found[0].strip("_"):
        return False
    if _ZERO.match(seen.text, start) or _goes_on(seen, end):
        return True
    return not seen.text.startswith("[^", start) and (
        _is_computed_with(found[0], seen, end)
        or citable.has_text(found[0] + seen.text[start:end])
        or citable.has_code(found[0])
        or found[0] in code_names(before)
        or _has_form_of_code(found[0], before, citable)
    )


def code_names(text: str) -> frozenset[str]:
    """The names in a text that are code, by what stands around them."""
    return frozenset(found[found.lastindex or 0] for found in _CODE.finditer(text))


def _goes_on(seen: Seen, end: int) -> bool:
    """Whether no phrase ends here. What a marker that is taken out could take along never says so: then a citation
    would be left that had not been one."""
    following = seen.peek(end)
    if following == "(":
        return begins_link(seen, end)
    if following in _DOUBTFUL:
        seen.peek(end, 2)
    return bool(_GOES_ON.match(seen.text, end))


def _is_computed_with(word: str, seen: Seen, end: int) -> bool:
    """`a[1] = x`, and `a[1] - a[0]`."""
    text, is_whole = seen
    reach = text[end : end + _OPERATOR_REACH]
    operator = _COMPUTED.match(reach)
    size = operator.end() if operator else 0
    if not is_whole and len(reach) < _OPERATOR_REACH and _OPERATOR_SO_FAR.fullmatch(reach):
        raise Unclear
    if _ASSIGNED.match(reach):
        return True
    again = f"{word}["
    rest = text[end + size : end + size + len(again) + 1]
    if not reach[:size].strip():
        return False
    if not is_whole and len(rest) <= len(again) and again.startswith(rest):
        raise Unclear
    return rest.startswith(again) and rest[-1].isdigit()


def _has_form_of_code(word: str, before: str, citable: Citable) -> bool:
    near = before[-_LONGEST_WORD:]
    if _ATTRIBUTE.search(near):
        dotted = _DOTTED.search(near)
        return dotted is None or not (word.lower() in _FILE_OR_SITE or citable.has_text(dotted[0]))
    if len(word) == 1:
        return _is_variable(word, near, citable)
    if "_" in word.strip("_"):
        return True
    if not (_MIXED.search(word) or word.lower() in _IN_CODE):
        return False
    return not citable.has_word(word) and not _FIGURE.search(near)


def _is_variable(letter: str, near: str, citable: Citable) -> bool:
    """And no unit ("5 m"), no part of a word ("°C", "don't"), no name that the passages have ("vitamin C")."""
    if near[-2:-1] not in _PARTS_WORD or (letter in _UNITS and _FIGURE.search(near)):
        return False
    two = _TWO_WORDS.search(near)
    return two is None or not citable.has_text(two[0])
