"""`whence extract`: extracts objects and relationships from documents."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

import click

from whence.cli import options
from whence.cli.command import EXIT_FAILED, Api, on_api, wait_for_jobs
from whence.cli.output import counted, printable, printed_json, wants_json
from whence.errors import DocumentNotFound

if TYPE_CHECKING:
    from whence.api.jobs import JobModel
    from whence.extract.scheduling import Scope

_LOOKED_AT = 20
"""Number of jobs polled at once. Jobs end in about the order in which they were queued."""

_EXTRACTORS = {"model": "the model", "rules": "rules"}


@click.command()
@click.argument("documents", nargs=-1, metavar="[DOCUMENTS]...", type=click.UUID)
@options.project
@click.option("--all", "every", is_flag=True, help="Also chunks already read under the current schema.")
@options.dry_run
@options.no_wait
@options.json
@on_api
async def extract(
    api: Api,
    *,
    documents: tuple[UUID, ...],
    project: str,
    every: bool,
    dry_run: bool,
    no_wait: bool,
) -> None:
    """Extract objects and relationships from DOCUMENTS (ids), or from the whole project.

    Chunks already read under the current schema are skipped. A running server extracts; without one, this command does. The exit
    code is 1 if a document could not be read.
    """
    order = await Order.of(api, project, documents)
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
            click.echo(f"Progress of all jobs: GET /api/v1/jobs/{parent}")
    if any(job.status == "failed" for job in jobs):
        raise click.exceptions.Exit(EXIT_FAILED)


@dataclass(frozen=True, slots=True)
class Order:
    """The documents to extract from, or the whole project."""

    api: Api
    project: str
    """Path of the project in the API."""
    documents: tuple[UUID, ...]

    @classmethod
    async def of(cls, api: Api, project: str, documents: tuple[UUID, ...]) -> "Order":
        """Checks that all documents exist in the project before any job is queued."""
        from whence.api.documents import DocumentModel

        path = await api.project_path(project)
        for ident in documents:
            found = await api.get(f"/documents/{ident}", DocumentModel)
            if not path.endswith(f"/{found.project_id}"):
                raise DocumentNotFound(details={"document_id": str(ident)})
        return cls(api, path, documents)

    async def place(self, scope: "Scope") -> "tuple[list[JobModel], UUID | None]":
        """Queues the jobs. Returns them and the id of their common parent."""
        from whence.api.jobs import ExtractionOrdered, ReextractionAnswer

        body = {"scope": scope}
        if not self.documents:
            made = await self.api.send("POST", f"{self.project}/reextract", ReextractionAnswer, body)
            return [await self._get_job(one.job_id) for one in made.jobs], made.job_id
        ordered = [
            await self.api.send("POST", f"/documents/{ident}/extract", ExtractionOrdered, body)
            for ident in self.documents
        ]
        return [await self._get_job(one.job_id) for one in ordered], None

    async def wait(self, jobs: "list[JobModel]", *, quiet: bool) -> "list[JobModel]":
        from whence.models import OPEN

        now = {job.id: job for job in jobs}

        async def look() -> tuple[int, int] | None:
            waiting = [job.id for job in now.values() if job.status in OPEN]
            for ident in waiting[:_LOOKED_AT]:
                now[ident] = await self._get_job(ident)
            counts = sum(job.done for job in now.values()), sum(job.total or 0 for job in now.values())
            return counts if waiting else None

        await wait_for_jobs(self.api.app, "Reading", look, quiet=quiet)
        return sorted(now.values(), key=lambda job: job.id)

    async def estimate(self, scope: "Scope") -> dict[str, Any]:
        """The estimated cost of all documents together."""
        from whence.api.jobs import ReextractionAnswer

        paths = [f"/documents/{ident}" for ident in self.documents] or [self.project]
        body = {"scope": scope, "dryRun": True}
        plans = [await self.api.send("POST", f"{path}/reextract", ReextractionAnswer, body) for path in paths]
        costs = [plan.cost for plan in plans if plan.cost is not None]
        counts = ("documents", "chunks", "carried_over", "prompt_tokens", "completion_tokens")
        total = {
            "project_id": self.project.rpartition("/")[2],
            "schema_version": plans[0].schema_version,
            "extractor": plans[0].extractor,
            **{name: sum(getattr(plan, name) for plan in plans) for name in counts},
            "cost": sum(costs) if costs else None,
        }
        if (app := self.api.app) is not None:
            total["model"] = app.settings.llm_model if app.orders.has_model else None
        return total

    async def _get_job(self, ident: UUID) -> "JobModel":
        from whence.api.jobs import JobModel

        return await self.api.get(f"/jobs/{ident}", JobModel)


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
        click.echo(
            f"{plan['carried_over']} more need no reading: their properties are only renamed or removed."
        )
    if "model" not in plan:  # for a remote server, which has its own settings
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
