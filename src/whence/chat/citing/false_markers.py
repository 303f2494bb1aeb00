"""Brackets with numbers that are not citations: links, lists of values, intervals, years, array indexes, text of the documents. Pure.

`[1]` is text of the documents if a source has it with the same 20 characters before it, or as many as the line or quotation has.
If these are fewer than 8, the next 16 characters must match instead.

Many models cite without a space: "It weighs 214 kg[1]." So brackets behind a word are a citation unless one of these indicates
code: the number 0, the text that follows (`prices[1].name`, `prices[1] = x`), a variable's name (`x`, `user_names`, `items`), or the
same name as code earlier in the answer.
"""

import re

from whence.chat.citing.code_blocks import begins_line
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
    rf"(?:\]\((?<!{UUID}\]\()(?<![0-9a-fA-F]{{32}}\]\()(?<!-chunk-\d\d\d\]\()[^\s()]*(?:\([^\s()]*\)[^\s()]*)*|://[^\s)<>*|\"'“”‘’«»{_CJK}]*)\Z"
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

_QUOTATION_MARK_OR_LINE = re.compile('["“”„«»「『\n]')
_LINE_MARKS = " \t>-*+.)0123456789"
_COPIED_BEFORE = 20
_COPIED_LEAST = 8
_COPIED_AFTER = re.compile(rf"[^\n{_NO_BRACKET}]{{15,40}}?\w")
_COPIED_SO_FAR = re.compile(rf"[^\n{_NO_BRACKET}]{{0,41}}")

# Code with an array index

_NEAR = 40
_NAME = re.compile(r"(?<![^\W_])[A-Za-z_]\w*\Z", re.ASCII)
# A call, a subscript, or an index that was kept: validated citations have an id.
_CALL_OR_SUBSCRIPT = re.compile(
    r"""\w(?:\((?!e?s\))[^()\[\]\n]{0,40}\)|\[(?:"[^"\[\]\n]{0,40}"|'[^'\[\]\n]{0,40}'|[a-zA-Z_]\w{0,40}|\[?\d[\d, ]{0,20}\]?)\](?:\[\d{1,9}\])*)\Z""",
    re.ASCII,
)
_CODE_BEHIND = re.compile(r"[a-zA-Z0-9=+^@$%#]|\.[a-z_]|[*~_][a-zA-Z0-9]|[ \t]{1,2}(?:[-+*/%&|^!<>]?=|\+\+)")
_CODE_NAME = re.compile(
    r"(?<!\w)(?:(?<=`)(\w{1,40}+)[`\[]|(\w{1,40}+)(?:\[(?:\d{1,4}|[ijkn])\]|\(\)| ?= ?[\[{(]))"
)
_VARIABLE = re.compile(
    r"(?:(?<![\w.'’])(?<!\d )[a-z]|\b(?:arr|args|argv|array|items|matrix|rows|users)|(?:->|::|\$|[^\W_]_)\w+)\Z"
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
    is_link = _LINK.match(seen.text, at, limit) is not None
    is_open = not is_link and _LINK_SO_FAR.fullmatch(seen.text, at, limit) is not None
    if is_open and len(seen.text) < limit and not seen.is_whole:
        raise Incomplete
    return is_link or is_open


def _is_definition(seen: PartialText, end: int, before: str) -> bool:
    """Whether it is a link definition: `[1]: https://…` at the start of a line."""
    is_defined = seen.peek(end) == ":" and begins_line(before)
    return is_defined and _DEFINITION.match(seen.peek(end, _DEFINITION_REACH)) is not None


def _is_copied(seen: PartialText, start: int, end: int, before: str, sources: SourceIndex) -> bool:
    marker = seen.text[start:end]
    if not sources.has_text(marker):
        return False
    words = _QUOTATION_MARK_OR_LINE.split(before)[-1].lstrip(_LINE_MARKS)
    if len(words) >= _COPIED_LEAST:
        return sources.has_text(words[-_COPIED_BEFORE:] + marker)
    if found := _COPIED_AFTER.match(seen.text, end):
        return sources.has_text(seen.text[start : found.end()])
    if not seen.is_whole and _COPIED_SO_FAR.fullmatch(seen.text, end):
        raise Incomplete
    return False


def _is_array_index(seen: PartialText, start: int, marker: Marker, before: str, sources: SourceIndex) -> bool:
    if seen.text[start] != "[":
        return False
    if before.endswith((")", "]")):
        return _CALL_OR_SUBSCRIPT.search(before[-2 * _NEAR :]) is not None
    near = before[-_NEAR:]
    found = _NAME.search(near)
    if found is None or not found[0].strip("_"):
        return False
    word = found[0]
    if marker.items[:1] == (range(1),) or _CODE_BEHIND.match(seen.peek(marker.end, 2)):
        return True
    return not seen.text.startswith("[^", start) and (
        (seen.peek(marker.end) in {" ", "\t"} and bool(_CODE_BEHIND.match(seen.peek(marker.end, 4))))
        or sources.has_text(word + seen.text[start : marker.end])
        or any(word in found.groups() for found in _CODE_NAME.finditer(before))
        or _VARIABLE.search(near) is not None
    )
