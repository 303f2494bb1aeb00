"""Turns every error into the one error shape."""

import logging
from itertools import chain

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Route

from whence.api.reading import error_for, parameter_error
from whence.background import cause
from whence.errors import BadInput, DatabaseUnavailable, MethodNotAllowed, NotFound, WhenceError
from whence.logs import request_id
from whence.web.parameters import sent_name
from whence.web.responses import EncodedJSON, failure

log = logging.getLogger("whence.web")

_SERVER_ERROR = 500
_RESOURCES = frozenset({"projects"})
"""Tags of routes whose body is the resource itself. Every error in such a body is INVALID_REQUEST."""

_REFUSING = frozenset({"not_bulk", "not_merge"})
"""Routes that only answer 405."""

EXPECTED = (WhenceError, RequestValidationError, HTTPException)
"""Exceptions that a route may raise. Any other exception is a crash."""


def install(app: FastAPI) -> None:
    async def handle(request: Request, exc: Exception) -> Response:
        return answer_to(request, exc)

    for kind in EXPECTED:
        app.add_exception_handler(kind, handle)
    app.add_exception_handler(Exception, _answer_crash)


async def _answer_crash(_request: Request, _exc: Exception) -> Response:
    """Shows the client only the request's id. The middleware logs the exception."""
    return failure(WhenceError(details={"request_id": request_id.get()}))


def answer_to(request: Request, exc: Exception) -> Response:
    if isinstance(exc, WhenceError):
        return answer_own(exc)
    if isinstance(exc, RequestValidationError):
        return failure(_translate(request, exc))
    if isinstance(exc, HTTPException):
        return _answer_framework(request, exc)
    raise exc


def answer_own(exc: WhenceError) -> EncodedJSON:
    if exc.status >= _SERVER_ERROR:
        _log_failure(exc)
        exc.details.setdefault("request_id", request_id.get())
    return failure(exc)


def _log_failure(exc: WhenceError) -> None:
    """Log a failure. A failing database or service is logged without a stack trace."""
    is_ours = exc.status == _SERVER_ERROR and not isinstance(exc.__cause__, DatabaseUnavailable)
    reason = f": {cause(exc)}" if exc.__cause__ else ""
    log.error("%s%s", exc, reason, exc_info=exc if is_ours else None)


def _answer_framework(request: Request, exc: HTTPException) -> Response:
    route = f"{request.method} {request.url.path}"
    if isinstance(exc.__cause__, WhenceError):  # raised while FastAPI read the body
        return answer_own(exc.__cause__)
    if exc.status_code == NotFound.status:
        return failure(
            NotFound("There is no such route", details={"route": route, **_list_similar_routes(request)})
        )
    if exc.status_code == MethodNotAllowed.status:
        return failure(MethodNotAllowed(details={"route": route}), {"Allow": _list_allowed_methods(request)})
    return failure(BadInput("The request body cannot be read", details={"expected": "valid JSON in UTF-8"}))


def _list_similar_routes(request: Request) -> dict[str, list[str]]:
    """The routes of OpenAI's protocol, listed for its clients, which try many paths."""
    if not request.url.path.startswith("/v1"):
        return {}
    routes = (route for route in request.app.routes if isinstance(route, Route))
    return {
        "routes": sorted(
            f"{method} {route.path.replace(':path', '')}"
            for route in routes
            if route.path.startswith("/v1/")
            for method in (route.methods or set()) - {"HEAD"}
        )
    }


def _list_allowed_methods(request: Request) -> str:
    """The methods of the most literal path that matches."""
    routes = [
        route
        for route in request.app.routes
        if isinstance(route, Route) and route.path_regex.match(request.url.path)
    ]
    literal = min((route.path for route in routes), key=lambda path: path.count("{"), default="")
    allowed = [
        route.methods or () for route in routes if route.path == literal and route.name not in _REFUSING
    ]
    return ", ".join(sorted(chain.from_iterable(allowed)))


def _translate(request: Request, exc: RequestValidationError) -> WhenceError:
    """Our error for the first of pydantic's errors."""
    first = exc.errors()[0]
    where, *path = first["loc"]
    if first["type"] == "json_invalid":
        details = {"position": path[0] if path else 0, "reason": first["ctx"]["error"]}
        return BadInput("The request body is not valid JSON", details=details)
    if where != "body":
        return parameter_error(first, sent_name(request, str(path[0])))
    tags = getattr(request.scope.get("route"), "tags", ())
    return error_for({**first, "loc": tuple(path)}, exc.body, resource=not _RESOURCES.isdisjoint(tags))
