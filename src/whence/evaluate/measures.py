"""The measures of one question and of all questions, and the differences of two runs. Pure."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from statistics import fmean, median
from typing import Any

from pydantic.alias_generators import to_camel

from whence.api.evaluation import (
    Change,
    Comparison,
    EvalReport,
    EvalTotals,
    ExpectedPassage,
    QuestionChanges,
    QuestionMeasures,
)
from whence.api.values import canonical_uuid
from whence.chat import Answer, Citation, Source
from whence.extract.scheduling import Prices
from whence.models import Page
from whence.parse import page_at
from whence.text.cjk import UNSPACED, is_unspaced
from whence.text.content_words import words
from whence.text.lexer import fold

_WORD = re.compile(r"\w+")
_LEAST_RUN = 4
"""Words. A shorter part of a passage may be in any chunk."""
_OF_A_QUESTION = ("found", "rank", "recall", "overlap", "answer_recall", "cites_expected", "support", "error")
"""Fields that are compared. Time and tokens differ from run to run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedChunk:
    """A chunk that may have an expected passage, with others of the same text."""

    sources: tuple[Source, ...]
    pages: Mapping[str, Sequence[Page]] = field(default_factory=dict)
    """The pages of their documents, by the document's id."""

    def has(self, passage: ExpectedPassage) -> bool:
        return any(self._fits(passage, source) for source in self.sources)

    def _fits(self, passage: ExpectedPassage, source: Source) -> bool:
        is_named = passage.document in (None, source.name)
        return (
            (is_named or canonical_uuid(passage.document) == source.document_id)
            and (passage.page is None or passage.page in self._pages_of(source))
            and (passage.text is None or shares_text(passage.text, source.text))
        )

    def _pages_of(self, source: Source) -> range:
        if source.page is None:
            return range(0)
        last = None
        if source.start is not None:
            pages = self.pages.get(source.document_id or "", ())
            last = page_at(pages, source.start + max(len(source.text) - 1, 0))
        return range(source.page, (last or source.page) + 1)


def shares_text(wanted: str, chunk: str) -> bool:
    """Whether the chunk has the text, or at least half of it (or of the chunk) in one run: chunks may cut it."""
    space = r"\s*" if is_unspaced(wanted) else r"\s+"
    pattern = space.join(map(re.escape, fold(wanted).split()))
    if re.search(rf"(?<![^\W{UNSPACED}]){pattern}(?![^\W{UNSPACED}])", fold(chunk)):
        return True
    these, those = words(wanted), words(chunk)
    run = SequenceMatcher(None, these, those, autojunk=False).find_longest_match().size
    return run >= _LEAST_RUN and 2 * run >= min(len(these), len(those))


def first_rank(passages: Sequence[ExpectedPassage], ranked: Sequence[JudgedChunk]) -> int | None:
    """The rank, from 1, of the first candidate that has one of the passages."""
    ranks = (rank for rank, one in enumerate(ranked, 1) if any(map(one.has, passages)))
    return next(ranks, None)


def recall(passages: Sequence[ExpectedPassage], ranked: Sequence[JudgedChunk]) -> float | None:
    """The share of the passages that the candidates have; None without passages."""
    return _mean(any(one.has(passage) for one in ranked) for passage in passages)


def overlap(given: str, expected: str) -> tuple[float, float]:
    """F1 of the words of both texts, and the share of the expected words that are given."""
    texts = given, expected
    read = [words(text) for text in texts]
    if not all(read):  # "No" has no content word
        read = [_WORD.findall(fold(text)) for text in texts]
    ours, theirs = map(Counter, read)
    common = (ours & theirs).total()
    return 2 * common / max(ours.total() + theirs.total(), 1), common / max(theirs.total(), 1)


def is_valid(citation: Citation, sources: Sequence[Source]) -> bool:
    """Whether the citation names a source of the answer and its quote is in that source, at its place."""
    source = next((one for one in sources if one.id == citation.chunk_id), None)
    if source is None or citation.quote is None:
        return source is not None
    if citation.start_offset is None or source.start is None:
        return citation.quote in source.text
    return source.text.startswith(citation.quote, citation.start_offset - source.start)


