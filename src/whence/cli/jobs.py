"""`whence jobs`: lists, shows, cancels and retries jobs."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

import click

from whence.cli import options
from whence.cli.command import App, find_project, on_app
from whence.cli.output import counted, print_result, print_rows, print_title, printable, printed_json
from whence.errors import Conflict, JobNotFound

if TYPE_CHECKING:
    from whence.models import Job, JobStatus, JobType

_TYPES = ("document_processing", "extraction")
_ALL = 2**31

_jobs = click.argument("jobs", nargs=-1, metavar="[JOBS]...")


@click.group()
def jobs() -> None:
    """List, show, cancel and retry jobs. JOB is an id."""


@jobs.command("list")
@options.project
@options.status("Only jobs with this status.")
@click.option("--type", "job_type", type=click.Choice(_TYPES), help="Only jobs of this type.")
@click.option("--document", type=click.UUID, help="Only jobs of the document with this id.")
@options.limit
@options.json
@on_app
async def list_jobs(
    app: App,
    *,
    project: str,
    status: "JobStatus | None",
    job_type: "JobType | None",
    document: UUID | None,
    limit: int,
) -> None:
    """List the jobs of a project, newest first."""
    from whence.api.jobs import JobModel

    project_id = (await find_project(app, project)).id
    found, total = await app.store.jobs.page(
        project_id, limit=limit, offset=0, status=status, job_type=job_type, document_id=document
    )
    rows = [
        (job.id, job.type, job.status, _progress(job), printable(job.file_name), _reason(job))
        for job in found
    ]
    models = [JobModel.of(job) for job in found]
    print_rows(models, ("ID", "TYPE", "STATUS", "CHUNKS", "FILE", "REASON"), rows, total=total)


@jobs.command()
@click.argument("job", type=click.UUID)
@options.json
@on_app
async def show(app: App, *, job: UUID) -> None:
    """Show a job: its progress, its times, and why it failed."""
    from whence.api.jobs import JobModel

    found = await app.store.jobs.get(job)
    if printed_json(JobModel.of(found)):
        return
    print_title(found.file_name, found.id)
    facts = [
        ("type", found.type),
        ("status", found.status if found.stage is None else f"{found.status}, {found.stage}"),
        ("reason", _reason(found)),
        ("chunks", _progress(found)),
        ("attempts", str(found.attempts)),
        ("document", str(found.document_id)),
        *((name, f"{at:%Y-%m-%d %H:%M:%S}" if at else "") for name, at in _times(found).items()),
    ]
    for name, value in facts:
        if value:
            click.echo(f"{name:<9} {printable(value)}")


@jobs.command()
@_jobs
@options.project
@click.option("--all", "every", is_flag=True, help="All jobs of the project that wait or run.")
@options.json
@on_app
async def cancel(app: App, *, jobs: tuple[str, ...], project: str, every: bool) -> None:
    """Cancel JOBS (ids). Their documents keep their last stored version."""
    found = await _choose(app, jobs, project, ("pending", "processing") if every else ())
    await _change(found, app.cancel, "Cancelled", strict=not every)


@jobs.command()
@_jobs
@options.project
@click.option(
    "--all", "every", is_flag=True, help="All failed jobs of the project that no newer one replaced."
)
@options.json
@on_app
async def retry(app: App, *, jobs: tuple[str, ...], project: str, every: bool) -> None:
    """Run failed or cancelled JOBS (ids) again, from their last finished step. A server or a worker runs them."""
    found = await _choose(app, jobs, project, ("failed",) if every else ())
    await _change(found, app.retry, "Queued", strict=not every)
    if not await app.store.queue.worker_alive():
        click.echo("No worker is running; `whence serve` or `whence worker` runs them.", err=True)


async def _choose(app: App, ids: Sequence[str], project: str, statuses: "Sequence[JobStatus]") -> "list[Job]":
    """The jobs with these ids, or those of the project with these statuses. All must exist before any is changed."""
    if bool(ids) == bool(statuses):
        raise click.UsageError("Give the ids of jobs, or --all")
    project_id = (await find_project(app, project)).id
    found = [
        job
        for status in statuses
        for job in (await app.store.jobs.page(project_id, limit=_ALL, offset=0, status=status))[0]
    ]
    return found or [await app.store.jobs.get(_read_id(ident)) for ident in ids]


def _read_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as exc:
        raise JobNotFound(
            f"{printable(text)!r} is not the id of a job; `whence jobs list` shows them"
        ) from exc


async def _change(
    found: "list[Job]", change: "Callable[[Job], Awaitable[Job]]", done: str, *, strict: bool
) -> None:
    """Not `strict`: a job that ended or was replaced meanwhile is passed over."""
    from whence.api.jobs import JobModel

    changed = []
    for job in found:
        try:
            changed.append(await change(job))
        except Conflict:
            if strict:
                raise
    print_result([JobModel.of(job) for job in changed], f"{done} {counted(len(changed), 'job')}.")


def _progress(job: "Job") -> str:
    return "" if job.total is None else f"{job.done}/{job.total}"


def _reason(job: "Job") -> str:
    return printable(job.error_details["message"]) if job.error_details else ""


def _times(job: "Job") -> "dict[str, object]":
    return {"created": job.created_at, "started": job.started_at, "ended": job.completed_at}
