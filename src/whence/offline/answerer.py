"""The answerer without a model: quotes the sentences, rows and code that answer a question, each with its citation."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from whence.chat import AnswerRequest, Draft
from whence.chat.answerer import EXTRACTIVE, say
from whence.chat.citing import validate
from whence.chat.graph import HEADING
from whence.chat.prompt import cite_fact
from whence.chat.sources import numbered
from whence.chat.support import Citation, Verdict, cite
from whence.offline.quotable_units import Unit, quotable_units
from whence.offline.ranking import Candidate, asks_for_code, best_units
from whence.text.prompt_escaping import SOURCE_ID, mask_brackets

NOTHING_QUOTABLE = "I found no sentence in the documents that answers this."
MAX_HITS = 8
MAX_CHARACTERS = 1_000
"""Maximum length of a quoted sentence together with the list or code that it introduces."""

_INTRODUCES = re.compile(r"[:：][*_]*\Z")
_ID = re.compile(SOURCE_ID)


class ExtractiveAnswerer:
    """Quotes up to three units; else lists facts of the graph about objects that the question names; else says that nothing answers."""

    name = EXTRACTIVE

    def draft(self, request: AnswerRequest) -> Draft:
        answers = tuple(one for one in request.sources if one.is_answer)
        return _quote(request) or _list_facts(request) or Draft(sources=answers, parts=say(NOTHING_QUOTABLE))


def _quote(request: AnswerRequest) -> Draft | None:
    hits = [one for one in request.sources if one.score is not None][:MAX_HITS]
    hits += [one for one in request.sources if one.score is None and not one.is_graph]
    chosen = best_units(request.corrected or request.message, request.before, hits, request.language)
    quoted = _valid(_with_blocks(chosen, request.message))
    if not quoted:
        return None
    pieces, citations = _write(quoted)
    return Draft(sources=request.sources, parts=say(*pieces), masked=True, citations=citations)


def _with_blocks(chosen: Sequence[Candidate], question: str) -> list[Candidate]:
    """Extends each unit by the list or code that it introduces. Skips a unit inside an earlier quote."""
    wants_code = asks_for_code(question)
    quoted: list[Candidate] = []
    for source, unit, _ in chosen:
        others = [other.unit for other in quoted if other.source.id == source.id]
        if not any(other.start <= unit.start and unit.end <= other.end for other in others):
            quoted.append(Candidate(source, _extend(source.text, unit, wants_code=wants_code)))
    return quoted


def _extend(text: str, unit: Unit, *, wants_code: bool) -> Unit:
    introduces = _INTRODUCES.search(text[unit.start : unit.end]) is not None
    if unit.kind in ("row", "code") or not (introduces or wants_code):
        return unit
    after = [one for one in quotable_units(text) if one.start >= unit.end and one.heading == unit.heading]
    block = list(takewhile(lambda one: introduces and one.kind == "item", after))
    block = block or [one for one in after[:1] if introduces or one.kind == "code"]
    ends = [one.end for one in block if one.end - unit.start <= MAX_CHARACTERS]
    return unit._replace(end=max(ends, default=unit.end))


def _valid(quoted: Sequence[Candidate]) -> Sequence[Candidate]:
    """The quotes that can be cited together; else the best one that can be cited."""
    if _is_valid(quoted):
        return quoted
    alone = [one for one in quoted if _is_valid([one])]
    return alone if _is_valid(alone) else alone[:1]


def _is_valid(quoted: Sequence[Candidate]) -> bool:
    """Whether each quote keeps its citation, and no quote contains a citation or hides one as code."""
    if any(_ID.search(one.text) for one in quoted):
        return False
    pieces, citations = _write(quoted)
    text = "".join(pieces)
    found = validate(text, [one.source for one in quoted])
    return found.text == text and [one.end for one in found.cited] == [one.response_end for one in citations]


def _write(quoted: Sequence[Candidate]) -> tuple[list[str], tuple[Citation, ...]]:
    """The answer in pieces, one for each quote. A table row follows the head of its table."""
    pieces: list[str] = []
    citations: list[Citation] = []
    length, before = 0, ""
    for number, (source, unit, _) in enumerate(quoted):
        if number:
            is_prose = quoted[number - 1].unit.kind == unit.kind == "sentence"
            before = " " if is_prose else "\n\n"
        text = source.text[unit.start : unit.end]
        head = f"{source.text[slice(*unit.head)]}\n" if unit.head else ""
        # A citation on the last line of a table or code would become part of it.
        is_block = unit.kind in ("row", "code") or text.rstrip().endswith(("```", "~~~"))
        gap = "\n\n" if is_block else " "
        pieces.append(f"{before}{mask_brackets(head + text)}{gap}[{source.id}]")
        start, length = length + len(before), length + len(pieces[-1])
        citations.append(cite(source, (start, length), Verdict("verbatim", 1.0, unit.start, unit.end)))
    return pieces, tuple(citations)


def _list_facts(request: AnswerRequest) -> Draft | None:
    facts = [fact for source in request.sources for fact in source.facts if fact.named]
    if all(fact.bare for fact in facts):
        return None
    behind = {fact.chunk_id for fact in facts}
    sources = tuple(one for one in request.sources if one.is_graph or one.id in behind)
    numbers = numbered(sources)
    # Backticks could turn the following text into code.
    lines = [cite_fact(replace(fact, text=fact.text.replace("`", "'")), numbers) for fact in facts]
    return Draft(sources=sources, parts=say("\n".join([f"{HEADING}\n", *lines])), masked=True)
