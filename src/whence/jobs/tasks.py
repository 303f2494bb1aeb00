"""What the worker can be asked to do."""

import procrastinate

_KEPT_HOURS = 7 * 24

housekeeping = procrastinate.Blueprint()


@housekeeping.periodic(cron="17 3 * * *")
@housekeeping.task(name="tidy_queue", pass_context=True)
async def tidy_queue(context: procrastinate.JobContext, timestamp: int) -> None:  # noqa: ARG001 - given by periodic
    """Forget what the queue finished more than a week ago; the jobs of documents are kept in kb.jobs."""
    await context.app.job_manager.delete_old_jobs(
        nb_hours=_KEPT_HOURS, include_failed=True, include_cancelled=True, include_aborted=True
    )
