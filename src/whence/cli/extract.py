"""`whence extract`: extracts objects and relationships from documents."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

import click

from whence.cli import options
from whence.cli.command import EXIT_FAILED, App, Remote, find_project, is_remote, on_either, wait_for_jobs
from whence.cli.output import counted, printable, printed_json, wants_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whence.api.jobs import JobModel, ReextractionAnswer
    from whence.cli.remote_extract import RemoteOrder
    from whence.extract.scheduling import Plan, Scope
    from whence.models import Document, Job

_EXTRACTORS = {"model": "the model", "rules": "rules"}


@click.command()
@click.argument("documents", nargs=-1, metavar="[DOCUMENTS]...", type=click.UUID)
@options.project
@click.option("--all", "every", is_flag=True, help="Also chunks already read under the current schema.")
@options.dry_run
@options.no_wait
@options.json
@on_either
async def extract(
    base: App | Remote,
    *,
    documents: tuple[UUID, ...],
    project: str,
    every: bool,
    dry_run: bool,
    no_wait: bool,
) -> None:
    """Extract objects and relationships from DOCUMENTS (ids), or from the whole project.

    Chunks already read under the current schema are skipped. A running server does the work; without one, this command
    does. The exit code is 1 if a document could not be read.
    """
    order: LocalOrder | RemoteOrder = await (
        _find_there(base, project, documents) if is_remote(base) else _find(base, project, documents)
    )
    scope: Scope = "all" if every else "stale"
    if dry_run:
        plan = await order.estimate(scope)
        if not printed_json(plan):
            _print_plan(plan)
        return
    jobs, parent = await order.place(scope)
    if jobs and not no_wait:
        jobs = await order.wait(jobs, quiet=wants_json())
    shown = [_describe(job) for job in jobs]
    if not printed_json({"job_id": parent, "jobs": shown}):
        _print_jobs(shown)
        if parent and no_wait:
            click.echo(f"The progress of all: GET /api/v1/jobs/{parent}")
    if any(job.status == "failed" for job in jobs):
        raise click.exceptions.Exit(EXIT_FAILED)


async def _find(app: App, project: str, ids: tuple[UUID, ...]) -> "LocalOrder":
    project_id = (await find_project(app, project)).id
    found = [await app.store.documents.get(ident, project_id=project_id) for ident in ids]
    return LocalOrder(app, project_id, found)


async def _find_there(remote: Remote, project: str, ids: tuple[UUID, ...]) -> "RemoteOrder":
    from whence.cli.remote_extract import RemoteOrder

    return await RemoteOrder.of(remote, project, ids)


@dataclass(frozen=True, slots=True)
class LocalOrder:
    """Documents to extract from, or the whole project."""

    app: App
    project_id: UUID
    documents: "list[Document]"

    async def place(self, scope: "Scope") -> "tuple[list[JobModel], UUID | None]":
        """The jobs, and the id of all of them as one."""
        from whence.api.jobs import JobModel

        orders = self.app.orders
        if self.documents:
            jobs = [await orders.document(document, scope=scope) for document in self.documents]
        else:
            jobs = await orders.project(self.project_id, scope=scope)
        parent = next((job.config["parent"] for job in reversed(jobs) if "parent" in job.config), None)
        return [JobModel.of(job) for job in jobs], parent

    async def wait(self, jobs: "list[JobModel]", *, quiet: bool) -> "list[JobModel]":
        from whence.api.jobs import JobModel
        from whence.models import OPEN

        ids = [job.id for job in jobs]
        now: list[Job] = []

        async def look() -> tuple[int, int] | None:
            nonlocal now
            now = await self.app.store.jobs.many(self.project_id, ids)
            if not any(job.status in OPEN for job in now):
                return None
            return sum(job.done for job in now), sum(job.total or 0 for job in now)

        await wait_for_jobs(self.app, "Reading", look, quiet=quiet)
        return [JobModel.of(job) for job in sorted(now, key=lambda job: job.id)]

    async def estimate(self, scope: "Scope") -> dict[str, Any]:
        orders = self.app.orders
        wanted: list[UUID | None] = [one.id for one in self.documents] or [None]
        plans = [await orders.plan(self.project_id, scope=scope, document_id=one) for one in wanted]
        model = self.app.settings.llm_model if orders.has_model else None
        return {"project_id": self.project_id, "model": model, **added(plans)}


def added(plans: "Sequence[Plan | ReextractionAnswer]") -> dict[str, Any]:
    """What several plans cost together."""
    costs = [plan.cost for plan in plans if plan.cost is not None]
    counts = ("documents", "chunks", "carried_over", "prompt_tokens", "completion_tokens")
    return {
        "schema_version": plans[0].schema_version,
        "extractor": plans[0].extractor,
        **{name: sum(getattr(plan, name) for plan in plans) for name in counts},
        "cost": sum(costs) if costs else None,
    }


def _describe(job: "JobModel") -> dict[str, Any]:
    return {
        "id": job.id,
        "document_id": job.document_id,
        "document": job.job_name,
        "status": job.status,
        "chunks": job.done,
        "rejected": job.extraction.rejected if job.extraction else 0,
        "error": job.error,
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
    if "model" not in plan:  # of a server elsewhere, with its own settings
        return
    named = f"WHENCE_LLM_MODEL is {printable(plan['model'])}" if plan["model"] else "no model is named"
    click.echo(
        f"Estimated with the settings of this command: {named}. For those of the server, send "
        f'POST /api/v1/projects/{plan["project_id"]}/reextract with {{"dryRun": true}}.'
    )


def _print_jobs(jobs: list[dict[str, Any]]) -> None:
    for job in jobs:
        reason = "" if job["error"] is None else f": {printable(job['error'].message)}"
        chunks = counted(job["chunks"], "chunk")
        click.echo(f"{job['status']:<10} {chunks:>12}  {printable(job['document'])}{reason}")
        if job["rejected"]:
            rejected = counted(job["rejected"], "proposal")
            click.echo(f"{'':<10} {rejected} rejected: whence objects rejected {job['id']}")
    if not jobs:
        click.echo("Nothing to read: every chunk was read under the current schema.")
