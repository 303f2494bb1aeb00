"""The one validator of citations: what a model wrote becomes an answer whose every citation is the id of a source.

The model is shown passages numbered from 1 and cites them by number. Each marker (see `markers`) becomes one
`[<chunk id>]` per passage that it names; what names no passage is taken out, with the space, the separator or the brackets around it that would be left over.

Left alone is
  * code: fenced blocks, and spans between back ticks within one paragraph;
  * links: `[1](url)`, `https://a.b/[1]`, and `[1]: https://…` at the start of a line;
  * an array index: `a[1]`, `f(x)[0]`, `a[1][2]`, `f([1])`, `x = [1, 2]`. A marker that clings to a word is an index, unless the
    passages have that word too, and the marker ends a phrase: "made in France[1]." cites;
  * an interval that begins at zero: `[0, 1]`;
  * what was copied from the documents: a marker that stands in a passage, letter by letter, together with the 20 characters
    before it in the answer, or as many as there are since the line or the quotation began; where those are fewer than 8,
    together with the 16 after it as well.

An id is never left alone outside code: `[<uuid>]` in an answer is either a source or gone. So that no citation comes
about by taking one out of another (`[[9]1]`), what is taken out from inside such brackets leaves a `?`.

A decision depends on the answer so far and on a bounded piece of what follows; it waits until that is known. That is why
a stream, however it is cut, gives the same as the whole text, and why a valid answer stays as it is.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from whence.chat.markers import MAX_MARKER, OPENING, Marker, Unclear, could_become_marker, read_marker
from whence.chat.passages import Passage

_REACH = MAX_MARKER
_BLANKS = 16
_BLANK = rf"[ \t]{{0,{_BLANKS}}}"

# Where something may happen. By far the most markers are one number before a space or a stop; they are read at once.
_BRACKET = re.compile(r"\[(?:(\d{1,3})\](?=[ .,;!?\n])|(?=[^\S\n]|[\w^#№]|\Z))")
_RARE = "【［`~"
_UNLIKE_PROSE = frozenset(" \t=(")

# What stands before a marker and goes with it; what stands between two of them.
_LEAD = re.compile(rf"({_BLANK})([(\[]?)({_BLANK})\Z")
_GAP = re.compile(rf"{_BLANK}(?:(?:[,;、，；&]|and|or){_BLANK})?")
_GAP_SO_FAR = re.compile(rf"{_BLANK}(?:(?:[,;、，；&]|and|or){_BLANK}|an?|o)?")
_AFTER = re.compile(_BLANK)
_LONGEST_LEAD = 2 * _BLANKS + 1
_CLOSED_BY = {"(": ")", "[": "]"}
_NO_SPACE_BEFORE = frozenset(".,;:!?…)]}»”’。，、；：！？）】］」』%")

_MAX_RUN = 128
_RUN = re.compile(rf"`{{1,{_MAX_RUN}}}|~{{1,{_MAX_RUN}}}")
_FENCE = 3
_LINE_PREFIX = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*")
_INFO = {"`": re.compile(r"[^`\n]{0,200}"), "~": re.compile(r"[^\n]{0,200}")}
_FENCE_END = re.compile(rf"[ \t>]{{0,40}}(`{{3,128}}|~{{3,128}}){_BLANK}\r?\n")
_FENCE_END_SO_FAR = re.compile(rf"[ \t>]{{0,40}}(?:`{{0,128}}|~{{0,128}}){_BLANK}\r?")
_MAX_SPAN = 1000
_PARAGRAPH_END = re.compile(r"\n[ \t>]*(?:\r?\n|```|~~~|[-*+#|]|\d{1,9}[.)])")

_WORD = re.compile(r"\w+\Z")
_CALL = re.compile(r"\w\([^()\[\]\n]{0,40}\)\Z")
_ARGUMENT = re.compile(r"\w\([ \t]*\Z|=[ \t]*\Z")
_PHRASE_END = frozenset(" \t\r\n.,;:!?)]}\"'”’»…–—[【［。，、；：！？") | {""}
_ADDRESS = re.compile(r"(?:\]\(|://)\S*\Z")
_ADDRESS_REACH = 200
_INTERVAL = re.compile(r"\[\s*0+\s*,\s*\d+\s*\]")
_DEFINITION = re.compile(r":[ \t]{0,8}(?:<?(?:https?|ftps?|file|mailto):|www\.|[./#])")
_DEFINITION_REACH = 20

_QUOTES = re.compile('["“”„«»「『]')
_SPACES = re.compile(r"\s+")
_COPIED_BEFORE = 20
_COPIED_LEAST = 8
_COPIED_AFTER = re.compile(r"[^\[\]【】［］\n]{15,40}?\w")
_COPIED_SO_FAR = re.compile(r"[^\[\]【】［］\n]{0,41}")


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
    return _validated(_History(but), text).text


def _validated(stream: "CitationStream", text: str) -> Validated:
    whole = stream.feed(text) + stream.close()
    return Validated(text=whole, cited=tuple(stream.cited))


class _Sources:
    """The passages as the validator asks for them."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._numbered = [passage.id for passage in passages if passage.id]
        self._ids = {chunk_id.lower(): chunk_id for chunk_id in self._numbered}

    @cached_property
    def plain(self) -> dict[str, str]:
        """Number to id, for the numbers that are surely citations wherever they stand alone."""
        return {
            str(number): chunk_id
            for number, chunk_id in enumerate(self._numbered, 1)
            if f"[{number}]" not in self._text
        }

    def named_by(self, marker: Marker) -> list[str]:
        """The ids of the passages that it names, each once."""
        found: dict[str, None] = {}
        for item in marker.items:
            if isinstance(item, str):
                known = [self._ids[item]] if item in self._ids else []
            else:
                known = self._numbered[max(item.start, 1) - 1 : max(item.stop, 1) - 1]
            found.update(dict.fromkeys(known))
        return list(found)

    def has_word(self, word: str) -> bool:
        return word.lower() in self._words

    def has_text(self, text: str) -> bool:
        return _SPACES.sub(" ", text) in self._text

    @cached_property
    def _text(self) -> str:
        return "\n".join(" ".join(passage.text.split()) for passage in self._passages)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(re.findall(r"\w{3,}", self._text.lower()))


