"""One module for each noun. `documented` lists the errors that a route can answer with."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute

from whence.errors import DatabaseUnavailable, Forbidden, Unauthorized, WhenceError
from whence.web.models import Failure


class Direct(APIRoute):
    """Hands the request to the function as it is. Nothing is injected here, so there is nothing to resolve."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        endpoint: Callable[[Request], Coroutine[Any, Any, Response]] = self.endpoint
        return endpoint


def api_router(
    tag: str, *, root: str = "/api/v1", prefix: str = "", route_class: type[APIRoute] = APIRoute
) -> APIRouter:
    """For routes that may all ask for a key and need the database."""
    responses = documented(Unauthorized, Forbidden, DatabaseUnavailable, WhenceError)
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
