"""Scores how well each sentence of an answer is supported by the chunks it cites. Pure.

The quote of a citation is the sentence of the chunk, or two in a row, that shares most of the answer sentence's words. Rare words
weigh more. The score is the share of the weight, 0 to 1. A figure that the quote does not have limits the score to 0.3. Chunks
cited in a row are scored together if each adds something. Only words are compared: a paraphrase scores too low, a negation too high.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from whence.chat.citing import Cited, Validated
from whence.chat.sources import Source
from whence.chat.support.assertions import is_assertion
from whence.chat.support.passage_sentences import SentenceSpan, sentence_spans
from whence.chat.support.quantities import Ways, figures, tells
from whence.chat.support.statements import Statement, statements
from whence.text.content_words import rarities, words

SUPPORTED = 0.4
"""Minimum score of a supported sentence; docs/citations.md has the measurements."""

_WITHOUT_FIGURE = 0.3
_SECOND_SENTENCE = 0.1  # minimum share that a second sentence adds to be quoted too
_PART = 0.15  # minimum share that a chunk adds to others to be scored with them
_LEAST_WORDS = 3  # minimum words of a part of a sentence to be scored by itself
_BEGINNING = 2  # the same for the first part
_PARAPHRASE = 0.5  # factor for a word that no passage has and that is neither a name nor a figure

_NAME = re.compile(r"(?<=[^\s.!?:#*-]) +[\"“(]?([^\W\d_a-z][\w’'-]+)")

_NO_SPAN = SentenceSpan(0, 0, frozenset())

_Scores = Mapping[str, tuple[float, SentenceSpan]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """One citation of one sentence, or a sentence without a citation, which has no chunk and no quote."""

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


def support(validated: Validated, sources: Sequence[Source]) -> list[Citation]:
    """All citations of a response, and all sentences that assert something without a citation."""
    judge = _Judge(sources)
    response = validated.text
    found: list[Citation] = []
    for one in statements(validated):
        if one.cited:
            found += judge.citations(response, one)
        elif not one.is_head and is_assertion(response[one.begins : one.end]):
            found.append(Citation(response_start=one.start, response_end=one.end))
    return found


def cite(source: Source, response: tuple[int, int], quote: tuple[int, int], score: float = 1.0) -> Citation:
    """The citation of a span of the response by a span of the source. Without a score, the quote is verbatim."""
    start, end = quote
    is_placed = source.start is not None and score > 0
    return Citation(
        response_start=response[0],
        response_end=response[1],
        chunk_id=source.id,
        document_id=source.document_id,
        start_offset=(source.start or 0) + start if is_placed else None,
        end_offset=(source.start or 0) + end if is_placed else None,
        page=source.page,
        quote=source.text[start:end]
        if score
        else None,  # no sentence of the chunk shares a word with the answer's
        support=round(score, 3),
        supported=score >= SUPPORTED,
    )


class _Judge:
    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = {source.id: source for source in sources if source.id}
        self._spans = {chunk_id: sentence_spans(source.text) for chunk_id, source in self._sources.items()}
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
                response_span = statement.start, statement.end
                yield cite(self._sources[one.id], response_span, (span.start, span.end), score)

    def _together(self, text: str, chunk_ids: frozenset[str]) -> _Scores:
        """The score and span of each chunk cited in a row. Cached."""
        known = self._judged.get((text, chunk_ids))
        if known is None:
            known = self._judged[text, chunk_ids] = self._scored(text, chunk_ids)
        return known

    def _scored(self, text: str, chunk_ids: frozenset[str]) -> _Scores:
        """Chunks can complement each other: a chunk is scored with those that add to it, if it adds to them.

        A figure alone adds nothing.
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
        """The sentence of the chunk, or two in a row, that has most of the assertion. Cached."""
        known = self._found.get((text, chunk_id))
        if known is None:
            known = self._found[text, chunk_id] = self._searched(self._assertion(text), chunk_id)
        return known

    def _searched(self, assertion: "_Assertion", chunk_id: str) -> SentenceSpan:
        best = assertion.best(self._spans[chunk_id] or (_NO_SPAN,))
        if pairs := self._pairs_of(chunk_id):
            pair = assertion.best(pairs)
            more = assertion.share(pair.words) - assertion.share(best.words)
            # A second sentence that adds only a figure may be about something else.
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
                if not second.is_title  # a title belongs to the text below it
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
    """A claim of an answer: its words and figures with their weights."""

    weights: Mapping[str, float]
    figures: Mapping[Ways, float]
    whole: float

    @classmethod
    def of(cls, weights: Mapping[str, float], needed: Mapping[Ways, float]) -> "_Assertion":
        return cls(weights, needed, sum(weights.values()) + sum(needed.values()))

    def share(self, found: frozenset[str]) -> float:
        """The share of the weight that these words have."""
        if not self.whole:
            return 0.0
        told = sum([weight for ways, weight in self.figures.items() if tells(ways, found)])
        return (self._weight(found) + told) / self.whole

    def score(self, found: frozenset[str]) -> float:
        share = self.share(found)
        return share if all(tells(ways, found) for ways in self.figures) else min(share, _WITHOUT_FIGURE)

    def adds(self, more: frozenset[str], found: frozenset[str]) -> float:
        """The share of the weight that `more` has beyond `found`, without figures."""
        return self._weight(more - found) / self.whole if self.whole else 0.0

    def best(self, spans: Sequence[SentenceSpan]) -> SentenceSpan:
        """The span with the highest share. A tie goes to the span whose titles have more of the words, then to the first."""
        shares = [self.share(span.words) for span in spans]
        most = max(shares)
        equals = [span for span, share in zip(spans, shares, strict=True) if share == most]
        return max(equals, key=lambda span: self._weight(span.above)) if len(equals) > 1 else equals[0]

    def _weight(self, found: frozenset[str]) -> float:
        return sum([weight for word, weight in self.weights.items() if word in found])


def _assertions(response: str, statement: Statement) -> Iterator[tuple[Sequence[Cited], list[str]]]:
    """Rows of citations, each with the texts to score it by.

    These are the sentence and, if long enough, its part since the previous row.
    """
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
