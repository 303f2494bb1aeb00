"""The one validator of citations: what a model wrote becomes an answer whose every citation is the id of a source.

The model is shown passages numbered from 1 and cites them by number. Each marker (see `markers`) becomes one
`[<chunk id>]` per passage that it names; what names no passage is taken out, with the space, the separator or the
brackets around it that would be left over.

Left alone is
  * code: fenced blocks, and spans between back ticks within one paragraph;
  * links: `[1](url)`, `https://a.b/[1]`, and `[1]: https://…` at the start of a line;
  * an array index: `a[1]`, `f(x)[0]`, `a[1][2]`, `f([1])`, `x = [1, 2]`. A marker that clings to a word is an index, unless the
    passages have that word too, and the marker ends a phrase: "made in France[1]." cites;
  * an interval that begins at zero: `[0, 1]`;
  * what was copied from the documents: a marker that stands in a passage, letter by letter, together with the 20 characters
    before it in the answer, or as many as there are since the line or the quotation began; where those are fewer than 8,
    together with the 16 after it as well.

An id is never left alone outside code: `[<uuid>]` in an answer is either a source or gone, also where it stands between the
brackets that documents are shown with. So that no citation comes
about by taking one out of another (`[[9]1]`), what is taken out from inside such brackets leaves a `?`.

A decision depends on the answer so far and on a bounded piece of what follows; it waits until that is known. That is why
a stream, however it is cut, gives the same as the whole text, and why a valid answer stays as it is.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from whence.chat import code
from whence.chat.citable import Citable
from whence.chat.lookalikes import REACH, Candidate
from whence.chat.markers import OPENING, Marker, could_become_marker, read_marker
from whence.chat.passages import Passage
from whence.chat.seen import Seen, Unclear

_BLANKS = 16
_BLANK = rf"[ \t]{{0,{_BLANKS}}}+"  # all there are: to try with fewer would take a long time of many

# Where something may happen. By far the most markers are one number before a space or a stop; they are read at once.
_BRACKET = re.compile(r"\[(?:(\d{1,3})\](?=[ .,;!?\n])|(?=[^\S\n]|[\w^#№]|\Z))")
_RARE_IN_ASCII = "`~"
_RARE = "【［⁅⦋⦍" + _RARE_IN_ASCII
_UNLIKE_PROSE = frozenset(" \t=(")

# What stands before a marker and goes with it; what stands between two of them.
_LEAD = re.compile(rf"({_BLANK})(?:([,;、，；])({_BLANK}))?([(\[]?)({_BLANK})\Z")
_ITEM = re.compile(rf"([ \t>]{{0,{_BLANKS}}}(?:[-*+•]|[0-9]{{1,3}}[.)])[ \t]{{1,{_BLANKS}}})([(\[]?){_BLANK}")
_ITEM_SO_FAR = re.compile(rf"[ \t>]{{0,{_BLANKS}}}(?:[-*+•]|[0-9]{{1,3}}[.)]?)?{_BLANK}[(\[]?{_BLANK}")
_GAP = re.compile(rf"{_BLANK}(?:(?:[,;、，；&]|and|or){_BLANK})?")
_GAP_SO_FAR = re.compile(rf"{_BLANK}(?:(?:[,;、，；&]|and|or){_BLANK}|an?|o)?")
_GOES_ON = re.compile(r"[.!?\n]| [^\W\d_ao]")
_AFTER = re.compile(_BLANK)
_LONGEST_LEAD = 3 * _BLANKS + 2
_LONGEST_ITEM = 3 * _BLANKS + 5
_LONGEST_GAP = 2 * _BLANKS + 3
_CLOSED_BY = {"(": ")", "[": "]"}
_LEADING = frozenset("\n-*+•.),;、，；")
_LEADS = frozenset(" \t,;、，；([>-*+•.)0123456789")
_NO_SPACE_BEFORE = frozenset(".,;:!?…)]}»”’。，、；：！？）】］」』%")


class _Lead(NamedTuple):
    """What stands before a marker that was taken out."""

    text: str
    is_gap: bool
    """It follows another citation, and goes unless a third comes."""


class Cited(NamedTuple):
    """A citation in the validated text: `text[start:end] == f"[{id}]"`."""

    start: int
    end: int
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Validated:
    text: str
    cited: tuple[Cited, ...]


def validate(text: str, passages: Sequence[Passage]) -> Validated:
    return _validated(CitationStream(passages), text)


def without_citations(text: str, *, but: Sequence[Passage] = ()) -> str:
    """An earlier answer without the ids it cites, but those of these passages. Numbers stay: they were never ours."""
    return _validated(CitationStream(but, numbered=False), text).text


def _validated(stream: "CitationStream", text: str) -> Validated:
    whole = stream.feed(text) + stream.close()
    return Validated(text=whole, cited=tuple(stream.cited))


class CitationStream:
    """Validates an answer as it comes: `feed` gives what is final of it, `close` the rest.

    `cited` lists the citations in what was given so far.
    """

    def __init__(self, passages: Sequence[Passage], *, numbered: bool = True) -> None:
        """Not `numbered` where numbers are left alone, and only ids cite."""
        self.cited: list[Cited] = []
        self._citable = Citable(passages, numbered=numbered)
        self._buffer = ""
        self._is_whole = False
        # What was given: in this step, the end of what came before, and how much it is in all.
        self._given: list[str] = []
        self._given_before = ""
        self._length = 0
        # Places in the buffer: up to which it is given or taken out, up to which it is read; ends of what was last read.
        self._done = 0
        self._at = 0
        self._citation_end = -1
        self._index_end = -1
        self._rare: dict[str, int] = {}
        # What stood before a marker that was taken out, until it is known what follows.
        self._lead: _Lead | None = None
        self._block: code.Block | None = None

    def feed(self, token: str) -> str:
        self._buffer += token
        return self._advance()

    def close(self) -> str:
        self._is_whole = True
        return self._advance()

    def _advance(self) -> str:
        self._rare = dict.fromkeys(_RARE_IN_ASCII if self._buffer.isascii() else _RARE, -1)
        with suppress(Unclear):
            self._scan()
            self._at = len(self._buffer)
        final = self._final_end()
        self._give(self._buffer[self._done : final])
        text = "".join(self._given)
        self._given.clear()
        self._given_before = (self._given_before + text)[-REACH:]
        self._buffer = self._buffer[final:]
        self._done = 0
        self._at -= final
        self._citation_end -= final
        self._index_end -= final
        return text

    def _final_end(self) -> int:
        """Up to where the buffer is final: what a marker to come would take with it is not."""
        if self._lead is not None:
            return self._done
        if self._is_whole:
            return self._at
        if self._citation_end >= self._done and _GAP_SO_FAR.fullmatch(
            self._buffer, self._citation_end, self._at
        ):
            return self._citation_end
        return self._lead_start(self._at, _ITEM_SO_FAR)

    def _scan(self) -> None:
        """Reads up to the buffer's end, or raises `Unclear` with everything in place to go on from there."""
        buffer = self._buffer
        while True:
            if self._lead is not None:
                self._settle(self._lead)
                continue
            if self._block:
                self._at, self._block = code.passed(self._seen, self._at, self._block)
                if self._block and self._at < len(buffer):
                    raise Unclear
            self._at = start = self._read_plain()
            if start == len(buffer):
                return
            if buffer[start] in OPENING:
                self._read_bracket(start)
            else:
                self._at, self._block = code.opened(self._seen, start, self._before(start))

    def _read_plain(self) -> int:
        """Replaces or takes out plain markers up to something that wants a closer look; says where that is.

        Nothing is decided otherwise here than there, only sooner.
        """
        buffer, plain, give, cited = self._buffer, self._citable.plain, self._given.append, self.cited
        at, done, length, rare = self._at, self._done, self._length, self._next_rare()
        # No bracket is open in what was given: it ends with a citation.
        is_closed = done == at == self._citation_end
        while found := _BRACKET.search(buffer, at, rare):
            start, end = found.span()
            chunk_id = plain[found[1]] if found[1] else None
            if (
                chunk_id is None
                or start < done + 2
                or buffer[start - 1] != " "
                or buffer[start - 2] in _UNLIKE_PROSE
            ):
                break
            if chunk_id:
                give(buffer[done:start])
                citation = f"[{chunk_id}]"
                give(citation)
                length += start - done
                cited.append(Cited(length, length := length + len(citation), chunk_id))
                self._citation_end = end
                is_closed = True
            elif is_closed and _leaves_nothing_to_mend(buffer, done, start, end):
                give(buffer[done : start - 1])
                length += start - 1 - done
            else:
                break
            at = done = end
        self._done, self._length = done, length
        return found.start() if found else rare

    def _next_rare(self) -> int:
        """Where the next of the characters is that seldom occur, or the buffer's end."""
        for character, place in self._rare.items():
            if place < self._at:
                found = self._buffer.find(character, self._at)
                self._rare[character] = found if found >= 0 else len(self._buffer)
        return min(self._rare.values())

    def _give(self, text: str) -> None:
        if text:
            self._given.append(text)
            self._length += len(text)

    def _before(self, start: int) -> str:
        """The end of the answer so far, up to this place in the buffer."""
        parts = [self._buffer[max(self._done, start - REACH) : start]]
        missing = REACH - len(parts[0])
        for part in reversed(self._given):
            if missing <= 0:
                break
            parts.append(part[-missing:])
            missing -= len(part)
        if missing > 0:
            parts.append(self._given_before[-missing:])
        return "".join(reversed(parts))

    @property
    def _seen(self) -> Seen:
        return Seen(self._buffer, self._is_whole)

    # Markers

    def _read_bracket(self, start: int) -> None:
        marker = self._citation(start, self._before(start))
        if marker is None:
            self._at = start + 1
        elif ids := self._citable.named_by(marker):
            self._cite(start, marker.end, ids)
        else:
            self._take_out(start, marker.end)

    def _cite(self, start: int, end: int, ids: list[str]) -> None:
        self._give(self._buffer[self._done : start])
        for chunk_id in ids:
            length = self._length
            self._give(f"[{chunk_id}]")
            self.cited.append(Cited(length, self._length, chunk_id))
        self._done = self._at = self._citation_end = end

    def _take_out(self, start: int, end: int) -> None:
        follows_citation = self._citation_end >= self._done and _GAP.fullmatch(
            self._buffer, self._citation_end, start
        )
        lead_start = self._citation_end if follows_citation else self._lead_start(start, _ITEM)
        self._give(self._buffer[self._done : lead_start])
        self._lead = _Lead(self._buffer[lead_start:start], bool(follows_citation))
        self._done = self._at = end

    def _lead_start(self, end: int, item: re.Pattern[str]) -> int:
        if self._buffer[end - 1 : end] not in _LEADS:
            return end
        if (line_start := self._line_start(end)) is not None and item.fullmatch(
            self._buffer, line_start, end
        ):
            return line_start
        start = max(self._done, end - _LONGEST_LEAD)
        found = _LEAD.search(self._buffer[start:end])
        return start + found.start() if found else end

    def _line_start(self, end: int) -> int | None:
        """Where the line begins that this place is in; None where that is further back than an item of a list can begin."""
        first = max(self._done, end - _LONGEST_ITEM)
        found = self._buffer.rfind("\n", first, end)
        if found >= 0:
            return found + 1
        is_first = first == self._done and self._before(first)[-1:] in {"", "\n"}
        return first if is_first else None

    def _settle(self, lead: _Lead) -> None:
        """A marker was taken out. Another that follows takes its place; if none does, the text is mended."""
        if not self._is_whole and _GAP_SO_FAR.fullmatch(self._buffer, self._at):
            raise Unclear
        gap = _GAP.match(self._buffer, self._at)
        start = gap.end() if gap else self._at
        if self._buffer[start : start + 1] in OPENING:
            marker = self._citation(start, (self._before(self._done) + lead.text)[-REACH:])
            if marker is not None:
                if ids := self._citable.named_by(marker):
                    self._give(lead.text)
                    self._lead = None
                    self._done = start
                    self._cite(start, marker.end, ids)
                else:
                    self._done = self._at = marker.end
                return
        self._mend(lead)

    def _mend(self, lead: _Lead) -> None:
        """Joins what stood before the marker that was taken out to what follows."""
        if item := None if lead.is_gap else _ITEM.fullmatch(lead.text):
            self._mend_item(item[1], item[2])
            return
        parts = None if lead.is_gap else _LEAD.fullmatch(lead.text)
        spaces, separator, gap, bracket = (
            (parts[1], parts[2], parts[3], parts[4]) if parts else (" ", "", "", "")
        )
        end, start, following, bracket = self._closed(bracket)
        ends = following in _NO_SPACE_BEFORE or following in {"", "\n"}
        if separator and (bracket or not ends):
            self._give(spaces + separator)
            spaces = gap
        before = self._before(self._done)
        if bracket or before[-1:] in {"", "\n", " ", "\t"}:
            kept, end = spaces + bracket, start
        elif following in _NO_SPACE_BEFORE:
            kept, end = "", start
        elif start > end or following.isspace() or not following:
            kept = ""
        else:
            kept = " " if spaces or before[-1] == "\\" or before[-1] == following in "`~" else ""
        self._join(before, kept, end)

    def _mend_item(self, mark: str, bracket: str) -> None:
        """At the beginning of an item, which goes if nothing is left of it."""
        _, start, following, bracket = self._closed(bracket)
        if following in {"", "\n"} and not bracket:
            self._join(self._before(self._done), "", start + len(following))
        else:
            self._join(self._before(self._done), mark + bracket, start)

    def _closed(self, bracket: str) -> tuple[int, int, str, str]:
        """Where the text goes on, its next character that is no blank, and the bracket before if it stays: an empty pair does not."""
        end = self._at
        start, following = self._following(end)
        if bracket and following == _CLOSED_BY[bracket]:
            end, bracket = start + 1, ""
            start, following = self._following(end)
        return end, start, following, bracket

    def _join(self, before: str, kept: str, end: int) -> None:
        if could_become_marker(before + kept):
            kept += "?"
        self._give(kept)
        self._lead = None
        self._done = self._at = end

    def _following(self, end: int) -> tuple[int, str]:
        """Where the next character is that is no blank, and that character."""
        blank = _AFTER.match(self._buffer, end)
        start = blank.end() if blank else end
        return start, self._seen.peek(start)

    def _citation(self, start: int, before: str) -> Marker | None:
        marker = read_marker(self._seen, start)
        if marker is None or marker.has_ids or not self._is_left_alone(start, marker, before):
            return marker
        return None

    def _is_left_alone(self, start: int, marker: Marker, before: str) -> bool:
        if not self._citable.numbered:
            return True
        candidate = Candidate(self._seen, start, marker, before)
        if start == self._index_end or candidate.is_index(self._citable):
            self._index_end = marker.end
            return True
        return candidate.is_left_alone(self._citable)


def _leaves_nothing_to_mend(text: str, done: int, start: int, end: int) -> bool:
    """Whether a marker behind a single space can go with that space: it follows no other, and none follows it."""
    return (
        start - done > _LONGEST_GAP
        and text[start - 2] not in _LEADING
        and bool(_GOES_ON.match(text, end))
        and text.find("[", done, start) < 0
    )
