"""Every error becomes the one error shape, whoever raised it."""

import logging
from collections.abc import Iterator, Sequence
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Route, compile_path

from whence.errors import (
    BadInput,
    DatabaseUnavailable,
    InvalidParameter,
    MethodNotAllowed,
    NotFound,
    Unauthorized,
    WhenceError,
)
from whence.logs import request_id
from whence.web.answer import failure

log = logging.getLogger("whence.web")

_SERVER_ERROR = 500


EXPECTED = (WhenceError, RequestValidationError, HTTPException)
"""What a route may raise; anything else is a crash."""


def install(app: FastAPI) -> None:
    async def handle(request: Request, exc: Exception) -> Response:
        return answer_to(request, exc)

    for kind in EXPECTED:
        app.add_exception_handler(kind, handle)
    app.add_exception_handler(Exception, _crash)


async def _crash(_request: Request, _exc: Exception) -> Response:
    """Tell nothing but the request's id; the gate, to whom the exception goes on, logs the rest."""
    return failure(WhenceError(details={"request_id": request_id.get()}))


def answer_to(request: Request, exc: Exception) -> Response:
    if isinstance(exc, WhenceError):
        return _own(exc)
    if isinstance(exc, RequestValidationError):
        return failure(_translated(exc.errors()))
    assert isinstance(exc, HTTPException), "one of the three kinds"  # noqa: S101 - what EXPECTED says
    return _framework(request, exc)


def _own(exc: WhenceError) -> Response:
    if isinstance(exc, DatabaseUnavailable) or isinstance(exc.__cause__, DatabaseUnavailable):
        log.error("%s", exc)  # every request says it again: the stack is always the same
        exc.details.setdefault("request_id", request_id.get())
    elif exc.status > _SERVER_ERROR:  # a service behind this one; where it was asked says nothing
        log.error("%s: %s", exc, _first_line(exc.__cause__)) if exc.__cause__ else log.error("%s", exc)
        exc.details.setdefault("request_id", request_id.get())
    elif exc.status == _SERVER_ERROR:
        log.error("%s", exc, exc_info=exc)
        exc.details.setdefault("request_id", request_id.get())
    headers = {"WWW-Authenticate": 'Bearer realm="whence"'} if isinstance(exc, Unauthorized) else None
    return failure(exc, headers)


def _first_line(cause: BaseException | None) -> str:
    return str(cause).strip().partition("\n")[0] or type(cause).__name__


def _framework(request: Request, exc: HTTPException) -> Response:
    route = f"{request.method} {request.url.path}"
    if exc.status_code == NotFound.status:
        return failure(NotFound("There is no such route", details={"route": route}))
    if exc.status_code == MethodNotAllowed.status:
        return failure(MethodNotAllowed(details={"route": route}), {"Allow": _allowed(request)})
    return failure(BadInput("The request body cannot be read", details={"expected": "valid JSON in UTF-8"}))


def _allowed(request: Request) -> str:
    """The methods of the resource: of all paths that match, those of the most literal."""
    paths: dict[str, dict[str, Any]] = request.app.openapi()["paths"]
    asked = request.url.path, "/api/v1" + request.url.path  # some are there without it, and declared once
    matching = [path for path in paths if any(map(compile_path(path)[0].match, asked))]
    literal = min(matching, key=lambda path: path.count("{"), default="")
    methods = {method.upper() for method in paths.get(literal, ())}
    if any(route.path == literal and "HEAD" in (route.methods or ()) for route in _routes(request)):
        methods.add("HEAD")  # which OpenAPI does not tell
    return ", ".join(sorted(methods))


def _routes(request: Request) -> Iterator[Route]:
    return (route for route in request.app.routes if isinstance(route, Route))


def _translated(errors: Sequence[Any]) -> BadInput:
    """The first thing that is wrong: one clear error is more use than a list."""
    first = errors[0]
    where, *path = first["loc"]
    must = _must(str(first["msg"]))
    if first["type"] == "json_invalid":
        details = {"position": path[0] if path else 0, "reason": first["ctx"]["error"]}
        return BadInput("The request body is not valid JSON", details=details)
    name = ".".join(str(part) for part in path)
    if where != "body":
        return InvalidParameter.of(
            name,
            provided=first.get("input"),
            expected=must.removeprefix("be "),
            message=f"{name} must {must}",
        )
    if first["type"] == "missing":
        what = name or "a JSON body"
        return BadInput(f"{what} is required", details={"field": name, "expected": "a value"})
    details = {"field": name, "provided": first.get("input"), "expected": must.removeprefix("be ")}
    return BadInput(f"{name or 'The request body'} must {must}", details=details)


def _must(message: str) -> str:
    """What pydantic says, so that it can follow the word "must"."""
    if message.startswith("Value error, "):
        return "be " + message.removeprefix("Value error, ")
    if "valid dictionary" in message:
        return "be a JSON object"
    head, should, rest = message.partition(" should ")
    return rest if should and head in ("Input", "String") else "be right: " + message
