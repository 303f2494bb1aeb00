"""The answerer without a model: quotes the sentences, rows and code that answer a question, each with its citation."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from whence.chat import AnswerRequest, Draft, Source
from whence.chat.answerer import EXTRACTIVE, say
from whence.chat.citing import validate
from whence.chat.graph import HEADING, Fact
from whence.chat.passages import Quote
from whence.chat.sources import numbered
from whence.offline.quotable_units import Unit, quotable_units
from whence.offline.ranking import Candidate, asks_for_code, best_units
from whence.text.prompt_escaping import UUID, defuse_citations, mask_brackets

NOTHING_QUOTABLE = "I found no sentence in the documents that answers this."
MAX_HITS = 8
MAX_CHARACTERS = 1_000
"""Maximum length of a quoted sentence together with the list or code that it introduces."""

_INTRODUCES = re.compile(r"[:：][*_]*\Z")
_ID = re.compile(UUID)


class _Quoted(NamedTuple):
    source: Source
    unit: Unit

    @property
    def text(self) -> str:
        return self.source.text[self.unit.start : self.unit.end]


class ExtractiveAnswerer:
    """Quotes up to three units; else lists facts of the graph about objects that the question names; else says that nothing answers."""

    @property
    def name(self) -> str:
        return EXTRACTIVE

    def draft(self, request: AnswerRequest) -> Draft:
        return _quote(request) or _tell_facts(request) or Draft(sources=(), parts=say(NOTHING_QUOTABLE))


def _quote(request: AnswerRequest) -> Draft | None:
    hits = [one for one in request.sources if one.score is not None][:MAX_HITS]
    hits += [one for one in request.sources if one.score is None and not one.is_graph]
    chosen = best_units(request.message, request.before, hits, request.language)
    quoted = _valid(_with_blocks(chosen, hits, request.message))
    if not quoted:
        return None
    pieces, quotes = _write(quoted)
    return Draft(sources=request.sources, parts=say(*pieces), masked=True, quotes=quotes)


def _with_blocks(chosen: Sequence[Candidate], hits: Sequence[Source], question: str) -> list[_Quoted]:
    """Extends each unit by the list or code that it introduces. Skips a unit inside an earlier quote."""
    wants_code = asks_for_code(question)
    quoted: list[_Quoted] = []
    for one in chosen:
        source = hits[one.number]
        if any(other.source.id == source.id and _contains(other.unit, one.unit) for other in quoted):
            continue
        quoted.append(_Quoted(source, _extend(source.text, one.unit, wants_code=wants_code)))
    return quoted


def _contains(outer: Unit, inner: Unit) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _extend(text: str, unit: Unit, *, wants_code: bool) -> Unit:
    introduces = _INTRODUCES.search(text[unit.start : unit.end]) is not None
    if unit.kind in ("row", "code") or not (introduces or wants_code):
        return unit
    end = unit.end
    for following in quotable_units(text):
        if following.start < unit.end:
            continue
        is_next = following.kind == "code" or (introduces and (following.kind == "item" or end == unit.end))
        if not is_next or following.heading != unit.heading or following.end - unit.start > MAX_CHARACTERS:
            break
        end = following.end
        if following.kind != "item":
            break
    return unit._replace(end=end)


def _valid(quoted: Sequence[_Quoted]) -> Sequence[_Quoted]:
    """The quotes that can be cited together; else the best one that can be cited."""
    if _is_valid(quoted):
        return quoted
    alone = [one for one in quoted if _is_valid([one])]
    return alone if _is_valid(alone) else alone[:1]


def _is_valid(quoted: Sequence[_Quoted]) -> bool:
    """Whether each quote keeps its citation, and no quote contains a citation or hides one as code."""
    if any(_ID.search(one.text) for one in quoted):
        return False
    pieces, quotes = _write(quoted)
    text = "".join(pieces)
    found = validate(text, [one.source.passage for one in quoted])
    return found.text == text and [one.end for one in found.cited] == [one.response_end for one in quotes]


def _write(quoted: Sequence[_Quoted]) -> tuple[list[str], tuple[Quote, ...]]:
    """The answer in pieces, one for each quote. A table row follows the head of its table."""
    pieces: list[str] = []
    quotes: list[Quote] = []
    length = 0
    for number, one in enumerate(quoted):
        source, unit = one
        before = "" if number == 0 else _separate(quoted[number - 1].unit, unit)
        head = f"{source.text[slice(*unit.head)]}\n" if unit.head else ""
        gap = "\n\n" if _is_block(unit, one.text) else " "
        piece = f"{before}{mask_brackets(head + one.text)}{gap}[{source.id}]"
        start, end = length + len(before), length + len(piece)
        quotes.append(Quote(start, end, source.id or "", unit.start, unit.end))
        pieces.append(piece)
        length = end
    return pieces, tuple(quotes)


def _separate(before: Unit, unit: Unit) -> str:
    return " " if before.kind == unit.kind == "sentence" else "\n\n"


def _is_block(unit: Unit, text: str) -> bool:
    """Whether the quote ends in a table or code. A citation on its last line would become part of it."""
    return unit.kind in ("row", "code") or text.rstrip().endswith(("```", "~~~"))


def _tell_facts(request: AnswerRequest) -> Draft | None:
    facts = [fact for source in request.sources for fact in source.facts if fact.named]
    if all(fact.bare for fact in facts):
        return None
    behind = {fact.chunk_id for fact in facts}
    sources = tuple(one for one in request.sources if one.is_graph or one.id in behind)
    numbers = numbered(sources)
    lines = [_cite_fact(fact, numbers.get(fact.chunk_id or "")) for fact in facts]
    return Draft(sources=sources, parts=say("\n".join([f"{HEADING}\n", *lines])), masked=True)


def _cite_fact(fact: Fact, number: int | None) -> str:
    """The fact with a citation as a model writes it. Replaces backticks, which could turn the following text into code."""
    said = defuse_citations(fact.text).replace("`", "'")
    return said if number is None else f"{said} [{number}]"
