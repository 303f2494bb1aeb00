"""Text -> chunks. Pure functions of the text: nothing is read, written or remembered.

    base          what a strategy takes and gives
    boundaries    where sentences end            graphemes   where characters end
    periods       what a full stop means         pieces      joining what is too short
    markdown      where blocks end
    character     fixed cuts
    sentence      whole sentences
    paragraph     whole paragraphs and sections
    registry      strategies by name             checked     chunks by any of them, made sure of
    preview       how a text would be chunked    metadata    what is stored beside a chunk
    tables        rows, and the head of a table that was cut

A new strategy is one new file here and one name in `registry`; one from another distribution needs an entry point.
"""

from whence.chunk.base import BoundaryType, ChunkingOptions, ChunkingStrategy, ChunkResult
from whence.chunk.boundaries import Sentence, SentenceRule, sentences
from whence.chunk.character import CharacterStrategy
from whence.chunk.checked import checked_chunks
from whence.chunk.metadata import chunk_metadata
from whence.chunk.paragraph import ParagraphStrategy
from whence.chunk.preview import Preview, Summary, preview
from whence.chunk.registry import DEFAULT_STRATEGY, ENTRY_POINT_GROUP, strategies, strategy
from whence.chunk.sentence import SentenceStrategy
from whence.text.tables import table_heads

__all__ = [
    "DEFAULT_STRATEGY",
    "ENTRY_POINT_GROUP",
    "BoundaryType",
    "CharacterStrategy",
    "ChunkResult",
    "ChunkingOptions",
    "ChunkingStrategy",
    "ParagraphStrategy",
    "Preview",
    "Sentence",
    "SentenceRule",
    "SentenceStrategy",
    "Summary",
    "checked_chunks",
    "chunk_metadata",
    "preview",
    "sentences",
    "strategies",
    "strategy",
    "table_heads",
]
