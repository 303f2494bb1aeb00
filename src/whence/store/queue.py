"""Our queries on procrastinate's tables (schema `queue`)."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, LiteralString

from whence.models import JobType
from whence.store.pool import Statements

QueueName = Literal["default", "extraction"]
"""Extractions have their own queue: they take long, and other tasks must not wait for them."""

WORKER_BEATS: LiteralString = """
SELECT EXISTS (SELECT FROM queue.procrastinate_workers WHERE last_heartbeat > now() - interval '12 seconds')
"""
DEFERRED: LiteralString = """
    queue.procrastinate_defer_jobs_v1(ARRAY[
        ROW(%(queue)s, %(task)s, 0, %(lock)s, NULL, %(args)s, NULL)::queue.procrastinate_job_to_defer_v1])
"""
DEFER: LiteralString = f"SELECT {DEFERRED}"

# Has priority: the task is rare, and its work grows while it waits.
DEFER_ONCE: LiteralString = """
SELECT queue.procrastinate_defer_jobs_v1(ARRAY[
    ROW('default', %(task)s, 1, %(lock)s, NULL, %(args)s,
        CASE WHEN %(after)s::int > 0 THEN now() + make_interval(secs => %(after)s::int) END
    )::queue.procrastinate_job_to_defer_v1])
WHERE NOT EXISTS (SELECT FROM queue.procrastinate_jobs
                  WHERE lock = %(lock)s AND task_name = %(task)s AND status = 'todo')
"""
WITHDRAW: LiteralString = """
DELETE FROM queue.procrastinate_jobs WHERE lock = %(lock)s AND task_name = %(task)s AND status = 'todo'
"""
WAITS: LiteralString = """
SELECT EXISTS (SELECT FROM queue.procrastinate_jobs
               WHERE lock = %(lock)s AND task_name = %(task)s AND status IN ('todo', 'doing'))
"""
WAITING: LiteralString = """
SELECT count(*) FROM queue.procrastinate_jobs WHERE task_name = %(task)s AND status = 'todo'
"""
# Fetches a task as procrastinate does, but none of the projects in `full`.
FETCH_OTHER: LiteralString = """
UPDATE queue.procrastinate_jobs SET status = 'doing', worker_id = %(worker_id)s
WHERE id = (
    SELECT j.id FROM queue.procrastinate_jobs j
    WHERE j.status = 'todo' AND j.queue_name = %(queue)s
      AND (j.scheduled_at IS NULL OR j.scheduled_at <= now())
      AND coalesce(j.args ->> 'project_id', '') <> ALL(%(full)s::text[])
      AND NOT EXISTS (
        SELECT FROM queue.procrastinate_jobs o
        WHERE o.lock = j.lock
          AND (o.status = 'doing' OR o.status = 'todo' AND (-o.priority, o.id) < (-j.priority, j.id)))
    ORDER BY j.priority DESC, j.id LIMIT 1 FOR UPDATE OF j SKIP LOCKED)
RETURNING to_jsonb(procrastinate_jobs)
"""
DOING: LiteralString = """
SELECT id FROM queue.procrastinate_jobs WHERE status = 'doing' AND worker_id = %(worker_id)s
"""
GIVE_BACK: LiteralString = """
UPDATE queue.procrastinate_jobs SET status = 'todo', attempts = attempts + 1, scheduled_at = now()
WHERE id IN (
    SELECT j.id FROM queue.procrastinate_jobs j LEFT JOIN queue.procrastinate_workers w ON w.id = j.worker_id
    WHERE j.status = 'doing'
      AND (w.id IS NULL OR w.last_heartbeat < now() - make_interval(secs => %(silence)s)
           OR w.last_heartbeat < pg_postmaster_start_time() OR (j.worker_id = %(worker_id)s AND j.id = ANY(%(lost)s)))
    FOR UPDATE OF j SKIP LOCKED)
"""
RESTORE: LiteralString = """
SELECT queue.procrastinate_defer_jobs_v1(ARRAY[
    ROW(%(queue)s, %(task)s, 0, j.document_id::text, NULL,
        jsonb_build_object('project_id', j.project_id, 'job_id', j.id), NULL)::queue.procrastinate_job_to_defer_v1])
FROM kb.jobs j
WHERE j.status IN ('pending', 'processing') AND j.type = %(type)s
  AND j.created_at < now() - interval '1 minute'
  AND NOT EXISTS (SELECT FROM queue.procrastinate_jobs q
                  WHERE q.lock = j.document_id::text AND q.task_name = %(task)s AND q.status IN ('todo', 'doing'))
"""


class Queue(Statements):
    async def worker_alive(self) -> bool:
        return bool(await self._queries.value(WORKER_BEATS))

    async def defer(self, task: str, *, lock: str, queue: QueueName = "default", **arguments: Any) -> None:
        """Queue a task, in the same transaction as its job. Tasks with the same lock run one at a time, in order."""
        params = {"queue": queue, "task": task, "lock": lock, "args": arguments}
        await self._queries.one(DEFER, params)

    async def defer_once(self, task: str, *, lock: str, after: int = 0, **arguments: Any) -> None:
        """Queue a task with priority, in `after` seconds, unless the same task is already waiting."""
        await self._queries.one(DEFER_ONCE, {"task": task, "lock": lock, "after": after, "args": arguments})

    async def withdraw(self, task: str, *, lock: str) -> None:
        """Remove the waiting task with this lock, including one that waits for a retry."""
        await self._queries.run(WITHDRAW, {"task": task, "lock": lock})

    async def waits(self, task: str, *, lock: str) -> bool:
        return bool(await self._queries.value(WAITS, {"task": task, "lock": lock}))

    async def waiting(self, task: str) -> int:
        return int(await self._queries.value(WAITING, {"task": task}))

    async def fetch_other(
        self, queue: QueueName, *, worker_id: int, full: Sequence[str]
    ) -> dict[str, Any] | None:
        """Mark the first task outside the projects `full` as running, and return its row."""
        params = {"queue": queue, "worker_id": worker_id, "full": list(full)}
        row: dict[str, Any] | None = await self._queries.value(FETCH_OTHER, params)
        return row

    async def doing(self, worker_id: int) -> set[int]:
        return set(await self._queries.column(DOING, {"worker_id": worker_id}))

    async def give_back(
        self, *, silence: float, worker_id: int | None = None, lost: Iterable[int] = ()
    ) -> int:
        """Requeue tasks whose worker sent no heartbeat for `silence` seconds or since the database started, and lost tasks."""
        return await self._queries.run(
            GIVE_BACK, {"silence": silence, "worker_id": worker_id, "lost": list(lost)}
        )

    async def restore(self, *, task: str, job_type: JobType, queue: QueueName = "default") -> int:
        """Queue a task for each open job that has had none for a minute. Returns their number."""
        return len(await self._queries.all(RESTORE, {"queue": queue, "task": task, "type": job_type}))
