"""The composition root: `async with App.open(settings) as app`."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from whence.background import BackgroundWork
from whence.errors import WhenceError
from whence.parse import Limits, Parser
from whence.providers import ChatModel, Embedders, open_chat_model, open_reranker
from whence.search import Search
from whence.settings import Settings
from whence.store import Store
from whence.store.migrations import status, upgrade
from whence.store.originals import Originals
from whence.store.postgres import KeptPostgres
from whence.store.storage import Storage

# The rest is loaded where it is needed: a command that only searches does without.
if TYPE_CHECKING:
    from whence.chat import Answerer, Chat
    from whence.conversations import ConversationService
    from whence.evidence import Evidence
    from whence.extract.curating import Curator
    from whence.extract.extractors import Extractor, Extractors
    from whence.extract.run import Extraction
    from whence.extract.scheduling import Orders
    from whence.ingest import Inbox, Ingest, Receiver, Remover, Visitor
    from whence.models import ExtractorName, Job


@dataclass(frozen=True, kw_only=True)
class App:
    """The services of an installation. Without slots: some services are made when they are first used, and kept."""

    settings: Settings
    dsn: str
    store: Store
    storage: Storage
    parser: Parser
    page_reader: Parser
    previewer: Parser
    """A parser of its own with small limits, so that previews never hold up ingest."""
    embedders: Embedders
    search: Search
    background: BackgroundWork
    chat_model: ChatModel | None
    """None if no endpoint is configured."""

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: Settings) -> AsyncIterator["App"]:
        """Start the database or connect to it, migrate it, and open all services."""
        async with AsyncExitStack() as stack:
            background = BackgroundWork()
            dsn = await stack.enter_async_context(database(settings, background))
            await upgrade(dsn)
            store = await stack.enter_async_context(Store.open(dsn, size=settings.pool_size))
            await store.projects.ensure_default()
            embedders = await stack.enter_async_context(Embedders(settings))
            chat_model = open_chat_model(settings)
            if chat_model is not None:
                stack.push_async_callback(chat_model.aclose)
            memory = settings.search_memory_mb * 1024 * 1024
            reranker = open_reranker(settings)
            if reranker is not None:
                stack.push_async_callback(reranker.aclose)
            search = Search(
                store,
                embedders,
                memory=memory,
                ef_search=settings.ef_search,
                background=background,
                reranker=reranker,
            )
            stack.push_async_callback(search.aclose)
            originals = Originals.open(settings.storage_url, settings.data_dir)
            limits = Limits.of(settings)
            if settings.answerer is not None:
                choose_answerer(settings, chat_model)  # raises SettingsError
            yield cls(
                settings=settings,
                dsn=dsn,
                store=store,
                storage=Storage(originals, store.inventory),
                parser=await stack.enter_async_context(Parser(limits)),
                page_reader=await stack.enter_async_context(Parser(replace(limits, processes=1))),
                previewer=await stack.enter_async_context(Parser(Limits.of_previews(settings))),
                embedders=embedders,
                search=search,
                background=background,
                chat_model=chat_model,
            )

    @property
    def originals(self) -> Originals:
        return self.storage.originals

    @cached_property
    def inbox(self) -> "Inbox":
        from whence.ingest import Inbox

        return Inbox(self.settings.data_dir / "incoming", limit=self.settings.max_upload_mb * 1024 * 1024)

    @cached_property
    def evidence(self) -> "Evidence":
        from whence.evidence import Evidence

        return Evidence(self.store, self.originals, self.page_reader)

    @cached_property
    def answerer(self) -> "Answerer":
        return choose_answerer(self.settings, self.chat_model)

    @cached_property
    def other_extractors(self) -> "Mapping[ExtractorName, Extractor]":
        """Extractors that need no endpoint: the rules, and those from other distributions."""
        from whence.extract.extractors import offered_extractors
        from whence.offline.extractor import RulesExtractor

        return {"rules": RulesExtractor(), **offered_extractors()}

    @property
    def chat(self) -> "Chat":
        from whence.chat import Chat
        from whence.lightrag import LightragServers

        verify = self.settings.verify == "on"
        return Chat(
            self.store,
            self.search,
            self.answerer,
            judge=self.chat_model,
            verify=verify,
            evidence=self.evidence,
            lightrag=LightragServers.of(self.settings),
        )

    @property
    def conversations(self) -> "ConversationService":
        from whence.conversations import ConversationService

        return ConversationService(self.store, self.chat)

    @property
    def receiver(self) -> "Receiver":
        from whence.ingest import Receiver

        return Receiver(self.store, self.storage)

    @property
    def visitor(self) -> "Visitor":
        from whence.fetch import FetchRules
        from whence.ingest import Visitor

        return Visitor(self.receiver, self.inbox, FetchRules.of(self.settings))

    @property
    def remover(self) -> "Remover":
        from whence.ingest import Remover

        return Remover(self.store, self.storage)

    @property
    def ingest(self) -> "Ingest":
        from whence.ingest import Ingest, Room
        from whence.search.background import Calibrator

        # Large texts in memory may together have as many characters as the largest single text.
        room = Room(Limits.of(self.settings).text)
        return Ingest(
            self.store,
            self.storage,
            self.parser,
            self.embedders,
            self.orders,
            room,
            Calibrator(self.store, self.embedders),
        )

    @property
    def orders(self) -> "Orders":
        from whence.extract.scheduling import Orders, Prices

        return Orders(self.store, self.extractors, Prices.of(self.settings))

    @property
    def extraction(self) -> "Extraction":
        from whence.extract.run import Extraction
        from whence.extract.scheduling import Prices

        return Extraction(
            store=self.store,
            embedders=self.embedders,
            search=self.search,
            extractors=self.extractors,
            prices=Prices.of(self.settings),
        )

    @property
    def curator(self) -> "Curator":
        from whence.extract.curating import Curator

        return Curator(self.store, self.embedders)

    @property
    def extractors(self) -> "Extractors":
        from whence.extract.extractors import Extractors, ModelExtractor

        model = None if self.chat_model is None else ModelExtractor.of(self.settings, self.chat_model)
        return Extractors(model=model, others=self.other_extractors)

    async def retry(self, job: "Job") -> "Job":
        """Queue a failed or cancelled job again; it resumes after its last finished step."""
        return await (self.orders if job.type == "extraction" else self.receiver).retry(job)

    async def cancel(self, job: "Job") -> "Job":
        """Cancel the job. The worker stops at its next step and a displaced extraction resumes."""
        if job.type == "extraction":
            return await self.store.jobs.cancel(job)
        from whence.ingest import cancel_ingest

        return await cancel_ingest(self.store, job)

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Run a worker in this process while the block runs. Raises `StorageMismatch` before it takes any task."""
        from whence.jobs import Duties, working

        await self.storage.check()
        duties = Duties(
            ingest=self.ingest,
            extraction=self.extraction,
            inbox=self.inbox,
            background=self.background,
            conversation_days=self.settings.conversation_days,
            audit_days=self.settings.audit_days,
        )
        async with working(
            self.dsn,
            duties,
            slots={
                "default": self.settings.worker_concurrency,
                "extraction": self.settings.extraction_concurrency,
            },
        ):
            yield

    async def readiness(self) -> dict[str, Any]:
        """The report of `/readyz`: the state of each part, and background work that keeps failing."""
        report = {"database": "ok", "migrations": "unknown", "worker": "unknown"}
        try:
            report["migrations"] = (await status(self.dsn)).state
            report["worker"] = "ok" if await self.store.queue.worker_alive() else "none is running"
        except WhenceError:
            report["database"] = "does not answer"
        ready = report == {"database": "ok", "migrations": "current", "worker": "ok"}
        failing = [asdict(failure) for failure in self.background.failing]
        state = "not ready" if not ready else "degraded" if failing else "ready"
        return {"status": state, **report, "background": failing}


def choose_answerer(settings: Settings, model: ChatModel | None) -> "Answerer":
    """The answerer named in the settings; else the chat model; else the offline default."""
    from whence.chat import ModelAnswerer
    from whence.offline import answerer

    if settings.answerer is not None:
        return answerer(settings.answerer)
    if model is None:
        return answerer()
    return ModelAnswerer(model, context=settings.llm_context, max_tokens=settings.llm_max_tokens)


@asynccontextmanager
async def database(settings: Settings, background: BackgroundWork | None = None) -> AsyncIterator[str]:
    """The conninfo of the configured server, or of the embedded one, which is started if needed."""
    if settings.database_url is not None:
        yield settings.database_url.reveal()
        return
    starting = asyncio.create_task(
        asyncio.to_thread(
            KeptPostgres, settings.data_dir, bin_dir=settings.postgres_bin, background=background
        )
    )
    try:
        server = await asyncio.shield(starting)
    except asyncio.CancelledError:  # wait for the start, then stop the server
        server = await starting
        await asyncio.to_thread(server.stop)
        raise
    try:
        yield server.dsn
    finally:
        await asyncio.to_thread(server.stop)
