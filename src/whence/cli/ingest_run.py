"""Runs `whence ingest`: sends all sources, waits for the jobs and reports the outcomes."""

import asyncio
import os
import select
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

import click
import orjson
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from whence.api.chunking import ChunkingFields
from whence.app import App
from whence.cli.command import worker_at_hand
from whence.cli.file_moves import Settled, origin_of, settle
from whence.cli.files import FoundFile, Selection, plain_path
from whence.cli.options import DEFAULT_STRATEGY
from whence.cli.output import counted, printable
from whence.cli.watching import Changes, Snapshot, look, watch
from whence.errors import URLRefused, WhenceError
from whence.ingest import Chunking, IncomingFile, Receipt
from whence.models import OPEN, Document, Job, JobStage, JobStatus, Project

FOLLOWING = "handing in changed files"
"""Name of this background task."""

_PAUSE = 0.2
_PART = 1024 * 1024
_SHOWN = 20

_Ensure = Callable[[], Awaitable[None]]
"""Starts a worker if none is alive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestRequest:
    """The sources and options of the command line."""

    sources: Sequence[str]
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    stdin_name: str = "stdin.txt"
    chunking_fields: ChunkingFields = field(default_factory=ChunkingFields)
    metadata: dict[str, Any] | None = None

    @property
    def urls(self) -> list[str]:
        return [source for source in self.sources if source.lower().startswith(("http://", "https://"))]

    @property
    def stdin(self) -> bool:
        return "-" in self.sources

    @property
    def selection(self) -> Selection:
        others = {*self.urls, "-"}
        paths = [plain_path(Path(source)) for source in self.sources if source not in others]
        return Selection(paths=paths, include=self.include, exclude=self.exclude)

    def chunking(self, before: Chunking) -> Chunking | None:
        """The requested chunking, completed from the document's earlier one; None if none was requested."""
        fields = self.chunking_fields
        return fields.chunking(before) if fields.says_chunking else None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOutcome:
    """The outcome of one source."""

    source: str
    receipt: Receipt | None = None
    renamed: bool = False
    status: JobStatus = "failed"
    reason: str | None = None
    stage: JobStage | None = None
    chunks: int = 0
    """Number of embedded chunks, of `total`."""
    total: int | None = None

    @property
    def failed(self) -> bool:
        return self.status != "completed"

    @property
    def pending(self) -> bool:
        return self.receipt is not None and self.status in OPEN

    def as_json(self) -> dict[str, Any]:
        receipt = self.receipt
        return {
            "source": self.source,
            "documentId": receipt and receipt.document_id,
            "jobId": receipt and receipt.job_id,
            "status": self.status,
            "alreadyExists": bool(receipt and receipt.already_exists),
            "chunkCount": self.chunks,
            "error": self.reason,
        }

    @property
    def kind(self) -> str:
        if self.failed:
            return "failed"
        if self.receipt is None or not self.receipt.already_exists:
            return "ingested"
        return "renamed" if self.renamed else "unchanged"


