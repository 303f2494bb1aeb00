"""The work of `whence ingest`: hands in all sources, waits for the jobs and reports the outcomes."""

import asyncio
import json
import os
import select
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from whence.api.ingest import IngestOutcome
from whence.app import App
from whence.chunk import ChunkingOptions
from whence.chunk import strategy as strategy_named
from whence.cli.file_moves import Settled, origin_of, settle
from whence.cli.files import FoundFile, Selection
from whence.cli.output import counted
from whence.cli.watching import Change, Snapshot, look, watch
from whence.cli.worker_fallback import Help, helping
from whence.errors import Conflict, URLRefused, WhenceError
from whence.ingest import Chunking, IncomingFile, Receipt
from whence.models import OPEN, Document, Job, JobStage, JobStatus, Project

FOLLOWING = "handing in changed files"
"""Name of this background task."""

_PAUSE = 0.2
_PART = 1024 * 1024
_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestRequest:
    """The sources and options of the command line."""

    urls: tuple[str, ...]
    stdin: bool
    stdin_name: str
    selection: Selection
    strategy: str | None
    sizes: dict[str, int]
    metadata: dict[str, Any] | None

    def chunking(self, unnamed: Chunking) -> Chunking | None:
        """The chunking that was requested, completed from `unnamed`; None if none was requested."""
        if self.strategy is None and not self.sizes:
            return None
        options = (
            ChunkingOptions(**self.sizes) if unnamed == Chunking() else replace(unnamed.options, **self.sizes)
        )
        return Chunking(strategy=self.strategy or unnamed.strategy, options=options)

    @classmethod
    def of(
        cls,
        sources: Sequence[str],
        *,
        include: Sequence[str],
        exclude: Sequence[str],
        stdin_name: str,
        strategy: str | None,
        max_size: int | None,
        min_size: int | None,
        metadata: dict[str, Any] | None,
    ) -> "IngestRequest":
        urls = tuple(source for source in sources if source.lower().startswith(("http://", "https://")))
        paths = [Path(source) for source in sources if source not in urls and source != "-"]
        sizes = {"max_chunk_size": max_size, "min_chunk_size": min_size}
        chosen = {name: size for name, size in sizes.items() if size is not None}
        named = None if strategy is None else strategy_named(strategy).name
        ChunkingOptions(**chosen)  # validates the sizes before anything is read
        return cls(
            urls=urls,
            stdin="-" in sources,
            stdin_name=stdin_name,
            selection=Selection(paths=paths, include=include, exclude=exclude),
            strategy=named,
            sizes=chosen,
            metadata=metadata,
        )


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
    def job_id(self) -> UUID | None:
        return None if self.receipt is None else self.receipt.job_id

    @property
    def pending(self) -> bool:
        return self.receipt is not None and self.status in OPEN

    def as_json(self) -> dict[str, Any]:
        receipt = self.receipt
        return IngestOutcome(
            source=self.source,
            document_id=None if receipt is None else receipt.document_id,
            job_id=self.job_id,
            status=self.status,
            already_exists=bool(receipt and receipt.already_exists),
            chunk_count=self.chunks,
            error=self.reason,
        ).as_json()


