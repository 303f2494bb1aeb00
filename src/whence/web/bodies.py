"""Bodies of routes that read the request themselves: the hot chunk routes, and those that also take a form."""

import json
from typing import Annotated, Any, TypeVar

import orjson
from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

from whence.errors import BadInput

Model = TypeVar("Model", bound=BaseModel)

FILE_SCHEMA = {"type": "string", "format": "binary"}


def parse_json(body: bytes) -> Any:
    """Raises `json.JSONDecodeError`, or `BadInput` with the field whose text is not Unicode."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as exc:
        if b"\\u" in body:
            _require_unicode(body)
        raise json.JSONDecodeError(exc.msg.partition(":")[0], "", exc.pos) from exc


def _require_unicode(body: bytes) -> None:
    """orjson refuses lone surrogates. The standard library reads them, so the error can name the field."""
    try:
        found = _surrogate_in(json.loads(body))
    except (ValueError, RecursionError):
        return
    if found is not None:
        details = {"field": found, "expected": "valid Unicode text"}
        raise BadInput(f"{found or 'The request body'} must be valid Unicode text", details=details)


def _surrogate_in(value: Any, name: str = "") -> str | None:
    """The path of the first text with a lone surrogate."""
    if isinstance(value, str):
        return name if any("\ud800" <= char <= "\udfff" for char in value) else None
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in parts:
        inner = f"{name}[{key}]" if isinstance(key, int) else ".".join(filter(None, (name, key)))
        if isinstance(key, str) and _surrogate_in(key) is not None:
            return name
        if (found := _surrogate_in(one, inner)) is not None:
            return found
    return None


class JSONRequest(Request):
    """Overrides `json`, through which FastAPI reads bodies."""

    async def json(self) -> Any:
        return parse_json(await self.body())


async def _raw_body(request: Request) -> bytes:
    return await request.body()


RawBody = Annotated[bytes, Depends(_raw_body)]


async def read_json(request: Request, model: type[Model]) -> Model:
    try:
        sent = parse_json(await request.body())
    except json.JSONDecodeError as exc:
        details = {"position": exc.pos, "reason": exc.msg}
        raise BadInput("The request body is not valid JSON", details=details) from exc
    return validate(sent, model)


def validate(sent: Any, model: type[Model]) -> Model:
    """Raises errors as FastAPI does, for the one handler in `web.errors`."""
    try:
        return model.model_validate(sent)
    except ValidationError as exc:
        errors = [{**error, "loc": ("body", *error["loc"])} for error in exc.errors()]
        raise RequestValidationError(errors, body=sent) from exc


def declared_body(
    json: type[BaseModel] | None = None, form: type[BaseModel] | None = None, **files: dict[str, Any]
) -> dict[str, Any]:
    """OpenAPI's `requestBody`. `files` are the file parts of the form."""
    content: dict[str, Any] = {}
    if json is not None:
        content["application/json"] = {"schema": _inline(json.model_json_schema())}
    if form is not None:
        schema = _inline(form.model_json_schema())
        needed = [name for name, part in files.items() if part.pop("required", False)]
        schema["properties"] = files | {n: _as_form_field(s) for n, s in schema["properties"].items()}
        content["multipart/form-data"] = {"schema": schema | ({"required": needed} if needed else {})}
    # For a required body of two kinds, openapi-python-client generates a module that cannot be imported.
    return {"requestBody": {"required": len(content) == 1, "content": content}}


def _inline(schema: dict[str, Any]) -> dict[str, Any]:
    if "$defs" in schema:
        raise TypeError(f"{schema['title']} must not refer to other models: it is declared in place")
    return schema


def _as_form_field(schema: dict[str, Any]) -> dict[str, Any]:
    """A form has only text: an object is JSON, a flag is one of its words, and nothing is null."""
    kinds = {one["type"]: one for one in schema["anyOf"]}
    about = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    if "object" not in kinds:
        return {**kinds["string"], **about}
    about["description"] += " As JSON text."
    about["examples"] = [json.dumps(one) for one in about["examples"]]
    return {"type": "string", "contentMediaType": "application/json", **about}
