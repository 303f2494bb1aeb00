"""Documents from URLs, fetched again only if they changed."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from whence.fetch import Fetched, FetchRules, fetch, parse
from whence.ingest.inbox import Inbox, IncomingFile
from whence.ingest.job_spec import Chunking
from whence.ingest.receive import Metadata, Receipt, Receiver
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
        url = str(parse(url))
        await self.receiver.store.projects.get(project_id)
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
            if isinstance(found, Fetched):
                file.written(size=found.size, sha256=found.sha256)
                if known is None:
                    return await self._first(
                        url, file, found, project_id, chunking=chunking, metadata=metadata
                    )
                return await self._again(known, file, found, chunking=chunking, metadata=metadata)
        assert known is not None, "nobody says `not modified` who was not asked"
        return await self.receiver.update(known, chunking=chunking, metadata=metadata)

    async def known(self, url: str, *, project_id: UUID) -> Document | None:
        """The document fetched from this URL before."""
        return await self.receiver.store.documents.of_origin(project_id, str(parse(url)))

    async def _first(
        self,
        url: str,
        file: IncomingFile,
        found: Fetched,
        project_id: UUID,
        *,
        chunking: Chunking | None,
        metadata: Metadata | None,
    ) -> Receipt:
        return await self.receiver.receive(
            file,
            name=found.name,
            project_id=project_id,
            chunking=chunking or Chunking(),
            metadata=metadata,
            origin=url,
            fetched=_validators(found),
            declared=_declared(found),
        )

    async def _again(
        self,
        known: Document,
        file: IncomingFile,
        found: Fetched,
        *,
        chunking: Chunking | None,
        metadata: Metadata | None,
    ) -> Receipt:
        return await self.receiver.update(
            known,
            file=file,
            name=found.name,
            chunking=chunking,
            metadata=metadata,
            fetched=_validators(found),
            declared=_declared(found),
        )


def _validators(found: Fetched) -> dict[str, Any]:
    return {"etag": found.etag, "last_modified": found.last_modified}


def _declared(found: Fetched) -> str | None:
    if found.content_type is None or found.charset is None:
        return found.content_type
    return f"{found.content_type}; charset={found.charset}"
