"""The way of an extraction: a document's chunks one after another, each with what the graph knows by then.

What a chunk gave is written at once, with its row in the ledger: a run that was killed goes on with the first chunk
that has none, and the graph is the same as if nothing had happened.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from uuid import UUID

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
from whence.extract.carry import carry_over
from whence.extract.context import ContextOptions, ExtractionContext
from whence.extract.costs import Prices, Tally, Usage
from whence.extract.embedding import embed, meanwhile, vectors_of
from whence.extract.extractors import Extractor, ModelExtractor, Reading, RulesExtractor
from whence.extract.gather import Surroundings, gather, look_around
from whence.extract.merge import merge
from whence.extract.order import Orders, require_embedded, settled_schema
from whence.extract.outcome import Outcome, Ref
from whence.extract.record import found_objects, found_relationships, text_of, texts_of
from whence.extract.rejections import kept, summary
from whence.extract.schema import Schema
from whence.extract.schema_reading import read_schema
from whence.providers import Embedder, Embedders
from whence.runs import Run, Stale, run_job
from whence.search import Search
from whence.store import Store
from whence.store.graph import Written
from whence.types import EmbeddingSpace, Job, now
from whence.types import Extraction as Extracted

log = logging.getLogger("whence.extract")

MOST_REFUSALS = 3
"""So many chunks in a row that an endpoint refuses say that it is not about the chunks."""
_HEAD_START = 0.03
"""Seconds in which any question is written and sent."""
_SHOWN_FAILURES = 20
_BATCH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    store: Store
    embedders: Embedders
    search: Search
    model: ModelExtractor | None
    """None where no endpoint is named: then rules extract."""
    prices: Prices

    async def run(
        self, project_id: UUID, job_id: UUID, *, stopping: Callable[[], bool] = lambda: False
    ) -> None:
        """Bring the job to its end, or raise `TryAgain`."""

        async def work(run: Run) -> None:
            schema, number = await self._schema(run.job)
            extractor = await self._extractor(run.job.project_id)
            await _Steps(
                of=self, run=run, job=run.job, schema=schema, number=number, extractor=extractor
            ).all()

        await run_job(self.store, project_id, job_id, work, stopping=stopping, log=log)

    async def _schema(self, job: Job) -> tuple[Schema, int]:
        """Fresh at the start of a job, and the same to its end, whatever happens on the way."""
        if job.schema_number is None:
            version = await settled_schema(self.store, job.project_id)
        else:
            version = await self.store.schemas.get(job.project_id, job.schema_number)
        return read_schema(version.body), version.number

    async def _extractor(self, project_id: UUID) -> Extractor:
        orders = Orders(self.store, has_model=self.model is not None)
        name = orders.extractor(await self.store.projects.get(project_id))
        return self.model if self.model is not None and name == "model" else RulesExtractor()


@dataclass(slots=True, kw_only=True)
class _Steps:
    """Of one try at a job, in order."""

    of: Extraction
    run: Run
    job: Job
    schema: Schema
    number: int
    extractor: Extractor
    total: int = 0
    tally: Tally = field(default_factory=Tally)
    refusals: int = 0
    """In a row."""
    changed: frozenset[UUID] = frozenset()
    """The objects that the last chunk spoke of: what was looked up ahead for the next may have missed them."""

    async def all(self) -> None:
        await require_embedded(self.of.store, self.job.project_id, self.job.document_id)
        await self._begin()
        await self._embed_objects()
        around = await self._next()
        while around is not None:
            self.run.stop_here()  # whether the job is still wanted is asked with each write
            # What comes after the last may have come in since.
            around = await self._chunk(around) or await self._next()
        await self._end()

    @property
    def _stale_before(self) -> int | None:
        return self.number if self.job.config.get("scope") == "stale" else None

    async def _begin(self) -> None:
        ledger, job = self.of.store.graph.ledger, self.job
        self.tally = await self._counted()
        noted = self._noted(self.tally)
        if not await self.of.store.jobs.note(job, self.run.run_id, schema_number=self.number, noted=noted):
            raise Stale
        if self._stale_before is not None:
            await carry_over(self.run, self.schema, self.number)
            self.tally = await self._counted()
        every = self._stale_before is None
        to_read = await ledger.to_read(job.project_id, self.number, document_id=job.document_id, every=every)
        # What this job could not read is stale still, and counted there.
        self.total = to_read.chunks + (0 if every else self.tally.extracted + self.tally.empty)
        await self.run.at("extracting", done=self.tally.done, total=self.total)

    async def _counted(self) -> Tally:
        """Chunks as the ledger has them; tokens as the job noted them, for they stay paid when a chunk is read again."""
        counts = await self.of.store.graph.ledger.counts(self.job.project_id, self.job.id)
        noted = self.job.config.get("extraction", {})
        return Tally(
            **asdict(counts),
            prompt_tokens=noted.get("prompt_tokens", 0),
            completion_tokens=noted.get("completion_tokens", 0),
        )

    async def _embed_objects(self) -> None:
        """Those that have no vector in the space of the project, because it moved there after they were made."""
        space, _ = await self.of.store.vectors.spaces(self.job.project_id)
        objects, space = self.of.store.graph.objects, _required(space)
        while lacking := await objects.lacking(self.job.project_id, space.id, limit=_BATCH):
            self.run.stop_here()
            texts = [text_of(each.type, each.name, each.properties) for each in lacking]
            vectors = await embed(self.of.embedders.of(space), texts)
            made = {each.id: vector for each, vector in zip(lacking, vectors, strict=True)}
            await objects.put_vectors(self.job.project_id, space.id, made)

    async def _next(self, *, after: int = -1) -> Surroundings | None:
        """The next chunk to read, with what stands around it."""
        of, job = self.of, self.job
        while found := await of.store.graph.ledger.next_chunk(
            job.project_id, job.document_id, job.id, after=after, stale_before=self._stale_before
        ):
            with suppress(ChunkNotFound):  # deleted in between
                return await look_around(of.store, of.search, job.project_id, found[0], ContextOptions())
        return None

    async def _chunk(self, around: Surroundings) -> Surroundings | None:
        """Read it, and write what it gave; gives the one after it, which was looked up meanwhile."""
        usage = Usage()
        context = await gather(self.of.store, around, ContextOptions(), changed=self.changed)
        async with (
            meanwhile(self.extractor.read(self.schema, context, usage)) as reading,
            meanwhile(self._ahead(reading, after=around.chunk_index)) as following,
        ):
            try:
                taken = self._taken_over(around, context, await reading)
                self.refusals = 0
            except (UnreadableReply, ModelRefused, ModelInvalid, ModelTimeout, BadInput) as exc:
                taken = _Taken(extracted=self._unread(around.chunk_id, exc))
            with suppress(ChunkNotFound):  # deleted while it was read
                await self._write(taken, usage)
            return await following

    async def _ahead(self, reading: asyncio.Future[Reading], *, after: int) -> Surroundings | None:
        """The next chunk, not before the question is out: it is the model that all the others wait for."""
        await asyncio.wait([reading], timeout=_HEAD_START)
        return await self._next(after=after)

    def _taken_over(self, around: Surroundings, context: ExtractionContext, reading: Reading) -> "_Taken":
        outcome = merge(
            schema=self.schema,
            known=context.objects,
            primary=context.primary,
            context=[chunk.text for chunk in reading.context.chunks],
            reply=reading.reply,
            blind=reading.blind,
        )
        extracted = Extracted(
            project_id=around.project_id,
            chunk_id=around.chunk_id,
            job_id=self.job.id,
            schema_number=self.number,
            outcome="extracted" if _has_anything(outcome) else "empty",
            reason=summary(outcome.rejections),
            rejected=len(outcome.rejections),
            rejections=kept(outcome.rejections, reading.reply),
            objects=found_objects(outcome),
            relationships=found_relationships(outcome),
        )
        return _Taken(
            extracted=extracted, texts=texts_of(outcome, context.objects), space=_required(around.space)
        )

    def _unread(self, chunk_id: UUID, exc: WhenceError) -> Extracted:
        """The chunk is passed over with its reason; or raises, where it is not, or not yet, about the chunk."""
        if isinstance(exc, ModelTimeout) and not self.run.is_last:
            raise exc
        self.refusals = self.refusals + 1 if isinstance(exc, ModelRefused) else 0
        if self.refusals > MOST_REFUSALS:
            raise exc
        log.warning("Chunk %s of %s could not be read: %s", chunk_id, self.job.name, exc.message)
        return Extracted(
            project_id=self.job.project_id,
            chunk_id=chunk_id,
            job_id=self.job.id,
            schema_number=self.number,
            outcome="failed",
            reason=exc.message,
        )

    async def _write(self, taken: "_Taken", usage: Usage) -> None:
        extracted = taken.extracted
        tally = self.tally.with_one(extracted.outcome, usage, rejected=extracted.rejected)
        written = replace(
            extracted,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            extracted_at=now(),
        )
        async with (
            vectors_of(taken.texts, self._embedder(taken)) as vectors,
            self.of.store.transaction() as tx,
        ):
            total = max(self.total, tally.done)
            await self.run.at("extracting", tx, done=tally.done, total=total, noted=self._noted(tally))
            made = await tx.graph.write_chunk(written)
            if taken.space is not None:
                own = _own_vectors(written, made, await vectors)
                await tx.graph.objects.put_vectors(written.project_id, taken.space.id, own)
        self.tally = tally
        self.changed = frozenset(ident for ident in made.objects if ident is not None)

    async def _end(self) -> None:
        tally, job = self.tally, self.job
        failures = await self.of.store.graph.ledger.failures(job.project_id, job.id, limit=_SHOWN_FAILURES)
        if failures and not tally.extracted + tally.empty:
            raise ExtractionFailed(
                f"None of the {tally.failed} chunks could be read. {failures[0][2]}",
                details=_listed(failures),
            )
        words = f"{tally.failed} of {tally.done} chunks could not be read"
        error = {"code": "INCOMPLETE", "message": words, "details": _listed(failures)} if failures else None
        if not await self.of.store.jobs.end(job, self.run.run_id, "completed", error=error):
            raise Stale
        log.info("Extracted %s: %d chunks, %d of them empty", job.name, tally.done, tally.empty)

    def _noted(self, tally: Tally) -> dict[str, Any]:
        noted = {
            "extractor": self.extractor.name,
            "model": self.extractor.model,
            **asdict(tally),
            "cost": self.of.prices.cost(tally.prompt_tokens, tally.completion_tokens),
        }
        return {"extraction": noted}

    def _embedder(self, taken: "_Taken") -> Embedder | None:
        return self.of.embedders.of(taken.space) if taken.space and taken.texts else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """What is to be written of a chunk."""

    extracted: Extracted
    texts: Mapping[Ref, str] = field(default_factory=dict)
    """What is embedded of its objects, in the space."""
    space: EmbeddingSpace | None = None


def _own_vectors(
    extracted: Extracted, made: Written, vectors: Mapping[Ref, Sequence[float]]
) -> dict[UUID, Sequence[float]]:
    """Of the objects that were written. One that became part of another has none: the other has its own."""
    by_ref: dict[object, Sequence[float]] = dict(vectors.items())
    return {
        ident: by_ref[item.ref]
        for item, ident in zip(extracted.objects, made.themselves, strict=True)
        if ident is not None and item.ref in by_ref
    }


def _required(space: EmbeddingSpace | None) -> EmbeddingSpace:
    """Asked for each chunk: the project may move to another while the job works."""
    if space is None:
        raise Conflict("The document has no embeddings yet; extraction begins when they are complete")
    return space


def _has_anything(outcome: Outcome) -> bool:
    return bool(outcome.claims or outcome.support or outcome.relationships)


def _listed(failures: Sequence[tuple[UUID, int, str | None]]) -> dict[str, Any]:
    chunks = [
        {"chunk_id": str(chunk_id), "chunk_index": index, "reason": reason}
        for chunk_id, index, reason in failures
    ]
    return {"chunks": chunks}
