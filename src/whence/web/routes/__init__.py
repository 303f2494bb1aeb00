"""One module for each noun. `documented` lists the errors that a route can answer with."""

from collections.abc import Callable, Coroutine
from functools import cached_property
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute

from whence.errors import DatabaseUnavailable, Forbidden, InvalidParameter, Unauthorized, WhenceError
from whence.web.inputs import require_known
from whence.web.models import Failure

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class Known(APIRoute):
    """Answers only requests whose query has no other parameters than the route declares."""

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        declared = (self.openapi_extra or {}).get("parameters", ())
        by_hand = [one["name"] for one in declared if one["in"] == "query"]
        return (*by_hand, *(one.alias for one in self.dependant.query_params))

    def require_known(self, request: Request) -> None:
        require_known(request, self.parameters)

    def get_route_handler(self) -> Handler:
        answer = super().get_route_handler()

        async def checked(request: Request) -> Response:
            self.require_known(request)
            return await answer(request)

        return checked


class Direct(Known):
    """Hands the request to the function as it is. Nothing is injected here, so there is nothing to resolve."""

    async def answer(self, request: Request) -> Response:
        self.require_known(request)
        response: Response = await self.endpoint(request)
        return response

    def get_route_handler(self) -> Handler:
        return self.answer


class Tolerant(Direct):
    """For a protocol of others, whose clients may send what only others know."""

    def require_known(self, request: Request) -> None:
        pass


def api_router(
    tag: str, *, root: str = "/api/v1", prefix: str = "", route_class: type[Known] = Known
) -> APIRouter:
    """For routes that may all ask for a key and need the database."""
    responses = documented(InvalidParameter, Unauthorized, Forbidden, DatabaseUnavailable, WhenceError)
    return APIRouter(prefix=root + prefix, tags=[tag], responses=responses, route_class=route_class)


def documented(*errors: type[WhenceError]) -> dict[int | str, dict[str, Any]]:
    """OpenAPI's `responses` for these errors, by status, each with its codes."""
    by_status: dict[int | str, dict[str, Any]] = {}
    for error in errors:
        example = {"success": False, "error": {"code": error.code, "message": error().message, "details": {}}}
        entry = by_status.setdefault(error.status, {"model": Failure, "description": ""})
        entry["description"] = ", ".join(filter(None, (entry["description"], f"`{error.code}`")))
        examples = entry.setdefault("content", {"application/json": {"examples": {}}})["application/json"][
            "examples"
        ]
        examples[error.code] = {"value": example}
    return by_status
