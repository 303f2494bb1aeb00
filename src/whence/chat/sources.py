"""The sources of an answer: chunks and graph facts. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from whence.chat.graph import HEADING, Fact, composed
from whence.chat.passages import Passage
from whence.chat.prompt import Excerpt
from whence.search import Hit
from whence.store.search_reads import FoundChunk
from whence.text.prompt_escaping import defuse_citations

GRAPH_SOURCE = "LightRAG Answer"
"""The name by which clients recognise the source that is composed from the graph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    id: str | None
    """The chunk's id; None for the graph's source, as are the next two fields."""
    document_id: str | None
    chunk_index: int | None
    text: str
    name: str
    """File name."""
    distance: float | None
    score: float | None = None
    """The hit's score, 0 to 1; None if the search did not find the chunk."""
    page: int | None = None
    """The page on which it begins."""
    start: int | None = None
    """Start in the document's text; None for chunks stored without offsets."""
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
        )

    @classmethod
    def of_graph(cls, facts: Sequence[Fact]) -> "Source":
        return cls(
            id=None,
            document_id=None,
            chunk_index=None,
            text=composed(facts),
            name=GRAPH_SOURCE,
            distance=None,
            facts=tuple(facts),
        )

    @property
    def is_graph(self) -> bool:
        return self.document_id is None

    @property
    def passage(self) -> Passage:
        """The form for validating and scoring citations."""
        return Passage(
            id=self.id,
            text=self.text,
            document_id=self.document_id,
            start_offset=self.start or 0,
            page=self.page,
            chunk_index=self.chunk_index,
        )

    def excerpt(self, numbers: Mapping[str, int]) -> Excerpt:
        """The form for the prompt. `numbers` are the passage numbers to cite for graph facts."""
        if not self.is_graph:
            return Excerpt(text=self.text, name=self.name, page=self.page)
        lines = [HEADING, *(_with_number(fact, numbers) for fact in self.facts)]
        return Excerpt(text="\n".join(lines), name="knowledge graph", composed=True)


def numbered(sources: Sequence[Source]) -> dict[str, int]:
    """The number by which the model cites each chunk."""
    return {chunk_id: number for number, chunk_id in enumerate((one.id for one in sources if one.id), 1)}


def _with_number(fact: Fact, numbers: Mapping[str, int]) -> str:
    said, number = defuse_citations(fact.text), numbers.get(fact.chunk_id or "")
    return said if number is None else f"{said} [{number}]"
