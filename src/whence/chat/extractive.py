"""The answerer that needs no model: it quotes the sentences that have most of the question's words.

Each is followed by the id of its passage, goes through the same validator as what a model writes, and knows where it stands.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from whence.chat.asking import LEAST, Asking
from whence.chat.forms import SUM
from whence.chat.kin import KIN
from whence.chat.passages import Passage
from whence.chat.quotable import Quotable, quotables
from whence.chat.quoting import Candidate, Extract, as_quoted, is_cited, written
from whence.chat.words import is_alone, meanings, rarities, words
from whence.search import asks

MAX_SENTENCES = 3
MAX_CHARACTERS = 700

# What a word of the question counts by where it stands; one in the sentence itself counts 1.
_FROM_QUESTION = 0.8  # to which the sentence replies
_FROM_HEAD = 0.6  # of its table
_FROM_TITLE = 0.3
_FROM_PASSAGE = 0.23
_FROM_RANK = 0.1
_UNEXPECTED = 0.7  # what all of it counts where the question wants a figure and there is none
_NEAR_BEST = 0.65  # a further sentence has at least this share of what the best one has of the question, and adds to it,
_AS_GOOD = 0.85  # or this share,
_NEW = 0.3  # or this share of the question that none has yet
_SOME = 0.1
_WHOLE = 0.6  # share of the question from which a sentence needs no other to go on
_PLAIN_COLUMNS = 2
_SHORT = 4  # words
_SHORT_COUNTS = 0.5
_FITTING_COUNTS = 1.15  # what a sentence counts that has the form of an answer
_SAME = 0.8  # share of common words from which two sentences say the same
_TORN_COUNTS = 0.5  # what the rest of a sentence counts, of which the chunk before has the beginning
_LEADS_NOWHERE = 0.5  # what a sentence counts that leads to what is not there
_NEXT_CHUNK = 16  # characters at most between the last sentence of a chunk and the first of the next

_WITHOUT = 0.5  # share of the question from which a sentence may be without the very word for what is wanted
_MARKS = ".,;:!?()[]*_`'\"“”"
_POSSESSIVE = re.compile("['’]s?$")
_COSTS = frozenset(words("charge cost fee price"))
_TORN = re.compile(r"\s*[a-zà-öø-ÿ,;)]")  # how no sentence begins
_NOTHING: frozenset[str] = frozenset()
_BETWEEN = re.compile(r"[\s*+•‣◦\d.()-]*")  # a sentence and the item behind it
_GOES_ON = re.compile(r"(?:It|They|He|She|This|That|These|Those|Its|Their|His|Her|There)\b")
_REFERS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|her|this|that|these|those|there|here|we|us|our|you|your|I|my)\b"
    r"|^\W*(?:the \w+(?: is| are| was| were)\b|\w+:)",
    re.IGNORECASE,
)


class _Shown(NamedTuple):
    """The question, and all that could answer it."""

    asking: Asking
    asked: frozenset[str]
    """Its words."""
    passages: Sequence[Passage]
    quotables: Sequence[Sequence[Quotable]]
    """Of each passage."""
    around: Sequence[frozenset[str]]
    """The words of each passage."""
    weights: Mapping[str, float]
    """Of the words of the question."""
    whole: float

    @classmethod
    def of(cls, question: str, before: str, passages: Sequence[Passage]) -> "_Shown":
        asking = Asking.of(question, before)
        asked = asking.words
        alone = frozenset(filter(is_alone, asked))
        kin = {word: KIN[word] for word in asked if word in KIN}
        parts = [[one.having(alone, kin) for one in quotables(passage.text)] for passage in passages]
        if asking.names:
            ordinary = frozenset(name for name in asking.names.values() if _is_ordinary(name, passages))
            parts = [[_with_names(one, asking.names, ordinary) for one in passage] for passage in parts]
        if costs := asked & _COSTS:  # a sum of money answers what something costs
            parts = [
                [one._replace(words=one.words | costs) if SUM.search(one.text) else one for one in passage]
                for passage in parts
            ]
        around = [_NOTHING.union(*(one.words | one.lent for one in passage)) for passage in parts]
        rarity = rarities(one.words for passage in parts for one in passage)
        told = meanings(f"{question}\n{before}")
        weights = {word: rarity[word] * told.get(word, 1.0) * n for word, n in asking.counts.items()}
        whole = sum(weight for word, weight in weights.items() if word in asking.own or not asking.own)
        return cls(asking, asked, passages, parts, around, weights, whole)

    def share(self, found: frozenset[str]) -> float:
        """How much of the question these words are."""
        return sum(self.weights[word] for word in self.asked & found) / self.whole

    def direct(self, one: Quotable) -> float:
        share = self.share(one.words)
        if lent := self.asked & one.lent - one.words:
            share += self._lends(one) * self.share(lent)
        return share if self.asking.may_be_answered_by(one.text) else _UNEXPECTED * share

    def _lends(self, one: Quotable) -> float:
        """A title lends the more the more of it was asked for: what stands under "Fines" is about fines."""
        if one.kind == "reply":
            return _FROM_QUESTION
        if one.kind == "row":
            return _FROM_HEAD
        return _FROM_TITLE + (_FROM_QUESTION - _FROM_TITLE) * len(one.lent & self.asked) / len(one.lent)


def _is_ordinary(name: str, passages: Sequence[Passage]) -> bool:
    """Whether it is also written as a word like others: who speaks of a window may begin a sentence with "Windows"."""
    word = re.compile(rf"(?<=\s){name[:-1].lower()}s?(?=[\s.,;:?!)])")
    return any(word.search(passage.text) for passage in passages)


def _with_names(one: Quotable, names: Mapping[str, str], ordinary: frozenset[str]) -> Quotable:
    """Without what only looks like one of the names."""
    found = one.words & names.keys()
    if not found:
        return one
    first, *others = (_POSSESSIVE.sub("", word.strip(_MARKS)) for word in one.text.split())
    written = {*others, first} if first not in ordinary else {*others}  # the first has a capital in any case
    return one._replace(words=one.words - {word for word in found if names[word] not in written})


def extract(question: str, passages: Sequence[Passage], *, before: str = "") -> Extract | None:
    """The sentences that answer, in reading order, each with its citation; None where none does.

    Passages come in the order of the search, the best first. What was composed is not quoted. `before` are the questions that
    this one goes on from.
    """
    citable = [passage for passage in passages if passage.id is not None]
    asked = " ".join(asks.asking(question)) if len(question) > asks.LONG else ""
    return (_extracted(asked, before, citable) if asked else None) or _extracted(question, before, citable)


def _extracted(question: str, before: str, passages: Sequence[Passage]) -> Extract | None:
    shown = _Shown.of(question, before, passages)
    if not shown.whole:
        return None
    candidates = sorted(_candidates(shown), key=lambda one: (-one.score, one.place))
    chosen = _chosen(shown, candidates)
    if chosen:
        chosen = _with_following(shown, chosen)
    if all(shown.asking.cannot_be_answered_by(one.text) for one in chosen):
        return None
    together = written(sorted(chosen, key=lambda one: one.place))
    if not is_cited(together, shown.passages):
        together = written(chosen[:1])  # beside others something in it would be taken for a citation
    return together


def _candidates(shown: _Shown) -> Iterator[Candidate]:
    documents = [passage.document_id for passage in shown.passages]
    order = {document: place for place, document in reversed([*enumerate(documents)])}
    for number, (passage, parts) in enumerate(zip(shown.passages, shown.quotables, strict=True), 1):
        rank = _FROM_RANK * (1 - (number - 1) / len(shown.passages))
        around = shown.asked & shown.around[number - 1]
        for position, one in enumerate(parts):
            if not _speaks(shown, one):
                continue
            direct = shown.direct(one)
            share = direct + _FROM_PASSAGE * shown.share(around - one.words - one.lent)
            if share >= LEAST:
                place = (order[passage.document_id], passage.start_offset + one.start)
                quotable = one if _needs_head(shown, one) else one._replace(head=None)
                found = Candidate(number, passage.id or "", place, position, quotable, direct, share + rank)
                yield found._replace(score=found.score * _counts(shown, found))


def _needs_head(shown: _Shown, one: Quotable) -> bool:
    """A term and what it means are understood without: "word · meaning" says nothing that is asked."""
    head = one.head
    return head is not None and (
        head.columns > _PLAIN_COLUMNS or not shown.asked.isdisjoint(head.words - one.words)
    )


def _is_torn(shown: _Shown, one: Candidate) -> bool:
    """Whether its passage begins within it."""
    passage = shown.passages[one.number - 1]
    if one.position or one.quotable.kind != "sentence" or not passage.start_offset:
        return False
    return not passage.text[: one.quotable.start].strip() and _TORN.match(passage.text) is not None


def _counts(shown: _Shown, one: Candidate) -> float:
    if _is_torn(shown, one):
        return _TORN_COUNTS
    if one.quotable.leads:
        return _LEADS_NOWHERE if _next(shown, one) is None else 1
    if _is_slight(shown, one.quotable):
        return _SHORT_COUNTS
    return _FITTING_COUNTS if shown.asking.is_met_by(one.text) else 1


def _speaks(shown: _Shown, one: Quotable) -> bool:
    """Whether it speaks of what is asked, itself or under such a title, and not only what stands around it."""
    if one.kind == "code" and not shown.asking.code:
        return False
    about = shown.asking.own or shown.asked
    return not (about.isdisjoint(one.words) and about.isdisjoint(one.lent))


def _is_slight(shown: _Shown, one: Quotable) -> bool:
    """Hardly a sentence, or a title; but "In 1921." may be all that is wanted."""
    if one.kind != "title" and (one.kind != "sentence" or len(one.words) >= _SHORT):
        return False
    if one.kind == "sentence" and 2 * len(one.words & shown.asked) >= len(one.words):
        return False
    return not (shown.asking.is_particular and shown.asking.may_be_answered_by(one.text))


def _chosen(shown: _Shown, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The best first."""
    chosen: list[Candidate] = []
    for one in candidates:
        if len(chosen) == MAX_SENTENCES:
            break
        fits = _may_follow(shown, one, chosen) if chosen else _suffices(shown, one)
        quoted = as_quoted(one, shown.passages) if fits else None
        if quoted is not None:
            chosen.append(quoted)
    return chosen


