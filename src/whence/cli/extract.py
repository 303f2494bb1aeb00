"""`whence extract`: extracts objects and relationships from documents."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

import click

from whence.cli import options
from whence.cli.command import EXIT_FAILED, App, find_project, on_app, wait_for_jobs
from whence.cli.output import counted, printable, printed_json, wants_json

if TYPE_CHECKING:
    from whence.extract.scheduling import Scope
    from whence.models import Job

_EXTRACTORS = {"model": "the model", "rules": "rules"}


@click.command()
@click.argument("documents", nargs=-1, metavar="[DOCUMENTS]...", type=click.UUID)
@options.project
@click.option("--all", "every", is_flag=True, help="Also chunks already read under the current schema.")
@options.dry_run
@options.no_wait
@options.json
@on_app
async def extract(
    app: App, *, documents: tuple[UUID, ...], project: str, every: bool, dry_run: bool, no_wait: bool
) -> None:
    """Extract objects and relationships from DOCUMENTS (ids), or from the whole project.

    Chunks already read under the current schema are skipped. A running server does the work; without one, this command
    does. The exit code is 1 if a document could not be read.
    """
    project_id = (await find_project(app, project)).id
    found = [await app.store.documents.get(ident, project_id=project_id) for ident in documents]
    scope: Scope = "all" if every else "stale"
    if dry_run:
        plan = await _estimate(app, project_id, scope, documents)
        if not printed_json(plan):
            _print_plan(plan)
        return
    if found:
        jobs = [await app.orders.document(document, scope=scope) for document in found]
    else:
        jobs = await app.orders.project(project_id, scope=scope)
    if jobs and not no_wait:
        jobs = await _wait(app, project_id, jobs, quiet=wants_json())
    shown = [_describe(job) for job in jobs]
    parent = next((job.config["parent"] for job in reversed(jobs) if "parent" in job.config), None)
    if not printed_json({"job_id": parent, "jobs": shown}):
        _print_jobs(shown)
        if parent and no_wait:
            click.echo(f"The progress of all: GET /api/v1/jobs/{parent}")
    if any(job.status == "failed" for job in jobs):
        raise click.exceptions.Exit(EXIT_FAILED)


async def _wait(app: App, project_id: UUID, jobs: "list[Job]", *, quiet: bool) -> "list[Job]":
    from whence.models import OPEN

    ids, now = [job.id for job in jobs], jobs

    async def look() -> tuple[int, int] | None:
        nonlocal now
        now = await app.store.jobs.many(project_id, ids)
        if not any(job.status in OPEN for job in now):
            return None
        return sum(job.done for job in now), sum(job.total or 0 for job in now)

    await wait_for_jobs(app, "Reading", look, quiet=quiet)
    return sorted(now, key=lambda job: job.id)


async def _estimate(app: App, project_id: UUID, scope: "Scope", ids: tuple[UUID, ...]) -> dict[str, Any]:
    wanted: list[UUID | None] = [*ids] or [None]
    plans = [await app.orders.plan(project_id, scope=scope, document_id=one) for one in wanted]
    costs = [plan.cost for plan in plans if plan.cost is not None]
    counts = ("documents", "chunks", "carried_over", "prompt_tokens", "completion_tokens")
    return {
        "project_id": project_id,
        "model": app.settings.llm_model if app.orders.has_model else None,
        "schema_version": plans[0].schema_version,
        "extractor": plans[0].extractor,
        **{name: sum(getattr(plan, name) for plan in plans) for name in counts},
        "cost": sum(costs) if costs else None,
    }


def _describe(job: "Job") -> dict[str, Any]:
    return {
        "id": job.id,
        "document_id": job.document_id,
        "document": job.name,
        "status": job.status,
        "chunks": job.done,
        "rejected": job.config.get("extraction", {}).get("rejected", 0),
        "error": job.error_details,
    }


def _print_plan(plan: dict[str, Any]) -> None:
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
        f"Estimated with the settings of this command: {named}. For those of the server, send "
        f'POST /api/v1/projects/{plan["project_id"]}/reextract with {{"dryRun": true}}.'
    )


def _print_jobs(jobs: list[dict[str, Any]]) -> None:
    for job in jobs:
        reason = "" if job["error"] is None else f": {printable(job['error']['message'])}"
        chunks = counted(job["chunks"], "chunk")
        click.echo(f"{job['status']:<10} {chunks:>12}  {printable(job['document'])}{reason}")
        if job["rejected"]:
            rejected = counted(job["rejected"], "proposal")
            click.echo(f"{'':<10} {rejected} rejected: whence objects rejected {job['id']}")
    if not jobs:
        click.echo("Nothing to read: every chunk was read under the current schema.")
