"""The one validator of citations: what a model wrote becomes an answer whose every citation is the id of a source.

The model is shown passages numbered from 1 and cites them by number. Each marker (see `markers`) becomes one
`[<chunk id>]` per passage that it names; what names no passage is taken out, with what would be left over around it
(see `leftovers`).

Left alone is
  * code (see `code`): blocks between fences or `<pre>` tags or by their indent, and spans between back ticks or tags;
  * links (see `links`): `[1](url)`, `https://a.b/[1]` (an address ends with a parenthesis, say), and `[1]: https://…` at the start of a line;
  * an array index: `a[1]`, `f(x)[0]`, `a[1][2]`, `a["b"][1]`, and a list: `f([1], [2])`, `x = [1, 2]`, `{"a": [1]}`; "made in
    France[1]." cites (see `indexes`);
  * an interval that begins at zero: `[0, 1]`, and a year: `[2023]`;
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
from whence.chat.leads import (
    GAP,
    GAP_SO_FAR,
    LAST_LETTERS,
    LEADING_WORDS,
    LONGEST_GAP,
    Lead,
    lead_before,
    lead_so_far,
)
from whence.chat.leftovers import closed, kept_before_citation, mended
from whence.chat.lookalikes import REACH, Candidate
from whence.chat.markers import OPENING, Marker, could_become_marker, read_marker
from whence.chat.passages import Passage
from whence.chat.seen import Seen, Unclear
from whence.chat.written import Written

# Where something may happen. By far the most markers are one number before a space or a stop; they are read at once.
_BRACKET = re.compile(r"\[(?:(\d{1,3})\](?=[ .,;!?\n])|(?=[^\S\n]|[\w^#№*]|\[(?:[\w^#№*]|\Z)|\Z))")
_RARE_IN_ASCII = "`~<"
_RARE = "【［⁅⦋⦍" + _RARE_IN_ASCII
_UNLIKE_PROSE = frozenset(" \t=([,:")

# What may follow a marker that takes nothing along but the space before it.
_GOES_ON = re.compile(r"[.!?\n]| [^\W\d_aot]")


class Cited(NamedTuple):
    """A citation in the validated text: `text[start:end] == f"[{id}]"`."""

    start: int
    end: int
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Validated:
    text: str
    cited: tuple[Cited, ...]
    code: tuple[tuple[int, int], ...]
    """Where code blocks begin and end in the text."""


def validate(text: str, passages: Sequence[Passage]) -> Validated:
    return _validated(CitationStream(passages), text)


def without_citations(text: str, *, but: Sequence[Passage] = ()) -> str:
    """An earlier answer without the ids it cites, but those of these passages. Numbers stay: they were never ours."""
    return _validated(CitationStream(but, numbered=False), text).text


def _validated(stream: "CitationStream", text: str) -> Validated:
    whole = stream.feed(text) + stream.close()
    return Validated(text=whole, cited=tuple(stream.cited), code=tuple(stream.code))


class CitationStream:
    """Validates an answer as it comes: `feed` gives what is final of it, `close` the rest.

    `cited` lists the citations in what was given so far, `code` the places of the code blocks that were read.
    """

    def __init__(self, passages: Sequence[Passage], *, numbered: bool = True) -> None:
        """Not `numbered` where numbers are left alone, and only ids cite."""
        self.cited: list[Cited] = []
        self.code: list[tuple[int, int]] = []
        self._citable = Citable(passages, numbered=numbered)
        self._buffer = ""
        self._is_whole = False
        self._written = Written()
        # Places in the buffer: up to which it is given or taken out, up to which it is read; ends of what was last read.
        self._done = 0
        self._at = 0
        self._citation_end = -1
        self._index_end = -1
        self._rare: dict[str, int] = {}
        self._indented = -1
        # What stood before a marker that was taken out, until it is known what follows.
        self._lead: Lead | None = None
        self._block: code.Block | None = None
        self._block_start = 0
        # Where in the answer a code span began that did not end within its paragraph.
        self._unclosed = -code.MAX_SPAN - 1
        # How far lines are indented, and how many of the parts that were given in this step it knows.
        self._margin = code.Margin()
        self._known = 0

    def feed(self, token: str) -> str:
        self._buffer += token
        return self._advance()

    def close(self) -> str:
        self._is_whole = True
        return self._advance()

    def _advance(self) -> str:
        self._rare = dict.fromkeys(_RARE_IN_ASCII if self._buffer.isascii() else _RARE, -1)
        self._indented = -1
        with suppress(Unclear):
            self._scan()
            self._at = len(self._buffer)
        final = self._final_end()
        self._written.give(self._buffer[self._done : final])
        if self._block is None:
            self._tell_lines()
        text = self._written.step()
        self._known = 0
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
            self._written.give_held()
            return self._at
        if self._citation_end >= self._done and GAP_SO_FAR.fullmatch(
            self._buffer, self._citation_end, self._at
        ):
            return self._citation_end
        text, floor = self._pending(self._at)
        return self._final_before(self._at, lead_so_far(text, floor))

    def _scan(self) -> None:
        """Reads up to the buffer's end, or raises `Unclear` with everything in place to go on from there."""
        buffer = self._buffer
        while True:
            if self._lead is not None:
                self._settle(self._lead)
                continue
            if self._block is None and self._last(self._at) in {"", "\n"}:
                self._open_indented()
            if self._block is not None:
                self._pass(self._block)
            self._at = start = self._read_plain()
            if start == len(buffer):
                return
            if buffer[start] in OPENING:
                self._read_bracket(start)
            elif buffer[start] == "\n":
                self._at = start + 1
            else:
                self._open(start)

    # Code

    def _open_indented(self) -> None:
        """Where a line begins: what stands before it is final."""
        if self._buffer[self._at : self._at + 1] in {" ", "\t"}:
            self._give_up_to(self._at)
            self._tell_lines()
            self._block = self._margin.block(self._seen, self._at)
            self._block_start = self._written.length

    def _open(self, start: int) -> None:
        opened = code.opened(self._seen, start, self._before(start))
        self._at, self._block = opened.end, opened.block
        if opened.is_unclosed:
            self._unclosed = self._written.length + len(self._written.held) + start - self._done
        if self._block is not None:
            self._give_up_to(start)
            self._tell_lines()
            self._margin.read(self._buffer[start])
            self._block_start = self._written.length

    def _pass(self, block: code.Block) -> None:
        self._at, self._block = code.passed(self._seen, self._at, block)
        if self._block is None or self._is_whole:
            self._give_up_to(self._at)
            self.code.append((self._block_start, self._written.length))
            self._known = len(self._written.parts)
            if self._last(self._at) == "\n" and block.closing:
                self._margin.read("\n")
        elif self._at < len(self._buffer):
            raise Unclear

    def _tell_lines(self) -> None:
        self._margin.read(*self._written.parts[self._known :])
        self._known = len(self._written.parts)

    def _read_plain(self) -> int:
        """Replaces or takes out plain markers up to something that wants a closer look; says where that is.

        Nothing is decided otherwise here than there, only sooner.
        """
        buffer, plain, give, cited = self._buffer, self._citable.plain, self._written.parts.append, self.cited
        at, done, length, rare = self._at, self._done, self._written.length, self._next_rare()
        # No bracket is open in what was given: it ends with a citation.
        is_closed = done == at == self._citation_end
        is_held = bool(self._written.held)
        while found := _BRACKET.search(buffer, at, rare):
            start, end = found.span()
            chunk_id = plain[found[1]] if found[1] and not is_held else None
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
        self._done, self._written.length = done, length
        return found.start() if found else rare

    def _next_rare(self) -> int:
        """Where the next of the characters is that seldom occur, or the buffer's end."""
        for character, place in self._rare.items():
            if place < self._at:
                found = self._buffer.find(character, self._at)
                self._rare[character] = found if found >= 0 else len(self._buffer)
        if self._indented < self._at:
            line_end = self._buffer.find("\n", self._at)  # by far the fastest way to see that there is none
            line = code.INDENTED.search(self._buffer, line_end) if line_end >= 0 else None
            self._indented = line.start() if line else len(self._buffer)
        return min(self._indented, *self._rare.values())

    def _give_up_to(self, end: int) -> None:
        """In the buffer."""
        self._written.give(self._buffer[self._done : end])
        self._written.give_held()
        self._done = max(self._done, end)

    def _final_before(self, end: int, size: int) -> int:
        """Up to where the buffer is final but for the last characters before a place. What is held of those stays so."""
        missing = size - (end - self._done)
        self._written.hold_last(max(missing, 0))
        return end - size if missing < 0 else self._done

    def _pending(self, end: int) -> tuple[str, int]:
        """The end of the answer so far, up to this place in the buffer, and from where on it is not given yet."""
        text = self._before(end)
        return text, max(0, len(text) - len(self._written.held) - (end - self._done))

    def _before(self, end: int) -> str:
        """The end of the answer so far, up to this place in the buffer."""
        return self._written.before(self._buffer[max(self._done, end - REACH) : end])

    def _last(self, end: int) -> str:
        """The last character of the answer so far, up to this place in the buffer."""
        return self._buffer[end - 1] if end > self._done else self._written.last

    @property
    def _seen(self) -> Seen:
        return Seen(self._buffer, self._is_whole)

    # Markers

    def _read_bracket(self, start: int) -> None:
        begin = start - 1 if self._is_escaped(start) else start
        marker = self._citation(start, self._before(begin), may_be_index=begin == start)
        if marker is None:
            self._at = max(start + 1, self._index_end)
        elif ids := self._citable.named_by(marker):
            self._cite(begin, marker.end, ids)
        else:
            self._take_out(begin, marker.end)

    def _is_escaped(self, start: int) -> bool:
        return start > self._done and _ends_with_escape(self._before(start))

    def _cite(self, start: int, end: int, ids: list[str]) -> None:
        self._give_up_to(start)
        for chunk_id in ids:
            length = self._written.length
            self._written.give(f"[{chunk_id}]")
            self.cited.append(Cited(length, self._written.length, chunk_id))
        self._done = self._at = self._citation_end = end

    def _take_out(self, start: int, end: int) -> None:
        if self._citation_end >= self._done and GAP.fullmatch(self._buffer, self._citation_end, start):
            self._written.give(self._buffer[self._done : self._citation_end])
            gap = self._buffer[self._citation_end : start]
            self._lead = Lead("", gap, follows_citation=True)
        else:
            lead = lead_before(*self._pending(start))
            self._written.give(self._buffer[self._done : self._final_before(start, len(lead.text))])
            self._written.held = ""
            is_marked = lead.begins_line and code.ends_paragraph(lead.text)
            self._lead = lead._replace(ends_paragraph=is_marked)
        self._done = self._at = end

    def _settle(self, lead: Lead) -> None:
        """A marker was taken out. Another that follows takes its place; if none does, the text is mended."""
        lead, end = closed(lead, self._seen, self._at)
        if not self._is_whole and GAP_SO_FAR.fullmatch(self._buffer, end):
            raise Unclear
        gap = GAP.match(self._buffer, end)
        start = gap.end() if gap else end
        between = self._buffer[end:start]
        if self._buffer[start : start + 1] == "\\" and self._seen.peek(start + 1) in OPENING:
            start += 1
        before = self._before(self._done)
        if self._buffer[start : start + 1] in OPENING:
            # It clings to the marker before it and to no word, so that it is no index.
            marker = self._citation(start, (before + lead.text)[-REACH:], may_be_index=False)
            if marker is not None:
                if ids := self._citable.named_by(marker):
                    kept = kept_before_citation(lead, between, self._seen, marker.end)
                    self._written.give(f"{kept} " if _ends_with_escape(before + kept) else kept)
                    self._lead = None
                    self._done = start
                    self._cite(start, marker.end, ids)
                else:
                    self._lead = lead.with_gap(between)
                    self._done = self._at = marker.end
                return
        kept, end = mended(lead, self._seen, end, before)
        if lead.ends_paragraph and not code.ends_paragraph(kept) and self._is_span_unclosed:
            kept = f"\n{kept}"
        self._written.held = f"{kept}?" if could_become_marker(before + kept) else kept
        self._lead = None
        self._done = self._at = end

    @property
    def _is_span_unclosed(self) -> bool:
        """Whether something would become code if its paragraph went on."""
        return self._written.length - self._unclosed <= code.MAX_SPAN

    def _citation(self, start: int, before: str, *, may_be_index: bool) -> Marker | None:
        marker = read_marker(self._seen, start)
        if marker is None or marker.has_ids:
            return marker
        if not self._citable.numbered:
            return None
        candidate = Candidate(self._seen, start, marker, before)
        if may_be_index and (start == self._index_end or candidate.is_index(self._citable)):
            self._index_end = marker.first_end
            return None
        return None if candidate.is_left_alone(self._citable) else marker


def _ends_with_escape(text: str) -> bool:
    return (len(text) - len(text.rstrip("\\"))) % 2 == 1


def _leaves_nothing_to_mend(text: str, done: int, start: int, end: int) -> bool:
    """Whether a marker behind a single space can go with that space: it follows no other, and none follows it."""
    return (
        text[start - 2].isalnum()
        and not (text[start - 2] in LAST_LETTERS and text.endswith(LEADING_WORDS, done, start - 1))
        and (start - done > LONGEST_GAP or not GAP.fullmatch(text, done, start))
        and bool(_GOES_ON.match(text, end))
        and text.find("[", done, start) < 0
    )
