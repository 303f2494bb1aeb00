"""Ingests documents that come as texts, and reports the outcomes as `whence ingest` does."""

from collections import Counter
from collections.abc import AsyncIterator, Iterable
from hashlib import sha256

import click

from whence.app import App
from whence.cli.command import EXIT_FAILED, find_project, worker_at_hand
from whence.cli.ingest_run import Feed, FileOutcome, IngestRequest, print_report
from whence.cli.output import print_json, printable, wants_json
from whence.ingest import Receipt
from whence.models import Project
from whence.transfer.lines import BadSource, TextSource

Sources = Iterable[TextSource | BadSource]


class TextFeed(Feed):
    async def texts(self, sources: Sources) -> list[FileOutcome]:
        async with worker_at_hand(self._app) as ensure_worker:
            return await self._ingest(self._hand_in_all(sources), None, ensure_worker)

    async def _hand_in_all(self, sources: Sources) -> AsyncIterator[FileOutcome]:
        for source in sources:
            if isinstance(source, BadSource):
                yield FileOutcome(source=source.place, reason=source.reason)
            else:
                yield await self._hand_in(f"{source.place}: {source.name}", self._ingest_text(source))

    async def _ingest_text(self, source: TextSource) -> Receipt:
        """Ingests the text, as a new version if a document came from the same origin before."""
        async with self._app.inbox.text(source.text) as incoming:
            known = None
            if source.origin is not None:
                known = await self._app.store.documents.of_origin(self._project.id, source.origin)
            if known is None:
                return await self._app.receiver.receive(
                    incoming,
                    name=source.name,
                    project_id=self._project.id,
                    chunking=self._wanted.chunking(self._default) or self._default,
                    metadata=source.metadata,
                    origin=source.origin,
                )
            before = await self._app.receiver.chunking(known, self._default)
            return await self._app.receiver.update(
                known,
                file=incoming,
                name=source.name,
                chunking=self._wanted.chunking(before),
                metadata=source.metadata,
            )


async def plan_texts(app: App, project: Project, sources: Sources) -> list[tuple[str, str]]:
    """For each source its place, and `new`, `changed`, `unchanged` or the reason for refusing it."""
    plan = []
    for source in sources:
        if isinstance(source, BadSource):
            plan.append((source.place, f"bad: {source.reason}"))
        else:
            plan.append((f"{source.place}: {source.name}", await _classify(app, project, source)))
    return plan


async def _classify(app: App, project: Project, source: TextSource) -> str:
    content, documents = sha256(source.text.encode()).digest(), app.store.documents
    if source.origin is not None:
        known = await documents.of_origin(project.id, source.origin)
        return "new" if known is None else "unchanged" if known.sha256 == content else "changed"
    same = await documents.same(project.id, content, name=source.name, origin=None)
    return "new" if same is None else "unchanged"


async def show_plan(app: App, project: str, sources: Sources) -> None:
    plan = await plan_texts(app, await find_project(app, project), sources)
    if wants_json():
        print_json({"items": [{"source": place, "status": kind} for place, kind in plan]})
        return
    for place, kind in plan:
        if kind != "unchanged":
            click.echo(f"{printable(place)}: {kind}", err=kind.startswith("bad"))
    counts = Counter(kind.partition(":")[0] for _, kind in plan)
    found = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    click.echo(f"{found or 'No documents'}; nothing was changed.")


async def import_texts(app: App, project: str, wanted: IngestRequest, sources: Sources) -> bool:
    """Returns whether all of them were ingested."""
    found = await find_project(app, project)
    outcomes = await TextFeed(app, found, wanted, as_json=wants_json()).texts(sources)
    if wants_json():
        print_json({"items": [outcome.as_json() for outcome in outcomes]})
    else:
        print_report(outcomes)
    return not any(outcome.failed for outcome in outcomes)


def exit_unless(all_done: bool) -> None:
    if not all_done:
        raise click.exceptions.Exit(EXIT_FAILED)
