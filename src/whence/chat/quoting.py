"""Sentences, rows and code that were chosen from passages, written as an answer that quotes. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from whence.chat.citing import validate
from whence.chat.passages import Passage, Quote
from whence.chat.quotable import Quotable


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    text: str
    """Valid as it is."""
    quotes: tuple[Quote, ...]
    """All that it says."""


class Candidate(NamedTuple):
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
    def size(self) -> int:
        head = self.quotable.head
        return len(self.text) + (len(head.text) if head else 0)


def as_quoted(one: Candidate, passages: Sequence[Passage]) -> Candidate | None:
    """As it can be quoted: a row without its head, if there is no other way."""
    headless = one._replace(quotable=one.quotable._replace(head=None))
    return next((form for form in (one, headless) if _can_be_quoted(form, passages)), None)


def _can_be_quoted(one: Candidate, passages: Sequence[Passage]) -> bool:
    """Whether the id behind the sentence, and nothing in it, would be taken for a citation."""
    return one.text.count("`") % 2 == 0 and is_cited(written([one]), passages)


def is_cited(extract: Extract, passages: Sequence[Passage]) -> bool:
    """Whether it is valid, and cites behind each quote and nowhere else."""
    found = validate(extract.text, passages)
    ends = [quote.response_end for quote in extract.quotes]
    return found.text == extract.text and [one.end for one in found.cited] == ends


def written(chosen: Sequence[Candidate]) -> Extract:
    """Sentences in one paragraph; rows have lines of their own, below the head of their table; code stands by itself."""
    text = ""
    quotes: list[Quote] = []
    heads: set[tuple[str, int]] = set()
    for one, before in zip(chosen, (None, *chosen), strict=False):
        text += _gap(one, before) if before is not None else ""
        head = one.quotable.head
        if head is not None and (one.chunk_id, head.start) not in heads:
            heads.add((one.chunk_id, head.start))
            start = len(text)
            text += f"{head.text} [{one.chunk_id}]"
            quotes.append(Quote(start, len(text), one.chunk_id, head.start, head.end))
            text += "\n"
        start = len(text)
        gap = "\n" if one.quotable.kind == "code" else " "  # behind a fence nothing may stand
        text += f"{one.text}{gap}[{one.chunk_id}]"
        quotes.append(Quote(start, len(text), one.chunk_id, one.quotable.start, one.quotable.end))
    return Extract(text=text, quotes=tuple(quotes))


def _gap(one: Candidate, before: Candidate) -> str:
    if "code" in (one.quotable.kind, before.quotable.kind):
        return "\n\n"
    return "\n" if one.quotable.head or before.quotable.head else " "