class Feed:
    def __init__(self, app: App, project: Project, wanted: IngestRequest, *, as_json: bool) -> None:
        self._app = app
        self._project = project
        self._wanted = wanted
        self._as_json = as_json
        self._settled = Settled()
        self._outcomes: list[FileOutcome] = []
        self._default = Chunking.of_project(project, DEFAULT_STRATEGY)

    async def once(self) -> list[FileOutcome]:
        snapshot = await asyncio.to_thread(look, self._wanted.selection)
        try:
            async with worker_at_hand(self._app) as ensure_worker:
                return await self._ingest_all(snapshot, ensure_worker)
        except asyncio.CancelledError:
            with suppress(WhenceError):
                await self._report_rest()
            raise

    async def watch(self) -> None:
        """Runs until interrupted. Reports each round of changes when its jobs are done."""
        selection = self._wanted.selection
        snapshot = await asyncio.to_thread(look, selection)
        async with worker_at_hand(self._app) as ensure_worker:
            self.report(await self._ingest_all(snapshot, ensure_worker))
            click.echo("Watching for changes; Ctrl-C ends it.", err=True)
            with suppress(asyncio.CancelledError):
                async for changes in watch(selection, since=snapshot, background=self._app.background):
                    # While the database is unavailable, the same files are sent again.
                    follow = partial(self._follow, changes, ensure_worker)
                    await self._app.background.repeat(FOLLOWING, follow, every=None, stopping=asyncio.Event())

    def report(self, outcomes: Sequence[FileOutcome]) -> None:
        if self._as_json:
            click.echo(orjson.dumps({"items": [outcome.as_json() for outcome in outcomes]}))
        else:
            print_report(outcomes)

    async def _report_rest(self) -> None:
        """Says how many jobs continue in the background after an interruption, and how to stop them."""
        await self._look(self._outcomes)
        rest = sum(outcome.pending for outcome in self._outcomes)
        if not rest:
            return
        alive = await self._app.store.queue.worker_alive()
        who = "the running server" if alive else "the next `whence serve` or `whence ingest`"
        stop = f"`whence jobs cancel --all --project {quote(self._project.name)}`"
        count = counted(rest, "document")
        click.echo(f"{count} handed in and not done: {who} goes on. Stop it with {stop}.", err=True)

    async def _follow(self, changes: Changes, ensure_worker: _Ensure) -> None:
        if changes.changed:
            sources = self._send_files(changes.changed)
            self.report(await self._ingest(sources, len(changes.changed), ensure_worker))
        for file in changes.deleted:
            if origin_of(file.path) not in self._settled.left:
                click.echo(f"{file.name} was deleted; its document stays.", err=True)

    async def _ingest_all(self, snapshot: Snapshot, ensure_worker: _Ensure) -> list[FileOutcome]:
        skipped = [FileOutcome(source=str(one.path), reason=one.reason) for one in snapshot.skipped]
        count = len(snapshot.files) + len(self._wanted.urls) + self._wanted.stdin
        return skipped + await self._ingest(self._send_sources(snapshot), count, ensure_worker)

    async def _ingest(
        self, sources: AsyncIterator[FileOutcome], count: int | None, ensure_worker: _Ensure
    ) -> list[FileOutcome]:
        """Sends sources and waits for jobs concurrently, so that work on the first documents begins before the last are sent.

        `count` is the number of sources, if known.
        """
        outcomes = self._outcomes = []

        async def hand_in() -> None:
            async for outcome in sources:
                outcomes.append(outcome)  # noqa: PERF401 - one by one, so that progress shows

        with bars(count, quiet=self._as_json) as show:
            feeding = asyncio.create_task(hand_in())
            try:
                while True:
                    fed = feeding.done()
                    await ensure_worker()
                    await self._look(outcomes)
                    show(outcomes)
                    if fed and not any(outcome.pending for outcome in outcomes):
                        break
                    await asyncio.sleep(_PAUSE)
            finally:
                feeding.cancel()
                # It must end before the database closes. An error in the loop above takes precedence over its own.
                await asyncio.gather(feeding, return_exceptions=True)
        await feeding
        return outcomes

    async def _look(self, outcomes: list[FileOutcome]) -> None:
        """Updates the pending outcomes."""
        waiting = {n: one.receipt.job_id for n, one in enumerate(outcomes) if one.receipt and one.pending}
        ids = {ident for ident in waiting.values() if ident is not None}
        jobs = {job.id: job for job in await self._app.store.jobs.many(self._project.id, list(ids))}
        for n, ident in waiting.items():
            outcomes[n] = _update_outcome(outcomes[n], jobs.get(ident) if ident else None)

    async def _send_sources(self, snapshot: Snapshot) -> AsyncIterator[FileOutcome]:
        async for outcome in self._send_files(snapshot.found):
            yield outcome
        for url in self._wanted.urls:
            yield await self._hand_in(url, self._ingest_url(url))
        if self._wanted.stdin:
            yield await self._hand_in(self._wanted.stdin_name, self._ingest_stdin())

    async def _send_files(self, files: Sequence[FoundFile]) -> AsyncIterator[FileOutcome]:
        self._settled = await settle(self._app, self._project.id, files)
        for file in self._settled.files:
            outcome = await self._hand_in(file.name, self._ingest_file(file))
            yield replace(outcome, renamed=origin_of(file.path) in self._settled.places.moves.values())

    async def _hand_in(self, source: str, receiving: Awaitable[Receipt]) -> FileOutcome:
        try:
            receipt = await receiving
        except URLRefused as exc:
            return FileOutcome(source=source, reason=f"{exc.message} (see WHENCE_FETCH_ALLOW)")
        except WhenceError as exc:
            return FileOutcome(source=source, reason=exc.message)
        except OSError as exc:
            return FileOutcome(source=source, reason=exc.strerror or str(exc))
        reason = receipt.error["message"] if receipt.error else None
        chunks = 0
        if receipt.already_exists:
            chunks = await self._app.store.chunks.count(self._project.id, receipt.document_id)
        return FileOutcome(
            source=source, receipt=receipt, status=receipt.status, reason=reason, chunks=chunks
        )

    async def _ingest_url(self, url: str) -> Receipt:
        project_id, visitor = self._project.id, self._app.visitor
        known = await visitor.known(url, project_id=project_id)
        chunking = self._wanted.chunking(await self._app.receiver.chunking(known, self._default))
        if known is None:
            chunking = chunking or self._default
        return await visitor.visit(
            url, project_id=project_id, chunking=chunking, metadata=self._wanted.metadata
        )

    async def _ingest_stdin(self) -> Receipt:
        with self._app.inbox.file() as incoming:
            while (part := await asyncio.to_thread(_read_some, sys.stdin.fileno())) != b"":
                await incoming.write(part or b"")
            await incoming.finish()
            return await self._receive(incoming, self._wanted.stdin_name, None)

    async def _ingest_file(self, file: FoundFile) -> Receipt:
        """Ingests the file, as a new version if a document came from it before."""
        origin = origin_of(file.path)
        known = await self._app.store.documents.of_origin(self._project.id, origin)
        if known is not None and known.original_key is not None and origin in self._settled.places.there:
            return await self._update(known, file)
        with self._app.inbox.file() as incoming:
            with file.path.open("rb") as opened:
                while part := await asyncio.to_thread(opened.read, _PART):
                    await incoming.write(part)
            await incoming.finish()
            if known is None:
                return await self._receive(incoming, file.name, origin)
            return await self._update(known, file, incoming)

    async def _update(
        self, known: Document, file: FoundFile, incoming: IncomingFile | None = None
    ) -> Receipt:
        before = await self._app.receiver.chunking(known, self._default)
        return await self._app.receiver.update(
            known,
            file=incoming,
            name=file.name,
            chunking=self._wanted.chunking(before),
            metadata=self._wanted.metadata,
        )

    async def _receive(self, incoming: IncomingFile, name: str, origin: str | None) -> Receipt:
        return await self._app.receiver.receive(
            incoming,
            name=name,
            project_id=self._project.id,
            chunking=self._wanted.chunking(self._default) or self._default,
            metadata=self._wanted.metadata,
            origin=origin,
        )


