"""`whence extract`: extracts objects and relationships from documents."""

from typing import TYPE_CHECKING, Any

import click

from whence.cli.output import json_option, print_json, with_app

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from whence.app import App
    from whence.extract.reextraction import Plan
    from whence.extract.scheduling import Scope
    from whence.models import Job

_PAUSE = 0.3


@click.command()
@click.argument("documents", nargs=-1, metavar="[DOCUMENTS]...")
@click.option("--project", default="default", show_default=True, help="A project's name or id.")
@click.option("--all", "every", is_flag=True, help="Also what was read under the current schema already.")
@click.option("--dry-run", is_flag=True, help="Only say what it would take.")
@click.option("--no-wait", is_flag=True, help="Leave it to a worker that runs already.")
@json_option
def extract(
    documents: tuple[str, ...], *, project: str, every: bool, dry_run: bool, no_wait: bool, as_json: bool
) -> None:
    """Read DOCUMENTS, by their ids, or all of a project, for objects and relationships.

    Chunks that were read under the current schema are not read again. A running server does the work; without one, this
    command does. It ends with 1 if a document could not be read.
    """
    ids = [_ident(document) for document in documents]

    async def work(app: "App") -> dict[str, Any]:
        from whence.cli.projects import find

        found = await find(app, project)
        scope: Scope = "all" if every else "stale"
        if dry_run:
            wanted: list[UUID | None] = [*ids] or [None]
            plans = [await _plan(app, found.id, scope, document_id) for document_id in wanted]
            return {
                "project_id": found.id,
                "model": app.settings.llm_model if app.orders.has_model else None,
                **_planned(plans),
            }
        jobs = await _order(app, found.id, scope, ids)
        return _ended(jobs if no_wait else await _wait(app, jobs, quiet=as_json))

    report = with_app(work, connections=10)
    if as_json:
        print_json(report)
    elif dry_run:
        _print_plan(report)
    else:
        _print_jobs(report["jobs"])
    if not dry_run and any(job["status"] == "failed" for job in report["jobs"]):
        raise click.exceptions.Exit(1)


def _ident(document: str) -> "UUID":
    from uuid import UUID

    try:
        return UUID(document)
    except ValueError as exc:
        raise click.UsageError(f"{document!r} is not the id of a document") from exc


async def _plan(app: "App", project_id: "UUID", scope: "Scope", document_id: "UUID | None") -> "Plan":
    if document_id is not None:
        await app.store.documents.get(document_id, project_id=project_id)
    return await app.reextraction.plan(project_id, scope=scope, document_id=document_id)


async def _order(app: "App", project_id: "UUID", scope: "Scope", ids: "Sequence[UUID]") -> "list[Job]":
    if not ids:
        return await app.reextraction.project(project_id, scope=scope)
    found = [await app.store.documents.get(ident, project_id=project_id) for ident in ids]
    return [await app.orders.document(document, scope=scope) for document in found]


async def _wait(app: "App", jobs: "list[Job]", *, quiet: bool) -> "list[Job]":
    import asyncio
    import sys

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from whence.cli.worker_fallback import helping
    from whence.models import OPEN

    columns = (TextColumn("Reading"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), disable=quiet or not sys.stderr.isatty()) as bar:
        task = bar.add_task("", total=None)
        async with helping(app) as help_:
            while True:
                await help_.ensure()
                now = await app.store.jobs.many(jobs[0].project_id, [job.id for job in jobs]) if jobs else []
                bar.update(
                    task, completed=sum(job.done for job in now), total=sum(job.total or 0 for job in now)
                )
                if not any(job.status in OPEN for job in now):
                    return sorted(now, key=lambda job: job.id)
                await asyncio.sleep(_PAUSE)


def _planned(plans: "list[Plan]") -> dict[str, Any]:
    costs = [plan.cost for plan in plans if plan.cost is not None]
    return {
        "schema_version": plans[0].schema_version,
        "extractor": plans[0].extractor,
        "documents": sum(plan.documents for plan in plans),
        "chunks": sum(plan.chunks for plan in plans),
        "carried_over": sum(plan.carried_over for plan in plans),
        "prompt_tokens": sum(plan.prompt_tokens for plan in plans),
        "completion_tokens": sum(plan.completion_tokens for plan in plans),
        "cost": sum(costs) if costs else None,
    }


def _ended(jobs: "list[Job]") -> dict[str, Any]:
    shown = [
        {
            "id": job.id,
            "document_id": job.document_id,
            "document": job.name,
            "status": job.status,
            "chunks": job.done,
            "rejected": job.config.get("extraction", {}).get("rejected", 0),
            "error": job.error_details,
        }
        for job in jobs
    ]
    return {"jobs": shown}


def _print_plan(plan: dict[str, Any]) -> None:
    from whence.cli.output import counted, printable

    cost = "" if plan["cost"] is None else f", about {plan['cost']:.2f} in money"
    click.echo(
        f"{counted(plan['chunks'], 'chunk')} of {counted(plan['documents'], 'document')} would be read "
        f"by {_EXTRACTORS.get(plan['extractor'], plan['extractor'])}: "
        f"about {plan['prompt_tokens']} tokens in, {plan['completion_tokens']} out{cost}."
    )
    if plan["carried_over"]:
        click.echo(f"{plan['carried_over']} more only have properties renamed or removed.")
    named = f"WHENCE_LLM_MODEL is {printable(plan['model'])}" if plan["model"] else "no model is named"
    click.echo(
        f"Reckoned by the settings of this command: {named}. A server goes by its own; it answers "
        f'POST /api/v1/projects/{plan["project_id"]}/reextract with {{"dryRun": true}}.'
    )


_EXTRACTORS = {"model": "the model", "rules": "rules"}


def _print_jobs(jobs: list[dict[str, Any]]) -> None:
    from whence.cli.output import counted, printable

    for job in jobs:
        reason = "" if job["error"] is None else f": {printable(job['error']['message'])}"
        click.echo(
            f"{job['status']:<10} {counted(job['chunks'], 'chunk'):>12}  {printable(job['document'])}{reason}"
        )
        if job["rejected"]:
            click.echo(
                f"{'':<10} {counted(job['rejected'], 'proposal')} rejected: whence objects rejected {job['id']}"
            )
    if not jobs:
        click.echo("Nothing to read: every chunk was read under the current schema.")