def cites(passages: Sequence[ExpectedPassage], answer: Answer) -> bool:
    """Whether a citation of the answer is of one of the passages."""
    sources = {source.id: JudgedChunk(sources=(source,)) for source in answer.sources if source.id}
    return any(
        one.chunk_id in sources
        and passage.page in (None, one.page)
        and sources[one.chunk_id].has(passage.model_copy(update={"page": None}))
        for one in answer.citations
        for passage in passages
    )


def support_levels(citations: Iterable[Citation]) -> dict[str, int]:
    """Number of citations of each level; `uncited` are sentences without a source."""
    levels = Counter(one.support_level if one.chunk_id else "uncited" for one in citations)
    return {level: levels[level] for level in ("verbatim", "close", "loose", "none", "uncited")}


def total(results: Sequence[QuestionMeasures], *, prices: Prices, seconds: float) -> EvalTotals:
    """The measures of a run; `seconds` is its duration."""
    wanted = [one for one in results if one.answerable]
    others = [one for one in results if not one.answerable]
    answered = [one for one in results if one.answer_ms is not None]
    citations = sum(one.citations for one in answered)
    prompt, completion = (
        _sum(one.prompt_tokens for one in answered),
        _sum(one.completion_tokens for one in answered),
    )
    support = sum((Counter(one.support) for one in answered), Counter())
    return EvalTotals(
        questions=len(results),
        answerable=len(wanted),
        recall=_mean(one.recall for one in wanted),
        hit_rate=_mean(one.rank is not None for one in wanted),
        mean_reciprocal_rank=_mean(1 / one.rank if one.rank else 0 for one in wanted),
        false_empties=_count(wanted, lambda one: not one.hits),
        false_finds=_count(others, lambda one: one.hits > 0) if others else None,
        unanswered=_count(wanted, lambda one: one.answer_ms is not None and not one.cited)
        if answered
        else None,
        false_answers=_count(others, lambda one: one.cited) if answered and others else None,
        failed=_count(results, lambda one: one.error is not None),
        answer_overlap=_mean(one.overlap for one in answered),
        answer_recall=_mean(one.answer_recall for one in answered),
        cites_expected=_mean(one.cites_expected for one in answered),
        citations=citations if answered else None,
        citation_validity=sum(one.valid_citations for one in answered) / citations if citations else None,
        support={level: support[level] for level in (answered[0].support if answered else ())},
        prompt_tokens=prompt,
        completion_tokens=completion,
        price=None if prompt is None and completion is None else prices.cost(prompt or 0, completion or 0),
        search_ms=median(one.search_ms for one in results),
        answer_ms=median(one.answer_ms or 0 for one in answered) if answered else None,
        seconds=round(seconds, 3),
    )


def compare(before: EvalReport, after: EvalReport) -> Comparison:
    """The differences in total and question by question; questions are the same if their words are."""
    old = {one.question: one for one in before.results}
    new = {one.question: one for one in after.results}
    both = [(question, _changes(old[question], one)) for question, one in new.items() if question in old]
    return Comparison(
        totals=_changes(before.totals, after.totals, tuple(EvalTotals.model_fields)),
        questions=[QuestionChanges(question=question, changes=found) for question, found in both if found],
        added=[question for question in new if question not in old],
        removed=[question for question in old if question not in new],
    )


def _changes(before: Any, after: Any, names: Sequence[str] = _OF_A_QUESTION) -> dict[str, Change]:
    pairs = ((name, getattr(before, name), getattr(after, name)) for name in names)
    return {to_camel(name): Change(before=old, after=new) for name, old, new in pairs if old != new}


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _count(results: Sequence[QuestionMeasures], is_counted: Callable[[QuestionMeasures], bool]) -> int:
    return sum(map(is_counted, results))