def _suffices(shown: _Shown, one: Candidate) -> bool:
    """Whether it can stand alone. The passage of what is wanted of something must speak of that, too."""
    if one.quotable.kind == "title" and one.direct < _WHOLE:
        return False
    if shown.asking.wanted and one.direct < _WITHOUT and shown.asking.wanted.isdisjoint(_said(one)):
        return False
    if shown.asking.topic and shown.asking.topic.isdisjoint(shown.around[one.number - 1]):
        return False
    if _is_of_another(shown, one):
        return False
    return one.direct >= shown.asking.enough


def _is_of_another(shown: _Shown, one: Candidate) -> bool:
    """Whether it has what is wanted, but of something else than what is asked about: who was born, and not Napoleon."""
    topic, said = shown.asking.topic, _said(one)
    if not topic or one.quotable.kind != "sentence" or not topic.isdisjoint(said):
        return False
    return not (_REFERS_BACK.search(one.text) or one.quotable.words <= shown.asked)


def _may_follow(shown: _Shown, one: Candidate, chosen: Sequence[Candidate]) -> bool:
    if _is_torn(shown, one) or not (_has_room(one, chosen) and _adds(shown, one, chosen)):
        return False
    if shown.asking.is_met_by(chosen[0].text) and not shown.asking.is_met_by(one.text):
        return False
    return not one.quotable.leads or _leads_to_any(shown, one, chosen)


