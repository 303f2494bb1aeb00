"""The API for commands: that of a remote server, or of the application in this process."""

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

import orjson
from pydantic import BaseModel, ValidationError

from whence.cli.command import find_project, named_project, take_only
from whence.cli.output import printable
from whence.errors import BadInput, DatabaseUnavailable, ObjectNotFound, WhenceError

if TYPE_CHECKING:
    from whence.app import App
    from whence_client import AsyncClient

T = TypeVar("T", bound=BaseModel)

_PAGE = 100


class Api:
    """Sends requests and reads each answer into a shape of `whence.api`."""

    client: "AsyncClient"
    app: "App | None" = None
    """The application in this process; None for a remote server."""

    async def get(self, path: str, shape: type[T], **query: Any) -> T:
        return self.read(shape, await self.client.request("GET", path, params=_drop_none(query)))

    async def send(
        self, method: str, path: str, shape: type[T], body: dict[str, Any] | None = None, **query: Any
    ) -> T:
        """Send a request. Null values of the body are sent, because they reset options."""
        try:
            content = None if body is None else orjson.dumps(body)
        except TypeError as exc:  # command-line bytes that are not text
            raise BadInput("Text must be valid Unicode") from exc
        found = await self.client.request(
            method, path, content=content, params=_drop_none(query), idempotent=path == "/search"
        )
        return self.read(shape, found)

    async def page(self, path: str, shape: type[T], *, limit: int, **query: Any) -> tuple[list[T], int]:
        """The first items of a list, and the total."""
        found: list[T] = []
        total = limit
        while len(found) < min(limit, total):
            part = {"limit": min(limit - len(found), _PAGE), "offset": len(found), **_drop_none(query)}
            got = await self.client.request("GET", path, params=part, has=("items", "pagination"))
            found += [self.read(shape, item) for item in got["items"]]
            total = got["pagination"]["total"] if got["items"] else len(found)
        return found, total

    async def find_project_id(self, project: str) -> str:
        """The id of the project with this name or id."""
        return str(await self.client.project_id(project))

    async def project_id(self, project: str) -> str | None:
        """The id of the given project. None if the command line names none: then the key's project is used, else the default
        one.
        """
        named = named_project(project)
        return None if named is None else await self.find_project_id(named)

    async def project_path(self, project: str) -> str:
        """The path of the given project, else of the key's project or the default one."""
        return f"/projects/{await self.project_id(project) or await self.own_project_id()}"

    async def own_project_id(self) -> str:
        """The key's project, else the default one."""
        own = (await self.client.request("GET", "/me", has=("project_id",)))["project_id"]
        return own or await self.find_project_id("default")

    async def object_id(self, project: str, which: str) -> str:
        """The id of the object with this id, or with this name in the project."""
        return (await self.client.find_object(which, project=named_project(project)))["id"]

    async def object_path(self, project: str, which: str) -> str:
        return f"/objects/{await self.object_id(project, which)}"

    def read(self, shape: type[T], found: Any) -> T:
        try:
            return shape.model_validate(found)
        except ValidationError as exc:
            from whence_client import UnexpectedAnswer

            raise UnexpectedAnswer(
                f"Cannot read the answer of {self.client.url}: {_explain_first(exc)}"
            ) from exc


class ServerApi(Api):
    def __init__(self, client: "AsyncClient") -> None:
        self.client = client


class LocalApi(Api):
    """Calls the routes in this process. They are loaded at the first request, which takes half a second."""

    def __init__(self, app: "App") -> None:
        self.app = self._app = app

    @cached_property
    def client(self) -> "AsyncClient":  # type: ignore[override]  # made when it is needed
        from whence.cli.in_process import client_of

        return client_of(self._app)

    async def find_project_id(self, project: str) -> str:
        return str((await find_project(self._app, project)).id)

    async def project_id(self, project: str) -> str:
        return await self.find_project_id(project)

    async def object_id(self, project: str, which: str) -> str:
        """Finds an object by id, else by name, else by alias. Fails if several objects match."""
        from whence.text.names import name_key

        objects = self._app.store.graph.objects
        try:
            return str((await objects.get(UUID(which))).id)
        except ValueError:
            named = await objects.named((await find_project(self._app, project)).id, [name_key(which)])
        found = take_only(
            [one for one in named if one.name_key == name_key(which)] or named,
            ObjectNotFound,
            kind="object",
            name=which,
            label=lambda one: f"{one.id} ({printable(one.type)})",
        )
        return str(found.id)


def own_error(exc: Exception) -> WhenceError | None:
    """The application's error for an error of the client; None for any other error."""
    from whence_client import APIError

    if not isinstance(exc, APIError):
        return None
    kind = DatabaseUnavailable if exc.code == DatabaseUnavailable.code else WhenceError
    return kind(exc.message, details=exc.details)


def _drop_none(query: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in query.items() if value is not None}


def _explain_first(exc: ValidationError) -> str:
    first = exc.errors()[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}. It may be older or newer than this command."
