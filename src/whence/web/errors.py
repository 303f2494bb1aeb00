"""Turns every error into the one error shape."""

import logging
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Route, compile_path

from whence.api.reading import error_for, parameter_error
from whence.errors import BadInput, DatabaseUnavailable, MethodNotAllowed, NotFound, Unauthorized, WhenceError
from whence.logs import request_id
from whence.web.parameters import sent_name
from whence.web.responses import failure

log = logging.getLogger("whence.web")

_SERVER_ERROR = 500
_RESOURCES = frozenset({"projects"})
"""Tags of routes whose body is the resource itself: every error in it is INVALID_REQUEST."""

EXPECTED = (WhenceError, RequestValidationError, HTTPException)
"""Exceptions that a route may raise; any other is a crash."""


def install(app: FastAPI) -> None:
    async def handle(request: Request, exc: Exception) -> Response:
        return answer_to(request, exc)

    for kind in EXPECTED:
        app.add_exception_handler(kind, handle)
    app.add_exception_handler(Exception, _answer_crash)


async def _answer_crash(_request: Request, _exc: Exception) -> Response:
    """Shows only the request's id. The exception goes on to the middleware, which logs it."""
    return failure(WhenceError(details={"request_id": request_id.get()}))


def answer_to(request: Request, exc: Exception) -> Response:
    if isinstance(exc, WhenceError):
        return _answer_own(exc)
    if isinstance(exc, RequestValidationError):
        return failure(_translate(request, exc))
    if isinstance(exc, HTTPException):
        return _answer_framework(request, exc)
    raise exc


def _answer_own(exc: WhenceError) -> Response:
    if exc.status >= _SERVER_ERROR:
        _log_failure(exc)
        exc.details.setdefault("request_id", request_id.get())
    headers = {"WWW-Authenticate": 'Bearer realm="whence"'} if isinstance(exc, Unauthorized) else None
    return failure(exc, headers)


def _log_failure(exc: WhenceError) -> None:
    """With a stack trace only where it says something: not for the database or another service that fails."""
    cause = exc.__cause__
    if isinstance(exc, DatabaseUnavailable) or isinstance(cause, DatabaseUnavailable):
        log.error("%s", exc)
    elif exc.status == _SERVER_ERROR:
        log.error("%s", exc, exc_info=exc)
    elif cause is None:
        log.error("%s", exc)
    else:
        log.error("%s: %s", exc, str(cause).strip().partition("\n")[0] or type(cause).__name__)


def _answer_framework(request: Request, exc: HTTPException) -> Response:
    route = f"{request.method} {request.url.path}"
    if isinstance(exc.__cause__, WhenceError):  # raised while FastAPI read the body
        return _answer_own(exc.__cause__)
    if exc.status_code == NotFound.status:
        return failure(NotFound("There is no such route", details={"route": route}))
    if exc.status_code == MethodNotAllowed.status:
        return failure(MethodNotAllowed(details={"route": route}), {"Allow": _allowed_methods(request)})
    return failure(BadInput("The request body cannot be read", details={"expected": "valid JSON in UTF-8"}))


def _allowed_methods(request: Request) -> str:
    """The methods of the most literal path that matches."""
    paths: dict[str, dict[str, Any]] = request.app.openapi()["paths"]
    matching = [path for path in paths if compile_path(path)[0].match(request.url.path)]
    literal = min(matching, key=lambda path: path.count("{"), default="")
    methods = {method.upper() for method in paths.get(literal, ())}
    routes = [route for route in request.app.routes if isinstance(route, Route) and route.path == literal]
    if any("HEAD" in (route.methods or ()) for route in routes):
        methods.add("HEAD")  # OpenAPI leaves it out
    return ", ".join(sorted(methods))


def _translate(request: Request, exc: RequestValidationError) -> WhenceError:
    """The first of pydantic's errors as ours."""
    first = exc.errors()[0]
    where, *path = first["loc"]
    if first["type"] == "json_invalid":
        details = {"position": path[0] if path else 0, "reason": first["ctx"]["error"]}
        return BadInput("The request body is not valid JSON", details=details)
    if where != "body":
        return parameter_error(first, sent_name(request, str(path[0])))
    tags = getattr(request.scope.get("route"), "tags", ())
    return error_for({**first, "loc": tuple(path)}, exc.body, resource=not _RESOURCES.isdisjoint(tags))
