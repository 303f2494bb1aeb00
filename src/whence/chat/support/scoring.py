"""Scores how well each sentence of an answer is supported by the chunks it cites. Pure.

The quote of a citation is the sentence of the chunk, or two in a row, that shares most of the answer sentence's words. Rare words weigh more. The
score is the share of the weight, 0 to 1. A figure that the quote does not have keeps the score at 0.3 or less. Chunks cited in a row are
scored together if each adds something. Only words are compared: a paraphrase scores too low, a negation too high.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from whence.chat.citing import Cited, Validated
from whence.chat.passages import Passage, Quote
from whence.chat.support.assertions import is_assertion
from whence.chat.support.passage_sentences import SentenceSpan, sentence_spans
from whence.chat.support.quantities import Ways, figures, tells
from whence.chat.support.statements import Statement, statements
from whence.text.content_words import rarities, words

SUPPORTED = 0.4
"""The score from which a sentence counts as supported; docs/citations.md gives the measurements."""

_WITHOUT_FIGURE = 0.3
_SECOND_SENTENCE = 0.1  # what a second sentence must add to be quoted too
_PART = 0.15  # what a chunk must add to what others say, to be judged with them
_LEAST_WORDS = 3  # words from which a part of a sentence can be judged by itself,
_BEGINNING = 2  # and its first part
_PARAPHRASE = 0.5  # what a word counts that no passage has and that is neither a name nor a figure

_NAME = re.compile(r"(?<=[^\s.!?:#*-]) +[\"“(]?([^\W\d_a-z][\w’'-]+)")

_NO_SPAN = SentenceSpan(0, 0, frozenset())

_Scores = Mapping[str, tuple[float, SentenceSpan]]
PageOf = Callable[[Passage, int], int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """One citation of one sentence; or a sentence that cites nothing, which has no chunk and no quote."""

    response_start: int
    response_end: int
    chunk_id: str | None = None
    document_id: str | None = None
    start_offset: int | None = None
    end_offset: int | None = None
    page: int | None = None
    quote: str | None = None
    support: float = 0.0
    supported: bool = False


def page_of_passage(passage: Passage, offset: int) -> int | None:  # noqa: ARG001 - a finer look-up needs it
    return passage.page


def support(
    validated: Validated, passages: Sequence[Passage], page_of: PageOf = page_of_passage
) -> list[Citation]:
    """Every citation that was found in a response, and every sentence that asserts something and cites nothing.

    `page_of` gives the page of an offset in a passage's document.
    """
    judge = _Judge(passages, page_of)
    response = validated.text
    found: list[Citation] = []
    for one in statements(validated):
        if one.cited:
            found += judge.citations(response, one)
        elif not one.is_head and is_assertion(response[one.begins : one.end]):
            found.append(Citation(response_start=one.start, response_end=one.end))
    return found


def quoted(
    quotes: Sequence[Quote], passages: Sequence[Passage], page_of: PageOf = page_of_passage
) -> list[Citation]:
    """The citations of an answer that only quotes, and knows what from."""
    by_id = {passage.id: passage for passage in passages}
    return [_citation(quote, by_id[quote.chunk_id], 1.0, page_of) for quote in quotes]


def _citation(quote: Quote, passage: Passage, score: float, page_of: PageOf) -> Citation:
    start = passage.start_offset + quote.start
    return Citation(
        response_start=quote.response_start,
        response_end=quote.response_end,
        chunk_id=passage.id,
        document_id=passage.document_id,
        start_offset=start,
        end_offset=passage.start_offset + quote.end,
        page=page_of(passage, start),
        quote=passage.text[quote.start : quote.end],
        support=round(score, 3),
        supported=score >= SUPPORTED,
    )


def _without_quote(citation: Citation, passage: Passage) -> Citation:
    """No place of the chunk has a word of the sentence: none is better than another."""
    return replace(citation, start_offset=None, end_offset=None, quote=None, page=passage.page)


class _Judge:
    def __init__(self, passages: Sequence[Passage], page_of: PageOf) -> None:
        self._passages = {passage.id: passage for passage in passages if passage.id}
        self._page_of = page_of
        self._spans = {chunk_id: sentence_spans(passage.text) for chunk_id, passage in self._passages.items()}
        self._rarity: Mapping[str, float] = rarities(
            span.words for spans in self._spans.values() for span in spans
        )
        self._pairs: dict[str, list[SentenceSpan]] = {}
        self._assertions: dict[str, _Assertion] = {}
        self._judged: dict[tuple[str, frozenset[str]], _Scores] = {}
        self._found: dict[tuple[str, str], SentenceSpan] = {}
        self._known = frozenset().union(*(span.words for spans in self._spans.values() for span in spans))

    def citations(self, response: str, statement: Statement) -> Iterator[Citation]:
        for row, assertions in _assertions(response, statement):
            told = [self._together(assertion, frozenset(one.id for one in row)) for assertion in assertions]
            for one in row:
                score, span = max((scores[one.id] for scores in told), key=lambda best: best[0])
                quote = Quote(statement.start, statement.end, one.id, span.start, span.end)
                found = _citation(quote, self._passages[one.id], score, self._page_of)
                yield found if score else _without_quote(found, self._passages[one.id])

    def _together(self, text: str, chunk_ids: frozenset[str]) -> _Scores:
        """The score and the span of each of the chunks that are cited in a row. Judged once."""
        known = self._judged.get((text, chunk_ids))
        if known is None:
            known = self._judged[text, chunk_ids] = self._scored(text, chunk_ids)
        return known

    def _scored(self, text: str, chunk_ids: frozenset[str]) -> _Scores:
        """What one leaves out another may say. A chunk is judged together with those that add to what it says, if it adds to what they
        say; with a figure alone nothing is added.
        """
        assertion = self._assertion(text)
        spans = {chunk_id: self._best(text, chunk_id) for chunk_id in chunk_ids}
        scores: dict[str, tuple[float, SentenceSpan]] = {}
        for chunk_id, span in spans.items():
            score = assertion.score(span.words)
            others = [
                other.words for other in spans.values() if assertion.adds(other.words, span.words) >= _PART
            ]
            rest = frozenset[str]().union(*others)
            if others and assertion.adds(span.words, rest) >= _PART:
                score = max(score, assertion.score(span.words | rest))
            scores[chunk_id] = score, span
        return scores

    def _assertion(self, text: str) -> "_Assertion":
        known = self._assertions.get(text)
        if known is None:
            known = self._assertions[text] = self._weighed(text)
        return known

    def _best(self, text: str, chunk_id: str) -> SentenceSpan:
        """The sentence of the chunk, or two in a row, that has most of the assertion. Looked for once."""
        known = self._found.get((text, chunk_id))
        if known is None:
            known = self._found[text, chunk_id] = self._searched(self._assertion(text), chunk_id)
        return known

    def _searched(self, assertion: "_Assertion", chunk_id: str) -> SentenceSpan:
        best = assertion.best(self._spans[chunk_id] or (_NO_SPAN,))
        if pairs := self._pairs_of(chunk_id):
            pair = assertion.best(pairs)
            more = assertion.share(pair.words) - assertion.share(best.words)
            # With a figure alone a second sentence would add what is said of something else.
            if more >= _SECOND_SENTENCE and (pair.is_title or assertion.adds(pair.words, best.words) > 0):
                return pair
        return best

    def _pairs_of(self, chunk_id: str) -> Sequence[SentenceSpan]:
        known = self._pairs.get(chunk_id)
        if known is None:
            known = self._pairs[chunk_id] = [
                SentenceSpan(
                    first.start, second.end, first.words | second.words, second.above, first.is_title
                )
                for first, second in pairwise(self._spans[chunk_id])
                if not second.is_title  # which belongs to what follows
            ]
        return known

    def _weighed(self, text: str) -> "_Assertion":
        read = figures(text)
        names = frozenset(words(" ".join(_NAME.findall(text))))
        weights = {
            word: self._rarity[word] * (1 if word in self._known or word in names else _PARAPHRASE)
            for word in words(read.rest)
        }
        return _Assertion.of(
            weights, {ways: max(self._rarity[mark] for mark in ways[0]) for ways in read.needs}
        )


class _Assertion(NamedTuple):
    """What is said in an answer: its words and figures, and what they weigh."""

    weights: Mapping[str, float]
    figures: Mapping[Ways, float]
    whole: float

    @classmethod
    def of(cls, weights: Mapping[str, float], needed: Mapping[Ways, float]) -> "_Assertion":
        return cls(weights, needed, sum(weights.values()) + sum(needed.values()))

    def share(self, found: frozenset[str]) -> float:
        """How much of it these words have."""
        if not self.whole:
            return 0.0
        told = sum([weight for ways, weight in self.figures.items() if tells(ways, found)])
        return (self._weight(found) + told) / self.whole

    def score(self, found: frozenset[str]) -> float:
        share = self.share(found)
        return share if all(tells(ways, found) for ways in self.figures) else min(share, _WITHOUT_FIGURE)

    def adds(self, more: frozenset[str], found: frozenset[str]) -> float:
        """How much of it these words have beyond those, figures aside."""
        return self._weight(more - found) / self.whole if self.whole else 0.0

    def best(self, spans: Sequence[SentenceSpan]) -> SentenceSpan:
        """The span that has most of it. Of equals it is the one whose titles have more of it, or else the first."""
        shares = [self.share(span.words) for span in spans]
        most = max(shares)
        equals = [span for span, share in zip(spans, shares, strict=True) if share == most]
        return max(equals, key=lambda span: self._weight(span.above)) if len(equals) > 1 else equals[0]

    def _weight(self, found: frozenset[str]) -> float:
        return sum([weight for word, weight in self.weights.items() if word in found])


def _assertions(response: str, statement: Statement) -> Iterator[tuple[Sequence[Cited], list[str]]]:
    """Citations in a row with what they may be judged by: the sentence, and the part of it since the row before, if that is enough."""
    starts = [statement.begins, *(one.end for one in statement.cited)]
    ends = [*(one.start for one in statement.cited), statement.end]
    pieces = [response[start:end] for start, end in zip(starts, ends, strict=True)]
    sentence = "".join(pieces)
    rows: list[tuple[str, list[Cited]]] = []
    for piece, one in zip(pieces, statement.cited, strict=False):
        if not rows or words(piece):
            rows.append((piece, []))
        rows[-1][1].append(one)
    for number, (part, row) in enumerate(rows):
        enough = len(words(part)) >= (_LEAST_WORDS if number else _BEGINNING) and len(rows) > 1
        yield row, [sentence, part] if enough else [sentence]