class Feed:
    def __init__(self, app: App, project: Project, wanted: IngestRequest, *, as_json: bool) -> None:
        self._app = app
        self._project = project
        self._wanted = wanted
        self._as_json = as_json
        self._settled = Settled()

    async def once(self) -> list[FileOutcome]:
        snapshot = await asyncio.to_thread(look, self._wanted.selection)
        async with helping(self._app) as help_:
            return await self._everything(snapshot, help_)

    async def watch(self) -> None:
        """Runs until interrupted, its normal end. Reports each round of changes when it is done."""
        snapshot = await asyncio.to_thread(look, self._wanted.selection)
        async with helping(self._app) as help_:
            self._tell(await self._everything(snapshot, help_))
            click.echo("Watching for changes; Ctrl-C ends it.", err=True)
            with suppress(asyncio.CancelledError):
                async for changes in watch(
                    self._wanted.selection, since=snapshot, background=self._app.background
                ):
                    # If the database is away for a while, the same files are handed in again.
                    follow = partial(self._follow, changes, help_)
                    await self._app.background.repeat(FOLLOWING, follow, every=None, stopping=asyncio.Event())

    async def _follow(self, changes: Sequence[Change], help_: Help) -> None:
        changed = [FoundFile(path=one.path, name=one.name) for one in changes if one.kind != "deleted"]
        outcomes = await self._all(self._files(changed), len(changed), help_) if changed else []
        for change in changes:
            if change.kind == "deleted" and origin_of(change.path) not in self._settled.left:
                click.echo(f"{change.name} was deleted; its document stays.", err=True)
        if outcomes:
            self._tell(outcomes)

    def _tell(self, outcomes: Sequence[FileOutcome]) -> None:
        if self._as_json:
            click.echo(json.dumps({"items": [outcome.as_json() for outcome in outcomes]}, ensure_ascii=False))
        else:
            print_report(outcomes)

    async def _everything(self, snapshot: Snapshot, help_: Help) -> list[FileOutcome]:
        skipped = [FileOutcome(source=str(one.path), reason=one.reason) for one in snapshot.skipped]
        count = len(snapshot.files) + len(self._wanted.urls) + self._wanted.stdin
        return skipped + await self._all(self._sources(snapshot), count, help_)

    async def _all(self, sources: AsyncIterator[FileOutcome], count: int, help_: Help) -> list[FileOutcome]:
        """Hands in and waits at the same time: work on the first documents begins before the last are handed in."""
        outcomes: list[FileOutcome] = []
        with _bars(count, quiet=self._as_json) as bars:

            async def hand_in() -> None:
                async for outcome in sources:
                    outcomes.append(outcome)  # noqa: PERF401 - one by one, so that progress shows

            feeding = asyncio.create_task(hand_in())
            try:
                while True:
                    fed = feeding.done()
                    await help_.ensure()
                    await self._look(outcomes)
                    bars.show(outcomes)
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
        """Updates the pending outcomes. Files with the same content share a job."""
        waiting = {index: outcome.job_id for index, outcome in enumerate(outcomes) if outcome.pending}
        ids = [ident for ident in set(waiting.values()) if ident is not None]
        jobs = {job.id: job for job in await self._app.store.jobs.many(self._project.id, ids)}
        for index, ident in waiting.items():
            outcomes[index] = _progressed(outcomes[index], jobs.get(ident) if ident else None)

    async def _sources(self, snapshot: Snapshot) -> AsyncIterator[FileOutcome]:
        async for outcome in self._files(snapshot.found):
            yield outcome
        for url in self._wanted.urls:
            yield await self._handed_in(url, self._url(url))
        if self._wanted.stdin:
            yield await self._handed_in("-", self._stdin())

    async def _files(self, files: Sequence[FoundFile]) -> AsyncIterator[FileOutcome]:
        self._settled = await settle(self._app, self._project.id, files)
        receipts: dict[str, Receipt] = {}
        for file in sorted(files, key=lambda file: origin_of(file.path) in self._settled.copies):
            origin = origin_of(file.path)
            outcome = await self._handed_in(file.name, self._file(file, receipts))
            if outcome.receipt is not None:
                receipts[origin] = outcome.receipt
            yield replace(outcome, renamed=origin in self._settled.entered)

    async def _handed_in(self, source: str, receiving: Any) -> FileOutcome:
        try:
            receipt: Receipt = await receiving
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

    async def _url(self, url: str) -> Receipt:
        visitor = self._app.visitor
        known = await visitor.known(url, project_id=self._project.id)
        chunking = self._wanted.chunking(await self._app.receiver.chunking(known))
        return await visitor.visit(
            url, project_id=self._project.id, chunking=chunking, metadata=self._wanted.metadata
        )

    async def _stdin(self) -> Receipt:
        with self._app.inbox.file() as incoming:
            while (part := await asyncio.to_thread(_read_some, sys.stdin.fileno())) != b"":
                await incoming.write(part or b"")
            await incoming.finish()
            return await self._receive(incoming, self._wanted.stdin_name, None)

    async def _file(self, file: FoundFile, receipts: Mapping[str, Receipt]) -> Receipt:
        """Ingests the file, as a new version if a document came from it before."""
        origin = origin_of(file.path)
        known = await self._app.store.documents.of_origin(self._project.id, origin)
        if (first := self._settled.copies.get(origin)) is not None:
            if known is not None:
                raise Conflict(
                    f"It is the same as {self._settled.names[first]} now, which is another document"
                )
            if first in receipts:
                return replace(receipts[first], already_exists=True)
        if known is not None and known.original_key is not None and origin in self._settled.there:
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
        before = await self._app.receiver.chunking(known)
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
            chunking=self._wanted.chunking(Chunking()) or Chunking(),
            metadata=self._wanted.metadata,
            origin=origin,
        )


