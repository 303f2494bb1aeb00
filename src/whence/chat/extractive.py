"""The answerer that needs no model: it quotes the sentences that have most of the question's words.

Each is followed by the id of its passage, goes through the same validator as what a model writes, and knows where it stands.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from whence.chat.asking import Asking
from whence.chat.citations import validate
from whence.chat.passages import Passage, Quote
from whence.chat.quotable import Quotable, quotables
from whence.chat.words import is_alone, rarities

MAX_SENTENCES = 3
MAX_CHARACTERS = 700
FLOOR = 0.15
"""The least share of the question's weight that a sentence and its surroundings must have."""

# What a word of the question counts by where it stands; one in the sentence itself counts 1.
_FROM_QUESTION = 0.8  # to which the sentence replies
_FROM_TITLE = 0.3
_FROM_PASSAGE = 0.23
_FROM_RANK = 0.1
_UNEXPECTED = 0.7  # what all of it counts where the question wants a figure and there is none
_NEAR_BEST = 0.65  # a further sentence has at least this share of what the best one has of the question,
_NEW = 0.3  # or this share of the question that none has yet
_WHOLE = 0.6  # share of the question from which a sentence needs no other to go on
_SHORT = 4  # words
_SHORT_COUNTS = 0.5
_SAME = 0.8  # share of common words from which two sentences say the same