def _leads_to_any(shown: _Shown, one: Candidate, chosen: Sequence[Candidate]) -> bool:
    following = _next(shown, one)
    return following is not None and any(other.place == following.place for other in chosen)


def _adds(shown: _Shown, one: Candidate, chosen: Sequence[Candidate]) -> bool:
    """Whether it is about as good as the best, the more so where it has of the question what none has; and was not said."""
    had = frozenset[str]().union(*(_said(other) for other in chosen))
    new, nearness = shown.share(one.quotable.words - had), one.direct / chosen[0].direct
    adds = new >= _SOME or _replies(shown, one, chosen[0])
    good = new >= _NEW or nearness >= (_NEAR_BEST if adds else _AS_GOOD)
    same = one.place[0] == chosen[0].place[0] or _said(one) & _said(chosen[0]) & shown.asked
    # What has other words of the question, in another document, is hardly about the same.
    if not (good and same) or any(_says_the_same(one, other) for other in chosen):
        return False
    return shown.asking.several or not _is_other_half(shown, one, chosen[0])


def _is_other_half(shown: _Shown, one: Candidate, best: Candidate) -> bool:
    """Whether both have a part of the question and no word of it in common: then they speak of two things.

    What comes right behind the best, or refers back, goes on about the same; rows of a table have its head in common.
    """
    if one.quotable.kind == best.quotable.kind == "row":
        return False
    if shown.asked & one.quotable.words & best.quotable.words or _REFERS_BACK.search(one.text):
        return False
    return not (one.number == best.number and abs(one.position - best.position) == 1)


