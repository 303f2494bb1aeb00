"""The keywords of JSON Schema 2020-12: where in a definition further definitions stand, and what may stand there at all."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from whence.extract.schema_parts import UNSTORABLE, read_fields, shown, wrong

MAX_DEPTH = 3
"""Of arrays and objects inside one another."""
MAX_LEVELS = 40
"""Of brackets inside one another: with what combines definitions, and with values that are lists and objects."""
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

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_ONE = frozenset(
    {
        "not",
        "if",
        "then",
        "else",
        "contains",
        "items",
        "additionalProperties",
        "propertyNames",
        "contentSchema",
    }
    | {"unevaluatedItems", "unevaluatedProperties"}
)
_SEVERAL = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_NAMED = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})


def require_known(given: Mapping[str, Any], path: str, *, own: Iterable[str] = ()) -> None:
    """That every keyword is one, or begins with `x-`: a slip of the pen is refused rather than ignored."""
    for keyword in _REFERENCES:
        if keyword in given:
            raise wrong(f"{path}.{keyword}", given[keyword], "spelled out: a schema has no references")
    draft = given.get("$schema", DRAFT)
    if draft != DRAFT:
        raise wrong(f"{path}.$schema", draft, DRAFT)
    plain = {key: each for key, each in given.items() if not str(key).startswith("x-")}
    read_fields(plain, path, allowed=(*KEYWORDS, *own))


def require_definition(body: Any, path: str, depth: int) -> None:
    """The same of a definition inside another, and of those inside it. `true` and `false` are definitions, too."""
    if isinstance(body, bool):
        return
    if depth > MAX_DEPTH:
        raise wrong(path, "…", f"nested at most {MAX_DEPTH} deep")
    if not isinstance(body, dict):
        raise wrong(path, body, "an object, true or false")
    require_known(body, path)
    for keyword, inner, place in inner_definitions(body, path):
        require_definition(inner, place, depth if keyword in COMBINING else depth + 1)


def inner_definitions(body: Mapping[str, Any], path: str) -> Iterator[tuple[str, Any, str]]:
    """Each definition directly inside this one: the keyword it stands under, itself and its place."""
    for keyword, value in body.items():
        place = f"{path}.{keyword}"
        if keyword in _ONE:
            yield keyword, value, place
        elif keyword in _SEVERAL and isinstance(value, list):
            yield from ((keyword, inner, f"{place}[{at}]") for at, inner in enumerate(value))
        elif keyword in _NAMED and isinstance(value, dict):
            yield from ((keyword, inner, f"{place}.{shown(name)}") for name, inner in value.items())


def require_storable(value: Any, path: str, level: int = 0) -> None:
    """That the database can keep it, and nobody is lost in its depth."""
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
