"""Runs an extraction job: reads a document's chunks in order, each with the current state of the graph.

Each chunk's outcome is written in one transaction with its ledger row. A killed run resumes at the first chunk without a row, and
the graph ends up the same.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from uuid import UUID

from whence.chunk_findings import ChunkExtraction
from whence.errors import (
    BadInput,
    ChunkNotFound,
    Conflict,
    ExtractionFailed,
    ModelInvalid,
    ModelRefused,
    ModelTimeout,
    UnreadableReply,
    WhenceError,
)
from whence.extract.context import ContextOptions, ExtractionContext, KnownObject
from whence.extract.context_loader import NamedObjects, Surroundings, gather, look_around, named
from whence.extract.embedding import embed_lacking, meanwhile, store_vectors, vectors_of
from whence.extract.extractors import ExtractionRequest, Extractor, Extractors, ReadReply, TokenUsage
from whence.extract.further_sources import add_further_sources
from whence.extract.imported import IMPORTED, ImportedExtractor
from whence.extract.links import Ref
from whence.extract.merge import merge
from whence.extract.scheduling import Prices, require_embedded, settled_schema
from whence.extract.schema import Schema
from whence.extract.schema_migration import carry_over, count_as_read
from whence.extract.schema_reading import read_schema
from whence.extract.tally import Tally
from whence.extract.to_store import kept, summary, texts_of
from whence.job_run import Run, Stale, run_job
from whence.models import EmbeddingSpace, Job, now
from whence.providers import Embedders
from whence.search import Search
from whence.store import Store

log = logging.getLogger("whence.extract")

MOST_IN_A_ROW = 3
"""Maximum refusals or timeouts in a row. Beyond that, the endpoint is at fault, not the chunks."""
_HEAD_START = 0.03
"""Seconds to build and send a prompt before the lookup of the next chunk starts."""
_SHOWN_FAILURES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    store: Store
    embedders: Embedders
    search: Search
    extractors: Extractors
    prices: Prices

    async def run(
        self, project_id: UUID, job_id: UUID, *, stopping: Callable[[], bool] = lambda: False
    ) -> None:
        """Runs the job to its end, or raises `TryAgain`."""

        async def work(run: Run) -> None:
            schema, number = await self._schema(run.job)
            project = await self.store.projects.get(run.job.project_id)
            options = ContextOptions.chosen(project.config)
            await _Steps(
                of=self,
                run=run,
                job=run.job,
                schema=schema,
                number=number,
                extractor=ImportedExtractor.of(run.job.config)
                or self.extractors.get(self.extractors.choose(project.config.get("extractor")), options),
                options=options,
                is_lenient=project.config.get("grounding") == "lenient",
            ).all()

        await run_job(self.store, project_id, job_id, work, stopping=stopping, log=log)

    async def _schema(self, job: Job) -> tuple[Schema, int]:
        """The schema, read fresh at the start of the job. Later tries use the same version."""
        if job.schema_number is None:
            version = await settled_schema(self.store, job.project_id)
        else:
            version = await self.store.schemas.get(job.project_id, job.schema_number)
        return read_schema(version.body), version.number


@dataclass(slots=True, kw_only=True)
class _Steps:
    """The steps of one try at a job."""

    of: Extraction
    run: Run
    job: Job
    schema: Schema
    number: int
    extractor: Extractor
    options: ContextOptions
    is_lenient: bool
    """Whether the project keeps specific values that are in no text."""
    total: int = 0
    tally: Tally = field(default_factory=Tally)
    refusals: int = 0
    """Number of chunks in a row that the endpoint refused."""
    timeouts: int = 0
    """Number of chunks in a row that timed out, including those at the end of the previous try."""
    changed: frozenset[UUID] = frozenset()
    """Objects written with the last chunk. The lookup ahead for the next chunk may have missed them."""
    ready: "_Ready | None" = None
    """The next chunk, if its lookup finished in time for the last write."""

    async def all(self) -> None:
        await require_embedded(self.of.store, self.job.project_id, self.job.document_id)
        await self._begin()
        # Objects lack vectors after a change of the project's space or of their values.
        while await embed_lacking(self.of.store, self.of.embedders, self.job.project_id):
            self.run.stop_here()
        around = await self._next()
        while around is not None:
            self.run.stop_here()  # each write checks whether the job was cancelled
            # New chunks may have come in since the last lookup.
            around = await self._chunk(around) or await self._next()
        await add_further_sources(self.run, self.of.search, self.schema, self.number)
        await self._end()

    @property
    def _stale_before(self) -> int | None:
        return self.number if self.job.config.get("scope") == "stale" else None

    async def _begin(self) -> None:
        ledger, job = self.of.store.graph.ledger, self.job
        log.info("Extracting %s with schema v%d", job.name, self.number)
        self.timeouts = job.config.get("timeouts", 0) if self.run.tries > 1 else 0
        self.tally = await self._count_chunks()
        noted = self._describe_progress(self.tally)
        if not await self.of.store.jobs.note(job, self.run.run_id, schema_number=self.number, noted=noted):
            raise Stale
        await carry_over(self.run, self.number)
        if self._stale_before is not None:
            await count_as_read(self.run, self.number)
            self.tally = await self._count_chunks()
        every = self._stale_before is None
        by_version = await ledger.by_version(
            job.project_id, self.number, document_id=job.document_id, every=every
        )
        chunks = sum(count for count, _ in by_version.values())
        # Chunks that failed in this job are still stale, so `by_version` already counts them.
        self.total = chunks + (0 if every else self.tally.extracted + self.tally.empty)
        await self.run.at("extracting", done=self.tally.done, total=self.total)

    async def _count_chunks(self) -> Tally:
        """Counts chunks from the ledger and tokens from the job's config, which keeps them when a chunk is read again."""
        counts = await self.of.store.graph.ledger.counts(self.job.project_id, self.job.id)
        noted = self.job.config.get("extraction", {})
        return Tally(
            **counts,
            prompt_tokens=noted.get("prompt_tokens", 0),
            completion_tokens=noted.get("completion_tokens", 0),
        )

    async def _next(self, *, after: int = -1) -> Surroundings | None:
        """The next chunk to read, with its surroundings."""
        of, job = self.of, self.job
        while found := await of.store.graph.ledger.next_chunk(
            job.project_id, job.document_id, job.id, after=after, stale_before=self._stale_before
        ):
            with suppress(ChunkNotFound):  # deleted in between
                return await look_around(of.store, of.search, job.project_id, found[0], self.options)
        return None

    async def _chunk(self, around: Surroundings) -> Surroundings | None:
        """Reads the chunk and writes its outcome. Returns the next chunk, which is looked up meanwhile."""
        usage = TokenUsage()
        ready, self.ready = self.ready, None
        if ready is None or ready.context.primary.id != around.chunk_id:
            store, by_name = self.of.store, await named(self.of.store, around)
            ready = _Ready(await gather(store, around, self.options, by_name, changed=self.changed))
        context = ready.context
        async with (
            meanwhile(self._read(ready, usage)) as reading,
            meanwhile(self._look_ahead(reading, after=around.chunk_index)) as following,
        ):
            try:
                result = self._merge_reply(around, context, await reading)
                self.refusals = self.timeouts = 0
            except (UnreadableReply, ModelRefused, ModelInvalid, ModelTimeout, BadInput) as exc:
                result = _Result(extracted=self._record_failure(around.chunk_id, exc))
            try:
                await self._write(result, usage, following)
            except ChunkNotFound:  # deleted while it was read
                self.tally = self.tally.with_one(None, usage)
            return await following

    async def _read(self, ready: "_Ready", usage: TokenUsage) -> ReadReply:
        """Retries once after a timeout, unless the last chunks all timed out."""
        question = ready.question or self.extractor.question(self.schema, ready.context)
        try:
            return await self.extractor.read(question, usage)
        except ModelTimeout:
            if self.timeouts >= MOST_IN_A_ROW:
                raise
        self.run.stop_here()
        return await self.extractor.read(question, usage)

    async def _look_ahead(self, reading: asyncio.Future[ReadReply], *, after: int) -> Surroundings | None:
        """Looks up the next chunk after the prompt is sent. The request goes first, because everything waits for the model."""
        await asyncio.wait([reading], timeout=_HEAD_START)
        return await self._next(after=after)

    def _merge_reply(self, around: Surroundings, context: ExtractionContext, reading: ReadReply) -> "_Result":
        outcome = merge(
            schema=self.schema,
            known=context.objects,
            shown=reading.context.objects,
            primary=context.primary,
            context=[chunk.text for chunk in reading.context.chunks],
            reply=reading.reply,
            earlier=context.earlier,
            earlier_ties=context.earlier_ties,
            known_ties=context.known_ties,
            known_claims=context.known_claims,
            blind=reading.blind,
            preceding=context.previous[0].text if context.previous else "",
            lenient=self.is_lenient,
        )
        extracted = ChunkExtraction(
            project_id=around.project_id,
            chunk_id=around.chunk_id,
            job_id=self.job.id,
            schema_number=self.number,
            outcome="empty" if outcome.is_empty else "extracted",
            reason=summary(outcome.rejections),
            rejected=sum(each.count for each in outcome.rejections),
            rejections=kept(outcome.rejections, reading.reply),
            objects=outcome.objects,
            relationships=outcome.relationships,
            aliases=outcome.aliases,
            is_imported=IMPORTED in self.job.config,
            withdrawn=outcome.withdrawn,
            withdrawn_ties=outcome.withdrawn_ties,
        )
        return _Result(
            extracted=extracted,
            texts=texts_of(outcome.objects, context.objects),
            known=context.objects,
            space=_require_space(around.space),
        )

    def _record_failure(self, chunk_id: UUID, exc: WhenceError) -> ChunkExtraction:
        """Records the chunk as failed with its reason. Raises if the endpoint is at fault."""
        self.refusals = self.refusals + 1 if isinstance(exc, ModelRefused) else 0
        self.timeouts = self.timeouts + 1 if isinstance(exc, ModelTimeout) else 0
        if max(self.refusals, self.timeouts) > MOST_IN_A_ROW:
            raise exc
        log.warning("Chunk %s of %s could not be read: %s", chunk_id, self.job.name, exc.message)
        return ChunkExtraction(
            project_id=self.job.project_id,
            chunk_id=chunk_id,
            job_id=self.job.id,
            schema_number=self.number,
            outcome="failed",
            reason=exc.message,
        )

    async def _write(
        self, result: "_Result", usage: TokenUsage, following: asyncio.Future[Surroundings | None]
    ) -> None:
        """Writes the outcome. The same transaction looks up the next chunk's objects, by name while the embedder still works.

        The next prompt is built during the commit and sent after it.
        """
        extracted = result.extracted
        tally = self.tally.with_one(extracted.outcome, usage, rejected=extracted.rejected)
        written = replace(
            extracted,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            extracted_at=now(),
            reader=self.extractor.model or self.extractor.name,
        )
        embedder = self.of.embedders.of(result.space) if result.space and result.texts else None
        async with (
            vectors_of(result.texts, embedder) as vectors,
            AsyncExitStack() as until_committed,
        ):
            tx = await until_committed.enter_async_context(self.of.store.transaction())
            # The project is locked before the job, as in the deletion of a project.
            await tx.projects.keep(written.project_id)
            done, total, noted = tally.done, max(self.total, tally.done), self._describe_progress(tally)
            await self.run.at("extracting", by=tx.jobs.progress, done=done, total=total, noted=noted)
            made = await tx.graph.write_chunk(written)
            changed, is_lacking = made.changed, False
            coming = _result_so_far(following)
            by_name = await named(tx, coming) if coming else NamedObjects()
            if result.space is not None:
                is_lacking = await store_vectors(
                    tx,
                    result.space,
                    written,
                    made,
                    texts=result.texts,
                    known=result.known,
                    vectors=await vectors,
                )
            context = None
            if coming and not is_lacking:
                context = await gather(tx, coming, self.options, by_name, changed=changed)
            async with meanwhile(self._prepare(context)) as preparing:
                await until_committed.aclose()
                ready = await preparing
        while is_lacking:  # the next chunk is read with all vectors
            is_lacking = await embed_lacking(self.of.store, self.of.embedders, self.job.project_id)
        self.tally = replace(tally, rejected=tally.rejected + made.rejected)
        self.changed, self.ready = changed, ready

    async def _prepare(self, context: ExtractionContext | None) -> "_Ready | None":
        if context is None:
            return None
        with suppress(BadInput):  # raised again when the chunk is read
            return _Ready(context, self.extractor.question(self.schema, context))
        return _Ready(context)

    async def _end(self) -> None:
        tally, job = self.tally, self.job
        # Chunks may have been deleted meanwhile, and the last write may have added rejections.
        noted = self._describe_progress(tally)
        await self.run.at("extracting", done=tally.done, total=tally.done, noted=noted)
        failures, _ = await self.of.store.graph.ledger.readings(
            job.project_id, job.id, outcome="failed", limit=_SHOWN_FAILURES, offset=0
        )
        chunks = [
            {"chunk_id": str(each["chunk_id"]), "chunk_index": each["chunk_index"], "reason": each["reason"]}
            for each in failures
        ]
        if failures and not tally.extracted + tally.empty:
            who = "The chunk could not" if tally.failed == 1 else f"None of the {tally.failed} chunks could"
            raise ExtractionFailed(f"{who} be read. {failures[0]['reason']}", details={"chunks": chunks})
        words = f"{tally.failed} of {tally.done} chunks could not be read"
        error = {"code": "INCOMPLETE", "message": words, "details": {"chunks": chunks}} if failures else None
        if not await self.of.store.jobs.end(job, self.run.run_id, "completed", error=error):
            raise Stale
        log.info("Extracted %s: %d chunks, %d of them empty", job.name, tally.done, tally.empty)

    def _describe_progress(self, tally: Tally) -> dict[str, Any]:
        noted = {
            "extractor": self.extractor.name,
            "model": self.extractor.model,
            **asdict(tally),
            "cost": self.of.prices.cost(tally.prompt_tokens, tally.completion_tokens),
        }
        return {"extraction": noted, "timeouts": self.timeouts}


@dataclass(frozen=True, slots=True)
class _Ready:
    """A chunk that is ready to be read: its context, and its prompt if that is already built."""

    context: ExtractionContext
    question: ExtractionRequest | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    """The outcome of a chunk, ready to be written."""

    extracted: ChunkExtraction
    texts: Mapping[Ref, str] = field(default_factory=dict)
    """The texts of its objects, to be embedded in `space`."""
    known: Sequence[KnownObject] = ()
    """The objects of its context."""
    space: EmbeddingSpace | None = None


def _require_space(space: EmbeddingSpace | None) -> EmbeddingSpace:
    """Checked for each chunk, because the project may change its space during the job."""
    if space is None:
        raise Conflict("The document has no embeddings yet: it can be extracted once they are complete")
    return space


def _result_so_far(following: asyncio.Future[Surroundings | None]) -> Surroundings | None:
    """The result if it is ready, because a transaction must not wait for it. An exception is raised later, where the result is
    awaited.
    """
    return following.result() if following.done() and following.exception() is None else None
