"""A server elsewhere, as commands use it: through the Python client, in the shapes that the API declares."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click
import orjson
from pydantic import BaseModel, ValidationError

from whence.cli.command import named_project
from whence_client import APIError, AsyncClient, NoAnswer, Unauthorized, UnexpectedAnswer, WhenceClientError

if TYPE_CHECKING:
    from whence.settings import Secret

T = TypeVar("T", bound=BaseModel)

_RETRIES = 2
_PAGE = 100


class ServerAway(click.ClickException):
    """No server of Whence answers there."""

    exit_code = 3


class Remote:
    """Requests to the server; each answer is read into a shape of `whence.api`."""

    def __init__(self, client: AsyncClient) -> None:
        self.client = client

    async def get(self, path: str, shape: type[T], **query: Any) -> T:
        given = {name: value for name, value in query.items() if value is not None}
        return self.read(shape, await self.client.request("GET", path, params=given))

    async def send(
        self, method: str, path: str, shape: type[T], body: dict[str, Any] | None = None, **query: Any
    ) -> T:
        """Null values of the body are sent: they reset options."""
        content = None if body is None else orjson.dumps(body)
        given = {name: value for name, value in query.items() if value is not None}
        is_search = path == "/search"
        return self.read(
            shape,
            await self.client.request(method, path, content=content, params=given, idempotent=is_search),
        )

    async def page(self, path: str, shape: type[T], *, limit: int, **query: Any) -> tuple[list[T], int]:
        """The first items of a list, and the number of all."""
        given = {name: value for name, value in query.items() if value is not None}
        found: list[T] = []
        total = limit
        while len(found) < min(limit, total):
            part = {"limit": min(limit - len(found), _PAGE), "offset": len(found), **given}
            got = await self.client.request("GET", path, params=part)
            found += [self.read(shape, item) for item in got["items"]]
            total = got["pagination"]["total"] if got["items"] else len(found)
        return found, total

    async def stream_chat(self, body: dict[str, Any]) -> AsyncIterator[tuple[str, Any]]:
        """The events of a streamed answer, each with its name."""
        async for event in self.client.events("POST", "/chat", json={**body, "stream": True}):
            yield event

    async def project_id(self, project: str) -> str | None:
        """None if the command line names no project: then it is the key's own, else the default one."""
        return await self.client.project_id(named_project(project))

    async def project_path(self, project: str) -> str:
        """The path of the project that the command line names, else of the key's own or the default one."""
        return f"/projects/{await self.found_project_id(named_project(project))}"

    async def object_path(self, project: str, which: str) -> str:
        """The path of an object by its id, or by its name in the project."""
        found = await self.client.find_object(which, project=named_project(project))
        return f"/objects/{found['id']}"

    async def found_project_id(self, project: str | None) -> str:
        """The id of a project by its name or id; without one, the key's own, else the default one."""
        if (ident := await self.client.project_id(project)) is not None:
            return ident
        own = (await self.client.request("GET", "/me"))["project_id"]
        return str(own or await self.client.project_id("default"))

    def read(self, shape: type[T], found: Any) -> T:
        try:
            return shape.model_validate(found)
        except ValidationError as exc:
            raise UnexpectedAnswer(f"An answer of {self.client.url} cannot be read: {_other(exc)}") from exc


@asynccontextmanager
async def opened(url: str, key: "Secret | None") -> AsyncIterator[Remote]:
    """Errors of the client become errors of the command line, each in one line."""
    try:
        async with AsyncClient(url, key.reveal() if key else "", retries=_RETRIES) as client:
            yield Remote(client)
    except WhenceClientError as exc:
        raise explained(exc, url) from exc


def explained(exc: WhenceClientError, url: str) -> click.ClickException:
    is_away = isinstance(exc, NoAnswer | UnexpectedAnswer)
    return (ServerAway if is_away else click.ClickException)(_explain(exc, url))


def _explain(exc: WhenceClientError, url: str) -> str:
    if isinstance(exc, Unauthorized):
        return f"{url} does not accept the key: {exc.message}. Set WHENCE_API_KEY, or give --key."
    if isinstance(exc, APIError) and (exc.code == "NOT_FOUND" or "known" in exc.details):
        return f"{url} may be older than this command: {exc.message}"
    return exc.message if isinstance(exc, APIError) else str(exc)


def _other(exc: ValidationError) -> str:
    first = exc.errors()[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}. It may be older or newer than this command."
