"""How well each sentence of an answer is supported by what it cites.

For each citation the sentence or two of the cited passage are found that have most of the answer sentence's words, each
word weighing the more the rarer it is in the passages; names and words that no passage has weigh as rare ones. The score is the share of
the weight that was found, 0 to 1. A figure that the answer has and the quotation has not keeps the score low, whatever
else agrees; so does the month of a date.

Only words are compared: a paraphrase scores less than it deserves, and a denial of the same words more.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from whence.chat.citations import Cited, Validated
from whence.chat.claims import is_claim
from whence.chat.passages import Passage, Quote
from whence.chat.spans import Span, sentence_spans
from whence.chat.statements import Statement, statements
from whence.chat.words import is_number, rarities, words

SUPPORTED = 0.4
"""The score from which a sentence counts as supported; how it was found is told in docs/citations.md."""

_WITHOUT_FIGURE = 0.3
_SECOND_SENTENCE = 0.1  # what a second sentence must add to be quoted too
_CLAIM = 3  # words from which a part of a sentence can be judged by itself,
_BEGINNING = 2  # and its first part
_PARAPHRASE = 0.5  # what a word counts that no passage has and that is neither a name nor a figure

_NAME = re.compile(r"(?<=[^\s.!?:#*-]) +[\"“(]?([^\W\d_a-z][\w’'-]+)")

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DATE = re.compile(rf"\b\d{{1,2}}(?:st|nd|rd|th)?\.?(?: of)? ({_MONTHS})\b|\b({_MONTHS}) \d", re.IGNORECASE)
"""Beside a number a month is as much of a figure as that."""

_NO_SPAN = Span(0, 0, frozenset())

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
    """Every citation that was found in a response, and every sentence that claims something and cites nothing.

    `page_of` gives the page of an offset in a passage's document.
    """
    judge = _Judge(passages, page_of)
    response = validated.text
    found: list[Citation] = []
    for one in statements(validated):
        if one.cited:
            found += judge.citations(response, one)
        elif not one.is_head and is_claim(response[one.begins : one.end]):
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
        self._found: dict[tuple[str, str], tuple[float, Span]] = {}
        self._known = frozenset().union(*(span.words for spans in self._spans.values() for span in spans))

    def citations(self, response: str, statement: Statement) -> Iterator[Citation]:
        for one, claims in _claims(response, statement):
            score, span = max((self._best(claim, one.id) for claim in claims), key=lambda best: best[0])
            quote = Quote(statement.start, statement.end, one.id, span.start, span.end)
            found = _citation(quote, self._passages[one.id], score, self._page_of)
            yield found if score else _without_quote(found, self._passages[one.id])

    def _best(self, claim: str, chunk_id: str) -> tuple[float, Span]:
        """The sentence of the chunk, or two in a row, that has most of the claim, and how much. Looked for once."""
        known = self._found.get((claim, chunk_id))
        if known is None:
            known = self._found[claim, chunk_id] = self._searched(claim, self._spans[chunk_id])
        return known

    def _searched(self, claim: str, spans: Sequence[Span]) -> tuple[float, Span]:
        weighed = _Weighed.of(self._weights(claim), _figures(claim))
        score, best = weighed.best(spans or (_NO_SPAN,))
        pairs = [
            Span(first.start, second.end, first.words | second.words, second.above)
            for first, second in pairwise(spans)
            if not second.is_title  # which belongs to what follows
        ]
        if pairs:
            together, pair = weighed.best(pairs)
            if together >= score + _SECOND_SENTENCE:
                return together, pair
        return score, best

    def _weights(self, claim: str) -> dict[str, float]:
        names = frozenset(words(" ".join(_NAME.findall(claim))))
        return {
            word: self._rarity[word]
            * (1 if word in self._known or word in names or is_number(word) else _PARAPHRASE)
            for word in words(claim)
        }


class _Weighed(NamedTuple):
    """The words of a claim, and what they weigh."""

    weights: Mapping[str, float]
    whole: float
    figures: frozenset[str]

    @classmethod
    def of(cls, weights: Mapping[str, float], figures: frozenset[str]) -> "_Weighed":
        return cls(weights, sum(weights.values()), figures)

    def share(self, found: frozenset[str]) -> float:
        """How much of the claim these words have."""
        if not self.whole:
            return 0.0
        share = self._weight(found) / self.whole
        return share if self.figures <= found else min(share, _WITHOUT_FIGURE)

    def best(self, spans: Sequence[Span]) -> tuple[float, Span]:
        """The span that has most of the claim, and how much. Of equals it is the one whose titles have more of it, or else the first."""
        shares = [self.share(span.words) for span in spans]
        most = max(shares)
        equals = [span for span, share in zip(spans, shares, strict=True) if share == most]
        return most, max(equals, key=lambda span: self._weight(span.above))

    def _weight(self, found: frozenset[str]) -> float:
        return sum([weight for word, weight in self.weights.items() if word in found])


def _figures(claim: str) -> frozenset[str]:
    months = " ".join(found[found.lastindex or 0] for found in _DATE.finditer(claim))
    return frozenset((*filter(is_number, words(claim)), *words(months)))


def _claims(response: str, statement: Statement) -> Iterator[tuple[Cited, list[str]]]:
    """Each citation with what it may be judged by: the sentence, and the part of it since the citation before, if that is enough."""
    starts = [statement.begins, *(one.end for one in statement.cited)]
    ends = [*(one.start for one in statement.cited), statement.end]
    pieces = [response[start:end] for start, end in zip(starts, ends, strict=True)]
    sentence = "".join(pieces)
    parts: list[str] = []
    for piece in pieces[:-1]:
        parts.append(piece if not parts or words(piece) else parts[-1])  # citations in a row share theirs
    for one, part in zip(statement.cited, parts, strict=True):
        is_first = part == parts[0]
        enough = len(words(part)) >= (_BEGINNING if is_first else _CLAIM) and not (
            is_first and part == parts[-1]
        )
        yield one, [sentence, part] if enough else [sentence]
