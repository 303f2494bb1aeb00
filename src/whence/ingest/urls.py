"""Documents from URLs, fetched again only if they changed."""

from dataclasses import dataclass
from uuid import UUID

from whence.fetch import FetchRules
from whence.ingest.inbox import Inbox
from whence.ingest.job_spec import Chunking, Receipt
from whence.ingest.receive import Metadata, Receiver
from whence.models import Document


@dataclass(frozen=True, slots=True)
class Visitor:
    receiver: Receiver
    inbox: Inbox
    rules: FetchRules

    async def visit(
        self, url: str, *, project_id: UUID, chunking: Chunking | None, metadata: Metadata | None = None
    ) -> Receipt:
        """Fetch the URL as a new document, or as a new version of the document it gave before."""
        from whence.fetch.run import fetch  # loads an HTTP client, which a search does not need
        from whence.fetch.targets import parse

        url = str(parse(url))
        project = await self.receiver.store.projects.get(project_id)
        known = await self.known(url, project_id=project_id)
        validators = (known.fetched or {}) if known else {}
        with self.inbox.file() as file:
            found = await fetch(
                url,
                into=file.path,
                rules=self.rules,
                etag=validators.get("etag"),
                last_modified=validators.get("last_modified"),
            )
            if found is None:
                assert known is not None, "a server says `not modified` only if it was given validators"
                return await self.receiver.update(known, chunking=chunking, metadata=metadata)
            file.fetched_as(found)
            if known is None:
                return await self.receiver.receive(
                    file,
                    name=found.name,
                    project_id=project_id,
                    chunking=chunking or Chunking.of_project(project),
                    metadata=metadata,
                    origin=url,
                )
            return await self.receiver.update(
                known, file=file, name=found.name, chunking=chunking, metadata=metadata
            )

    async def known(self, url: str, *, project_id: UUID) -> Document | None:
        from whence.fetch.targets import parse

        return await self.receiver.store.documents.of_origin(project_id, str(parse(url)))
