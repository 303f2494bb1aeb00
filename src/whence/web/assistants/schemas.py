"""Shorter JSON schemas for the list of tools."""

from typing import Any

_NULL = {"type": "null"}
_NAMED = ("properties", "$defs")


def shortened(schema: Any, *, is_input: bool) -> Any:
    """The schema without titles; an output without defaults, an input without limits of texts and nulls, which may be absent."""
    if isinstance(schema, list):
        return [shortened(one, is_input=is_input) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if is_input and _NULL in schema.get("anyOf", []):
        (schema,) = [{**schema, **kind} for kind in schema["anyOf"] if kind != _NULL]
    dropped = {"title", "pattern", "maxLength", "anyOf"} if is_input else {"title", "default"}
    if schema.get("default") is None:
        dropped.add("default")
    return {
        name: {key: shortened(one, is_input=is_input) for key, one in part.items()}
        if name in _NAMED
        else shortened(part, is_input=is_input)
        for name, part in schema.items()
        if name not in dropped
    }
