"""Brackets with numbers that are not citations: links, lists of values, intervals, years, and text of the documents. Pure.

`[1]` is text of the documents if a passage has it with the same 20 characters before it, or as many as the line or quotation has.
If these are fewer than 8, the next 16 characters must match as well.
"""

import re

from whence.chat.citing.array_indexes import is_array_index
from whence.chat.citing.code_blocks import begins_line
from whence.chat.citing.markers import Marker
from whence.chat.citing.partial_text import Incomplete, PartialText
from whence.chat.citing.passage_index import PassageIndex
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

_LINE_PREFIX = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*")
_QUOTATION_MARK = re.compile('["“”„«»「『]')
_SPACES = re.compile(r"\s+")
_COPIED_BEFORE = 20
_COPIED_LEAST = 8
_COPIED_AFTER = re.compile(rf"[^\n{_NO_BRACKET}]{{15,40}}?\w")
_COPIED_SO_FAR = re.compile(rf"[^\n{_NO_BRACKET}]{{0,41}}")


def is_false_marker(
    seen: PartialText, start: int, marker: Marker, before: str, passages: PassageIndex
) -> bool:
    """Whether a marker with numbers is text. `before` is the validated text in front of it."""
    return (
        not passages.numbered
        or is_array_index(seen, start, marker, before, passages)
        or _begins_link(seen, marker.end)
        or bool(_ARGUMENT.search(before[-_ARGUMENT_REACH:]))
        or bool(_ADDRESS.search(before[-_ADDRESS_REACH:]))
        or bool(_INTERVAL_OR_YEAR.fullmatch(seen.text, start, marker.end))
        or _is_definition(seen, marker.end, before)
        or _is_copied(seen, start, marker.end, before, passages)
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


def _is_copied(seen: PartialText, start: int, end: int, before: str, passages: PassageIndex) -> bool:
    if not passages.has_text(seen.text[start:end]):
        return False
    line = before[before.rfind("\n") + 1 :]
    prefix = _LINE_PREFIX.match(line)
    line = line[prefix.end() :] if prefix else line
    return any(
        _is_copied_with(_SPACES.sub(" ", words.lstrip()), seen, start, end, passages)
        for words in (line, _QUOTATION_MARK.split(line)[-1])
    )


def _is_copied_with(words: str, seen: PartialText, start: int, end: int, passages: PassageIndex) -> bool:
    if len(words) >= _COPIED_LEAST:
        return passages.has_text(words[-_COPIED_BEFORE:] + seen.text[start:end])
    if found := _COPIED_AFTER.match(seen.text, end):
        return passages.has_text(words + seen.text[start : found.end()])
    if not seen.is_whole and _COPIED_SO_FAR.fullmatch(seen.text, end):
        raise Incomplete
    return False
