"""Scores how well the chunks that an answer cites support its sentences. Pure.

verbatim   the chunk has the sentence, but for white space, case and citations; score 1
close      the chunk has its content words in the same order (`whence.matching`); score 0.9
loose      the chunk shares words with it; score 0.14 to 0.8
none       the chunk shares hardly a word with it; score 0

The score of `loose` is the share of the sentence's words that the chunk has, weighted by rarity. The quote is the sentence of the
chunk that has most of the words.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NamedTuple

from whence.chat.citing import Cited, Validated
from whence.chat.sources import Source
from whence.chat.support.assertions import is_assertion
from whence.chat.support.statements import Statement, statements
from whence.chunk import sentences
from whence.evidence import PageRects
from whence.matching import SCORES, Level, Reading, Verdict, match, match_parts, read, without_origin
from whence.text.content_words import rarities, words

_LEAST_SCORE = 0.14  # minimum of `loose`: 5 % of WiCE's claims reach it on another page, 98 % of the supported ones on their own
_NONE = Verdict("none", 0.0, 0, 0)
_LEAST_WORDS = 2  # minimum words of a part of a sentence to be judged by itself

Origin = Literal["model", "attributed"]
Judgement = Literal["entailed", "contradicted", "not stated"]


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
    support_level: Level = "none"
    supported: bool = False
    origin: Origin = "model"
    """`attributed`: the model cited nothing; Whence found the chunk."""
    judgement: Judgement | None = None
    """A model's judgement of the sentence against the quote; None if none was asked."""
    judged_by: str | None = None
    pages: tuple[PageRects, ...] | None = None
    """The rectangles of the quote; None if none were asked for."""
    document_version: int | None = None


class _Sentence(NamedTuple):
    start: int
    end: int
    words: frozenset[str]


class _Index(NamedTuple):
    reading: Reading
    sentences: tuple[_Sentence, ...]
    words: frozenset[str]


def support(validated: Validated, sources: Sequence[Source]) -> list[Citation]:
    """All citations of a response, and all sentences that assert something without a citation.

    Such a sentence gets the first source that supports it.
    """
    judge = _Judge(sources)
    response = validated.text
    found: list[Citation] = []
    for one in statements(validated):
        if one.cited:
            found += judge.citations(response, one)
        elif not one.is_head and is_assertion(response[one.begins : one.end]):
            found.append(judge.attribution(response, one))
    return found


def cite(source: Source, response: tuple[int, int], verdict: Verdict) -> Citation:
    """The citation of a span of the response by a span of the source."""
    level, score, start, end = verdict
    is_placed = source.start is not None and level != "none"
    return Citation(
        response_start=response[0],
        response_end=response[1],
        chunk_id=source.id,
        document_id=source.document_id,
        start_offset=(source.start or 0) + start if is_placed else None,
        end_offset=(source.start or 0) + end if is_placed else None,
        page=source.page,
        quote=None if level == "none" else source.text[start:end],
        support=round(score, 3),
        support_level=level,
        supported=level in ("verbatim", "close"),
    )


class _Judge:
    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = {source.id: source for source in sources if source.id}
        self._indexes = {chunk_id: _index(source.text) for chunk_id, source in self._sources.items()}
        self._rarity = rarities(one.words for index in self._indexes.values() for one in index.sentences)
        self._verdicts: dict[tuple[str, tuple[str, ...]], Mapping[str, Verdict]] = {}

    def citations(self, response: str, statement: Statement) -> Iterator[Citation]:
        for row, texts in _rows(response, statement):
            ids = tuple(dict.fromkeys(one.id for one in row))
            verdicts = [self._judge(text, ids) for text in texts]
            for one in row:
                best = max((found[one.id] for found in verdicts), key=lambda verdict: verdict.score)
                yield cite(self._sources[one.id], (statement.start, statement.end), best)

    def attribution(self, response: str, statement: Statement) -> Citation:
        readings = [index.reading for index in self._indexes.values()]
        found = match(response[statement.begins : statement.end], readings)
        for level in "verbatim", "close":
            for chunk_id, place in zip(self._indexes, found, strict=True):
                if place and place.level == level:
                    span = statement.start, statement.end
                    cited = cite(self._sources[chunk_id], span, self._widen(chunk_id, place))
                    return replace(cited, origin="attributed")
        return Citation(response_start=statement.start, response_end=statement.end)

    def _judge(self, text: str, ids: tuple[str, ...]) -> Mapping[str, Verdict]:
        """The verdict on each chunk cited in a row. Cached."""
        known = self._verdicts.get((text, ids))
        if known is None:
            readings = [self._indexes[chunk_id].reading for chunk_id in ids]
            places = match(text, readings)
            if len(ids) > 1 and not any(places):
                parts = match_parts(text, readings)
                places = [parts.get(number) for number in range(len(ids))]
            known = self._verdicts[text, ids] = {
                chunk_id: self._widen(chunk_id, place)
                if place
                else self._loose(chunk_id, without_origin(text))
                for chunk_id, place in zip(ids, places, strict=True)
            }
        return known

    def _widen(self, chunk_id: str, place: Verdict) -> Verdict:
        """Quotes whole sentences."""
        all_of_it = self._indexes[chunk_id].sentences
        inside = [one for one in all_of_it if one.start < place.end and place.start < one.end]
        return place._replace(start=inside[0].start, end=inside[-1].end)

    def _loose(self, chunk_id: str, text: str) -> Verdict:
        index = self._indexes[chunk_id]
        weights = {word: self._rarity(word) for word in words(text)}

        def share(found: frozenset[str]) -> float:
            return sum(weights[word] for word in weights if word in found) / sum(weights.values())

        if index.words.isdisjoint(weights):
            return _NONE
        best = max(index.sentences, key=lambda one: share(one.words))
        score = SCORES["loose"] * share(index.words)
        return Verdict("loose", score, best.start, best.end) if score >= _LEAST_SCORE else _NONE


@lru_cache(maxsize=256)  # the same chunks are found repeatedly
def _index(text: str) -> _Index:
    found = [
        _Sentence(one.start_offset, one.end_offset, frozenset(words(one.text))) for one in sentences(text)
    ]
    return _Index(read(text), tuple(found), frozenset(words(text)))


def _rows(response: str, statement: Statement) -> Iterator[tuple[Sequence[Cited], list[str]]]:
    """Rows of citations, each with the texts to judge it by: the sentence and, if long enough, its part since the previous row."""
    starts = [statement.begins, *(one.end for one in statement.cited)]
    ends = [*(one.start for one in statement.cited), statement.end]
    pieces = [response[start:end] for start, end in zip(starts, ends, strict=True)]
    rows: list[tuple[str, list[Cited]]] = []
    for piece, one in zip(pieces, statement.cited, strict=False):
        if not rows or words(piece):
            rows.append((piece, []))
        rows[-1][1].append(one)
    for part, row in rows:
        is_enough = len(words(part)) >= _LEAST_WORDS and len(rows) > 1
        yield row, ["".join(pieces), part] if is_enough else ["".join(pieces)]
