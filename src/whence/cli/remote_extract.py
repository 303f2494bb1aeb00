"""`whence extract --server`: orders extractions on the server, and waits for their jobs."""

import asyncio
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from whence.api.documents import DocumentModel
from whence.api.jobs import ExtractionOrdered, JobModel, ReextractionAnswer
from whence.cli.command import progress
from whence.cli.extract import added
from whence.cli.remote import Remote
from whence.errors import DocumentNotFound
from whence.extract.scheduling import Scope
from whence.models import OPEN

_PAUSE = 0.3
_LOOKED_AT = 20
"""Jobs that are asked for in one round: they end in about the order in which they were queued."""


@dataclass(frozen=True, slots=True)
class RemoteOrder:
    """Documents of the server to extract from, or the whole project."""

    remote: Remote
    project: str
    """Its path."""
    documents: tuple[UUID, ...]

    @classmethod
    async def of(cls, remote: Remote, project: str, documents: tuple[UUID, ...]) -> "RemoteOrder":
        """All documents must be there, and of the project, before any is ordered."""
        path = await remote.project_path(project)
        for ident in documents:
            found = await remote.get(f"/documents/{ident}", DocumentModel)
            if not path.endswith(f"/{found.project_id}"):
                raise DocumentNotFound(details={"document_id": str(ident)})
        return cls(remote, path, documents)

    async def place(self, scope: Scope) -> tuple[list[JobModel], UUID | None]:
        """The jobs, and the id of all of them as one."""
        body = {"scope": scope}
        if not self.documents:
            made = await self.remote.send("POST", f"{self.project}/reextract", ReextractionAnswer, body)
            return [await self._job(one.job_id) for one in made.jobs], made.job_id
        ordered = [
            await self.remote.send("POST", f"/documents/{ident}/extract", ExtractionOrdered, body)
            for ident in self.documents
        ]
        return [await self._job(one.job_id) for one in ordered], None

    async def wait(self, jobs: list[JobModel], *, quiet: bool) -> list[JobModel]:
        now = {job.id: job for job in jobs}
        with progress("Reading", quiet=quiet) as show:
            while waiting := [job.id for job in now.values() if job.status in OPEN]:
                await asyncio.sleep(_PAUSE)
                for ident in waiting[:_LOOKED_AT]:
                    now[ident] = await self._job(ident)
                show(sum(job.done for job in now.values()), sum(job.total or 0 for job in now.values()))
        return sorted(now.values(), key=lambda job: job.id)

    async def estimate(self, scope: Scope) -> dict[str, Any]:
        paths = [f"/documents/{ident}" for ident in self.documents] or [self.project]
        body = {"scope": scope, "dryRun": True}
        plans = [
            await self.remote.send("POST", f"{path}/reextract", ReextractionAnswer, body) for path in paths
        ]
        return {"project_id": self.project.rpartition("/")[2], **added(plans)}

    async def _job(self, ident: UUID) -> JobModel:
        return await self.remote.get(f"/jobs/{ident}", JobModel)
