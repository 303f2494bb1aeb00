"""What comes in: parameters whose errors name the parameter, what was given and what was expected."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl
from uuid import UUID

import orjson
from fastapi import Path, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, BeforeValidator, ValidationError, WithJsonSchema

from whence.errors import BadInput, InvalidParameter, InvalidUUID
from whence.web.values import FLAG_SCHEMA, canonical_uuid, parse_flag, snake

Model = TypeVar("Model", bound=BaseModel)
Choice = TypeVar("Choice", bound=str)

MOST = 2**63 - 1

_EXAMPLE_UUID = "550e8400-e29b-41d4-a716-446655440000"
_CHUNK_FLAGS = {
    "include_source": "Add the job (source document) behind each chunk: `true`, `1`, `yes`, `false`, `0` or `no`.",
    "include_embedding": "Add the vector of each chunk in its project's current embedding space.",
    "include_embeddings": "The same as `include_embedding`.",
}
MAX_LIMIT = 100


def path_uuid(name: str, value: Any) -> str:
    found = canonical_uuid(value)
    if found is None:
        raise InvalidUUID(
            f"Invalid UUID format for {name}",
            details={"parameter": name, "provided": value, "expected": f"a UUID such as {_EXAMPLE_UUID}"},
        )
    return found


def whole_number(name: str, low: int, high: int) -> Callable[[Any], int]:
    expected = f"an integer from {low} to {high}"

    def parse(value: Any) -> int:
        if not re.fullmatch(r"-?[0-9]{1,19}", value) or not low <= int(value) <= high:
            raise InvalidParameter.of(name, provided=value, expected=expected)
        return int(value)

    return parse


ProjectId = Annotated[
    UUID,
    Path(description="A project's id."),
    BeforeValidator(lambda value: UUID(path_uuid("project_id", value))),
]
parse_limit = whole_number("limit", 1, MAX_LIMIT)
parse_offset = whole_number("offset", 0, MOST)

_LIMIT_SCHEMA = {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": 20}
_OFFSET_SCHEMA = {"type": "integer", "minimum": 0, "maximum": MOST, "default": 0}

Limit = Annotated[
    int, BeforeValidator(parse_limit), WithJsonSchema(_LIMIT_SCHEMA), Query(description="How many to return.")
]
Offset = Annotated[
    int, BeforeValidator(parse_offset), WithJsonSchema(_OFFSET_SCHEMA), Query(description="How many to skip.")
]

Flag = WithJsonSchema(FLAG_SCHEMA)


@dataclass(frozen=True, slots=True)
class ChunkQuery:
    """The parameters of the routes that read chunks.

    Read by hand: FastAPI's own reading of the same parameters took half as long again as the whole query, and these
    are the routes that are called most. What they accept is declared beside it, for OpenAPI.
    """

    source: bool
    embedding: bool

    @classmethod
    def of(cls, request: Request) -> "ChunkQuery":
        return _chunk_query(request.scope["query_string"])


@lru_cache(maxsize=256)
def _chunk_query(query: bytes) -> ChunkQuery:
    given = _parameters(query)
    source, one, many = (parse_flag(name, given.get(name, "false")) for name in _CHUNK_FLAGS)
    return ChunkQuery(source=source, embedding=one or many)


@lru_cache(maxsize=256)
def _parameters(query: bytes) -> Mapping[str, str]:
    """By their names in snake_case, however they were written; of one that is given twice, the last.

    Clients ask in few ways: each is read once.
    """
    return MappingProxyType({snake(name): value for name, value in _pairs(query)})


def _pairs(query: bytes) -> list[tuple[str, str]]:
    return parse_qsl(query.decode("latin-1"), keep_blank_values=True)


def query_parameters(request: Request) -> Mapping[str, str]:
    """What stands in the query, by names in snake_case."""
    return _parameters(request.scope["query_string"])


def require_known(request: Request, known: tuple[str, ...]) -> None:
    """Refuses a parameter that would be ignored: whoever wrote it meant another."""
    if query := request.scope["query_string"]:
        _require_known(query, known)


@lru_cache(maxsize=256)
def _require_known(query: bytes, known: tuple[str, ...]) -> None:
    names = {snake(name) for name in known}
    for name, value in _pairs(query):
        if snake(name) not in names:
            raise InvalidParameter.unknown(name, provided=value, known=known)


def given(fields: Mapping[str, Any], *names: str) -> Any:
    """A field by whichever of its names it came."""
    return next((fields[name] for name in names if name in fields), None)


def choice(fields: Mapping[str, str], name: str, allowed: tuple[Choice, ...]) -> Choice | None:
    value = fields.get(name)
    if value is None:
        return None
    found = next((one for one in allowed if one == value), None)
    if found is None:
        raise InvalidParameter.of(name, provided=value, expected=f"one of {', '.join(allowed)}")
    return found


def searchable(fields: Mapping[str, str], name: str) -> str | None:
    """A text to look for; to look for nothing is not to look."""
    value = fields.get(name)
    if value is not None and "\x00" in value:
        raise InvalidParameter.of(name, provided=value, expected="text without NUL characters")
    return value or None


def path_id(request: Request, name: str) -> str:
    return path_uuid(name, request.path_params[name])


def limit_and_offset(request: Request) -> tuple[int, int]:
    given = _parameters(request.scope["query_string"])
    return parse_limit(given.get("limit", "20")), parse_offset(given.get("offset", "0"))


async def json_content(request: Request) -> Any:
    try:
        return orjson.loads(await request.body())
    except orjson.JSONDecodeError as exc:
        raise BadInput(
            "The request body is not valid JSON",
            details={"position": exc.pos, "reason": exc.msg.split(":")[0]},
        ) from exc


async def json_body(request: Request, model: type[Model]) -> Model:
    """The body as `model`; errors as FastAPI's own reading raises them."""
    content = await json_content(request)
    try:
        return model.model_validate(content)
    except ValidationError as exc:
        errors = [{**error, "loc": ("body", *error["loc"])} for error in exc.errors()]
        raise RequestValidationError(errors) from exc


def declared_body(model: type[BaseModel]) -> dict[str, Any]:
    content = {"application/json": {"schema": model.model_json_schema()}}
    return {"requestBody": {"required": True, "content": content}}


def declared_query(*paths: str, paged: bool = False, **queries: dict[str, Any]) -> dict[str, Any]:
    """OpenAPI's `parameters`: ids in the path, and what may stand in the query."""
    uuid = {"type": "string", "format": "uuid"}
    found = [{"in": "path", "name": name, "required": True, "schema": uuid} for name in paths]
    found += [
        {"in": "query", "name": name, "required": False, "schema": schema} for name, schema in queries.items()
    ]
    if paged:
        found += [{"in": "query", "name": "limit", "required": False, "schema": _LIMIT_SCHEMA}]
        found += [{"in": "query", "name": "offset", "required": False, "schema": _OFFSET_SCHEMA}]
    return {"parameters": found}


def declared(*paths: str, paged: bool = False) -> dict[str, Any]:
    """The same for the routes that read chunks."""
    flags = {name: {**FLAG_SCHEMA, "description": text} for name, text in _CHUNK_FLAGS.items()}
    return declared_query(*paths, paged=paged, **flags)
