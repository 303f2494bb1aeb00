"""All SQL. `Store` has one attribute for each group of tables."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from whence.store.answers import Answers, Conversations
from whence.store.audit import Audit
from whence.store.backgrounds import Backgrounds
from whence.store.bundle_rows import BundleRows
from whence.store.chunks import Chunks, Totals
from whence.store.consistency import Consistency
from whence.store.documents import Documents
from whence.store.evidence import EvidenceReads
from whence.store.graph import Graph
from whence.store.inventory import Inventory
from whence.store.jobs import Jobs
from whence.store.keys import Keys
from whence.store.lexical import Lexical
from whence.store.lightrag import Lightrag
from whence.store.pool import Database, Queries
from whence.store.projects import Projects
from whence.store.queue import Queue
from whence.store.schemas import Schemas
from whence.store.search_reads import Hits
from whence.store.staging import Staging
from whence.store.texts import Texts
from whence.store.vector_search import Nearest
from whence.store.vectors import Vectors
from whence.store.versions import Versions


class Store:
    def __init__(self, queries: Queries, totals: Totals | None = None) -> None:
        self._queries = queries
        self._totals = totals or Totals()
        self.projects = Projects(queries)
        self.keys = Keys(queries)
        self.audit = Audit(queries)
        self.documents = Documents(queries)
        self.texts = Texts(queries)
        self.inventory = Inventory(queries)
        self.consistency = Consistency(queries)
        self.jobs = Jobs(queries)
        self.chunks = Chunks(queries, self._totals)
        self.vectors = Vectors(queries)
        self.lexical = Lexical(queries)
        self.hits = Hits(queries)
        self.lightrag = Lightrag(queries)
        self.nearest = Nearest(queries)
        self.backgrounds = Backgrounds(queries)
        self.schemas = Schemas(queries)
        self.graph = Graph(queries)
        self.evidence = EvidenceReads(queries)
        self.staging = Staging(queries)
        self.conversations = Conversations(queries)
        self.answers = Answers(queries)
        self.versions = Versions(queries)
        self.bundle_rows = BundleRows(queries)
        self.queue = Queue(queries)

    @classmethod
    @asynccontextmanager
    async def open(cls, dsn: str, *, size: int = 10) -> AsyncIterator["Store"]:
        async with Database.open(dsn, size=size) as database:
            yield cls(database)

    @asynccontextmanager
    async def transaction(self, *, patient: bool = False) -> AsyncIterator["Store"]:
        """A store whose statements run in one transaction.

        `patient` raises the timeouts to 10 minutes, for work on a whole document or project.
        """
        async with self._queries.transaction() as queries:
            if patient:
                await queries.be_patient()
            yield Store(queries, self._totals)


__all__ = ["Store"]
