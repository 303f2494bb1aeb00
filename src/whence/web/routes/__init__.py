"""One module for each noun. `documented` lists the errors that a route can answer with."""

import inspect
from collections.abc import Callable, Coroutine, Iterator
from copy import deepcopy
from functools import cached_property
from typing import Any, get_args, get_origin

from fastapi import APIRouter, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic.alias_generators import to_camel

from whence import errors
from whence.api.base import ErrorAnswer, Success
from whence.store.keys import SCOPES, Scope
from whence.web.access import allow
from whence.web.bodies import JSONRequest
from whence.web.parameters import rename_as_declared, require_known
from whence.web.responses import Enveloped

Endpoint = Callable[..., Any]
Handler = Callable[[Request], Coroutine[Any, Any, Response]]
Responses = dict[int | str, dict[str, Any]]

_ABSENT: dict[str, type[errors.WhenceError]] = {
    "project_id": errors.ProjectNotFound,
    "document_id": errors.DocumentNotFound,
    "job_id": errors.JobNotFound,
    "chunk_id": errors.ChunkNotFound,
    "object_id": errors.ObjectNotFound,
    "relationship_id": errors.RelationshipNotFound,
    "merge_id": errors.MergeNotFound,
    "suggestion_id": errors.SuggestionNotFound,
    "claim_id": errors.ClaimNotFound,
    "curation_id": errors.CurationNotFound,
    "conversation_id": errors.ConversationNotFound,
    "answer_id": errors.AnswerNotFound,
    "key_id": errors.KeyNotFound,
}
ENDED: Responses = {200: {"description": "With `wait`: the job has ended."}}
TEXT = {"type": "string"}
_ERROR = {"$ref": f"#/components/schemas/{ErrorAnswer.__name__}"}
"""A reference instead of `ErrorAnswer`, for which FastAPI would build a thousand validators in 0.1 seconds at each start."""


class Described(APIRoute):
    """A route that takes its answer's model from the signature, and its summary and description from the docstring."""

    def __init__(self, path: str, endpoint: Endpoint, **options: Any) -> None:
        answer = inspect.signature(endpoint).return_annotation
        for model in get_args(answer):
            shape = Success[model] if get_origin(answer) is Enveloped else model  # type: ignore[valid-type]  # FastAPI reads it
            options["response_model"] = shape
            options["responses"].get(200, {}).setdefault("model", shape)
        super().__init__(path, endpoint, **options)
        summary, _, description = inspect.cleandoc(endpoint.__doc__ or "").partition("\n")
        self.summary, self.description = summary.removesuffix("."), description.strip()


class Checked(Described):
    """A route that refuses undeclared query parameters. It accepts camelCase and snake_case."""

    def __init__(self, path: str, endpoint: Endpoint, **options: Any) -> None:
        usual = _derive_errors(path, endpoint, options.get("openapi_extra") or {})
        options["responses"] = documented(*usual, also=options["responses"])
        super().__init__(path, endpoint, **options)
        self.scope = self._find_scope()
        keys: dict[str, Any] = {"security": [{}, {"bearer": []}, {"key": []}], "x-scope": self.scope}
        self.openapi_extra = {**(self.openapi_extra or {}), **keys}

    def _find_scope(self) -> Scope:
        """The scope that the route requires. The hot chunk routes declare none: they need `write` only for DELETE."""
        names = [getattr(one.call, "__name__", "") for one in self.dependant.dependencies]
        found = next((scope for scope in SCOPES if f"needs_{scope}" in names), None)
        return found or ("write" if "DELETE" in (self.methods or ()) else "read")

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        return tuple(one.alias for one in _list_query_fields(self.dependant))

    @cached_property
    def lists(self) -> tuple[str, ...]:
        """Parameters that may be repeated."""
        kinds = ((one.alias, one.field_info.annotation) for one in _list_query_fields(self.dependant))
        return tuple(
            name for name, kind in kinds if any(get_origin(one) is list for one in (kind, *get_args(kind)))
        )

    def require_known(self, request: Request) -> None:
        require_known(request, self.parameters, self.lists)

    def get_route_handler(self) -> Handler:
        answer = super().get_route_handler()

        async def checked(request: Request) -> Response:
            allow(request, self.scope)  # before errors in parameters or body are reported
            self.require_known(request)
            rename_as_declared(request, self.parameters)
            return await answer(JSONRequest(request.scope, request.receive))

        return checked


class Direct(Checked):
    """A route that passes the request to its function directly: the hot chunk routes need no injection (docs/decisions/0004)."""

    async def answer(self, request: Request) -> Response:
        allow(request, self.scope)
        self.require_known(request)
        response: Response = await self.endpoint(request)
        return response

    def get_route_handler(self) -> Handler:
        return self.answer


class Tolerant(Checked):
    """A route of OpenAI's protocol, whose clients may send parameters that only other servers know."""

    def require_known(self, request: Request) -> None:
        pass


def _list_query_fields(dependant: Dependant) -> Iterator[Any]:
    yield from dependant.query_params
    for inner in dependant.dependencies:
        yield from _list_query_fields(inner)


def _derive_errors(path: str, endpoint: Endpoint, extra: dict[str, Any]) -> list[type[errors.WhenceError]]:
    """Errors that follow from parameter names: `…_id` is an id, `body` is a model of the body."""
    names = inspect.signature(endpoint).parameters
    found = [
        errors.InvalidParameter,
        errors.Unauthorized,
        errors.Forbidden,
        errors.DatabaseUnavailable,
        errors.DatabaseBusy,
        errors.WhenceError,
    ]
    found += [error for name, error in _ABSENT.items() if f"{{{name}}}" in path]
    if "_id}" in path or any(name.endswith("_id") for name in names):
        found.append(errors.InvalidUUID)
    if "project_id" in names:
        found.append(errors.ProjectNotFound)
    if "body" in names or "requestBody" in extra:
        found += [errors.BadInput, errors.PayloadTooLarge]
    return found


def api_router(
    tag: str, *, root: str = "/api/v1", prefix: str = "", route_class: type[Checked] = Checked
) -> APIRouter:
    """A router for routes that may require a key and need the database. Operation ids are the functions' names in camelCase."""
    return APIRouter(
        prefix=root + prefix, tags=[tag], route_class=route_class, generate_unique_id_function=operation_id
    )


def operation_id(route: APIRoute) -> str:
    return to_camel(route.name)


def answered(description: str, media_type: str, schema: dict[str, Any], *, status: int = 200) -> Responses:
    """OpenAPI's `responses` for an answer that has other types than JSON."""
    return {status: {"description": description, "content": {media_type: {"schema": schema}}}}


def documented(*kinds: type[errors.WhenceError], also: Responses | None = None) -> Responses:
    """OpenAPI's `responses` for these errors, by status, with their codes. `also` adds other responses."""
    by_status = deepcopy(also or {})
    for error in kinds:
        example = {"success": False, "error": {"code": error.code, "message": error().message, "details": {}}}
        empty = {"description": "", "content": {"application/json": {"schema": _ERROR, "examples": {}}}}
        entry = by_status.setdefault(error.status, empty)
        examples = entry["content"]["application/json"]["examples"]
        if error.code not in examples:
            entry["description"] = ", ".join(filter(None, (entry["description"], f"`{error.code}`")))
            examples[error.code] = {"value": example}
    return by_status
