"""How well each sentence of an answer is supported by what it cites.

For each citation the sentence or two of the cited passage are found that have most of the answer sentence's words, each
word weighing the more the rarer it is in the passages; names and words that no passage has weigh as rare ones. The score is the share of
the weight that was found, 0 to 1. A figure that the answer has and the quotation has not keeps the score low, whatever
else agrees.

Only words are compared: a paraphrase scores less than it deserves, and a denial of the same words more.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from whence.chat.citations import Cited, validate
from whence.chat.passages import Passage
from whence.chat.spans import Span, sentence_spans
from whence.chat.words import is_number, rarities, words
from whence.chunk import sentences

SUPPORTED = 0.4
"""The score from which a sentence counts as supported; how it was found is told in docs/citations.md."""

_WITHOUT_FIGURE = 0.3
_SECOND_SENTENCE = 0.1  # what a second sentence must add to be quoted too
_CLAIM = 3  # words from which a part of a sentence can be judged by itself
_PARAPHRASE = 0.5  # what a word counts that no passage has and that is neither a name nor a figure

_FENCED = re.compile(r"^[ \t>]*(```|~~~).*?(?:^[ \t>]*\1|\Z)", re.MULTILINE | re.DOTALL)
_NO_CLAIM = re.compile(r"[?？؟][\"”’)*_]*\Z|:[*_]*\Z|\A\s*#{1,6}\s|\A\s*\*\*[^*]+\*\*\s*\Z")
_NOT_FOUND = re.compile(
    r"\b(?:(?:could|can|did|do|does|was|were)(?: not|n['’]t)|cannot|unable to|no) .{0,40}"
    r"\b(?:find|found|answer|determine|know|contain|mention|provide|specify|information|passages?|documents?|sources?)",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[^\s.!?:#*-]) +[\"“(]?([^\W\d_a-z][\w’'-]+)")

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


def support(response: str, passages: Sequence[Passage], page_of: PageOf = page_of_passage) -> list[Citation]:
    """Every citation of a validated response, and every sentence that claims something and cites nothing.

    `page_of` gives the page of an offset in a passage's document.
    """
    judge = _Judge(passages, page_of)
    found: list[Citation] = []
    for start, end, cited in _cited_sentences(response, validate(response, passages).cited):
        if cited:
            found += judge.citations(response, start, end, cited)
        elif _is_claim(response[start:end]):
            found.append(Citation(response_start=start, response_end=end))
    return found


def _cited_sentences(response: str, cited: Sequence[Cited]) -> Iterator[tuple[int, int, list[Cited]]]:
    """Each sentence outside code blocks, with its citations: those in it, and those right behind it on its line."""
    plain, places = _without(response, cited)
    spans = [
        (places(one.start_offset), places(one.end_offset - 1) + 1)
        for one in sentences(plain)
        if one.text.strip()
    ]
    blocks = [block.span() for block in _FENCED.finditer(response)]
    starts = [start for start, _ in spans]
    owned: dict[int, list[Cited]] = {}
    for one in cited:
        owner = max(bisect_right(starts, one.start) - 1, 0)
        end = spans[owner][1] if spans else 0
        if one.start >= end and "\n" in response[end : one.start] and owner + 1 < len(spans):
            owner += 1
        owned.setdefault(owner, []).append(one)
    for number, (start, end) in enumerate(spans):
        own = owned.get(number, [])
        if own or not any(first <= start < last for first, last in blocks):
            yield min([start, *(one.start for one in own)]), max([end, *(one.end for one in own)]), own


def _without(response: str, cited: Sequence[Cited]) -> tuple[str, Callable[[int], int]]:
    """The text without its citations and the blanks before them, and where in the response a place of it is."""
    parts: list[str] = []
    plain_starts, response_starts = [0], [0]
    length = at = 0
    for one in cited:
        part = response[at : one.start].rstrip(" \t")
        parts.append(part)
        length += len(part)
        at = one.end
        plain_starts.append(length)
        response_starts.append(at)
    parts.append(response[at:])

    def place(offset: int) -> int:
        found = bisect_right(plain_starts, offset) - 1
        return response_starts[found] + offset - plain_starts[found]

    return "".join(parts), place


def _is_claim(sentence: str) -> bool:
    return (
        len(words(sentence)) > 1
        and not _NO_CLAIM.search(sentence.strip())
        and not _NOT_FOUND.search(sentence)
    )


class _Judge:
    def __init__(self, passages: Sequence[Passage], page_of: PageOf) -> None:
        self._passages = {passage.id: passage for passage in passages if passage.id}
        self._page_of = page_of
        self._spans = {chunk_id: sentence_spans(passage.text) for chunk_id, passage in self._passages.items()}
        self._rarity: Mapping[str, float] = rarities(
            span.words for spans in self._spans.values() for span in spans
        )
        self._known = frozenset().union(*(span.words for spans in self._spans.values() for span in spans))

    def citations(self, response: str, start: int, end: int, cited: Sequence[Cited]) -> Iterator[Citation]:
        sentence = _text(response, start, end, cited)
        for one in cited:
            claims = [sentence, *_claim_before(response, start, one, cited)]
            score, span = max((self._best(claim, one.id) for claim in claims), key=lambda best: best[0])
            passage = self._passages[one.id]
            first = passage.start_offset + span.start
            yield Citation(
                response_start=start,
                response_end=end,
                chunk_id=one.id,
                document_id=passage.document_id,
                start_offset=first,
                end_offset=passage.start_offset + span.end,
                page=self._page_of(passage, first),
                quote=passage.text[span.start : span.end],
                support=round(score, 3),
                supported=score >= SUPPORTED,
            )

    def _best(self, claim: str, chunk_id: str) -> tuple[float, Span]:
        """The sentence of the chunk, or two in a row, that has most of the claim, and how much."""
        spans = self._spans[chunk_id] or (Span(0, 0, frozenset()),)
        weighed = _Weighed.of(self._weights(claim))
        score, best = max(((weighed.share(span.words), span) for span in spans), key=lambda one: one[0])
        for first, second in pairwise(spans):
            pair = Span(first.start, second.end, first.words | second.words)
            if (together := weighed.share(pair.words)) >= score + _SECOND_SENTENCE:
                score, best = together, pair
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
    def of(cls, weights: Mapping[str, float]) -> "_Weighed":
        return cls(weights, sum(weights.values()), frozenset(filter(is_number, weights)))

    def share(self, found: frozenset[str]) -> float:
        """How much of the claim these words have."""
        if not self.whole:
            return 0.0
        share = sum([weight for word, weight in self.weights.items() if word in found]) / self.whole
        return share if self.figures <= found else min(share, _WITHOUT_FIGURE)


def _claim_before(response: str, start: int, one: Cited, cited: Sequence[Cited]) -> Iterator[str]:
    """The part of the sentence since the citation before, where that is enough to be judged by itself."""
    last_end = max((other.end for other in cited if other.end < one.start), default=start)
    part = response[last_end : one.start]
    if (last_end > start and len(words(part)) >= _CLAIM) or (last_end == start and one.end < cited[-1].start):
        yield part


def _text(response: str, start: int, end: int, cited: Sequence[Cited]) -> str:
    for one in reversed(cited):
        response = response[: one.start] + response[one.end :] if one.start < end else response
    return response[start : end - sum(one.end - one.start for one in cited)]
