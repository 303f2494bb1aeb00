"""What looks like a marker and is none: indexes, links, intervals, and what was copied from the documents. Pure."""

import re
from dataclasses import dataclass

from whence.chat.citable import Citable
from whence.chat.indexes import is_index
from whence.chat.links import begins_link
from whence.chat.markers import UUID, Marker
from whence.chat.seen import Seen, Unclear

REACH = 400
"""Characters before a marker that are looked at."""

# Of a call, also behind other lists of numbers; or the value of a name or of a key.
_ARGUMENT = re.compile(
    r"""\w\((?:[ \t\d,.\[\]]*[,\[])?[ \t]*\Z|=[ \t]*(?:\[(?:[ \t\d,\[\]]*[,\[])?[ \t]*)?\Z|[{,][ \t]*"[^"\n]{1,40}":[ \t]*\Z"""
)
_ARGUMENT_REACH = 80
# The address of a link ends with its parenthesis, and begins behind no citation; one in the text also with what closes or follows it in a sentence.
_CJK = r"\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
_ADDRESS = re.compile(
    rf"(?:\]\((?<!{UUID}\]\()[^\s()]*(?:\([^\s()]*\)[^\s()]*)*|://[^\s)<>*|\"'“”‘’«»{_CJK}]*)\Z"
)
_ADDRESS_REACH = 200
_INTERVAL = re.compile(r"\[\s*0+\s*,\s*\d+\s*\]")
_YEAR = re.compile(r"\[\s*[1-9]\d{3}(?:\s*[-–,/]\s*[1-9]\d{3})*\s*\]")
_DEFINITION = re.compile(r":[ \t]{0,8}(?:<?(?:https?|ftps?|file|mailto):|www\.|[./#])")
_DEFINITION_REACH = 20

_LINE_PREFIX = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*")
_QUOTES = re.compile('["“”„«»「『]')
_SPACES = re.compile(r"\s+")
_COPIED_BEFORE = 20
_COPIED_LEAST = 8
_COPIED_AFTER = re.compile(r"[^\[\]【】［］\n]{15,40}?\w")
_COPIED_SO_FAR = re.compile(r"[^\[\]【】［］\n]{0,41}")


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something with the form of a marker, and where it stands."""

    seen: Seen
    start: int
    marker: Marker
    before: str
    """The end of the answer so far: `REACH` characters, or all there are."""

    def is_index(self, citable: Citable) -> bool:
        return is_index(self.seen, self.start, self.marker.first_end, self.before, citable)

    def is_left_alone(self, citable: Citable) -> bool:
        """Where it is no index."""
        return (
            begins_link(self.seen, self.marker.end)
            or bool(_ARGUMENT.search(self.before[-_ARGUMENT_REACH:]))
            or bool(_ADDRESS.search(self.before[-_ADDRESS_REACH:]))
            or bool(_INTERVAL.fullmatch(self.seen.text, self.start, self.marker.end))
            or bool(_YEAR.fullmatch(self.seen.text, self.start, self.marker.first_end))
            or self._is_definition()
            or self._is_copied(citable)
        )

    def _is_definition(self) -> bool:
        if self.seen.peek(self.marker.end) != ":" or not begins_line(self.before):
            return False
        end = self.marker.end
        line_end = self.seen.text.find("\n", end, end + _DEFINITION_REACH)
        rest = self.seen.text[end:line_end] if line_end >= 0 else self.seen.peek(end, _DEFINITION_REACH)
        return bool(_DEFINITION.match(rest))

    def _is_copied(self, citable: Citable) -> bool:
        if not citable.has_text(self.seen.text[self.start : self.marker.end]):
            return False
        line = self.before[self.before.rfind("\n") + 1 :]
        prefix = _LINE_PREFIX.match(line)
        line = line[prefix.end() :] if prefix else line
        return any(
            self._is_copied_with(_SPACES.sub(" ", stretch.lstrip()), citable)
            for stretch in (line, _QUOTES.split(line)[-1])
        )

    def _is_copied_with(self, words: str, citable: Citable) -> bool:
        text, start, end = self.seen.text, self.start, self.marker.end
        if len(words) >= _COPIED_LEAST:
            return citable.has_text(words[-_COPIED_BEFORE:] + text[start:end])
        if found := _COPIED_AFTER.match(text, end):
            return citable.has_text(words + text[start : found.end()])
        if not self.seen.is_whole and _COPIED_SO_FAR.fullmatch(text, end):
            raise Unclear
        return False


def begins_line(before: str) -> bool:
    """Whether a line begins behind this end of a text, but for what marks lists and quotations."""
    start = before.rfind("\n") + 1
    return (start > 0 or len(before) < REACH) and bool(_LINE_PREFIX.fullmatch(before, start))
