"""Brackets with numbers that are not citations: links, lists of values, intervals, years, array indexes, text of the documents. Pure.

`[1]` is text of the documents if a source has it with the same 20 characters before it, or as many as the line or quotation has.
If these are fewer than 8, the next 16 characters must match as well.

Many models cite without a space: "It weighs 214 kg[1]." So brackets behind a word are a citation unless one of these indicates
code: the number 0, the text that follows (`args[1].name`, `users[1] = x`), the form of the word (`x`, `user_names`, `userNames`,
`sys.argv`), a common name of arrays (`args`, `items`), or the same name as code elsewhere in the answer or the sources. The form
does not count for a word of the sources: "iPhone[1]", "H2O[1]".
"""

import re

from whence.chat.citing.code_blocks import LINE_PREFIX, begins_line
from whence.chat.citing.markers import Incomplete, Marker, PartialText
from whence.chat.citing.source_index import SourceIndex
from whence.text.prompt_escaping import BRACKETS, MASKS, UUID

# Arguments of a call, the value of a variable, the value of a JSON key.
_ARGUMENT = re.compile(
    r"""\w\((?:[ \t\d,.\[\]]*[,\[])?[ \t]*\Z|=[ \t]*(?:\[(?:[ \t\d,\[\]]*[,\[])?[ \t]*)?\Z|[{,][ \t]*"[^"\n]{1,40}":[ \t]*\Z"""
)
_ARGUMENT_REACH = 80
_INTERVAL_OR_YEAR = re.compile(r"\[\s*(?:0+\s*,\s*\d+|[1-9]\d{3}(?:\s*[-–,/]\s*[1-9]\d{3})*)\s*\]")

# A URL in the text or in a link (a parenthesis behind a citation is text).
_CJK = r"\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
_ADDRESS = re.compile(
    rf"(?:\]\((?<!{UUID}\]\()[^\s()]*(?:\([^\s()]*\)[^\s()]*)*|://[^\s)<>*|\"'“”‘’«»{_CJK}]*)\Z"
)
_ADDRESS_REACH = 200
_DEFINITION = re.compile(r":[ \t]{0,8}(?:<?(?:https?|ftps?|file|mailto):|www\.|[./#])")
_DEFINITION_REACH = 20

# The address of a link has no spaces or is enclosed by `<` and `>`; a title may follow.
_LONGEST_LINK = 300
_NO_BRACKET = re.escape(BRACKETS + MASKS)
_BARE = rf"[^\s()<>{_NO_BRACKET}]"
_TARGET = rf"(?:<[^<>\n{_NO_BRACKET}]*>|{_BARE}*(?:\({_BARE}*\){_BARE}*)*+)"
_TITLE = rf"""(?:"[^"\n{_NO_BRACKET}]*"|'[^'\n{_NO_BRACKET}]*')"""
_LINK = re.compile(rf"\({_TARGET}(?:[ \t]+{_TITLE})?\)")
_LINK_SO_FAR = re.compile(
    rf"""\((?:<[^<>\n{_NO_BRACKET}]*|{_TARGET}(?:\({_BARE}*|[ \t]+(?:{_TITLE}|["'][^"'\n{_NO_BRACKET}]*)?)?)"""
)

_QUOTATION_MARK = re.compile('["“”„«»「『]')
_SPACES = re.compile(r"\s+")
_COPIED_BEFORE = 20
_COPIED_LEAST = 8
_COPIED_AFTER = re.compile(rf"[^\n{_NO_BRACKET}]{{15,40}}?\w")
_COPIED_SO_FAR = re.compile(rf"[^\n{_NO_BRACKET}]{{0,41}}")

# Code with an array index

_NAME = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
_NEAR = 40
# A call, a subscript, or an index that was kept: validated citations have an id.
_CALL = re.compile(r"\w\([^()\[\]\n]{0,40}\)\Z")
_PLURAL = re.compile(r"[^\W\d_]{3}\((?:e?s|e?n|in|innen)\)\Z")
_SUBSCRIPT = re.compile(
    r"""\w\[(?:"[^"\[\]\n]{0,40}"|'[^'\[\]\n]{0,40}'|[a-zA-Z_]\w{0,40}|\[?\d[\d, ]{0,20}\]?)\](?:\[\d{1,9}\])*\Z""",
    re.ASCII,
)
_GOES_ON = re.compile(r"[a-zA-Z0-9=+^@$%#]|\.[a-z_]|[*~_][a-zA-Z0-9]")
_COMPUTED = r"[ \t]{{1,2}}(?:[-+*/%&|^!<>]?=|\+\+)|[ \t]?[-+*/%<>&|]{{1,2}}[ \t]?{word}\[\d"
_COMPUTED_SIZE = 6
"""Length of that text without the word."""

_ATTRIBUTE = re.compile(r"(?:[\w)\]](?:\.(?=[a-z_])|->|::)|[$@])\w+\Z")
_DOTTED = re.compile(r"\w+(?:\.\w+)+\Z")
_FILE_OR_SITE = frozenset(
    "md txt pdf doc docx html htm csv tsv json yaml yml toml xml js py com org net io de".split()
)
_MIXED = re.compile(r"[a-z][A-Z]|[a-zA-Z]\d")
_FIGURE = re.compile(r"\d[ \u00a0\u202f]?\w+\Z")
_PARTS_WORD = frozenset(["", *' \t\n([{=+*/<>,;:|"'])
_TWO_WORDS = re.compile(r"\w+ \w\Z")
_NAMES_OF_ARRAYS = frozenset(
    "arr args argv kwargs lst vec buf ptr idx nums params tmp str obj elem dict df vals cols array matrix list tuple vector"
    " users items values elements rows".split()
)
_CODE_NAME = re.compile(
    r"(?<!\w)(?:(?<=`)(\w{1,40}+)[`\[]|(\w{1,40}+)(?:\[(?:\d{1,4}|[ijkn])\]|\(\)|[ ]?=[ ]?[\[{(]))"
)


