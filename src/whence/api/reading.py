"""Reads requests into models, and converts pydantic's errors to the error for the client."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from whence.api.values import snake
from whence.errors import BadInput, InvalidParameter, InvalidUUID, WhenceError

Model = TypeVar("Model", bound=BaseModel)

EXAMPLE_UUID = "550e8400-e29b-41d4-a716-446655440000"

_QUOTED = re.compile(r"'([^']*)'")
_NO_OBJECT = ("model_type", "model_attributes_type", "dict_type")
_EXPECTED = {
    "string_type": "a text",
    "list_type": "a list",
    "bool_type": "true or false",
    "int_type": "an integer",
    "float_type": "a number",
    "missing": "a value",
    "string_too_short": "a text that is not empty",
    **dict.fromkeys(_NO_OBJECT, "a JSON object"),
}


def read(model: type[Model], sent: Any) -> Model:
    """Reads `sent` as `model`; raises the error for the client."""
    try:
        return model.model_validate(sent)
    except ValidationError as exc:
        raise error_for(exc.errors()[0], sent) from exc


def error_for(error: Any, sent: Any, *, resource: bool = False) -> WhenceError:
    """Our error for the first of pydantic's errors: one clear error helps more than a list.

    A missing field, a body that is no object, and every error of a `resource` (a body that is the resource itself, such as a
    project) are INVALID_REQUEST with the `field`; other wrong values are INVALID_PARAMETER with the `parameter`.
    """
    kind, context = error["type"], error.get("ctx", {})
    name = name_as_sent(error["loc"], sent) + context.get("inside", "")
    if not name and kind in (*_NO_OBJECT, "missing"):
        return BadInput("The request body must be a JSON object", details={"provided": sent})
    if kind == "missing":
        if len(error["loc"]) > 1:
            return InvalidParameter.of(name, provided=None, expected="a value", message=f"{name} is required")
        return BadInput(f"{name} is required", details={"field": name, "expected": "a value"})
    if kind == "unknown":
        return _refuse_unknown(".".join(filter(None, (name, context["name"]))), context, resource=resource)
    if kind == "uuid":
        return _refuse_uuid(name, error)
    return _refuse_value(name, error, resource=resource)


def _refuse_value(name: str, error: Any, *, resource: bool = False) -> BadInput:
    kind, context = error["type"], error.get("ctx", {})
    provided = context.get("provided", context.get("actual_length", error.get("input")))
    expected = _describe_expectation(error)
    message = f"{name} must be {'a boolean' if kind == 'flag' else expected}"
    if resource or kind == "request":
        return BadInput(message, details={"field": name, "provided": provided, "expected": expected})
    return InvalidParameter.of(name, provided=provided, expected=expected, message=message)


def parameter_error(error: Any, name: str) -> WhenceError:
    """Like `error_for`, for one parameter of the path or the query."""
    return _refuse_uuid(name, error) if error["type"] == "uuid" else _refuse_value(name, error)


def no_uuid(name: str, provided: Any) -> InvalidUUID:
    return InvalidUUID(
        f"Invalid UUID format for {name}",
        details={"parameter": name, "provided": provided, "expected": f"a UUID such as {EXAMPLE_UUID}"},
    )


def name_as_sent(path: Sequence[str | int], sent: Any) -> str:
    """`filters.documentIds[3]`: each name in the case that the client wrote."""
    name = ""
    for part in path:
        if isinstance(part, int):
            name += f"[{part}]"
            sent = sent[part] if isinstance(sent, list) and part < len(sent) else None
        else:
            inside = sent if isinstance(sent, Mapping) else {}
            written = snake(part) if part not in inside and snake(part) in inside else part
            name += f".{written}" if name else written
            sent = inside.get(written)
    return name


def _refuse_unknown(name: str, context: Mapping[str, Any], *, resource: bool) -> BadInput:
    known, provided = context["known"], context["provided"]
    if resource:
        details = {"field": name, "provided": provided, "expected": context["expected"]}
        return BadInput(f"{name} is unknown; known are {known}", details=details)
    return InvalidParameter.unknown(name, provided=provided, known=known.split(", "))


def _refuse_uuid(name: str, error: Any) -> InvalidUUID:
    index = error["loc"][-1]
    if not isinstance(index, int):
        return no_uuid(name, error.get("input"))
    field = name.rpartition("[")[0]
    return InvalidUUID(
        f"Invalid UUID format in {field} at index {index}",
        details={"field": field, "index": index, "provided": error.get("input")},
    )


def _describe_expectation(error: Any) -> str:
    """The expected value, worded to follow "must be"."""
    kind, context = error["type"], error.get("ctx", {})
    if kind == "literal_error":
        return f"one of {', '.join(_QUOTED.findall(context['expected']))}"
    if kind == "value_error":
        return str(context["error"])
    for limit, words in (("max_length", "at most"), ("min_length", "at least")):
        if limit in context:
            unit = "character" if kind.startswith("string") else "item"
            return f"{words} {context[limit]} {unit}{'s' if context[limit] != 1 else ''}"
    plain = str(error["msg"]).removeprefix("Input should be ")
    return _EXPECTED.get(kind) or str(context.get("expected", plain))
