"""One module for each noun. `documented` lists the errors that a route can answer with."""

from collections.abc import Callable, Coroutine
from functools import cached_property
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from pydantic.alias_generators import to_camel

from whence.api.base import ErrorAnswer
from whence.errors import (
    DatabaseBusy,
    DatabaseUnavailable,
    Forbidden,
    InvalidParameter,
    Unauthorized,
    WhenceError,
)
from whence.web.bodies import JSONRequest
from whence.web.parameters import rename_as_declared, require_known

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class Checked(APIRoute):
    """Refuses parameters in the query that the route does not declare; takes camelCase and snake_case."""

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        declared = (self.openapi_extra or {}).get("parameters", ())
        by_hand = [one["name"] for one in declared if one["in"] == "query"]
        return (*by_hand, *(one.alias for one in self._flat_parameters()))

    def _flat_parameters(self) -> list[Any]:
        found, waiting = [], [self.dependant]
        while waiting:
            one = waiting.pop()
            found += one.query_params
            waiting += one.dependencies
        return found

    def require_known(self, request: Request) -> None:
        require_known(request, self.parameters)

    def get_route_handler(self) -> Handler:
        answer = super().get_route_handler()

        async def checked(request: Request) -> Response:
            self.require_known(request)
            rename_as_declared(request, self.parameters)
            return await answer(JSONRequest(request.scope, request.receive))

        return checked


class Direct(Checked):
    """Hands the request to the function as it is: the hot chunk routes need no injection (docs/decisions/0004)."""

    async def answer(self, request: Request) -> Response:
        self.require_known(request)
        response: Response = await self.endpoint(request)
        return response

    def get_route_handler(self) -> Handler:
        return self.answer


class Tolerant(Checked):
    """For OpenAI's protocol, whose clients may send parameters that only other servers know."""

    def require_known(self, request: Request) -> None:
        pass


def api_router(
    tag: str, *, root: str = "/api/v1", prefix: str = "", route_class: type[Checked] = Checked
) -> APIRouter:
    """For routes that may ask for a key and need the database. Operation ids are the functions' names in camelCase."""
    return APIRouter(
        prefix=root + prefix,
        tags=[tag],
        responses=documented(
            InvalidParameter, Unauthorized, Forbidden, DatabaseUnavailable, DatabaseBusy, WhenceError
        ),
        route_class=route_class,
        generate_unique_id_function=operation_id,
    )


def operation_id(route: APIRoute) -> str:
    return to_camel(route.name)


def documented(*errors: type[WhenceError]) -> dict[int | str, dict[str, Any]]:
    """OpenAPI's `responses` for these errors, by status, each with its codes."""
    by_status: dict[int | str, dict[str, Any]] = {}
    for error in errors:
        example = {"success": False, "error": {"code": error.code, "message": error().message, "details": {}}}
        entry = by_status.setdefault(error.status, {"model": ErrorAnswer, "description": ""})
        entry["description"] = ", ".join(filter(None, (entry["description"], f"`{error.code}`")))
        examples = entry.setdefault("content", {"application/json": {"examples": {}}})["application/json"][
            "examples"
        ]
        examples[error.code] = {"value": example}
    return by_status
