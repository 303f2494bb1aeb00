"""Access control: the caller, its scope and its projects. Every route declares the scope it needs: read, write or admin."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Request

from whence.api.values import canonical_uuid
from whence.app import App
from whence.chat import Answer
from whence.chat.answer import Event
from whence.errors import DocumentNotFound, Forbidden, ObjectNotFound, ProjectNotFound, Unauthorized
from whence.ingest import Chunking
from whence.models import DEFAULT_PROJECT_ID, Document, GraphObject, Project, project_name
from whence.store import Store
from whence.store.answers import Conversation
from whence.store.keys import EVERYONE, Caller, Scope, may_be_ours
from whence.web.metering import Meter


@dataclass(frozen=True, slots=True)
class Access:
    """The application, limited to the projects that the caller's key gives access to."""

    app: App
    caller: Caller
    meter: Meter

    @property
    def store(self) -> Store:
        return self.app.store

    @property
    def project_id(self) -> UUID | None:
        """The one project the caller may see, or None for all."""
        return self.caller.project_id

    def only_own(self, project_id: UUID) -> None:
        """Raises `ProjectNotFound` for another project, exactly as for one that does not exist."""
        if self.project_id not in (None, project_id):
            raise ProjectNotFound(details={"project_id": str(project_id)})

    def project(self, given: UUID | None) -> UUID:
        """The given project, else the key's project, else the default one."""
        if given is None:
            return self.project_id or DEFAULT_PROJECT_ID
        self.only_own(given)
        return given

    async def existing_project(self, given: UUID | None, *, document_id: UUID | None = None) -> UUID:
        """Like `project`, but checks that the project exists. Without a given project or a key's project, returns the document's
        project.
        """
        if given is None and self.project_id is None and document_id is not None:
            with suppress(DocumentNotFound):
                return (await self.store.documents.get(document_id)).project_id
        return (await self.store.projects.get(self.project(given))).id

    async def named_project(self, given: UUID | None, named: str | None) -> UUID:
        """Like `project`, but also looks up the name or id in `named`."""
        return self.project(given) if named is None else (await self.find_project(named)).id

    async def find_project(self, named: str | None) -> Project:
        """The project with this name or id; without one, the key's project, else the default one."""
        if named is None:
            return await self.store.projects.get(self.project(None))
        try:
            ident = canonical_uuid(named)
            project = await (
                self.store.projects.named(project_name(named), own=self.project_id)
                if ident is None
                else self.store.projects.get(UUID(ident))
            )
            self.only_own(project.id)
        except (ProjectNotFound, ValueError) as exc:
            raise ProjectNotFound(details={"project": named}) from exc
        return project

    async def default_chunking(self, project_id: UUID) -> Chunking:
        """The project's default chunking."""
        return Chunking.of_project(await self.store.projects.get(project_id))

    async def count(self, answer: Answer) -> Answer:
        """Counts the answer's tokens for the key's limit."""
        return await self.meter.count(self.caller, answer)

    def counted(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        return self.meter.counted(self.caller, events)

    async def document(self, document_id: UUID) -> Document:
        return await self.store.documents.get(document_id, project_id=self.project_id)

    async def changeable_conversation(self, conversation_id: UUID) -> Conversation:
        """Raises `Forbidden` if another key made the conversation and this key may not write."""
        found = await self.store.conversations.get(conversation_id, self.caller)
        if not (found.is_own or self.caller.may("write")):
            raise Forbidden(
                "This API key did not make the conversation and does not have the scope 'write'",
                details={"needed": "write"},
            )
        return found

    async def graph_object(self, object_id: UUID) -> GraphObject:
        return await self.store.graph.objects.get(object_id, project_id=self.project_id)

    async def corrected_object(self, object_id: UUID) -> tuple[UUID, UUID]:
        """The project and the id of an object. A deleted object is found if it has corrections."""
        try:
            found = await self.graph_object(object_id)
        except ObjectNotFound:
            objects = self.store.graph.objects
            return await objects.project_of(object_id, project_id=self.project_id), object_id
        return found.project_id, found.id


async def app_of(request: Request) -> App:
    app: App = request.app.state.whence
    return app


async def identify(app: App, scope: Mapping[str, Any]) -> Caller:
    """Identify the caller. A key that is sent must be valid, even if the server requires none. A request without a key is
    accepted if the settings allow it.

    Clients of OpenAI's protocol always send a key: under `/v1/`, a key without our prefix is ignored if the server requires none.
    """
    presented = _read_key(scope)
    needed = app.settings.auth_required
    if presented is not None and (needed or not scope["path"].startswith("/v1/") or may_be_ours(presented)):
        return await app.store.keys.authenticate(presented)
    if needed:
        raise Unauthorized
    return EVERYONE


def _read_key(scope: Mapping[str, Any]) -> str | None:
    key = None
    for name, value in scope["headers"]:
        if name == b"authorization":
            scheme, _, credentials = value.partition(b" ")
            if scheme.lower() != b"bearer":
                raise Unauthorized("The Authorization header must be `Bearer <API key>`")
            return str(credentials.strip(), "latin-1")
        if name == b"x-api-key":
            key = str(value, "latin-1")
    return key


def allow(request: Request, scope: Scope) -> Access:
    """Raises `Forbidden` unless the caller, whom the middleware identified, has the scope."""
    caller: Caller = request.scope["caller"]
    if not caller.may(scope):
        raise Forbidden(f"This API key does not have the scope {scope!r}", details={"needed": scope})
    return Access(request.app.state.whence, caller, request.app.state.meter)


def _needs(scope: Scope) -> Callable[[Request], Awaitable[Access]]:
    async def check(request: Request) -> Access:
        return allow(request, scope)

    check.__name__ = f"needs_{scope}"
    return check


reader = _needs("read")
writer = _needs("write")
"""For the hot chunk routes, which parse the request by hand; all other routes declare a `Reader` or a `Writer`."""

Reader = Annotated[Access, Depends(reader)]
Writer = Annotated[Access, Depends(writer)]
Admin = Annotated[Access, Depends(_needs("admin"))]