def is_false_marker(seen: PartialText, start: int, marker: Marker, before: str, sources: SourceIndex) -> bool:
    """Whether a marker with numbers is text. `before` is the validated text in front of it."""
    return (
        not sources.numbered
        or _is_array_index(seen, start, marker, before, sources)
        or _begins_link(seen, marker.end)
        or bool(_ARGUMENT.search(before[-_ARGUMENT_REACH:]))
        or bool(_ADDRESS.search(before[-_ADDRESS_REACH:]))
        or bool(_INTERVAL_OR_YEAR.fullmatch(seen.text, start, marker.end))
        or _is_definition(seen, marker.end, before)
        or _is_copied(seen, start, marker.end, before, sources)
    )


def _begins_link(seen: PartialText, at: int) -> bool:
    """Whether the address of a link follows. An address still open after 300 characters counts."""
    if seen.peek(at) != "(":
        return False
    limit = at + _LONGEST_LINK
    if _LINK.match(seen.text, at, limit):
        return True
    if not _LINK_SO_FAR.fullmatch(seen.text, at, limit):
        return False
    if len(seen.text) < limit and not seen.is_whole:
        raise Incomplete
    return True


def _is_definition(seen: PartialText, end: int, before: str) -> bool:
    """Whether it is a link definition: `[1]: https://…` at the start of a line."""
    if seen.peek(end) != ":" or not begins_line(before):
        return False
    line_end = seen.text.find("\n", end, end + _DEFINITION_REACH)
    rest = seen.text[end:line_end] if line_end >= 0 else seen.peek(end, _DEFINITION_REACH)
    return bool(_DEFINITION.match(rest))


def _is_copied(seen: PartialText, start: int, end: int, before: str, sources: SourceIndex) -> bool:
    if not sources.has_text(seen.text[start:end]):
        return False
    line = before[before.rfind("\n") + 1 :]
    prefix = LINE_PREFIX.match(line)
    line = line[prefix.end() :] if prefix else line
    return any(
        _is_copied_with(_SPACES.sub(" ", words.lstrip()), seen, start, end, sources)
        for words in (line, _QUOTATION_MARK.split(line)[-1])
    )


def _is_copied_with(words: str, seen: PartialText, start: int, end: int, sources: SourceIndex) -> bool:
    if len(words) >= _COPIED_LEAST:
        return sources.has_text(words[-_COPIED_BEFORE:] + seen.text[start:end])
    if found := _COPIED_AFTER.match(seen.text, end):
        return sources.has_text(words + seen.text[start : found.end()])
    if not seen.is_whole and _COPIED_SO_FAR.fullmatch(seen.text, end):
        raise Incomplete
    return False


def _is_array_index(seen: PartialText, start: int, marker: Marker, before: str, sources: SourceIndex) -> bool:
    """`before` is the validated text in front of the brackets."""
    if seen.text[start] != "[":
        return False
    near = before[-_NEAR:]
    if near[-1:] in {")", "]"}:
        far = before[-2 * _NEAR :]
        return bool(_SUBSCRIPT.search(far) or (_CALL.search(far) and not _PLURAL.search(near)))
    found = _NAME.search(near)
    word = found[0] if found else ""
    if not word.strip("_") or before[-len(word) - 1 : -len(word)].isalnum():
        return False
    if marker.items[:1] == (range(1),) or _GOES_ON.match(seen.peek(marker.end, 2)):
        return True
    return not seen.text.startswith("[^", start) and (
        _is_computed_with(word, seen, marker.end)
        or sources.has_text(word + seen.text[start : marker.end])
        or sources.has_code(word)
        or word in _code_names(before)
        or _has_form_of_code(word, near, sources)
    )


def _code_names(text: str) -> frozenset[str]:
    """Names that the text uses as code: in back ticks, indexed, called, or assigned a list."""
    return frozenset(found[found.lastindex or 0] for found in _CODE_NAME.finditer(text))


def _is_computed_with(word: str, seen: PartialText, end: int) -> bool:
    """Whether the element is assigned to or computed with: `a[1] = x`, `a[1] - a[2]`."""
    following = seen.peek(end, 2)
    if following[:1] not in " \t-+*/%<>&|" or (following[:1].isspace() and following[1:].isalnum()):
        return False
    return re.match(_COMPUTED.format(word=word), seen.peek(end, _COMPUTED_SIZE + len(word))) is not None


def _has_form_of_code(word: str, near: str, sources: SourceIndex) -> bool:
    if _ATTRIBUTE.search(near):
        dotted = _DOTTED.search(near)
        return dotted is None or not (word.lower() in _FILE_OR_SITE or sources.has_text(dotted[0]))
    if len(word) == 1:
        return _is_variable(near, sources)
    if "_" in word.strip("_"):
        return True
    if not (_MIXED.search(word) or word.lower() in _NAMES_OF_ARRAYS):
        return False
    return not sources.has_word(word) and not _FIGURE.search(near)


def _is_variable(near: str, sources: SourceIndex) -> bool:
    """Whether a letter is no unit ("5 m"), part of a word ("°C", "don't") or name in the sources ("vitamin C")."""
    if near[-2:-1] not in _PARTS_WORD or _FIGURE.search(near):
        return False
    two = _TWO_WORDS.search(near)
    return two is None or not sources.has_text(two[0])
