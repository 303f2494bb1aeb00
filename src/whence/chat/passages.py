"""What an answer is made from, and what its citations point at."""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A text that the model was shown. Those that can be cited are numbered from 1, in the order they are given."""

    id: str | None
    """The chunk's, or None for a text that was composed: it has no number either."""
    text: str
    document_id: str | None = None
    start_offset: int = 0
    """Where the text begins in its document, in code points."""
    page: int | None = None
    """The page that it begins on."""
    chunk_index: int | None = None
    """The chunk's place in its document."""


class Quote(NamedTuple):
    """A sentence of an answer that was taken from a passage as it is."""

    response_start: int
    response_end: int
    """Its citation included."""
    chunk_id: str
    start: int
    end: int
    """Where it stands in the passage."""
