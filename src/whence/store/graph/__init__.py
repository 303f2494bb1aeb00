"""The knowledge graph. `Graph` has one attribute for each group of operations.

Invariants: a property's value was set by a person or is the value of its newest claim; every claim belongs to an existing chunk;
every object and every relationship has at least one claim.
"""

from uuid import UUID

from whence.chunk_findings import ChunkExtraction
from whence.store.graph import impact, write_chunk
from whence.store.graph.conflicts import Conflicts, PropertyConflict
from whence.store.graph.curation import Curations
from whence.store.graph.impact import GraphImpact
from whence.store.graph.known_claims import KnownClaims
from whence.store.graph.ledger import Ledger
from whence.store.graph.mentions import ChunkMentions, Mention
from whence.store.graph.merges import Merges
from whence.store.graph.objects import Objects
from whence.store.graph.provenance import Provenance
from whence.store.graph.relationships import Relationships, Subgraph, Views
from whence.store.graph.removal import ClaimRemoval
from whence.store.graph.schema_moves import SchemaMoves
from whence.store.graph.suggestions import MergeSuggestion, SuggestedObject, Suggestions
from whence.store.graph.write_chunk import WrittenChunk
from whence.store.pool import Queries


class Graph:
    def __init__(self, queries: Queries) -> None:
        self._queries = queries
        self.objects = Objects(queries)
        self.relationships = Relationships(queries)
        self.provenance = Provenance(queries)
        self.mentions = ChunkMentions(queries)
        self.known_claims = KnownClaims(queries)
        self.ledger = Ledger(queries)
        self.merges = Merges(queries)
        self.conflicts = Conflicts(queries)
        self.suggestions = Suggestions(queries)
        self.curations = Curations(queries)
        self.removal = ClaimRemoval(queries)
        self.schema_moves = SchemaMoves(queries)
        self.views = Views(queries)

    async def write_chunk(self, extraction: ChunkExtraction) -> WrittenChunk:
        """Writes everything extracted from a chunk, except vectors, in one transaction.

        Earlier claims of the chunk about the same properties are replaced; its other claims stay, so reading it under a newer schema
        adds to its objects. In a larger transaction, call this once, after everything else but the end of the job: documents and
        jobs are locked before chunks and objects.
        """
        async with self._queries.joined() as tx:
            return await write_chunk.write(tx, extraction)

    async def add_sources(self, extraction: ChunkExtraction) -> None:
        """Writes confirmations by a chunk that was read before. Its readings do not change."""
        async with self._queries.joined() as tx:
            await write_chunk.write(tx, extraction, is_reading=False)

    async def deletion_impact(self, project_id: UUID, ident: UUID, *, limit: int = 100) -> GraphImpact:
        """`ident` is the id of a document or a chunk."""
        return await impact.deletion_impact(self._queries, project_id, ident, limit=limit)


__all__ = [
    "Graph",
    "GraphImpact",
    "Mention",
    "MergeSuggestion",
    "PropertyConflict",
    "Subgraph",
    "SuggestedObject",
    "WrittenChunk",
]