_GOES_ON = re.compile(r"(?:It|They|He|She|This|That|These|Those|Its|Their|His|Her|There)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    text: str
    """Valid as it is."""
    quotes: tuple[Quote, ...]
    """All that it says."""


class _Candidate(NamedTuple):
    number: int
    """Of its passage, from 1."""
    chunk_id: str
    place: tuple[int, int]
    """In reading order: the document, by its best passage, and the offset in it."""
    position: int
    """Among what can be quoted of its passage."""
    quotable: Quotable
    direct: float
    """How much of the question it has, itself or by what stands above it."""
    score: float

    @property
    def text(self) -> str:
        return self.quotable.text

    @property
    def cited(self) -> str:
        gap = "\n" if self.quotable.kind == "code" else " "  # behind a fence nothing may stand
        return f"{self.text}{gap}[{self.chunk_id}]"


class _Shown(NamedTuple):
    """The question, and all that could answer it."""

    asking: Asking
    passages: Sequence[Passage]
    quotables: Sequence[Sequence[Quotable]]
    """Of each passage."""
    rarity: Mapping[str, float]
    whole: float
    """The weight of the question."""

    @classmethod
    def of(cls, question: str, passages: Sequence[Passage]) -> "_Shown":
        asking = Asking.of(question)
        alone = frozenset(filter(is_alone, asking.words))
        parts = [[one.having(alone) for one in quotables(passage.text)] for passage in passages]
        rarity = rarities(one.words for passage in parts for one in passage)
        return cls(asking, passages, parts, rarity, sum(rarity[word] for word in asking.words))

    def share(self, found: frozenset[str]) -> float:
        """How much of the question these words are."""
        return sum(self.rarity[word] for word in self.asking.words & found) / self.whole

    def direct(self, one: Quotable) -> float:
        lends = _FROM_QUESTION if one.kind == "reply" else _FROM_TITLE
        share = self.share(one.words) + lends * self.share(one.lent - one.words)
        return share if self.asking.may_be_answered_by(one.text) else _UNEXPECTED * share


def extract(question: str, passages: Sequence[Passage]) -> Extract | None:
    """The sentences that answer, in reading order, each with its citation; None where none does.

    Passages come in the order of the search, the best first. What was composed is not quoted.
    """
    shown = _Shown.of(question, [passage for passage in passages if passage.id is not None])
    if not shown.whole:
        return None
    candidates = sorted(_candidates(shown), key=lambda one: (-one.score, one.place))
    chosen = _chosen(shown, candidates)
    if chosen:
        chosen = _with_following(shown, chosen)
    together = _written(sorted(chosen, key=lambda one: one.place))
    if validate(together.text, shown.passages).text != together.text:
        together = _written(chosen[:1])  # beside others something in it would be taken for a citation
    return together if chosen else None


def _candidates(shown: _Shown) -> Iterator[_Candidate]:
    documents = [passage.document_id for passage in shown.passages]
    order = {document: place for place, document in reversed([*enumerate(documents)])}
    for number, (passage, parts) in enumerate(zip(shown.passages, shown.quotables, strict=True), 1):
        around = frozenset[str]().union(*(one.words | one.lent for one in parts))
        rank = _FROM_RANK * (1 - (number - 1) / len(shown.passages))
        for position, one in enumerate(parts):
            direct = shown.direct(one)
            share = direct + _FROM_PASSAGE * shown.share(around - one.words - one.lent)
            if share >= FLOOR and _speaks(shown.asking, one):
                place = (order[passage.document_id], passage.start_offset + one.start)
                score = (share + rank) * (_SHORT_COUNTS if _is_slight(shown.asking, one) else 1)
                yield _Candidate(number, passage.id or "", place, position, one, direct, score)


def _speaks(asking: Asking, one: Quotable) -> bool:
    """Whether it speaks of what is asked itself, and not only what stands around it."""
    if one.kind == "code" and not asking.code:
        return False
    return one.kind == "reply" or not asking.words.isdisjoint(one.words)


def _is_slight(asking: Asking, one: Quotable) -> bool:
    """Hardly a sentence; but "In 1921." may be all that is wanted."""
    if one.kind != "sentence" or len(one.words) >= _SHORT:
        return False
    return not (asking.is_particular and asking.may_be_answered_by(one.text))


def _chosen(shown: _Shown, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    chosen: list[_Candidate] = []
    for one in candidates:
        if len(chosen) == MAX_SENTENCES:
            break
        if chosen and not (_has_room(one, chosen) and _adds(shown, one, chosen)):
            continue
        if _can_be_quoted(one, shown.passages):
            chosen.append(one)
    return chosen


def _adds(shown: _Shown, one: _Candidate, chosen: Sequence[_Candidate]) -> bool:
    """Whether it is about as good as the best, or has of the question what none has; and was not said."""
    had = frozenset[str]().union(*(_said(other) for other in chosen))
    good = one.direct >= _NEAR_BEST * chosen[0].direct or shown.share(one.quotable.words - had) >= _NEW
    same = one.place[0] == chosen[0].place[0] or _said(one) & _said(chosen[0]) & shown.asking.words
    # What has other words of the question, in another document, is hardly about the same.
    return good and bool(same) and not any(_says_the_same(one, other) for other in chosen)


def _said(one: _Candidate) -> frozenset[str]:
    return one.quotable.words | one.quotable.lent


def _following(shown: _Shown, best: _Candidate) -> _Candidate | None:
    """What comes right behind it, if that belongs to it."""
    behind = shown.quotables[best.number - 1][best.position + 1 : best.position + 2]
    if not behind or not _belongs(shown, best, behind[0]):
        return None
    place = (best.place[0], best.place[1] + behind[0].start - best.quotable.start)
    found = best._replace(place=place, position=best.position + 1, quotable=behind[0])
    return found if _can_be_quoted(found, shown.passages) else None


def _belongs(shown: _Shown, best: _Candidate, following: Quotable) -> bool:
    """A sentence that goes on about the same, where the first only begins to answer; code, where that is what it leads to."""
    if following.kind != "code":
        return not _answers(shown, best) and bool(_GOES_ON.match(following.text))
    text = shown.passages[best.number - 1].text
    is_next = not text[best.quotable.end : following.start].strip()
    return shown.asking.code and best.quotable.kind != "code" and is_next


def _with_following(shown: _Shown, chosen: list[_Candidate]) -> list[_Candidate]:
    """Code comes along with the sentence that leads to it, also in the place of weaker ones; a sentence where there is room."""
    following = _following(shown, chosen[0])
    if following is None or any(other.place == following.place for other in chosen):
        return chosen
    kept = chosen
    if following.quotable.kind == "code":
        while len(kept) > 1 and not _fits(following, kept):
            kept = kept[:-1]
    return [*kept, following] if _fits(following, kept) else chosen


def _fits(one: _Candidate, chosen: Sequence[_Candidate]) -> bool:
    return len(chosen) < MAX_SENTENCES and _has_room(one, chosen)


def _answers(shown: _Shown, one: _Candidate) -> bool:
    return one.direct >= _WHOLE and shown.asking.may_be_answered_by(one.text)


def _has_room(one: _Candidate, chosen: Sequence[_Candidate]) -> bool:
    return len(one.text) + sum(len(other.text) for other in chosen) <= MAX_CHARACTERS


def _says_the_same(one: _Candidate, other: _Candidate) -> bool:
    mine, theirs = one.quotable.words, other.quotable.words
    return len(mine & theirs) >= _SAME * min(len(mine), len(theirs))


def _can_be_quoted(one: _Candidate, passages: Sequence[Passage]) -> bool:
    """Whether the id behind the sentence, and nothing in it, would be taken for a citation."""
    return one.text.count("`") % 2 == 0 and validate(one.cited, passages).text == one.cited


def _written(chosen: Sequence[_Candidate]) -> Extract:
    """Sentences in one paragraph; code stands by itself."""
    text = ""
    quotes: list[Quote] = []
    for one, before in zip(chosen, (None, *chosen), strict=False):
        if before is not None:
            text += "\n\n" if "code" in (one.quotable.kind, before.quotable.kind) else " "
        start = len(text)
        text += one.cited
        quotes.append(Quote(start, len(text), one.chunk_id, one.quotable.start, one.quotable.end))
    return Extract(text=text, quotes=tuple(quotes))
