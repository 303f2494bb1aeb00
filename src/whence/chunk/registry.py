"""Chunking strategies by name: ours, and those of installed distributions.

A distribution offers one by an entry point in the group `whence.chunking`. The entry point has the strategy's name;
its object is the strategy, or a class that needs no arguments.
"""

from importlib.metadata import entry_points

from whence.chunk.base import ChunkingStrategy, refused
from whence.chunk.character import CharacterStrategy
from whence.chunk.paragraph import ParagraphStrategy
from whence.chunk.sentence import SentenceStrategy
from whence.errors import StrategyError
from whence.offered import load_offered

ENTRY_POINT_GROUP = "whence.chunking"
DEFAULT_STRATEGY = "character"

_OURS: dict[str, ChunkingStrategy] = {
    strategy.name: strategy for strategy in (CharacterStrategy(), SentenceStrategy(), ParagraphStrategy())
}
_FOR_CODE: dict[str, ChunkingStrategy] = {"paragraph": ParagraphStrategy(code=True)}


def strategy(name: str = DEFAULT_STRATEGY, *, code: bool = False) -> ChunkingStrategy:
    """The strategy of this name, in its variant for text or for source code."""
    if isinstance(name, str) and name in _OURS:
        return _FOR_CODE.get(name, _OURS[name]) if code else _OURS[name]
    # Looked up on every call. Other distributions cannot replace ours.
    found = {one.name: one for one in entry_points(group=ENTRY_POINT_GROUP) if one.name not in _OURS}
    if not isinstance(name, str) or name not in found:
        raise refused("chunkingStrategy", name, f"one of {', '.join([*_OURS, *sorted(found)])}")
    made: ChunkingStrategy = load_offered(found[name], ChunkingStrategy, "chunking strategy", StrategyError)
    return made
