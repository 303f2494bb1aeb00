"""The texts that an answer is made from and that its citations refer to."""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A text that the model saw. Passages with an id are numbered from 1, in order."""

    id: str | None
    """The chunk's id; None for a composed text, which has no number and cannot be cited."""
    text: str
    document_id: str | None = None
    start_offset: int = 0
    """Start of the text in its document, in code points."""
    page: int | None = None
    """The page on which it begins."""
    chunk_index: int | None = None


class Quote(NamedTuple):
    """A sentence of an answer, copied verbatim from a passage."""

    response_start: int
    response_end: int
    """Includes the citation."""
    chunk_id: str
    start: int
    """Start and end in the passage."""
    end: int
