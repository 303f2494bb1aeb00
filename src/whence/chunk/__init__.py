"""Splits text into chunks. Pure functions of the text.

    base          options, results, metadata, the strategy protocol, merging of short pieces
    boundaries    sentence ends                  graphemes   cuts that split no letter or emoji
    periods       the meaning of a full stop     markdown    headers, code, tables
    character     fixed cuts
    sentence      whole sentences
    paragraph     whole paragraphs and sections
    registry      strategies by name             preview     the chunks of any strategy, verified

A new strategy is one new file here and one name in `registry`; another distribution adds one by an entry point.
"""

from whence.chunk.base import BoundaryType, ChunkingOptions, ChunkingStrategy, ChunkResult, chunk_metadata
from whence.chunk.boundaries import sentences
from whence.chunk.character import CharacterStrategy
from whence.chunk.paragraph import ParagraphStrategy
from whence.chunk.preview import checked_chunks, sentence_end_share
from whence.chunk.registry import DEFAULT_STRATEGY, strategy
from whence.chunk.sentence import SentenceStrategy

__all__ = [
    "DEFAULT_STRATEGY",
    "BoundaryType",
    "CharacterStrategy",
    "ChunkResult",
    "ChunkingOptions",
    "ChunkingStrategy",
    "ParagraphStrategy",
    "SentenceStrategy",
    "checked_chunks",
    "chunk_metadata",
    "sentence_end_share",
    "sentences",
    "strategy",
]
