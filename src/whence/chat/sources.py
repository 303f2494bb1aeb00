"""What an answer is made from: chunks that were found, and what the graph has to say. Pure."""

from dataclasses import dataclass

from whence.chat.fences import Excerpt
from whence.chat.passages import Passage
from whence.search import Hit

GRAPH_SOURCE = "LightRAG Answer"
"""By this name clients know a source that was put together and stands in no document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    id: str | None
    """The chunk's; None for a text that cannot be cited. So the next fields."""
    document_id: str | None
    chunk_index: int | None
    text: str
    name: str
    """Of the file."""
    distance: float | None
    page: int | None = None
    """The page that it begins on."""
    start: int | None = None
    """Where it begins in the document's text; None of chunks that were stored without."""

    @classmethod
    def of_hit(cls, hit: Hit) -> "Source":
        return cls(
            id=hit.chunk["id"],
            document_id=hit.chunk["document_id"],
            chunk_index=hit.chunk["chunk_index"],
            text=hit.chunk["content"],
            name=hit.found.document_name,
            distance=hit.distance,
            page=hit.found.page,
            start=hit.found.start,
        )

    @classmethod
    def of_graph(cls, text: str) -> "Source":
        return cls(id=None, document_id=None, chunk_index=None, text=text, name=GRAPH_SOURCE, distance=None)

    @property
    def is_graph(self) -> bool:
        return self.document_id is None

    @property
    def passage(self) -> Passage:
        """As the answer is held against it."""
        return Passage(
            id=self.id,
            text=self.text,
            document_id=self.document_id,
            start_offset=self.start or 0,
            page=self.page,
        )

    @property
    def excerpt(self) -> Excerpt:
        """As a model is shown it."""
        name = "knowledge graph" if self.is_graph else self.name
        return Excerpt(text=self.text, name=name, page=self.page, composed=self.is_graph)
