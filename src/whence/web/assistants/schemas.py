"""Shorter JSON schemas for the list of tools."""

from collections.abc import Mapping
from typing import Any

_NULL = {"type": "null"}


def shortened(schema: Any, *, is_input: bool, defs: Mapping[str, Any] | None = None) -> Any:
    """The schema without titles, with definitions inlined and `null` as a second `type`.

    Outputs lose their defaults. Inputs lose text limits and nulls, because nullable fields may be left out.
    """
    if isinstance(schema, list):
        return [shortened(one, is_input=is_input, defs=defs) for one in schema]
    if not isinstance(schema, dict):
        return schema
    defs = schema.get("$defs", defs)
    if defs and "$ref" in schema:
        schema = defs[schema["$ref"].removeprefix("#/$defs/")]
    if _NULL in schema.get("anyOf", []):
        (kind,) = [one for one in schema["anyOf"] if one != _NULL]
        schema = {**schema, **kind, "type": kind["type"] if is_input else [kind["type"], "null"]}
    dropped = {"title", "anyOf", "$defs"}
    dropped |= {"pattern", "minLength", "maxLength"} if is_input else {"default"}
    if schema.get("default") is None:
        dropped.add("default")
    return {
        name: {key: shortened(one, is_input=is_input, defs=defs) for key, one in part.items()}
        if name == "properties"
        else shortened(part, is_input=is_input, defs=defs)
        for name, part in schema.items()
        if name not in dropped
    }
