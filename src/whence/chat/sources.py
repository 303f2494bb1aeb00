"""The sources of an answer: chunks and graph facts. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from whence.chat.graph import Fact, compose_facts
from whence.search import Hit
from whence.store.search_reads import FoundChunk

GRAPH_SOURCE = "LightRAG Answer"
"""The name by which clients recognise the source that is composed from the graph, or LightRAG's answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    id: str | None
    """The chunk's id, LightRAG's for a text that is in none of our documents; None for the graph's source and LightRAG's answer."""
    document_id: str | None = None
    chunk_index: int | None = None
    text: str
    name: str = ""
    """File name."""
    distance: float | None = None
    score: float | None = None
    """The hit's score, 0 to 1; None if the search did not find the chunk."""
    page: int | None = None
    """The page on which it begins."""
    start: int | None = None
    """Start in the document's text; None for chunks stored without offsets."""
    end: int | None = None
    document_version: int | None = None
    facts: tuple[Fact, ...] = ()
    """The facts of the graph's source."""

    @classmethod
    def of_hit(cls, hit: Hit) -> "Source":
        return replace(cls.of_chunk(hit.found, hit.distance), score=hit.score)

    @classmethod
    def of_chunk(cls, found: FoundChunk, distance: float | None) -> "Source":
        return cls(
            id=found.chunk["id"],
            document_id=found.chunk["document_id"],
            chunk_index=found.chunk["chunk_index"],
            text=found.chunk["content"],
            name=found.document_name,
            distance=None if distance is None else min(max(distance, 0.0), 1.0),
            page=found.page,
            start=found.start,
            end=found.end,
            document_version=found.chunk["document_version"],
        )

    @classmethod
    def of_graph(cls, facts: Sequence[Fact]) -> "Source":
        return cls(
            id=None, text=compose_facts(fact.text for fact in facts), name=GRAPH_SOURCE, facts=tuple(facts)
        )

    @classmethod
    def of_answer(cls, text: str) -> "Source":
        """The answer of a LightRAG server."""
        return cls(id=None, text=text, name=GRAPH_SOURCE)

    @property
    def is_graph(self) -> bool:
        """Whether it was composed, here or by LightRAG, and so cannot be cited."""
        return self.id is None

    @property
    def is_answer(self) -> bool:
        return self.id is None and not self.facts


def numbered(sources: Sequence[Source]) -> dict[str, int]:
    """The number by which the model cites each chunk."""
    return {chunk_id: number for number, chunk_id in enumerate((one.id for one in sources if one.id), 1)}
