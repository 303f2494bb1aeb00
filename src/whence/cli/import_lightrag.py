"""Runs `whence import lightrag`: documents first, then the graph, then a report."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from whence.app import App
from whence.cli.command import find_project, wait_for_jobs
from whence.cli.import_run import TextFeed, plan_texts
from whence.cli.ingest_run import FileOutcome, IngestRequest, print_report
from whence.cli.output import counted, print_json, printable, wants_json
from whence.models import OPEN, Job, Project
from whence.transfer.lightrag_files import WorkingDirectory, read_working_directory
from whence.transfer.lightrag_import import (
    PlacedGraph,
    count_placeable,
    ensure_types,
    findings,
    look_for,
    order,
    origin_of,
    sources_of,
)
from whence.transfer.lines import BadSource, TextSource

_SHOWN = 20


async def import_directory(
    app: App, folder: Path, project: str, wanted: IngestRequest, *, dry_run: bool
) -> bool:
    """Returns whether every document was ingested and every job completed."""
    found = await asyncio.to_thread(read_working_directory, folder)
    owner = await find_project(app, project)
    sources: list[TextSource | BadSource] = [
        *sources_of(found),
        *(BadSource(place=ident, reason=why) for ident, why in found.unread),
    ]
    if dry_run:
        plan = await plan_texts(app, owner, sources)
        _show(
            [{"source": place, "status": kind} for place, kind in plan], count_placeable(found), dry_run=True
        )
        return True
    feed = TextFeed(app, owner, wanted, as_json=wants_json())
    outcomes = await feed.texts(sources)
    jobs = await _import_graph(app, owner, found)
    _show_outcomes(outcomes, await look_for(app.store, owner.id, found), jobs)
    return not any(one.failed for one in outcomes) and all(job.status == "completed" for job in jobs)


async def _import_graph(app: App, project: Project, found: WorkingDirectory) -> list[Job]:
    """Queue the findings of each existing document, and wait for their jobs."""
    types = await ensure_types(app.store, project.id, found.entities)
    ids = []
    for document in found.documents:
        there = await app.store.documents.of_origin(project.id, origin_of(document))
        given = findings(found, document, types)
        if there and given["objects"] and await app.store.chunks.count(project.id, there.id):
            ids.append((await order(app.store, project.id, there.id, given)).id)

    async def look() -> tuple[int, int] | None:
        jobs = await app.store.jobs.many(project.id, ids)
        done = sum(job.status not in OPEN for job in jobs)
        return None if done == len(jobs) else (done, len(jobs))

    await wait_for_jobs(app, "Placing the graph", look, quiet=wants_json())
    return list(await app.store.jobs.many(project.id, ids))


def _show_outcomes(outcomes: Sequence[FileOutcome], placed: PlacedGraph, jobs: Sequence[Job]) -> None:
    if not wants_json():
        print_report(outcomes)
    for job in jobs:
        if job.status != "completed":
            why = (job.error_details or {}).get("message") or job.status
            click.secho(f"✗ graph of {printable(job.name)}: {why}", err=True, fg="red")
    _show([outcome.as_json() for outcome in outcomes], placed, dry_run=False)


def _show(items: Sequence[object], placed: PlacedGraph, *, dry_run: bool) -> None:
    if wants_json():
        print_json({"items": items, **asdict(placed), "changed": not dry_run})
        return
    if dry_run:
        click.echo(f"{counted(len(items), 'document')} in it; nothing was changed.")
    for one in placed.unplaced[:_SHOWN]:
        click.echo(f"not placed: {printable(one)}", err=True)
    if len(placed.unplaced) > _SHOWN:
        click.echo(f"… and {len(placed.unplaced) - _SHOWN} more", err=True)
    click.echo(
        f"{'Would place' if dry_run else 'Placed'} {placed.placed_entities} of {counted(placed.entities, 'entity', 'entities')} "
        f"and {placed.placed_relations} of {counted(placed.relations, 'relation')}."
    )
