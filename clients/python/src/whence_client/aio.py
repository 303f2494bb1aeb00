"""The asynchronous client. `client.py`, the synchronous one, is generated from this module: `make client`."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal

import httpx

from whence_client.aio_requests import AsyncRequests
from whence_client.connection import (
    DEFAULT_RETRIES,
    DEFAULT_TIMEOUT,
    Place,
    form_fields,
    is_id,
    open_file,
    require_fields,
    segment,
    without_none,
)
from whence_client.errors import NotFound, UnexpectedAnswer
from whence_client.events import ANSWER, EVENTS, AnswerEvent, read_event
from whence_client.types import (
    AnswerModel,
    ChatAnswer,
    ClaimModel,
    ContextChoice,
    DocumentModel,
    FiltersRequest,
    HistoryTurn,
    Ingested,
    JobModel,
    ObjectAnswer,
    ObjectModel,
    ProjectModel,
    SearchAnswer,
)

_LOOK_EVERY = 0.3
_DOCUMENT, _JOB = ("id", "error", "chunk_count"), ("id", "status")
_RECEIPT = ("jobId", "documentId")


class AsyncClient(AsyncRequests):
    """A server of Whence. Methods raise `WhenceClientError`.

    `url` and `api_key` come from WHENCE_URL and WHENCE_API_KEY if they are not given. `project`, a name or an id, is the
    project of every request that names none. `retries` is how often a request is sent again that may be: one that
    changes nothing, or one that the server refused with `Retry-After`. `transport` is one of httpx, for a proxy or a test.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        project: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        retries: int = DEFAULT_RETRIES,
        headers: Mapping[str, str] | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        options: dict[str, Any] = {"timeout": timeout, "retries": retries, "transport": transport}
        super().__init__(Place.of(url, api_key), headers=headers or {}, **options)
        self.project = project
        self._project_ids: dict[str, str] = {}

    # --- questions ---

    async def search(
        self,
        query: str,
        *,
        project: str | None = None,
        mode: Literal["hybrid", "vector", "text"] | None = None,
        limit: int | None = None,
        offset: int | None = None,
        floor: bool | None = None,
        min_score: float | None = None,
        filters: FiltersRequest | None = None,
        expand: ContextChoice | None = None,
    ) -> SearchAnswer:
        """The chunks that are relevant to the query, the best first. `expand` adds the context of each."""
        body: dict[str, Any] = {"query": query, "project": project or self.project, "mode": mode}
        body |= {"limit": limit, "offset": offset, "floor": floor, "minScore": min_score}
        body |= {"filters": filters, "expand": expand}
        found: SearchAnswer = await self.request(
            "POST", "/search", json=body, idempotent=True, has=("items",)
        )
        return found

    async def ask(
        self,
        message: str,
        *,
        project: str | None = None,
        history: Sequence[HistoryTurn] | None = None,
        limit: int | None = None,
        filters: FiltersRequest | None = None,
        verify: bool | None = None,
        conversation_id: str | None = None,
        store: bool | None = None,
    ) -> ChatAnswer:
        """An answer from the documents. Citations in `response` are ids of chunks; `citations` has the quotes."""
        body: dict[str, Any] = {"message": message, "project": project or self.project, "history": history}
        body |= {"limit": limit, "filters": filters, "verify": verify}
        body |= {"conversationId": conversation_id, "store": store}
        answer: ChatAnswer = await self.request("POST", "/chat", json={**body, "stream": False}, has=ANSWER)
        return answer

    async def stream(
        self,
        message: str,
        *,
        project: str | None = None,
        history: Sequence[HistoryTurn] | None = None,
        limit: int | None = None,
        filters: FiltersRequest | None = None,
        verify: bool | None = None,
        conversation_id: str | None = None,
        store: bool | None = None,
    ) -> AsyncIterator[AnswerEvent]:
        """Like `ask`, as it is written: `SourcesFound`, many `Token`, `Done`, perhaps `Verified`."""
        body: dict[str, Any] = {"message": message, "project": project or self.project, "history": history}
        body |= {"limit": limit, "filters": filters, "verify": verify}
        body |= {"conversationId": conversation_id, "store": store}
        async for name, data in self.chat_events(body):
            if (event := read_event(name, data)) is not None:
                yield event

    async def chat_events(self, body: Mapping[str, Any]) -> AsyncIterator[tuple[str, Any]]:
        """The name and the JSON of each event of a streamed answer to a request for `/chat`."""
        is_done = False
        async for name, data in self.events("POST", "/chat", json={**body, "stream": True}):
            require_fields(data, EVENTS.get(name, ()), f"The event {name!r} of {self.url}")
            yield name, data
            is_done = is_done or name == "done"
        if not is_done:
            raise UnexpectedAnswer(f"The stream of {self.url} ended before the answer was whole")

    async def trace(
        self, object: str, *, property: str | None = None, project: str | None = None
    ) -> ObjectAnswer:
        """An object, by id or name, with all claims behind its properties: the words, the chunk, the page."""
        found = await self.find_object(object, project=project)
        claims = [claim async for claim in self.claims(found["id"], property=property)]
        sources: dict[str, list[ClaimModel]] = {}
        for claim in sorted(claims, key=lambda claim: claim["property_name"] != "name"):
            sources.setdefault(claim["property_name"], []).append(claim)
        answer: ObjectAnswer = await self.request("GET", f"/objects/{found['id']}", has=("id", "sources"))
        return {**answer, "sources": sources}

    # --- documents ---

    async def ingest(
        self,
        file: str | Path | bytes | BinaryIO,
        *,
        name: str | None = None,
        folder: str | None = None,
        origin: str | None = None,
        project: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        chunking_strategy: str | None = None,
        chunking_options: Mapping[str, int] | None = None,
        wait: bool = True,
    ) -> Ingested:
        """Uploads a file: a path, its bytes with a `name`, or an open one. `folder` goes before the name.

        `origin`, `upload://host/path`, says where the file is: other names and other origins are other documents.

        With `wait` it returns when the document was ingested or has failed, which `status` says.
        """
        given, content = open_file(file, name)
        fields = {"projectId": await self.project_id(project), "folder": folder, "origin": origin}
        fields |= form_fields(metadata, chunking_strategy, chunking_options)
        try:
            sent = await self.request(
                "POST",
                "/ingest/upload",
                data=without_none(fields),
                files={"file": (given, content)},
                has=("items",),
            )
        finally:
            if isinstance(file, str | Path):
                content.close()
        made: Ingested = (sent["items"] or [{}])[0]
        require_fields(made, _RECEIPT, f"The answer of {self.url}")
        return await self._when_done(made) if wait else made

    async def ingest_text(
        self,
        text: str,
        *,
        name: str | None = None,
        project: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        chunking_strategy: str | None = None,
        chunking_options: Mapping[str, int] | None = None,
        wait: bool = True,
    ) -> Ingested:
        """Ingests a text. The ending of its `name` says what kind of text it is."""
        body: dict[str, Any] = {
            "text": text,
            "name": name,
            "projectId": await self.project_id(project),
            "metadata": metadata,
        }
        body |= {"chunkingStrategy": chunking_strategy, "chunkingOptions": chunking_options}
        made: Ingested = await self.request("POST", "/ingest/text", json=body, has=_RECEIPT)
        return await self._when_done(made) if wait else made

    async def ingest_url(
        self,
        url: str,
        *,
        project: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        chunking_strategy: str | None = None,
        chunking_options: Mapping[str, int] | None = None,
        wait: bool = True,
    ) -> Ingested:
        """Has the server fetch a URL and ingest what it answers with."""
        body: dict[str, Any] = {"url": url, "projectId": await self.project_id(project), "metadata": metadata}
        body |= {"chunkingStrategy": chunking_strategy, "chunkingOptions": chunking_options}
        made: Ingested = await self.request("POST", "/ingest/url", json=body, has=_RECEIPT)
        return await self._when_done(made) if wait else made

    async def documents(
        self,
        *,
        project: str | None = None,
        status: str | None = None,
        file_type: str | None = None,
        name: str | None = None,
    ) -> AsyncIterator[DocumentModel]:
        """All documents, the newest first, fetched page by page."""
        async for found in self.items(
            "/documents",
            project_id=await self.project_id(project),
            status=status,
            file_type=file_type,
            name=name,
        ):
            yield found

    async def document(self, document_id: str) -> DocumentModel:
        found: DocumentModel = await self.request("GET", f"/documents/{segment(document_id)}", has=_DOCUMENT)
        return found

    async def update_document(
        self,
        document_id: str,
        file: str | Path | bytes | BinaryIO,
        *,
        name: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        chunking_strategy: str | None = None,
        chunking_options: Mapping[str, int] | None = None,
        wait: bool = True,
    ) -> Ingested:
        """Gives a document new content; its id stays. What is not given stays as it is."""
        given, content = open_file(file, name)
        fields = {"name": name, **form_fields(metadata, chunking_strategy, chunking_options)}
        path, files = f"/documents/{segment(document_id)}", {"file": (given, content)}
        try:
            made: Ingested = await self.request(
                "PUT", path, data=without_none(fields), files=files, has=_RECEIPT
            )
        finally:
            if isinstance(file, str | Path):
                content.close()
        return await self._when_done(made) if wait else made

    async def delete_document(self, document_id: str) -> DocumentModel:
        gone: DocumentModel = await self.request(
            "DELETE", f"/documents/{segment(document_id)}", has=_DOCUMENT
        )
        return gone

    # --- jobs ---

    async def jobs(
        self,
        *,
        project: str | None = None,
        status: str | None = None,
        job_type: str | None = None,
        document_id: str | None = None,
    ) -> AsyncIterator[JobModel]:
        """All jobs, the newest first, fetched page by page."""
        async for found in self.items(
            "/jobs",
            project_id=await self.project_id(project),
            status=status,
            job_type=job_type,
            document_id=document_id,
        ):
            yield found

    async def job(self, job_id: str) -> JobModel:
        found: JobModel = await self.request("GET", f"/jobs/{segment(job_id)}", has=_JOB)
        return found

    async def cancel_job(self, job_id: str) -> JobModel:
        changed: JobModel = await self.request("POST", f"/jobs/{segment(job_id)}/cancel", has=_JOB)
        return changed

    async def retry_job(self, job_id: str) -> JobModel:
        changed: JobModel = await self.request("POST", f"/jobs/{segment(job_id)}/retry", has=_JOB)
        return changed

    async def wait_for_job(self, job_id: str) -> JobModel:
        """The job when it has ended."""
        while (job := await self.job(job_id))["status"] in ("pending", "processing"):
            await asyncio.sleep(_LOOK_EVERY)
        return job

    async def _when_done(self, made: Ingested) -> Ingested:
        if made["jobId"] is None or made["documentId"] is None:
            return made
        job = await self.wait_for_job(made["jobId"])
        document = await self.document(made["documentId"])
        status, error = job["status"], document["error"]
        return {**made, "status": status, "error": error, "chunkCount": document["chunk_count"]}

    # --- the graph ---

    async def objects(
        self,
        *,
        project: str | None = None,
        type: str | None = None,
        name: str | None = None,
        document_id: str | None = None,
    ) -> AsyncIterator[ObjectModel]:
        """All objects, the oldest first, fetched page by page."""
        async for found in self.items(
            "/objects",
            project_id=await self.project_id(project),
            type=type,
            name=name,
            document_id=document_id,
        ):
            yield found

    async def find_object(self, which: str, *, project: str | None = None) -> ObjectModel:
        """An object by its id, or by its name or another name of it if only one has it."""
        if is_id(which):
            found: ObjectModel = await self.request("GET", f"/objects/{which}", has=("id", "name"))
            return found
        key = which.casefold()
        near = [one async for one in self.objects(name=which, project=project)]
        named = [one for one in near if one["name"].casefold() == key]
        named = named or [one for one in near if key in [alias.casefold() for alias in one["aliases"]]]
        if len(named) != 1:
            ids = ", ".join(f"{one['id']} ({one['type']})" for one in named)
            message = (
                f"Several objects are named {which!r}: {ids}" if named else f"No object is named {which!r}"
            )
            raise NotFound(message, code="OBJECT_NOT_FOUND", details={"name": which})
        return named[0]

    async def claims(self, object_id: str, *, property: str | None = None) -> AsyncIterator[ClaimModel]:
        """All claims about an object, fetched page by page."""
        async for found in self.items(f"/objects/{segment(object_id)}/provenance", property=property):
            yield found

    # --- answers and projects ---

    async def answers(
        self, *, project: str | None = None, stale: bool | None = None, feedback: str | None = None
    ) -> AsyncIterator[AnswerModel]:
        """All stored answers, the newest first, fetched page by page."""
        async for found in self.items(
            "/answers", project_id=await self.project_id(project), stale=stale, feedback=feedback
        ):
            yield found

    async def projects(self) -> AsyncIterator[ProjectModel]:
        """All projects that the key opens."""
        async for found in self.items("/projects"):
            yield found

    async def project_id(self, project: str | None = None) -> str | None:
        """The id of a project by its name; None where neither the call nor the client names one."""
        wanted = project or self.project
        if wanted is None or is_id(wanted):
            return wanted
        if wanted not in self._project_ids:
            async for found in self.projects():
                self._project_ids[found["name"]] = found["id"]
        if wanted not in self._project_ids:
            raise NotFound(
                f"There is no project {wanted!r}", code="PROJECT_NOT_FOUND", details={"project": wanted}
            )
        return self._project_ids[wanted]
