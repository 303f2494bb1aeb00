"""JSON Schema 2020-12 keywords that a property may have, and the check that the database can store it."""

import math
from typing import Any

from whence.extract.schema_parts import UNSTORABLE, shown, wrong

MAX_DEPTH = 3
"""Nesting depth of arrays and objects."""
MAX_LEVELS = 40
"""Nesting depth of the JSON, including combined definitions and listed values."""
MAX_INTEGER = 2**63 - 1
DRAFT = "https://json-schema.org/draft/2020-12/schema"

FOR_OBJECTS = (
    *("properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames"),
    *("minProperties", "maxProperties", "dependentRequired", "dependentSchemas"),
)
FOR_ARRAYS = (
    *("items", "prefixItems", "contains", "unevaluatedItems"),
    *("minItems", "maxItems", "uniqueItems", "minContains", "maxContains"),
)
FOR_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
COMBINING = ("anyOf", "oneOf", "allOf", "not", "if", "then", "else")
ANNOTATIONS = (
    *("title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly"),
    *("nullable", "$comment", "$schema", "$id", "$anchor", "$defs", "definitions"),
)
KEYWORDS = (
    *("type", "format", "enum", "const", "required", "minLength", "maxLength", "pattern"),
    *("contentEncoding", "contentMediaType", "contentSchema"),
    *(*FOR_NUMBERS, *FOR_ARRAYS, *FOR_OBJECTS, *COMBINING, *ANNOTATIONS),
)

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_ONE = ("not", "if", "then", "else", "contains", "additionalProperties", "propertyNames", "contentSchema")
_SEVERAL = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("patternProperties", "dependentSchemas", "$defs", "definitions")


def _form(inner: str, *own: str) -> dict[str, Any]:
    """The JSON Schema of a definition. `inner` names the form of its items and fields."""
    definition, part = {"$ref": "#/$defs/definition"}, {"$ref": f"#/$defs/{inner}"}
    known: dict[str, Any] = dict.fromkeys((*KEYWORDS, *own), True)
    known |= dict.fromkeys((*_ONE, "unevaluatedItems", "unevaluatedProperties"), definition)
    known |= {key: {"type": "array", "items": definition} for key in _SEVERAL}
    known |= {key: {"type": "object", "additionalProperties": definition} for key in _NAMED}
    known |= {"items": part, "properties": {"type": "object", "additionalProperties": part}}
    known |= {"$schema": {"const": DRAFT}}
    return {
        "type": ["object", "boolean"],
        "properties": known,
        "patternProperties": {"^x-": True},
        "additionalProperties": False,
    }


GRAMMAR = {
    "$ref": "#/$defs/property",
    "$defs": {"definition": _form("definition"), "property": _form("property", "renamed_from")},
}
"""JSON Schema of property definitions. It refuses references, and unknown keywords, which JSON Schema ignores."""


def require_storable(value: Any, path: str, level: int = 0) -> None:
    """Refuses a value that the database cannot store, or that is nested too deep."""
    if level > MAX_LEVELS:
        raise wrong(path, "…", f"nested at most {MAX_DEPTH} deep")
    if isinstance(value, dict):
        for key, inner in value.items():
            require_storable(str(key), path, level)
            require_storable(inner, f"{path}.{shown(key)}", level + 1)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            require_storable(inner, f"{path}[{at}]", level + 1)
    elif isinstance(value, str) and UNSTORABLE.search(value):
        raise wrong(path, UNSTORABLE.sub("\ufffd", value), "a text without NUL and halves of characters")
    elif isinstance(value, float) and not math.isfinite(value):
        raise wrong(path, str(value), "a finite number")
    elif isinstance(value, int) and abs(value) > MAX_INTEGER:
        raise wrong(path, str(value)[:100], f"a number of at most {MAX_INTEGER}")