class CitationStream:
    """Validates an answer as it comes: `feed` gives what is final of it, `close` the rest.

    `cited` lists the citations in what was given so far.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.cited: list[Cited] = []
        self._sources = _Sources(passages)
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
        self._rare = dict.fromkeys(_RARE, -1)
        # What stood before a marker that was taken out, until it is known what follows.
        self._lead: str | None = None
        # The fence of the code block that this is in, and whether one of its lines begins here.
        self._fence = ""
        self._is_line_start = False

    def feed(self, token: str) -> str:
        self._buffer += token
        return self._advance()

    def close(self) -> str:
        self._is_whole = True
        return self._advance()

    def _advance(self) -> str:
        with suppress(Unclear):
            self._scan()
            self._at = len(self._buffer)
        final = self._final_end()
        self._give(self._buffer[self._done : final])
        text = "".join(self._given)
        self._given.clear()
        self._given_before = (self._given_before + text)[-_REACH:]
        self._buffer = self._buffer[final:]
        self._done = 0
        self._at -= final
        self._citation_end -= final
        self._index_end -= final
        self._rare = dict.fromkeys(_RARE, -1)
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
        return self._lead_start(self._at)

    def _scan(self) -> None:
        """Reads up to the buffer's end, or raises `Unclear` with everything in place to go on from there."""
        buffer = self._buffer
        while True:
            if self._lead is not None:
                self._settle(self._lead)
                continue
            if self._fence:
                self._pass_code()
            self._at = start = self._cite_plain()
            if start == len(buffer):
                return
            if buffer[start] in OPENING:
                self._read_bracket(start)
            else:
                self._read_run(start)

    def _cite_plain(self) -> int:
        """Replaces plain markers up to something that wants a closer look; says where that is.

        Nothing is decided otherwise here than there, only sooner.
        """
        buffer, plain, give, cited = self._buffer, self._sources.plain, self._given.append, self.cited
        at, done, length, rare = self._at, self._done, self._length, self._next_rare()
        while found := _BRACKET.search(buffer, at, rare):
            chunk_id = plain.get(found[1])
            start = found.start()
            if (
                chunk_id is None
                or start < done + 2
                or buffer[start - 1] != " "
                or buffer[start - 2] in _UNLIKE_PROSE
            ):
                break
            give(buffer[done:start])
            citation = f"[{chunk_id}]"
            give(citation)
            length += start - done
            cited.append(Cited(length, length := length + len(citation), chunk_id))
            at = done = self._citation_end = found.end()
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
        self._given.append(text)
        self._length += len(text)

    def _before(self, start: int) -> str:
        """The end of the answer so far, up to this place in the buffer."""
        parts = [self._buffer[max(self._done, start - _REACH) : start]]
        missing = _REACH - len(parts[0])
        for part in reversed(self._given):
            if missing <= 0:
                break
            parts.append(part[-missing:])
            missing -= len(part)
        if missing > 0:
            parts.append(self._given_before[-missing:])
        return "".join(reversed(parts))

    def _peek(self, start: int, size: int = 1) -> str:
        if start + size > len(self._buffer) and not self._is_whole:
            raise Unclear
        return self._buffer[start : start + size]

    # Markers

    def _read_bracket(self, start: int) -> None:
        marker = self._citation(start, self._before(start))
        if marker is None:
            self._at = start + 1
        elif ids := self._sources.named_by(marker):
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
        lead_start = self._citation_end if follows_citation else self._lead_start(start)
        self._give(self._buffer[self._done : lead_start])
        self._lead = self._buffer[lead_start:start]
        self._done = self._at = end

    def _lead_start(self, end: int) -> int:
        start = max(self._done, end - _LONGEST_LEAD)
        found = _LEAD.search(self._buffer[start:end])
        return start + found.start() if found else end

    def _settle(self, lead: str) -> None:
        """A marker was taken out. Another that follows takes its place; if none does, the text is mended."""
        if not self._is_whole and _GAP_SO_FAR.fullmatch(self._buffer, self._at):
            raise Unclear
        gap = _GAP.match(self._buffer, self._at)
        start = gap.end() if gap else self._at
        if self._buffer[start : start + 1] in OPENING:
            marker = self._citation(start, (self._before(self._done) + lead)[-_REACH:])
            if marker is not None:
                if ids := self._sources.named_by(marker):
                    self._give(lead)
                    self._lead = None
                    self._done = start
                    self._cite(start, marker.end, ids)
                else:
                    self._done = self._at = marker.end
                return
        self._mend(lead)

    def _mend(self, lead: str) -> None:
        """Joins what stood before the marker that was taken out to what follows."""
        parts = _LEAD.fullmatch(lead)
        spaces, bracket = (parts[1], parts[2]) if parts else (" ", "")
        end = self._at
        start, following = self._following(end)
        if bracket and following == _CLOSED_BY[bracket]:
            end, bracket = start + 1, ""
            start, following = self._following(end)
        before = self._before(self._done)
        if bracket or before[-1:] in {"", "\n"}:
            kept, end = spaces + bracket, start
        elif start > end or following in _NO_SPACE_BEFORE or following.isspace() or not following:
            kept = ""
        else:
            kept = " " if spaces or before[-1] == "\\" or before[-1] == following in "`~" else ""
        if could_become_marker(before + kept):
            kept += "?"
        self._give(kept)
        self._lead = None
        self._done = self._at = end

    def _following(self, end: int) -> tuple[int, str]:
        """Where the next character is that is no blank, and that character."""
        blank = _AFTER.match(self._buffer, end)
        start = blank.end() if blank else end
        return start, self._peek(start)

    # What looks like a marker and is none

    def _citation(self, start: int, before: str) -> Marker | None:
        marker = read_marker(self._buffer, start, is_whole=self._is_whole)
        if marker is None or marker.has_ids or not self._is_left_alone(start, marker, before):
            return marker
        return None

    def _is_left_alone(self, start: int, marker: Marker, before: str) -> bool:
        following = self._peek(marker.end)
        if self._is_index(start, marker, before, following):
            self._index_end = marker.end
            return True
        return (
            following == "("
            or bool(_ARGUMENT.search(before[-_BLANKS:]))
            or bool(_ADDRESS.search(before[-_ADDRESS_REACH:]))
            or bool(_INTERVAL.fullmatch(self._buffer, start, marker.end))
            or (following == ":" and _begins_line(before) and self._is_definition(marker.end))
            or self._is_copied(start, marker.end, before)
        )

    def _is_index(self, start: int, marker: Marker, before: str, following: str) -> bool:
        if start == self._index_end:
            return True
        if before.endswith(")"):
            return bool(_CALL.search(before[-50:]))
        word = _WORD.search(before[-40:]) if before[-1:].isalnum() or before.endswith("_") else None
        if not word or not word[0].isascii() or word[0][0].isdigit():
            return False
        return (
            marker.items[0] == range(1) or following not in _PHRASE_END or not self._sources.has_word(word[0])
        )

    def _is_definition(self, end: int) -> bool:
        line_end = self._buffer.find("\n", end, end + _DEFINITION_REACH)
        rest = self._buffer[end:line_end] if line_end >= 0 else self._peek(end, _DEFINITION_REACH)
        return bool(_DEFINITION.match(rest))

    def _is_copied(self, start: int, end: int, before: str) -> bool:
        marker = self._buffer[start:end]
        if not self._sources.has_text(marker):
            return False
        line = before[before.rfind("\n") + 1 :]
        prefix = _LINE_PREFIX.match(line)
        line = line[prefix.end() :] if prefix else line
        return any(
            self._is_copied_with(_SPACES.sub(" ", stretch.lstrip()), start, end)
            for stretch in (line, _QUOTES.split(line)[-1])
        )

    def _is_copied_with(self, words: str, start: int, end: int) -> bool:
        if len(words) >= _COPIED_LEAST:
            return self._sources.has_text(words[-_COPIED_BEFORE:] + self._buffer[start:end])
        if found := _COPIED_AFTER.match(self._buffer, end):
            return self._sources.has_text(words + self._buffer[start : found.end()])
        if not self._is_whole and _COPIED_SO_FAR.fullmatch(self._buffer, end):
            raise Unclear
        return False

    # Code

    def _read_run(self, start: int) -> None:
        """Back ticks or tildes: a fence, the beginning of a code span, or nothing."""
        buffer = self._buffer
        found = _RUN.match(buffer, start)
        run = found[0] if found else ""
        end = start + len(run)
        if end == len(buffer) and len(run) < _MAX_RUN and not self._is_whole:
            raise Unclear
        before = self._before(start)
        if run[0] == "`" and (len(before) - len(before.rstrip("\\"))) % 2:
            self._at = start + 1
        elif len(run) >= _FENCE and _begins_line(before) and self._opens_fence(run, end):
            self._fence = run
        else:
            self._at = (self._span_end(end, len(run)) if run[0] == "`" else None) or end

    def _opens_fence(self, run: str, end: int) -> bool:
        info = _INFO[run[0]].match(self._buffer, end)
        line_end = info.end() if info else end
        following = self._peek(line_end)
        if following not in {"\n", ""}:
            return False
        self._at = line_end + len(following)
        self._is_line_start = bool(following)
        return True

    def _pass_code(self) -> None:
        buffer = self._buffer
        while self._at < len(buffer):
            if self._is_line_start:
                found = _FENCE_END.match(buffer, self._at)
                if found and found[1].startswith(self._fence):
                    self._at = found.end()
                    self._fence = ""
                    return
                if not self._is_whole and _FENCE_END_SO_FAR.fullmatch(buffer, self._at):
                    raise Unclear
            line_end = buffer.find("\n", self._at)
            self._is_line_start = line_end >= 0
            self._at = line_end + 1 if line_end >= 0 else len(buffer)

    def _span_end(self, start: int, ticks: int) -> int | None:
        """Where the code span ends whose text begins here, if it ends within its paragraph."""
        limit = start + _MAX_SPAN
        paragraph_end = _PARAGRAPH_END.search(self._buffer, start, limit)
        stop = paragraph_end.start() if paragraph_end else limit
        closing = _ticks(ticks).search(self._buffer, start, stop)
        if not self._is_whole and (
            closing.end() == len(self._buffer) if closing else not paragraph_end and len(self._buffer) < limit
        ):
            raise Unclear
        return closing.end() if closing else None


class _IdsOnly(_Sources):
    @cached_property
    def plain(self) -> dict[str, str]:
        return {}


class _History(CitationStream):
    def __init__(self, passages: Sequence[Passage]) -> None:
        super().__init__(passages)
        self._sources = _IdsOnly(passages)

    def _is_left_alone(self, start: int, marker: Marker, before: str) -> bool:  # noqa: ARG002 - numbers stay
        return True


def _begins_line(before: str) -> bool:
    start = before.rfind("\n") + 1
    return (start > 0 or len(before) < _REACH) and bool(_LINE_PREFIX.fullmatch(before, start))


@lru_cache(maxsize=_MAX_RUN)
def _ticks(count: int) -> re.Pattern[str]:
    return re.compile(rf"(?<!`)`{{{count}}}(?!`)")
