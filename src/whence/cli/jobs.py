"""`whence jobs`: lists, shows, cancels and retries jobs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

import click

from whence.cli import options
from whence.cli.command import Api, on_api
from whence.cli.output import counted, print_result, print_rows, print_title, printable, printed_json
from whence.errors import JobNotFound

if TYPE_CHECKING:
    from whence.api.jobs import JobModel
    from whence.models import JobStatus, JobType

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
@on_api
async def list_jobs(
    api: Api,
    *,
    project: str,
    status: "JobStatus | None",
    job_type: "JobType | None",
    document: UUID | None,
    limit: int,
) -> None:
    """List the jobs of a project, newest first."""
    found, total = await _read_page(
        api, project, limit=limit, status=status, job_type=job_type, document_id=document
    )
    rows = [
        (
            job.id,
            job.job_type,
            job.status,
            _describe_progress(job),
            printable(job.file_name),
            _describe_reason(job),
        )
        for job in found
    ]
    print_rows(found, ("ID", "TYPE", "STATUS", "CHUNKS", "FILE", "REASON"), rows, total=total)


@jobs.command()
@click.argument("job", type=click.UUID)
@options.json
@on_api
async def show(api: Api, *, job: UUID) -> None:
    """Show a job: its progress, its times, and why it failed."""
    found = await _get(api, job)
    if printed_json(found):
        return
    print_title(found.file_name, found.id)
    facts = [
        ("type", found.job_type),
        ("status", found.status if found.stage is None else f"{found.status}, {found.stage}"),
        ("reason", _describe_reason(found)),
        ("chunks", _describe_progress(found)),
        ("attempts", str(found.attempts)),
        ("stages", _describe_stages(found)),
        ("document", str(found.document_id)),
        *((name, f"{at:%Y-%m-%d %H:%M:%S}" if at else "") for name, at in _list_times(found).items()),
    ]
    for name, value in facts:
        if value:
            click.echo(f"{name:<9} {printable(value)}")


@jobs.command()
@_jobs
@options.project
@click.option("--all", "every", is_flag=True, help="All jobs of the project that wait or run.")
@options.json
@on_api
async def cancel(api: Api, *, jobs: tuple[str, ...], project: str, every: bool) -> None:
    """Cancel JOBS (ids). Their documents keep their last stored version."""
    found = await _choose(api, jobs, project, ("pending", "processing") if every else ())
    await _change(api, found, "cancel", "Cancelled", strict=not every)


@jobs.command()
@_jobs
@options.project
@click.option(
    "--all", "every", is_flag=True, help="All failed jobs of the project that no newer one replaced."
)
@options.json
@on_api
async def retry(api: Api, *, jobs: tuple[str, ...], project: str, every: bool) -> None:
    """Run failed or cancelled JOBS (ids) again, from their last finished step. A server or a worker executes them."""
    found = await _choose(api, jobs, project, ("failed",) if every else ())
    await _change(api, found, "retry", "Queued", strict=not every)
    if api.app is not None and not await api.app.store.queue.worker_alive():
        click.echo("No worker is running; `whence serve` or `whence worker` runs them.", err=True)


async def _read_page(
    api: Api, project: str, *, limit: int, status: "JobStatus | None", **more: Any
) -> "tuple[list[JobModel], int]":
    from whence.api.jobs import JobModel

    of = {"project_id": await api.project_id(project), "status": status, **more}
    return await api.page("/jobs", JobModel, limit=limit, **of)


async def _get(api: Api, ident: UUID) -> "JobModel":
    from whence.api.jobs import JobModel

    return await api.get(f"/jobs/{ident}", JobModel)


async def _choose(
    api: Api, ids: Sequence[str], project: str, statuses: "Sequence[JobStatus]"
) -> "list[JobModel]":
    """The jobs with these ids, or the project's jobs with these statuses. Raises before any is changed if one does not exist."""
    if bool(ids) == bool(statuses):
        raise click.UsageError("Give the ids of jobs, or --all")
    found = [
        job
        for status in statuses
        for job in (await _read_page(api, project, limit=_ALL, status=status))[0]
        if job.document_id is not None
    ]
    return found or [await _get(api, _read_id(ident)) for ident in ids]


def _read_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as exc:
        raise JobNotFound(
            f"{printable(text)!r} is not the id of a job; `whence jobs list` shows them"
        ) from exc


async def _change(
    api: Api,
    found: "list[JobModel]",
    how: Literal["cancel", "retry"],
    done: str,
    *,
    strict: bool,
) -> None:
    """Changes the jobs. If not `strict`, skips jobs that ended or were replaced meanwhile."""
    from whence.api.jobs import JobModel
    from whence_client import Conflict

    changed = []
    for job in found:
        try:
            changed.append(await api.send("POST", f"/jobs/{job.id}/{how}", JobModel))
        except Conflict:
            if strict:
                raise
    print_result(changed, f"{done} {counted(len(changed), 'job')}.")


def _describe_progress(job: "JobModel") -> str:
    return "" if job.total is None else f"{job.done}/{job.total}"


def _describe_reason(job: "JobModel") -> str:
    return printable(job.error.message) if job.error else ""


def _describe_stages(job: "JobModel") -> str:
    ended = [(one.stage, one.ended_at - one.started_at) for one in job.stages if one.ended_at]
    return ", ".join(f"{stage} {took.total_seconds():.1f} s" for stage, took in ended)


def _list_times(job: "JobModel") -> "dict[str, object]":
    return {"created": job.created_at, "started": job.started_at, "ended": job.completed_at}