def _replies(shown: _Shown, one: Candidate, best: Candidate) -> bool:
    """Whether it has the figure that is wanted, and the best has none."""
    wanted = shown.asking.may_be_answered_by
    return wanted(one.text) and not wanted(best.text)


def _said(one: Candidate) -> frozenset[str]:
    return one.quotable.words | one.quotable.lent


def _next(shown: _Shown, one: Candidate) -> Candidate | None:
    """What comes right behind it: in its passage, or in that of the next chunk."""
    its = shown.quotables[one.number - 1]
    if one.position + 1 < len(its):
        return _at(shown, one, one.number, one.position + 1)
    passage = shown.passages[one.number - 1]
    end = passage.start_offset + one.quotable.end
    for number, (other, parts) in enumerate(zip(shown.passages, shown.quotables, strict=True), 1):
        if other.document_id == passage.document_id and other.start_offset > passage.start_offset:
            for position, part in enumerate(parts):
                if 0 <= other.start_offset + part.start - end <= _NEXT_CHUNK:
                    return _at(shown, one, number, position)
    return None


def _at(shown: _Shown, one: Candidate, number: int, position: int) -> Candidate:
    """What stands there, in the same document."""
    passage, found = shown.passages[number - 1], shown.quotables[number - 1][position]
    place = (one.place[0], passage.start_offset + found.start)
    return one._replace(
        number=number, chunk_id=passage.id or "", place=place, position=position, quotable=found
    )


def _belongs(shown: _Shown, one: Candidate, following: Candidate) -> bool:
    """A sentence that goes on about the same, where the first only begins to answer; what a sentence leads to."""
    is_next = one.number != following.number or _BETWEEN.fullmatch(
        shown.passages[one.number - 1].text, one.quotable.end, following.quotable.start
    )
    if following.quotable.kind == "code":
        is_wanted = shown.asking.code or one.quotable.leads
        return is_wanted and one.quotable.kind != "code" and bool(is_next)
    if one.quotable.leads:
        return following.quotable.kind != "row" and bool(is_next)
    return not _answers(shown, one) and bool(_GOES_ON.match(following.text))


def _with_following(shown: _Shown, chosen: list[Candidate]) -> list[Candidate]:
    """What the best leads to comes along, also in the place of weaker ones; a sentence that goes on where there is room."""
    best = chosen[0]
    following = _next(shown, best)
    if following is None or not _belongs(shown, best, following):
        return chosen
    if any(other.place == following.place for other in chosen):
        return chosen
    quoted = as_quoted(following, shown.passages)
    if quoted is None:
        return chosen
    following = quoted
    kept = chosen
    if best.quotable.leads or following.quotable.kind == "code":
        while len(kept) > 1 and not _fits(following, kept):
            kept = kept[:-1]
    return [*kept, following] if _fits(following, kept) else chosen


def _fits(one: Candidate, chosen: Sequence[Candidate]) -> bool:
    return len(chosen) < MAX_SENTENCES and _has_room(one, chosen)


def _answers(shown: _Shown, one: Candidate) -> bool:
    return one.direct >= _WHOLE and shown.asking.may_be_answered_by(one.text)


def _has_room(one: Candidate, chosen: Sequence[Candidate]) -> bool:
    return one.size + sum(other.size for other in chosen) <= MAX_CHARACTERS


def _says_the_same(one: Candidate, other: Candidate) -> bool:
    mine, theirs = one.quotable.words, other.quotable.words
    return len(mine & theirs) >= _SAME * min(len(mine), len(theirs))
