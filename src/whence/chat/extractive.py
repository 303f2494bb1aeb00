"""The answerer that needs no model: it quotes the sentences that have most of the question's words.

Each is followed by the number of its passage, as a model would write it, and goes through the same validator.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from whence.chat.citations import validate
from whence.chat.passages import Passage
from whence.chat.spans import sentence_spans
from whence.chat.words import rarities, words

MAX_SENTENCES = 4
MAX_CHARACTERS = 700
FLOOR = 0.15
"""The least share of the question's weight that a sentence and its surroundings must have."""

_FROM_PASSAGE = 0.3  # what the words of the whole passage count, where the sentence's own count 1
_FROM_RANK = 0.1
_NEAR_BEST = 0.5  # a further sentence has at least this share of the best one's score
_SHORT = 4  # words
_SHORT_COUNTS = 0.5
_SAME = 0.8  # share of common words from which two sentences say the same


class _Candidate(NamedTuple):
    number: int
    place: tuple[int, int]
    """In reading order: the document, by its best passage, and the offset in it."""
    text: str
    words: frozenset[str]
    score: float


def extract(question: str, passages: Sequence[Passage]) -> str | None:
    """The sentences that answer, in reading order, each with its marker; None where none does.

    Passages come in the order of the search, the best first. What was composed is not quoted.
    """
    passages = [passage for passage in passages if passage.id is not None]
    candidates = sorted(_candidates(question, passages), key=lambda one: (-one.score, one.place))
    chosen = sorted(_chosen(candidates, passages), key=lambda one: one.place)
    return " ".join(f"{one.text} [{one.number}]" for one in chosen) or None


def _candidates(question: str, passages: Sequence[Passage]) -> Iterator[_Candidate]:
    asked = frozenset(words(question))
    split = [sentence_spans(passage.text) for passage in passages]
    rarity = rarities(span.words for spans in split for span in spans)
    whole = sum(rarity[word] for word in asked)
    order = {document: place for place, document in reversed([*enumerate(p.document_id for p in passages)])}
    for number, (passage, spans) in enumerate(zip(passages, split, strict=True), 1):
        if not whole:
            return
        around = asked & frozenset().union(*(span.words for span in spans))
        rank = 1 - (number - 1) / len(passages)
        for span in spans:
            if not (own := asked & span.words):
                continue
            covered = sum(rarity[word] for word in own) + _FROM_PASSAGE * sum(rarity[word] for word in around)
            share = covered / whole / (1 + _FROM_PASSAGE)
            if share < FLOOR:
                continue
            text = passage.text[span.start : span.end]
            is_slight = len(span.words) < _SHORT or text.startswith(("#", "|"))
            yield _Candidate(
                number,
                (order[passage.document_id], passage.start_offset + span.start),
                " ".join(text.split()),
                span.words,
                (share + _FROM_RANK * rank) * (_SHORT_COUNTS if is_slight else 1),
            )


def _chosen(candidates: Sequence[_Candidate], passages: Sequence[Passage]) -> list[_Candidate]:
    chosen: list[_Candidate] = []
    size = 0
    for one in candidates:
        if len(chosen) == MAX_SENTENCES or one.score < _NEAR_BEST * candidates[0].score:
            break
        if chosen and size + len(one.text) > MAX_CHARACTERS:
            continue
        if any(_says_the_same(one, other) for other in chosen) or not _can_be_quoted(one, passages):
            continue
        chosen.append(one)
        size += len(one.text)
    return chosen


def _says_the_same(one: _Candidate, other: _Candidate) -> bool:
    return len(one.words & other.words) >= _SAME * min(len(one.words), len(other.words))


def _can_be_quoted(one: _Candidate, passages: Sequence[Passage]) -> bool:
    """Whether the marker behind the sentence, and nothing in it, would be taken for a citation."""
    cited = validate(f"{one.text} [{one.number}]", passages)
    return one.text.count("`") % 2 == 0 and cited.text == f"{one.text} [{passages[one.number - 1].id}]"