def _read_some(descriptor: int) -> bytes | None:
    """Reads a part; None if nothing arrived for a moment. A thread that blocks forever would delay the end of the program."""
    readable, _, _ = select.select([descriptor], [], [], _PAUSE)
    return os.read(descriptor, _PART) if readable else None


def _update_outcome(outcome: FileOutcome, job: Job | None) -> FileOutcome:
    if job is None:
        return replace(outcome, status="cancelled", reason="the job was deleted")
    reason = job.error_details["message"] if job.error_details else None
    return replace(
        outcome, status=job.status, reason=reason, stage=job.stage, chunks=job.done, total=job.total
    )


@contextmanager
def bars(count: int | None, *, quiet: bool) -> Iterator[Callable[[Sequence[FileOutcome]], None]]:
    """Shows a progress bar per stage: files received, files parsed, chunks embedded, files done."""

    def show(outcomes: Sequence[FileOutcome]) -> None:
        read = sum(not one.pending or one.stage not in (None, "parsing") for one in outcomes)
        chunks = sum(one.chunks if one.total is None else one.total for one in outcomes)
        progress.update(received, completed=len(outcomes))
        progress.update(parsed, completed=read)
        progress.update(embedded, completed=sum(one.chunks for one in outcomes), total=chunks or None)
        progress.update(done, completed=sum(not one.pending for one in outcomes))

    columns = (TextColumn("{task.description:<9}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal) as progress:
        received, parsed = progress.add_task("Received", total=count), progress.add_task("Read", total=count)
        embedded, done = progress.add_task("Embedded", total=None), progress.add_task("Ingested", total=count)
        yield show


def print_report(outcomes: Sequence[FileOutcome]) -> None:
    """Prints failures with their reasons, then the first successes, then the totals in one line."""
    good = [outcome for outcome in outcomes if not outcome.failed]
    for outcome in outcomes:
        if outcome.failed:
            why = outcome.reason or outcome.status
            click.secho(f"✗ {printable(outcome.source)}: {why}", err=True, fg="red")
    for outcome in good[:_SHOWN]:
        result = outcome.kind
        if result == "ingested":
            result = counted(outcome.chunks, "chunk") if outcome.chunks else "no text in it, no chunks"
        click.echo(f"✓ {printable(outcome.source)}: {result}")
    if len(good) > _SHOWN:
        click.echo(f"… and {len(good) - _SHOWN} more")
    kinds = Counter(outcome.kind for outcome in outcomes)
    numbers = ", ".join(
        f"{kinds[kind]} {kind}" for kind in ("ingested", "renamed", "unchanged", "failed") if kinds[kind]
    )
    chunks = counted(sum(outcome.chunks for outcome in good), "chunk")
    click.echo(f"{numbers}; {chunks}." if numbers else "Nothing to ingest.")
