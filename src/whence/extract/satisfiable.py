"""Whether a definition allows any value at all. Pure.

What is found are slips of the pen: bounds that exclude each other, values that the rest of the definition rules out, types
that no value can have at once. Whoever wants to can still write what nothing fits; it is not found out by solving riddles.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from whence.extract.json_schema import mismatch
from whence.extract.keywords import inner_definitions
from whence.extract.schema import PROPERTY_TYPES, Property
from whence.extract.schema_parts import wrong

_ORDERED = (
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minContains", "maxContains"),
    ("minimum", "maximum"),
)
_APART = (
    ("minimum", "exclusiveMaximum"),
    ("exclusiveMinimum", "maximum"),
    ("exclusiveMinimum", "exclusiveMaximum"),
)
_RULED_OUT = ("not", "if", "$defs", "definitions")
"""What stands there need not fit anything."""
_ANY = frozenset({*PROPERTY_TYPES, "null"})


def require_satisfiable(properties: Mapping[str, Property], path: str) -> None:
    """Raises InvalidSchema, which names the keyword. The definitions are known to be valid."""
    for name, each in properties.items():
        _require_one(each.definition(), f"{path}.{name}")


def _require_one(definition: Any, path: str, *, beside_null: bool = False) -> None:
    if not isinstance(definition, dict):
        return  # `false` is how a definition says that something must not be there
    _require_bounds(definition, path)
    _require_fields(definition, path)
    kinds = _kinds(definition)
    if not (kinds if beside_null else kinds - {"null"}):
        raise wrong(path, definition, "a definition that some value fits: its types exclude each other")
    _require_values(definition, path, beside_null=beside_null)
    for keyword, inner, place in inner_definitions(definition, path):
        if keyword not in _RULED_OUT:
            _require_one(inner, place, beside_null=True)


def _require_bounds(given: Mapping[str, Any], path: str) -> None:
    for low, high in _ORDERED:
        if low in given and high in given and given[low] > given[high]:
            raise wrong(f"{path}.{low}", given[low], f"at most {high}, which is {given[high]}")
    for low, high in _APART:
        if low in given and high in given and given[low] >= given[high]:
            raise wrong(f"{path}.{low}", given[low], f"less than {high}, which is {given[high]}")


def _require_fields(given: Mapping[str, Any], path: str) -> None:
    """That an object may have the fields that it must have."""
    required = given.get("required")
    if not isinstance(required, list):
        return
    if len(set(required)) > given.get("maxProperties", len(required)):
        raise wrong(f"{path}.required", required, f"at most maxProperties, which is {given['maxProperties']}")
    fields = given.get("properties", {})
    is_closed = given.get("additionalProperties") is False and not given.get("patternProperties")
    for name in required:
        if is_closed and name not in fields:
            raise wrong(f"{path}.required", name, "names of fields that the object may have")


def _require_values(given: Mapping[str, Any], path: str, *, beside_null: bool) -> None:
    """That one of the values it lists is one that the rest of it allows."""
    keyword = "const" if "const" in given else "enum"
    if keyword not in given:
        return
    listed = [given["const"]] if keyword == "const" else given["enum"]
    candidates = listed if beside_null else [value for value in listed if value is not None]
    if not any(mismatch(value, given) is None for value in candidates):
        raise wrong(f"{path}.{keyword}", given[keyword], "a value that the rest of the definition allows")


def _kinds(definition: Any) -> frozenset[str]:
    """The types that a value may have, by what the definition and those combined in it say of types."""
    if not isinstance(definition, dict):
        return frozenset() if definition is False else _ANY
    found = _ANY
    for each in _all_of(definition):
        found &= each
    return found


def _all_of(definition: Mapping[str, Any]) -> Iterator[frozenset[str]]:
    if "type" in definition:
        said = definition["type"]
        names = frozenset([said] if isinstance(said, str) else said)
        yield names | {"integer"} if "number" in names else names
    if definition.get("not") in (True, {}):
        yield frozenset()
    yield from map(_kinds, definition.get("allOf", ()))
    for keyword in ("anyOf", "oneOf"):
        if keyword in definition:
            yield frozenset[str]().union(*map(_kinds, definition[keyword]))