def _read_some(descriptor: int) -> bytes | None:
    """None if nothing arrived for a moment: a thread that blocks forever would delay the end of the program."""
    readable, _, _ = select.select([descriptor], [], [], _PAUSE)
    return os.read(descriptor, _PART) if readable else None


def _progressed(outcome: FileOutcome, job: Job | None) -> FileOutcome:
    if job is None:
        return replace(outcome, status="cancelled", reason="the job was deleted")
    reason = job.error_details["message"] if job.error_details else None
    return replace(
        outcome, status=job.status, reason=reason, stage=job.stage, chunks=job.done, total=job.total
    )


class _Bars:
    """A progress bar per stage: files received, files parsed, chunks embedded, files done."""

    def __init__(self, progress: Progress, count: int) -> None:
        self._progress = progress
        self._received = progress.add_task("Received", total=count)
        self._read = progress.add_task("Read", total=count)
        self._embedded = progress.add_task("Embedded", total=None)
        self._done = progress.add_task("Ingested", total=count)

    def show(self, outcomes: Sequence[FileOutcome]) -> None:
        done = [outcome for outcome in outcomes if not outcome.pending]
        under_way = [outcome for outcome in outcomes if outcome.pending]
        read = len(done) + sum(outcome.stage not in (None, "parsing") for outcome in under_way)
        self._set(self._received, len(outcomes))
        self._set(self._read, read)
        chunks = sum(outcome.chunks if outcome.total is None else outcome.total for outcome in outcomes)
        self._set(self._embedded, sum(outcome.chunks for outcome in outcomes), total=chunks or None)
        self._set(self._done, len(done))

    def _set(self, task: TaskID, completed: int, *, total: int | None = None) -> None:
        self._progress.update(task, completed=completed, total=total)


@contextmanager
def _bars(count: int, *, quiet: bool) -> Iterator[_Bars]:
    columns = (TextColumn("{task.description:<9}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal) as progress:
        yield _Bars(progress, count)


def print_report(outcomes: Sequence[FileOutcome]) -> None:
    """Prints failures with their reasons, then the first successes, then the totals in one line."""
    failed = [outcome for outcome in outcomes if outcome.failed]
    for outcome in failed:
        click.secho(f"✗ {_shown(outcome.source)}: {outcome.reason or outcome.status}", err=True, fg="red")
    good = [outcome for outcome in outcomes if not outcome.failed]
    for outcome in good[:_SHOWN]:
        click.echo(f"✓ {_shown(outcome.source)}: {_said(outcome)}")
    if len(good) > _SHOWN:
        click.echo(f"… and {len(good) - _SHOWN} more")
    kinds = Counter(_kind(outcome) for outcome in outcomes)
    chunks = sum(outcome.chunks for outcome in outcomes if not outcome.failed)
    numbers = ", ".join(
        f"{kinds[kind]} {kind}" for kind in ("ingested", "renamed", "unchanged", "failed") if kinds[kind]
    )
    click.echo(f"{numbers}; {counted(chunks, 'chunk')}." if numbers else "Nothing to ingest.")


def _said(outcome: FileOutcome) -> str:
    kind = _kind(outcome)
    if kind != "ingested":
        return kind
    return counted(outcome.chunks, "chunk") if outcome.chunks else "no text in it, no chunks"


def _shown(name: str) -> str:
    """Replaces terminal control characters."""
    return "".join(character if character.isprintable() else "�" for character in name)


def _kind(outcome: FileOutcome) -> str:
    if outcome.failed:
        return "failed"
    if outcome.receipt is None or not outcome.receipt.already_exists:
        return "ingested"
    return "renamed" if outcome.renamed else "unchanged"
